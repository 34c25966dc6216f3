//! The lock around a device: first come, first served, never poisoned.
//!
//! A worker that panics while it holds the lock gives it back when its guard is dropped, like any
//! other; what the device then holds is the interpreter's to clean up first.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A fair lock.
#[derive(Debug, Default)]
pub struct DeviceLock {
    turns: Mutex<Turns>,
    called: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
struct Turns {
    /// The next number to give out.
    next: u64,
    /// The number whose turn it is.
    serving: u64,
}

/// The lock, held until this is dropped.
#[derive(Debug)]
pub struct Held<'a> {
    lock: &'a DeviceLock,
}

impl DeviceLock {
    /// A lock that nobody holds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for its turn.
    pub fn acquire(&self) -> Held<'_> {
        let mut turns = self.turns();
        let mine = turns.next;
        turns.next += 1;
        while turns.serving != mine {
            turns = self
                .called
                .wait(turns)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Held { lock: self }
    }

    /// How many hold it or wait for it.
    pub fn queue(&self) -> u64 {
        let turns = self.turns();
        turns.next - turns.serving
    }

    /// Nothing in here panics between two changes, so what a poisoned mutex holds is whole.
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.lock.turns().serving += 1;
        self.lock.called.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn one_at_a_time() {
        let lock = Arc::new(DeviceLock::new());
        let inside = Arc::new(AtomicU64::new(0));
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let (lock, inside) = (Arc::clone(&lock), Arc::clone(&inside));
                thread::spawn(move || {
                    for _ in 0..200 {
                        let held = lock.acquire();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(held);
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.join().expect("no worker saw another inside");
        }
        assert_eq!(lock.queue(), 0);
    }

    #[test]
    fn in_the_order_of_asking() {
        let lock = Arc::new(DeviceLock::new());
        let order = Arc::new(Mutex::new(Vec::new()));
        let first = lock.acquire();
        let workers: Vec<_> = (0..5)
            .map(|number| {
                let asked = lock.queue();
                let (mine, order) = (Arc::clone(&lock), Arc::clone(&order));
                let worker = thread::spawn(move || {
                    let _held = mine.acquire();
                    order.lock().expect("no panic").push(number);
                });
                while lock.queue() == asked {
                    thread::yield_now();
                }
                worker
            })
            .collect();
        drop(first);
        for worker in workers {
            worker.join().expect("no panic");
        }
        assert_eq!(*order.lock().expect("no panic"), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_panic_gives_it_back() {
        let lock = DeviceLock::new();
        let died = catch_unwind(AssertUnwindSafe(|| {
            let _held = lock.acquire();
            panic!("on purpose");
        }));
        assert!(died.is_err());
        drop(lock.acquire());
        assert_eq!(lock.queue(), 0);
    }
}
