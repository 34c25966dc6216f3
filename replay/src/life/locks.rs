//! Which locks each worker holds, as the steps of a run go by.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

/// The locks of each worker that holds any, in the order in which they were taken, each once.
#[derive(Debug, Default)]
pub(crate) struct Locks<'a> {
    held: FxHashMap<u32, Vec<&'a str>>,
}

impl<'a> Locks<'a> {
    /// A worker gets a lock; `false` if it holds it already: its release was not recorded.
    pub(crate) fn take(&mut self, worker: u32, name: &'a str) -> bool {
        let held = self.held.entry(worker).or_default();
        let is_new = !held.contains(&name);
        if is_new {
            held.push(name);
        }
        is_new
    }

    /// A worker lets go of a lock; `false` if it does not hold it.
    pub(crate) fn release(&mut self, worker: u32, name: &str) -> bool {
        let Entry::Occupied(mut entry) = self.held.entry(worker) else {
            return false;
        };
        let held = entry.get_mut();
        let before = held.len();
        held.retain(|other| *other != name);
        let is_released = held.len() < before;
        if held.is_empty() {
            entry.remove();
        }
        is_released
    }

    /// A worker lets go of all that it holds.
    pub(crate) fn clear(&mut self, worker: u32) {
        self.held.remove(&worker);
    }

    /// The locks of a worker.
    pub(crate) fn of(&self, worker: u32) -> &[&'a str] {
        self.held.get(&worker).map_or(&[], Vec::as_slice)
    }

    /// The workers that hold a lock, in order.
    pub(crate) fn holders(&self, name: &str) -> Vec<u32> {
        let holding = self.held.iter().filter(|(_, held)| held.contains(&name));
        let mut holders: Vec<u32> = holding.map(|(worker, _)| *worker).collect();
        holders.sort_unstable();
        holders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_let_go_of_once() {
        let mut locks = Locks::default();
        assert!(locks.take(0, "a") && !locks.take(0, "a") && locks.take(0, "b"));
        assert!(locks.take(2, "a") && locks.take(1, "a"));
        assert_eq!(
            (locks.of(0), locks.holders("a")),
            (&["a", "b"][..], vec![0, 1, 2])
        );
        assert!(locks.release(0, "a") && !locks.release(0, "a") && !locks.release(7, "a"));
        locks.clear(1);
        assert_eq!((locks.of(0), locks.of(1)), (&["b"][..], &[][..]));
        assert_eq!(locks.holders("a"), [2]);
    }
}
