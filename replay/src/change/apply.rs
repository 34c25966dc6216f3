//! Applying a change: new steps from old ones.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::ops::{Header, Op, Schedule, Step, Truth};

use super::{Change, FreeAt};
use crate::life::{Ahead, Buffer, Life};
use crate::run::{Options, Record, got};
use crate::vram::Profile;

/// A changed schedule, and where its steps come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The new schedule, without recorded answers of the driver.
    pub schedule: Schedule,
    /// For each step, which step of the first schedule it was; none for an added one.
    pub origin: Vec<Option<usize>>,
}

/// How often a free is moved anew because more of the schedule runs than before.
const FREE_ROUNDS_MAX: u32 = 16;

/// Worker, job and partition.
type Task = (Option<u32>, Option<String>, Option<u32>);

/// Steps with their origin.
type Steps = Vec<(Option<usize>, Step)>;

impl Changed {
    /// The schedule as it is, but for the recorded answers of the driver. Who got which lock
    /// stays, since the order does.
    pub fn unchanged(schedule: &Schedule) -> Self {
        let mut schedule = Schedule::new(schedule.header.clone(), schedule.steps.clone());
        for step in schedule.steps.iter_mut().filter(|step| !got(step)) {
            step.set_truth(Truth::default());
        }
        let origin = (0..schedule.steps.len()).map(Some).collect();
        Self { schedule, origin }
    }

    /// Whether it is the schedule that it was made from, recorded answers aside.
    pub fn is_still(&self, schedule: &Schedule) -> bool {
        let origins = (0..schedule.steps.len()).map(Some);
        let same = |(new, old): (&Step, &Step)| new.op == old.op;
        Header {
            driver: schedule.header.driver.clone(),
            ..self.schedule.header.clone()
        } == schedule.header
            && self.origin.iter().copied().eq(origins)
            && self.schedule.steps.iter().zip(&schedule.steps).all(same)
    }

    /// One more change.
    #[must_use]
    pub fn then(mut self, change: &Change, profile: Profile) -> Self {
        match change {
            Change::Driver(driver) => driver.name.clone_into(&mut self.schedule.header.driver),
            Change::Vram(bytes) => {
                for gpu in &mut self.schedule.header.gpus {
                    gpu.capacity = *bytes;
                }
            }
            Change::Baseline(bytes) => {
                for gpu in &mut self.schedule.header.gpus {
                    gpu.baseline = *bytes;
                }
            }
            Change::Margin(bytes) => {
                for step in &mut self.schedule.steps {
                    if let Op::MemGetInfo {
                        need: Some(_),
                        margin,
                    } = &mut step.op
                    {
                        *margin = Some(Box::new(*bytes));
                    }
                }
            }
            Change::OneWorker => return self.one_worker(),
            Change::Sync => return self.before_partitions(&[Op::CtxSync]),
            Change::SyncOften => return self.before_allocations(&[Op::CtxSync]),
            Change::TrimOften => {
                return self.before_allocations(&[Op::CtxSync, Op::Trim { keep: 0 }]);
            }
            Change::Trim => {
                return self.before_partitions(&[Op::CtxSync, Op::Trim { keep: 0 }]);
            }
            Change::Free { buf, at } => {
                // A free in time lets ops run that did not before, with buffers of their own.
                for _round in 0..FREE_ROUNDS_MAX {
                    let before = self.schedule.steps.len();
                    let old = self.origin.clone();
                    self = self.free_earlier(buf, at, profile);
                    if self.schedule.steps.len() == before && self.origin == old {
                        break;
                    }
                }
            }
        }
        self
    }

    fn steps(&self) -> impl Iterator<Item = (Option<usize>, &Step)> {
        self.origin.iter().copied().zip(&self.schedule.steps)
    }

    fn with(mut self, steps: Steps) -> Self {
        (self.origin, self.schedule.steps) = steps.into_iter().unzip();
        self
    }

    /// One partition after the other. Barriers between workers would wait for ever: they go. Who
    /// got a lock in the recorded order is to wait for it in this one.
    fn one_worker(self) -> Self {
        let mut groups: BTreeMap<Task, usize> = BTreeMap::new();
        let mut steps: Vec<(usize, Option<usize>, Step)> = Vec::new();
        for (origin, step) in self.steps() {
            if matches!(step.op, Op::Barrier { .. }) {
                continue;
            }
            let key = (step.worker, step.job().map(str::to_owned), step.partition());
            let next = groups.len();
            let group = *groups.entry(key).or_insert(next);
            let mut step = step.clone();
            step.set_truth(Truth::default());
            steps.push((group, origin, step));
        }
        steps.sort_by_key(|(group, _, _)| *group);
        let steps = steps.into_iter().map(|(_, origin, step)| (origin, step));
        let steps = steps.collect();
        self.with(steps)
    }

    /// Puts ops before every allocation.
    fn before_allocations(self, ops: &[Op]) -> Self {
        let mut steps = Steps::new();
        for (origin, step) in self.steps() {
            if matches!(step.op, Op::Malloc { .. } | Op::MallocAsync { .. }) {
                steps.extend(ops.iter().map(|op| (None, like(step, op.clone()))));
            }
            steps.push((origin, step.clone()));
        }
        self.with(steps)
    }

    /// Puts ops before the first allocation of every partition.
    fn before_partitions(self, ops: &[Op]) -> Self {
        let mut last: BTreeMap<Option<u32>, (Option<String>, Option<u32>)> = BTreeMap::new();
        let mut steps = Steps::new();
        for (origin, step) in self.steps() {
            if matches!(step.op, Op::Malloc { .. } | Op::MallocAsync { .. }) {
                let partition = (step.job().map(str::to_owned), step.partition());
                if last.insert(step.worker, partition.clone()) != Some(partition) {
                    steps.extend(ops.iter().map(|op| (None, like(step, op.clone()))));
                }
            }
            steps.push((origin, step.clone()));
        }
        self.with(steps)
    }

    /// Moves the frees of named buffers, and adds them where there were none.
    fn free_earlier(self, buf: &str, at: &FreeAt, profile: Profile) -> Self {
        let record = Record::of(&self.schedule, &Options::hypothetical(profile));
        let life = Life::of(&self.schedule, &record);
        let mut dropped: BTreeSet<usize> = BTreeSet::new();
        let mut added: BTreeMap<usize, Vec<Step>> = BTreeMap::new();
        for buffer in &life.buffers {
            let Some(made) = self.schedule.steps.get(buffer.at) else {
                continue;
            };
            let named = buf == "*" || made.buf() == Some(buf);
            let place = if named {
                self.place(buffer, at, &record)
            } else {
                None
            };
            if let Some(place) = place {
                let freed = buffer
                    .freed
                    .and_then(|freed| Some(record.ran.get(freed)?.at));
                dropped.extend(freed.or(buffer.ahead.and_then(|ahead| ahead.freed)));
                let free = like(made, Op::Free { id: buffer.id });
                added.entry(place).or_default().push(free);
            }
        }
        let mut steps = Steps::new();
        for (index, (origin, step)) in self.steps().enumerate() {
            if !dropped.contains(&index) {
                steps.push((origin, step.clone()));
            }
            let here = added.remove(&index).unwrap_or_default();
            steps.extend(here.into_iter().map(|free| (None, free)));
        }
        self.with(steps)
    }

    /// The step after which a buffer is freed; none to leave it as it is.
    fn place(&self, buffer: &Buffer, at: &FreeAt, record: &Record) -> Option<usize> {
        let step_at = |place: usize| record.ran.get(place).map(|ran| ran.at);
        let after = if let Some(ahead) = buffer.ahead {
            let ran = ran_place(buffer, at).filter(|_| ahead.used.is_none());
            let ran = ran.and_then(step_at);
            self.place_ahead(buffer, ahead, at).or(ran)?
        } else {
            let place = match at {
                FreeAt::After(name) => {
                    let end = buffer.freed.unwrap_or(record.ran.len());
                    let mut places = (buffer.made..end).rev();
                    places.find(|place| self.is_launch(step_at(*place), name, buffer))?
                }
                _ => ran_place(buffer, at)?,
            };
            if buffer.freed.is_some_and(|freed| freed <= place) {
                return None;
            }
            step_at(place)?
        };
        let freed = buffer.freed.and_then(step_at);
        let freed = freed.or(buffer.ahead.and_then(|ahead| ahead.freed));
        let between = freed.and_then(|freed| self.schedule.steps.get(after + 1..freed));
        let is_free = |step: &Step| matches!(step.op, Op::Free { .. });
        // Already where it should be.
        let there = between.is_some_and(|steps| steps.iter().all(is_free));
        (!there).then_some(after)
    }

    /// The same of a buffer whose owner stopped before: a step that did not run.
    fn place_ahead(&self, buffer: &Buffer, ahead: Ahead, at: &FreeAt) -> Option<usize> {
        match at {
            FreeAt::LastUse => ahead.used,
            FreeAt::BeforeUnlock => ahead.unlock?.checked_sub(1),
            FreeAt::After(name) => {
                let end = ahead.freed.unwrap_or(self.schedule.steps.len());
                let mut steps = (buffer.at..end).rev();
                steps.find(|step| self.is_launch(Some(*step), name, buffer))
            }
        }
    }

    /// Whether a step is a launch of this name by the worker that made a buffer.
    fn is_launch(&self, step: Option<usize>, name: &str, buffer: &Buffer) -> bool {
        let step = step.and_then(|step| self.schedule.steps.get(step));
        step.is_some_and(|step| {
            matches!(step.op, Op::Launch(_))
                && step.worker.unwrap_or(0) == buffer.worker
                && step.buf() == Some(name)
        })
    }
}

/// The place of the run after which a buffer is freed.
fn ran_place(buffer: &Buffer, at: &FreeAt) -> Option<usize> {
    match at {
        FreeAt::LastUse => buffer.used,
        FreeAt::BeforeUnlock => buffer.unlocked?.checked_sub(1),
        FreeAt::After(_) => None,
    }
}

/// A step of the same worker, thread, job, partition and card.
fn like(step: &Step, op: Op) -> Step {
    let mut new = Step::new(op);
    new.worker = step.worker;
    new.set_thread(step.thread());
    new.set_job(step.job());
    new.set_partition(step.partition());
    new.gpu = step.gpu;
    new
}
