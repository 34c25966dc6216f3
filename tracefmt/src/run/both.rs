//! Work for two threads, where there is enough of it.

use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

/// With so many elements a thread of its own is worth its start.
pub(super) const MANY: usize = 1 << 14;

/// Does both, side by side if there is `much` to do.
pub(super) fn both<A: Send, B>(
    much: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if !much {
        return (first(), second());
    }
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (joined(first), second)
    })
}

/// Changes every element, given with its index.
pub(super) fn each<T: Send>(list: &mut [T], change: impl Fn(usize, &mut T) + Sync) {
    let much = list.len() >= MANY;
    let middle = list.len() / 2;
    let (first, rest) = list.split_at_mut(middle);
    let all = |from: usize, part: &mut [T]| {
        for (index, item) in (from..).zip(part) {
            change(index, item);
        }
    };
    both(much, || all(0, first), || all(middle, rest));
}

/// What a thread gives, its panic too.
pub(super) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(given) => given,
        Err(panic) => resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_changed_once_under_its_index() {
        for len in [0, 1, 5, MANY - 1, MANY, 2 * MANY + 1] {
            let mut list: Vec<usize> = vec![1; len];
            each(&mut list, |index, item| *item += index);
            assert!(
                list.iter()
                    .enumerate()
                    .all(|(index, item)| *item == index + 1)
            );
        }
    }
}
