//! The workers of a schedule: who runs, who waits for what, who has stopped.

use std::collections::{BTreeMap, VecDeque};

use tracefmt::ops::{Op, Step};

/// Why a worker runs no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Its op at this step failed, and it does not go on after that.
    Aborted(usize),
    /// It panicked at this step.
    Panicked(usize),
    /// It waits at this step for a lock that nobody releases.
    Locked {
        /// The `lock` step.
        at: usize,
        /// The lock.
        name: String,
        /// The worker that holds it; itself, if it locked twice.
        holder: u32,
    },
    /// It waits at this step for others who never come.
    Alone {
        /// The `barrier` step.
        at: usize,
        /// The barrier.
        name: String,
    },
    /// It looks for a label that never comes, since this step failed.
    Lost {
        /// The step that failed.
        at: usize,
        /// The label.
        label: String,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// The workers that did not reach their last op, by worker.
    pub stopped: Vec<(u32, Stop)>,
    /// Locks still held at the end, with their holder, by name.
    pub held: Vec<(String, u32)>,
}

/// What to do with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It does not run.
    Skip,
    /// Its worker waits.
    Wait,
    /// It ran, and concerns no driver.
    Done,
    /// The worker dies here.
    Panic {
        /// Whether it frees what it holds.
        unwind: bool,
    },
    /// It is for the machine.
    Call,
}

#[derive(Debug, Default)]
struct Actor<'a> {
    stop: Option<Stop>,
    seeking: Option<(usize, &'a str)>,
    waiting: bool,
    postponed: VecDeque<usize>,
}

#[derive(Debug, Default)]
struct Lock {
    /// Who holds it: several only where the schedule says that each of them got it.
    holders: Vec<u32>,
    /// Workers that wait for it, with the step at which they do.
    waiters: VecDeque<(u32, usize)>,
}

/// Whether a step says that its worker got a lock. Else it says that the worker wants it.
pub(crate) fn got(step: &Step) -> bool {
    matches!(step.op, Op::Lock { .. }) && step.rc == Some(0)
}

/// All workers, with their locks and barriers.
#[derive(Debug, Default)]
pub(super) struct Actors<'a> {
    workers: BTreeMap<u32, Actor<'a>>,
    /// How many workers wait.
    waiting: usize,
    /// How many workers have stopped or look for a label.
    astray: usize,
    locks: BTreeMap<&'a str, Lock>,
    /// Who has arrived at a barrier, with the step.
    barriers: BTreeMap<&'a str, Vec<(u32, usize)>>,
    /// Workers that may go on, with the step that they waited at.
    ready: VecDeque<(u32, Option<usize>)>,
}

impl<'a> Actors<'a> {
    /// Keeps a step for later if its worker waits.
    pub(super) fn postpone(&mut self, worker: u32, at: usize) -> bool {
        if self.waiting == 0 {
            return false;
        }
        let actor = self.workers.entry(worker).or_default();
        if actor.waiting {
            actor.postponed.push_back(at);
        }
        actor.waiting
    }

    /// The next worker that may go on, and the waiting step that is now done.
    pub(super) fn next_ready(&mut self) -> Option<(u32, Option<usize>)> {
        let (worker, at) = self.ready.pop_front()?;
        self.workers.entry(worker).or_default().waiting = false;
        self.waiting -= 1;
        Some((worker, at))
    }

    /// The next step that a worker postponed, unless it waits again.
    pub(super) fn next_postponed(&mut self, worker: u32) -> Option<usize> {
        let actor = self.workers.get_mut(&worker)?;
        if actor.waiting {
            None
        } else {
            actor.postponed.pop_front()
        }
    }

    /// Decides what a worker does with its next step.
    pub(super) fn turn(&mut self, worker: u32, at: usize, step: &'a Step) -> Turn {
        if self.astray > 0
            && let Some(turn) = self.astray_turn(worker, &step.op)
        {
            return turn;
        }
        match &step.op {
            Op::Lock { name } if got(step) => {
                let lock = self.locks.entry(name).or_default();
                if !lock.holders.contains(&worker) {
                    lock.holders.push(worker);
                }
                Turn::Done
            }
            Op::Lock { name } => self.lock(worker, at, name),
            Op::Unlock { name } => {
                self.unlock(worker, name);
                Turn::Done
            }
            Op::Barrier { name, n } => self.barrier(worker, at, name, *n),
            Op::Label { .. } => Turn::Done,
            Op::Panic { unwind } => Turn::Panic { unwind: *unwind },
            _ => Turn::Call,
        }
    }

    /// What a worker does that has stopped or looks for a label; none for any other.
    fn astray_turn(&mut self, worker: u32, op: &Op) -> Option<Turn> {
        let actor = self.workers.get_mut(&worker)?;
        if actor.stop.is_some() {
            return Some(Turn::Skip);
        }
        let (_, label) = actor.seeking?;
        match op {
            Op::Label { name } if **name == *label => {
                actor.seeking = None;
                self.astray -= 1;
                Some(Turn::Done)
            }
            _ => Some(Turn::Skip),
        }
    }

    fn lock(&mut self, worker: u32, at: usize, name: &'a str) -> Turn {
        let lock = self.locks.entry(name).or_default();
        if lock.holders.is_empty() {
            lock.holders.push(worker);
            return Turn::Done;
        }
        lock.waiters.push_back((worker, at));
        self.wait(worker)
    }

    fn wait(&mut self, worker: u32) -> Turn {
        self.workers.entry(worker).or_default().waiting = true;
        self.waiting += 1;
        Turn::Wait
    }

    /// Releases a lock to the first who waits; one that the worker does not hold stays.
    fn unlock(&mut self, worker: u32, name: &str) {
        let Some(lock) = self.locks.get_mut(name) else {
            return;
        };
        let before = lock.holders.len();
        lock.holders.retain(|holder| *holder != worker);
        if lock.holders.is_empty() && before > 0 {
            let next = lock.waiters.pop_front();
            lock.holders.extend(next.map(|(waiter, _)| waiter));
            self.ready
                .extend(next.map(|(waiter, at)| (waiter, Some(at))));
        }
    }

    fn barrier(&mut self, worker: u32, at: usize, name: &'a str, n: u64) -> Turn {
        let arrived = self.barriers.entry(name).or_default();
        if arrived.len() as u64 + 1 >= n {
            let others = std::mem::take(arrived);
            self.ready
                .extend(others.into_iter().map(|(other, at)| (other, Some(at))));
            return Turn::Done;
        }
        arrived.push((worker, at));
        self.wait(worker)
    }

    /// A worker stops and lets go of its locks.
    pub(super) fn stop(&mut self, worker: u32, stop: Stop) {
        self.workers.entry(worker).or_default().stop = Some(stop);
        self.astray += 1;
        let mine: Vec<&str> = self
            .locks
            .iter()
            .filter(|(_, lock)| lock.holders.contains(&worker))
            .map(|(name, _)| *name)
            .collect();
        for name in mine {
            self.unlock(worker, name);
        }
    }

    /// A worker goes on at a label.
    pub(super) fn seek(&mut self, worker: u32, at: usize, label: &'a str) {
        self.workers.entry(worker).or_default().seeking = Some((at, label));
        self.astray += 1;
    }

    /// What is left when no step is.
    pub(super) fn into_ending(self) -> Ending {
        let mut stopped: BTreeMap<u32, Stop> = BTreeMap::new();
        for (worker, actor) in self.workers {
            let lost = actor.seeking.map(|(at, label)| Stop::Lost {
                at,
                label: label.to_owned(),
            });
            if let Some(stop) = actor.stop.or(lost) {
                stopped.insert(worker, stop);
            }
        }
        let mut held = Vec::new();
        for (name, lock) in self.locks {
            let Some(&holder) = lock.holders.first() else {
                continue;
            };
            held.extend(lock.holders.iter().map(|one| (name.to_owned(), *one)));
            for (worker, at) in lock.waiters {
                let name = name.to_owned();
                stopped.insert(worker, Stop::Locked { at, name, holder });
            }
        }
        for (name, arrived) in self.barriers {
            for (worker, at) in arrived {
                let name = name.to_owned();
                stopped.insert(worker, Stop::Alone { at, name });
            }
        }
        Ending {
            stopped: stopped.into_iter().collect(),
            held,
        }
    }
}
