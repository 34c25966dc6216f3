//! A state of exploration: where each worker is, who holds what, what the cards hold.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use tracefmt::ops::{OnError, Op, Step};

use super::plan::Plan;
use crate::run::{Held, refuses};
use crate::vram::{Machine, Profile};

/// What a worker did in one move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Move {
    /// How many steps it took; with none it cannot go on: it waits, or has no op left.
    pub(super) steps: usize,
    /// Whether the last of them was an allocation that failed.
    pub(super) failed: bool,
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
    /// By worker; only in plans that unwind.
    held: Held<usize>,
    /// Whether something was used or freed on the way that was freed before.
    misused: bool,
}

impl<'a> State<'a> {
    pub(super) fn new(plan: &Plan<'a>, profile: Profile) -> Self {
        Self {
            machine: Machine::new(profile, &plan.schedule.header),
            workers: vec![Worker::default(); plan.programs.len()],
            locks: BTreeMap::new(),
            barriers: BTreeMap::new(),
            held: Held::default(),
            misused: false,
        }
    }

    /// Whether something was used or freed on the way that was freed before.
    pub(super) fn is_misused(&self) -> bool {
        self.misused
    }

    /// A name for the state, the same for states that go on alike.
    pub(super) fn fingerprint(&self) -> u128 {
        let mut hasher = Twice(DefaultHasher::new(), DefaultHasher::new());
        hasher.1.write_u64(1);
        self.machine.hash(&mut hasher);
        self.workers.hash(&mut hasher);
        self.locks.hash(&mut hasher);
        self.barriers.hash(&mut hasher);
        self.held.hash(&mut hasher);
        self.misused.hash(&mut hasher);
        u128::from(hasher.0.finish()) << 64 | u128::from(hasher.1.finish())
    }

    /// Roughly how many bytes it takes.
    pub(super) fn size_bytes(&self) -> usize {
        let small = self.workers.len() * size_of::<Worker>() + self.held.size_bytes();
        size_of::<Self>() + small + self.locks.len() * 64 + self.machine.size_bytes()
    }

    /// Whether these workers have stopped or come to their end.
    pub(super) fn is_over(&self, plan: &Plan<'a>, workers: &[usize]) -> bool {
        workers.iter().all(|&worker| {
            let Some(state) = self.workers.get(worker) else {
                return true;
            };
            let left = plan.step(worker, state.next).is_some();
            state.stopped || (!state.arrived && !left)
        })
    }

    /// Whether a worker can take a step.
    pub(super) fn can_move(&self, plan: &Plan<'a>, worker: usize) -> bool {
        let Some(state) = self.workers.get(worker) else {
            return false;
        };
        let step = plan.step(worker, state.next);
        let free = |step: &Step| match &step.op {
            Op::Lock { name } => !self.locks.contains_key(&**name),
            _ => true,
        };
        !state.arrived && !state.stopped && step.is_some_and(|(_, step)| free(step))
    }

    /// Lets a worker go on: through local ops, up to and with the next one that others can
    /// notice, or until something fails. The steps taken are handed to `taken`.
    pub(super) fn go(
        &mut self,
        plan: &Plan<'a>,
        worker: usize,
        mut taken: impl FnMut(usize),
    ) -> Move {
        let mut made = Move::default();
        while self.can_move(plan, worker) {
            let next = self.workers.get(worker).map_or(0, |state| state.next);
            let Some((at, step)) = plan.step(worker, next) else {
                break;
            };
            made.failed = self.take(plan, worker, next, step);
            made.steps += 1;
            taken(at);
            if made.failed || !plan.is_local(at) {
                break;
            }
        }
        made
    }

    /// Takes one step; `true` if it is an allocation that failed.
    fn take(&mut self, plan: &Plan<'a>, worker: usize, next: usize, step: &'a Step) -> bool {
        self.set_next(worker, next + 1);
        match &step.op {
            Op::Lock { name } => drop(self.locks.insert(name, worker)),
            Op::Unlock { name } => {
                if self.locks.get(&**name) == Some(&worker) {
                    self.locks.remove(&**name);
                }
            }
            Op::Barrier { name, n } => self.arrive(worker, name, *n),
            Op::Label { .. } => {}
            Op::Panic { unwind } => {
                if *unwind {
                    self.held.unwind(worker, step.worker, &mut self.machine);
                }
                self.stop(worker);
            }
            _ => return self.call(plan, worker, next, step),
        }
        false
    }

    fn set_next(&mut self, worker: usize, next: usize) {
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.next = next;
        }
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
    fn call(&mut self, plan: &Plan<'a>, worker: usize, next: usize, step: &Step) -> bool {
        self.misused |= self.misuses(plan, step);
        let outcome = self.machine.apply(step);
        if plan.unwinds {
            self.held.track(worker, step, outcome.rc);
        }
        if outcome.rc == 0 && !refuses(step, outcome) {
            return false;
        }
        match step.on_error() {
            OnError::Ignore => {}
            OnError::Abort => self.stop(worker),
            OnError::Fallback(label) => self.set_next(worker, plan.seek(worker, next, label)),
        }
        matches!(step.op, Op::Malloc { .. } | Op::MallocAsync { .. })
    }

    /// Whether a step uses or frees what was freed before.
    fn misuses(&self, plan: &Plan<'a>, step: &Step) -> bool {
        let gpu = step.gpu.unwrap_or(0);
        let is_gone = |id: u64| {
            plan.owner(gpu, id).is_some_and(|(owner, behind)| {
                let made = self
                    .workers
                    .get(owner)
                    .is_some_and(|owner| owner.next >= behind);
                let device = self.machine.device(gpu);
                made && device.is_some_and(|device| !device.is_live(id))
            })
        };
        match &step.op {
            Op::Free { id } | Op::FreeAsync { id, .. } => is_gone(*id),
            Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) => work.ids().any(is_gone),
            _ => false,
        }
    }

    /// A worker stops and lets go of its locks.
    fn stop(&mut self, worker: usize) {
        self.locks.retain(|_, holder| *holder != worker);
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.stopped = true;
        }
    }
}

/// Two hashers that see the same, from different beginnings.
struct Twice(DefaultHasher, DefaultHasher);

impl Hasher for Twice {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        self.1.write(bytes);
    }
}
