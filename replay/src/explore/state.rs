//! A state of exploration: where each worker is, who holds what, what the cards hold.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use tracefmt::ops::{OnError, Op, Schedule, Step};

use crate::vram::{Machine, Profile};

/// What a worker did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It cannot go on: it waits, or has no op left.
    Nothing,
    /// It took a step.
    Step {
        /// Which.
        at: usize,
        /// Whether that was an allocation that failed.
        failed: bool,
    },
}

/// Where a worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Worker {
    /// Index of its next op in its program.
    next: usize,
    /// It has arrived at a barrier and waits for others.
    arrived: bool,
    stopped: bool,
}

/// One state.
#[derive(Debug, Clone)]
pub(super) struct State<'a> {
    machine: Machine,
    workers: Vec<Worker>,
    locks: BTreeMap<&'a str, usize>,
    barriers: BTreeMap<&'a str, BTreeSet<usize>>,
}

impl<'a> State<'a> {
    pub(super) fn new(schedule: &Schedule, profile: Profile, workers: usize) -> Self {
        Self {
            machine: Machine::new(profile, &schedule.header),
            workers: vec![Worker::default(); workers],
            locks: BTreeMap::new(),
            barriers: BTreeMap::new(),
        }
    }

    /// A name for the state, the same for the same state.
    pub(super) fn fingerprint(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            self.machine.hash(&mut hasher);
            self.workers.hash(&mut hasher);
            self.locks.hash(&mut hasher);
            self.barriers.hash(&mut hasher);
            hasher.finish()
        };
        u128::from(half(1)) << 64 | u128::from(half(2))
    }

    /// Whether every worker has stopped or come to its end.
    pub(super) fn is_over(&self, programs: &[Vec<usize>]) -> bool {
        let mut both = self.workers.iter().zip(programs);
        both.all(|(worker, program)| {
            worker.stopped || (!worker.arrived && worker.next >= program.len())
        })
    }

    /// Lets a worker take its next step, if it can.
    pub(super) fn advance(
        &mut self,
        schedule: &'a Schedule,
        worker: usize,
        program: &[usize],
    ) -> Taken {
        let Some(&Worker {
            next,
            arrived,
            stopped,
        }) = self.workers.get(worker)
        else {
            return Taken::Nothing;
        };
        let step = program
            .get(next)
            .and_then(|at| Some((*at, schedule.steps.get(*at)?)));
        let Some((at, step)) = step.filter(|_step| !arrived && !stopped) else {
            return Taken::Nothing;
        };
        let mut failed = false;
        match &step.op {
            Op::Lock { name } if self.locks.contains_key(name.as_str()) => {
                return Taken::Nothing;
            }
            Op::Lock { name } => {
                self.locks.insert(name, worker);
            }
            Op::Unlock { name } => {
                if self.locks.get(name.as_str()) == Some(&worker) {
                    self.locks.remove(name.as_str());
                }
            }
            Op::Barrier { name, n } => self.arrive(worker, name, *n),
            Op::Label { .. } => {}
            Op::Panic { .. } => self.stop(worker),
            _ => {
                failed = self.call(schedule, worker, program, step);
            }
        }
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.next = worker.next.max(next + 1);
        }
        Taken::Step { at, failed }
    }

    fn arrive(&mut self, worker: usize, name: &'a str, n: u64) {
        let arrived = self.barriers.entry(name).or_default();
        if arrived.len() as u64 + 1 < n {
            arrived.insert(worker);
            if let Some(worker) = self.workers.get_mut(worker) {
                worker.arrived = true;
            }
            return;
        }
        for other in self.barriers.remove(name).unwrap_or_default() {
            if let Some(other) = self.workers.get_mut(other) {
                other.arrived = false;
            }
        }
    }

    /// Runs a driver call; `true` if it was an allocation that failed.
    fn call(&mut self, schedule: &Schedule, worker: usize, program: &[usize], step: &Step) -> bool {
        let outcome = self.machine.apply(step);
        let refused = match step.op {
            Op::MemGetInfo {
                need: Some(need),
                margin,
            } => outcome.free < need.saturating_add(margin.unwrap_or(0)),
            _ => false,
        };
        if outcome.rc == 0 && !refused {
            return false;
        }
        match &step.on_error {
            OnError::Ignore => {}
            OnError::Abort => self.stop(worker),
            OnError::Fallback(label) => self.seek(schedule, worker, program, label),
        }
        matches!(step.op, Op::Malloc { .. } | Op::MallocAsync { .. })
    }

    /// Goes on at a label; a worker that finds none comes to its end.
    fn seek(&mut self, schedule: &Schedule, worker: usize, program: &[usize], label: &str) {
        let Some(state) = self.workers.get_mut(worker) else {
            return;
        };
        let is_label = |at: &usize| match schedule.steps.get(*at) {
            Some(Step {
                op: Op::Label { name },
                ..
            }) => name == label,
            _ => false,
        };
        let rest = program.iter().skip(state.next).position(is_label);
        state.next = rest.map_or(program.len(), |offset| state.next + offset);
    }

    /// A worker stops and lets go of its locks.
    fn stop(&mut self, worker: usize) {
        self.locks.retain(|_, holder| *holder != worker);
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.stopped = true;
        }
    }
}
