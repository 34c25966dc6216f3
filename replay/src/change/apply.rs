//! Applying a change: new steps from old ones.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::ops::{Op, Schedule, Step, Truth};

use super::{Change, FreeAt};
use crate::life::{Buffer, Life};
use crate::run::{Options, Record};
use crate::vram::Profile;

/// A changed schedule, and where its steps come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The new schedule, without recorded answers.
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
    /// The schedule as it is, but for the recorded answers.
    pub fn unchanged(schedule: &Schedule) -> Self {
        let mut schedule = Schedule::new(schedule.header.clone(), schedule.steps.clone());
        for step in &mut schedule.steps {
            step.truth = Truth::default();
        }
        let origin = (0..schedule.steps.len()).map(Some).collect();
        Self { schedule, origin }
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
                        *margin = Some(*bytes);
                    }
                }
            }
            Change::OneWorker => return self.one_worker(),
            Change::Sync => return self.before_partitions(&[Op::CtxSync]),
            Change::SyncOften => return self.before_allocations(),
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

    /// One partition after the other. Barriers between workers would wait for ever: they go.
    fn one_worker(self) -> Self {
        let mut groups: BTreeMap<Task, usize> = BTreeMap::new();
        let mut steps: Vec<(usize, Option<usize>, Step)> = Vec::new();
        for (origin, step) in self.steps() {
            if matches!(step.op, Op::Barrier { .. }) {
                continue;
            }
            let key = (step.worker, step.job.clone(), step.partition);
            let next = groups.len();
            let group = *groups.entry(key).or_insert(next);
            steps.push((group, origin, step.clone()));
        }
        steps.sort_by_key(|(group, _, _)| *group);
        let steps = steps.into_iter().map(|(_, origin, step)| (origin, step));
        let steps = steps.collect();
        self.with(steps)
    }

    /// Synchronises the context before every allocation.
    fn before_allocations(self) -> Self {
        let mut steps = Steps::new();
        for (origin, step) in self.steps() {
            if matches!(step.op, Op::Malloc { .. } | Op::MallocAsync { .. }) {
                steps.push((None, like(step, Op::CtxSync)));
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
                let partition = (step.job.clone(), step.partition);
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
            let named = buf == "*" || made.buf.as_deref() == Some(buf);
            let place = if named {
                self.place(buffer, at, &record)
            } else {
                None
            };
            if let Some(place) = place {
                dropped.extend(
                    buffer
                        .freed
                        .and_then(|freed| Some(record.ran.get(freed)?.at)),
                );
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
        let place = match at {
            FreeAt::LastUse => buffer.used?,
            FreeAt::BeforeUnlock => buffer.unlocked?.checked_sub(1)?,
            FreeAt::After(name) => {
                let end = buffer.freed.unwrap_or(record.ran.len());
                let made = self.schedule.steps.get(buffer.at)?;
                (buffer.made..end).rev().find(|place| {
                    let step = step_at(*place).and_then(|at| self.schedule.steps.get(at));
                    step.is_some_and(|step| {
                        matches!(step.op, Op::Launch(_))
                            && step.worker == made.worker
                            && step.buf.as_deref() == Some(name)
                    })
                })?
            }
        };
        if buffer.freed.is_some_and(|freed| freed <= place) {
            return None;
        }
        let after = step_at(place)?;
        let freed = buffer.freed.and_then(step_at);
        let between = freed.and_then(|freed| self.schedule.steps.get(after + 1..freed));
        let is_free = |step: &Step| matches!(step.op, Op::Free { .. });
        // Already where it should be.
        let there = between.is_some_and(|steps| steps.iter().all(is_free));
        (!there).then_some(after)
    }
}

/// A step of the same worker, thread, job, partition and card.
fn like(step: &Step, op: Op) -> Step {
    let mut new = Step::new(op);
    new.worker = step.worker;
    new.thread = step.thread;
    new.job.clone_from(&step.job);
    new.partition = step.partition;
    new.gpu = step.gpu;
    new
}
