//! The state machine of the engine: which partition goes where, when a job is over.
//!
//! No threads, no time of its own, no input or output. Payloads (circuits, states) go in and come
//! out by value; what a transition throws away is returned as [`Leftovers`], since dropping it
//! gives memory back and so takes the lock under which this runs.
//!
//! What always holds (checked by `audit` in tests): a partition is in one place only; the line of
//! partitions is taken from its head only; a job ends once, when no partition of it is left
//! anywhere; reserved memory never exceeds the budget.

mod ending;

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::job::{JobEnd, JobReport, JobSpec, Key, PartState, Priority, SubmitError};

/// Bounds of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Host memory that partitions in flight may hold, bytes.
    pub host_bytes: u64,
    /// Partitions that may wait for synthesis; a submission beyond is refused.
    pub waiting: usize,
    /// Reports of ended jobs that are kept until someone takes them.
    pub reports: usize,
}

/// A partition in the hands of a worker.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) key: Key,
    pub(super) id: Arc<str>,
    /// Set when the job is given up: whoever has the partition lets go of it.
    pub(super) stop: Arc<AtomicBool>,
}

impl Task {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Payloads that a transition threw away; to be dropped outside the lock.
#[derive(Debug)]
#[must_use = "dropping these gives memory back and takes the lock"]
pub(super) struct Leftovers<C, S> {
    pub(super) circuits: Vec<C>,
    pub(super) states: Vec<S>,
}

impl<C, S> Default for Leftovers<C, S> {
    fn default() -> Self {
        Self {
            circuits: Vec::new(),
            states: Vec::new(),
        }
    }
}

/// A part of a partition's way that a worker takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leg {
    /// Synthesis.
    Synthesis,
    /// The device.
    Device,
}

/// Why a worker comes back without what it was to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// A reason of its own.
    Own(String),
    /// The job was given up meanwhile.
    Stopped,
}

#[derive(Debug)]
pub(super) struct Part<P> {
    pub(super) state: PartState,
    pub(super) since_us: u64,
    proof: Option<P>,
}

#[derive(Debug)]
pub(super) struct Job<P> {
    pub(super) id: Arc<str>,
    pub(super) kind: String,
    pub(super) priority: Priority,
    pub(super) parts: Vec<Part<P>>,
    pub(super) submitted_us: u64,
    first_us: Option<u64>,
    synth_us: u64,
    gpu_us: u64,
    /// Why it was given up, if it was.
    given_up: Option<JobEnd>,
    stop: Arc<AtomicBool>,
}

/// How many jobs ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Ended {
    pub(super) verified: u64,
    pub(super) failed: u64,
    pub(super) cancelled: u64,
    pub(super) fallbacks: u64,
}

#[derive(Debug)]
struct Waiting<C> {
    circuit: C,
    bytes: u64,
}

#[derive(Debug)]
pub(super) struct Sched<C, S, P> {
    pub(super) limits: Limits,
    pub(super) used_bytes: u64,
    pub(super) used_bytes_max: u64,
    pub(super) jobs: BTreeMap<u64, Job<P>>,
    waiting: BTreeMap<Key, Waiting<C>>,
    queued: BTreeMap<Key, S>,
    finishing: VecDeque<(Key, S)>,
    reports: BTreeMap<u64, JobReport<P>>,
    news: Vec<(Arc<str>, JobEnd)>,
    pub(super) ended: Ended,
    next: u64,
    closed: bool,
}

impl<C, S, P> Sched<C, S, P> {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            used_bytes: 0,
            used_bytes_max: 0,
            jobs: BTreeMap::new(),
            waiting: BTreeMap::new(),
            queued: BTreeMap::new(),
            finishing: VecDeque::new(),
            reports: BTreeMap::new(),
            news: Vec::new(),
            ended: Ended::default(),
            next: 0,
            closed: false,
        }
    }

    /// Whether a job of this size may come in.
    pub(super) fn admits(&self, spec: &JobSpec<C>, bytes: &[u64]) -> Result<(), SubmitError> {
        let id = || spec.id.clone();
        if self.closed {
            return Err(SubmitError::ShuttingDown { id: id() });
        }
        if spec.circuits.is_empty() {
            return Err(SubmitError::Empty { id: id() });
        }
        if self.number_of(&spec.id).is_some() {
            return Err(SubmitError::Duplicate { id: id() });
        }
        let needed = bytes.iter().copied().max().unwrap_or(0);
        if needed > self.limits.host_bytes {
            return Err(SubmitError::TooLarge {
                id: id(),
                needed,
                total: self.limits.host_bytes,
            });
        }
        let waiting = self.waiting.len();
        if waiting > 0 && waiting + spec.circuits.len() > self.limits.waiting {
            return Err(SubmitError::Full {
                id: id(),
                waiting,
                limit: self.limits.waiting,
            });
        }
        Ok(())
    }

    /// Takes a job in; `bytes` is what each partition will hold.
    pub(super) fn submit(
        &mut self,
        spec: JobSpec<C>,
        bytes: &[u64],
        now_us: u64,
    ) -> Result<u64, SubmitError> {
        self.admits(&spec, bytes)?;
        let number = self.next;
        self.next += 1;
        let part = |_circuit: &C| Part {
            state: PartState::Waiting,
            since_us: now_us,
            proof: None,
        };
        let job = Job {
            id: spec.id.into(),
            kind: spec.kind,
            priority: spec.priority,
            parts: spec.circuits.iter().map(part).collect(),
            submitted_us: now_us,
            first_us: None,
            synth_us: 0,
            gpu_us: 0,
            given_up: None,
            stop: Arc::new(AtomicBool::new(false)),
        };
        let priority = Reverse(job.priority);
        self.jobs.insert(number, job);
        for ((partition, circuit), bytes) in (0..).zip(spec.circuits).zip(bytes) {
            let key = Key {
                priority,
                job: number,
                partition,
            };
            let bytes = *bytes;
            self.waiting.insert(key, Waiting { circuit, bytes });
        }
        Ok(number)
    }

    /// The head of the line, if its memory can be had; it is reserved.
    pub(super) fn start_synth(&mut self, now_us: u64) -> Option<(Task, C, u64)> {
        let (key, head) = self.waiting.first_key_value()?;
        if head.bytes > self.limits.host_bytes.saturating_sub(self.used_bytes) {
            return None;
        }
        let key = *key;
        let Waiting { circuit, bytes } = self.waiting.remove(&key)?;
        self.used_bytes += bytes;
        self.used_bytes_max = self.used_bytes_max.max(self.used_bytes);
        let task = self.enter(key, PartState::Synthesizing, now_us)?;
        Some((task, circuit, bytes))
    }

    /// Memory is free again.
    pub(super) fn release(&mut self, bytes: u64) {
        debug_assert!(bytes <= self.used_bytes, "more given back than was taken");
        self.used_bytes = self.used_bytes.saturating_sub(bytes);
    }

    /// A partition comes back from a worker, and goes to the next line.
    pub(super) fn end_leg(
        &mut self,
        leg: Leg,
        key: Key,
        made: Result<S, Failure>,
        now_us: u64,
    ) -> Leftovers<C, S> {
        let spent = self.spent(key, now_us);
        if let Some(job) = self.jobs.get_mut(&key.job) {
            match leg {
                Leg::Synthesis => job.synth_us += spent,
                Leg::Device => job.gpu_us += spent,
            }
        }
        let state = match made {
            Ok(state) if self.is_wanted(key) => state,
            Ok(state) => return self.skip(key, Some(state), now_us),
            Err(failure) => return self.fail(key, failure, now_us),
        };
        match leg {
            Leg::Synthesis => {
                self.set(key, PartState::Queued, now_us);
                self.queued.insert(key, state);
            }
            Leg::Device => {
                self.set(key, PartState::Finishing, now_us);
                self.finishing.push_back((key, state));
            }
        }
        Leftovers::default()
    }

    /// The head of the device queue.
    pub(super) fn start_device(&mut self, now_us: u64) -> Option<(Task, S)> {
        let (key, state) = self.queued.pop_first()?;
        let task = self.enter(key, PartState::Proving, now_us)?;
        Some((task, state))
    }

    /// The next partition to put together and check.
    pub(super) fn start_finish(&mut self, now_us: u64) -> Option<(Task, S)> {
        let (key, state) = self.finishing.pop_front()?;
        let task = self.enter(key, PartState::Finishing, now_us)?;
        Some((task, state))
    }

    /// A proof was checked.
    pub(super) fn end_finish(
        &mut self,
        key: Key,
        made: Result<P, Failure>,
        now_us: u64,
    ) -> Leftovers<C, S> {
        match made {
            Ok(proof) if self.is_wanted(key) => {
                let job = self.jobs.get_mut(&key.job);
                let part = job.and_then(|job| job.parts.get_mut(key.partition as usize));
                if let Some(part) = part {
                    part.proof = Some(proof);
                }
                self.set(key, PartState::Verified, now_us);
                self.settle(key.job, now_us);
                Leftovers::default()
            }
            Ok(_) => self.skip(key, None, now_us),
            Err(failure) => self.fail(key, failure, now_us),
        }
    }

    /// Gives a job up; false when no open job has this name, or it is given up already.
    pub(super) fn cancel(&mut self, id: &str, now_us: u64) -> (bool, Leftovers<C, S>) {
        match self.number_of(id) {
            Some(number) if self.is_open(number) => {
                (true, self.give_up(number, JobEnd::Cancelled, now_us))
            }
            _ => (false, Leftovers::default()),
        }
    }

    /// No more jobs; with `now` the open ones are cancelled.
    pub(super) fn close(&mut self, now: bool, now_us: u64) -> Leftovers<C, S> {
        self.closed = true;
        let mut left = Leftovers::default();
        let numbers: Vec<u64> = self.jobs.keys().copied().collect();
        for number in numbers.into_iter().filter(|_| now) {
            if self.is_open(number) {
                let more = self.give_up(number, JobEnd::Cancelled, now_us);
                left.circuits.extend(more.circuits);
                left.states.extend(more.states);
            }
        }
        left
    }

    /// Whether no work will ever come again.
    pub(super) fn is_over(&self) -> bool {
        self.closed && self.jobs.is_empty()
    }

    /// Whether no partition will ever wait for synthesis again.
    pub(super) fn synth_is_over(&self) -> bool {
        self.closed && self.waiting.is_empty()
    }

    /// Takes the report of an ended job.
    pub(super) fn take_report(&mut self, number: u64) -> Option<JobReport<P>> {
        self.reports.remove(&number)
    }

    /// Whether a report can still be expected.
    pub(super) fn expects(&self, number: u64) -> bool {
        self.jobs.contains_key(&number) || self.reports.contains_key(&number)
    }

    /// Partitions that wait for synthesis, for a device, and for their check.
    pub(super) fn lengths(&self) -> [usize; 3] {
        [self.waiting.len(), self.queued.len(), self.finishing.len()]
    }

    /// Jobs that ended since the last call, in the order of their ends.
    pub(super) fn take_news(&mut self) -> Vec<(Arc<str>, JobEnd)> {
        std::mem::take(&mut self.news)
    }

    fn number_of(&self, id: &str) -> Option<u64> {
        let mut jobs = self.jobs.iter();
        jobs.find_map(|(number, job)| (job.id.as_ref() == id).then_some(*number))
    }

    fn is_open(&self, number: u64) -> bool {
        let job = self.jobs.get(&number);
        job.is_some_and(|job| job.given_up.is_none())
    }

    fn is_wanted(&self, key: Key) -> bool {
        self.is_open(key.job)
    }

    fn part(&self, key: Key) -> Option<&Part<P>> {
        self.jobs.get(&key.job)?.parts.get(key.partition as usize)
    }

    fn spent(&self, key: Key, now_us: u64) -> u64 {
        let part = self.part(key);
        part.map_or(0, |part| now_us.saturating_sub(part.since_us))
    }

    fn set(&mut self, key: Key, state: PartState, now_us: u64) {
        let job = self.jobs.get_mut(&key.job);
        if let Some(part) = job.and_then(|job| job.parts.get_mut(key.partition as usize)) {
            debug_assert!(!part.state.is_final(), "a partition ends once");
            part.state = state;
            part.since_us = now_us;
        }
    }

    fn enter(&mut self, key: Key, state: PartState, now_us: u64) -> Option<Task> {
        self.set(key, state, now_us);
        let job = self.jobs.get_mut(&key.job)?;
        job.first_us.get_or_insert(now_us);
        Some(Task {
            key,
            id: Arc::clone(&job.id),
            stop: Arc::clone(&job.stop),
        })
    }
}

#[cfg(test)]
mod tests;
