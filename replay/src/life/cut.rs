//! Where a schedule says only what came of a failure.
//!
//! A trace of a run in which a call failed shows the way around it and never the way that was not
//! taken. Such an op goes, when it fails, to a label right behind it, and nothing that follows
//! uses or frees what it makes. If it succeeds under other rules, nothing is known of what would
//! have come next; and where its partition did no more work, or freed what it held and began anew,
//! the last recorded use of a buffer need not be its last.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::ops::{OnError, Op, Schedule, Step};

use super::{Buffer, Life};
use crate::run::{Ran, Record};

/// Worker, job and partition.
type Task<'a> = (u32, Option<&'a str>, Option<u32>);

/// What a step does: the name of its op and of what it is about.
type Kind<'a> = (&'a str, Option<&'a str>);

/// What is not recorded beyond the failures of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// Steps whose success was never recorded.
    steps: BTreeSet<usize>,
}

impl Cuts {
    /// Finds them in a schedule.
    pub(crate) fn of(schedule: &Schedule) -> Self {
        let mut cuts = Self::default();
        let falls = |step: &Step| matches!(step.on_error(), OnError::Fallback(_));
        if !schedule.steps.iter().any(falls) {
            return cuts;
        }
        // Read from the end: what each worker does next, which ids are still named.
        let mut next: BTreeMap<u32, &Step> = BTreeMap::new();
        let mut named: BTreeSet<(u32, u64)> = BTreeSet::new();
        for (at, step) in schedule.steps.iter().enumerate().rev() {
            let gpu = step.gpu.unwrap_or(0);
            let makes = matches!(step.op, Op::Malloc { .. } | Op::MallocAsync { .. });
            let is_named = step.op.id().is_some_and(|id| named.contains(&(gpu, id)));
            let after = next.insert(step.worker.unwrap_or(0), step);
            let goes_on = after.is_some_and(|after| match (step.on_error(), &after.op) {
                (OnError::Fallback(label), Op::Label { name }) => label == name,
                _ => false,
            });
            if goes_on && !(makes && is_named) {
                cuts.steps.insert(at);
            }
            match (&step.op, step.op.id()) {
                (_, Some(id)) if makes => {
                    named.remove(&(gpu, id));
                }
                (_, Some(id)) => {
                    named.insert((gpu, id));
                }
                (Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work), None) => {
                    named.extend(work.ids().map(|id| (gpu, id)));
                }
                _ => {}
            }
        }
        cuts
    }

    /// Whether what comes after a step succeeded was never recorded.
    pub(crate) fn is_cut(&self, at: usize) -> bool {
        self.steps.contains(&at)
    }

    /// The steps of a run that succeeded and whose success was never recorded.
    pub(crate) fn passed(&self, record: &Record) -> impl Iterator<Item = usize> {
        let passed = record.ran.iter();
        let passed = passed.filter(|ran| ran.outcome.rc == 0 && self.is_cut(ran.at));
        passed.map(|ran| ran.at)
    }

    /// Takes back last uses that need not be the last: those of partitions that were cut, or that
    /// began anew, unless one that got past the same kind of step used its buffer of this name last
    /// in an op of the same name.
    pub(super) fn forget_uses(&self, schedule: &Schedule, record: &Record, life: &mut Life) {
        if self.steps.is_empty() {
            return;
        }
        let used_by = |buffer: &Buffer| {
            let ran = record.ran.get(buffer.used?)?;
            schedule.steps.get(ran.at)?.buf()
        };
        let cut = self.cut_short(schedule, record, life);
        let got_past = self.got_past(schedule, record, &cut);
        // Names of buffers with the op that used them last, and what their partition got past.
        let mut known: BTreeSet<(&str, &str, Kind<'_>)> = BTreeSet::new();
        for (index, buffer) in life.buffers.iter().enumerate() {
            let made = schedule.steps.get(buffer.at);
            let name = made.and_then(|made| made.buf());
            let pair = name.zip(used_by(buffer));
            if let (Some(made), Some((name, by)), None) = (made, pair, cut.get(&index)) {
                let kinds = got_past.get(&task(made)).into_iter().flatten();
                known.extend(kinds.map(|kind| (name, by, *kind)));
            }
        }
        for (index, kind) in cut {
            if let Some(buffer) = life.buffers.get_mut(index) {
                let made = schedule.steps.get(buffer.at);
                let name = made.and_then(|step| step.buf());
                let same = name.zip(used_by(buffer));
                let is_known = same.is_some_and(|(name, by)| known.contains(&(name, by, kind)));
                buffer.used = buffer.used.filter(|_| is_known);
            }
        }
    }

    /// For each partition the kinds of step that cut others and that it got past: one that was
    /// given up before shows no more of what would have come than they do.
    fn got_past<'s>(
        &self,
        schedule: &'s Schedule,
        record: &Record,
        cut: &BTreeMap<usize, Kind<'_>>,
    ) -> BTreeMap<Task<'s>, BTreeSet<Kind<'s>>> {
        let fatal: BTreeSet<Kind<'_>> = cut.values().copied().collect();
        let mut past: BTreeMap<Task<'_>, BTreeSet<Kind<'_>>> = BTreeMap::new();
        let passed = |ran: &&Ran| ran.outcome.rc == 0 && !self.is_cut(ran.at);
        for ran in record.ran.iter().filter(passed) {
            if let Some(step) = schedule.steps.get(ran.at)
                && fatal.contains(&kind(step))
            {
                past.entry(task(step)).or_default().insert(kind(step));
            }
        }
        past
    }

    /// The buffers of partitions that were cut, and those that a partition gave up to begin anew:
    /// all that it held at a failed step was freed before it did any more work. With the kind of
    /// the step.
    fn cut_short<'s>(
        &self,
        schedule: &'s Schedule,
        record: &Record,
        life: &Life,
    ) -> BTreeMap<usize, Kind<'s>> {
        let ran = |place: usize| schedule.steps.get(record.ran.get(place)?.at);
        let whose = |buffer: &Buffer| schedule.steps.get(buffer.at).map(task);
        let (mut made, mut freed) = (BTreeSet::new(), BTreeMap::new());
        let known = |(_, buffer): &(usize, &Buffer)| !buffer.unrecorded;
        for (index, buffer) in life.buffers.iter().enumerate().filter(known) {
            made.insert(buffer.made);
            freed.extend(buffer.freed.map(|place| (place, index)));
        }
        let mut tasks: BTreeMap<Task<'_>, Held<'_>> = BTreeMap::new();
        let mut cut = BTreeMap::new();
        for (place, one) in record.ran.iter().enumerate() {
            let Some(step) = ran(place) else { continue };
            let held = tasks.entry(task(step)).or_default();
            if is_work(step) {
                cut.extend(held.works_on());
            }
            if self.is_cut(one.at) {
                held.failed.get_or_insert(kind(step));
            }
            held.live += u64::from(made.contains(&place));
            if let Some(index) = freed.get(&place)
                && let Some(of) = life.buffers.get(*index).and_then(whose)
            {
                tasks.entry(of).or_default().frees(*index);
            }
        }
        for (index, buffer) in life.buffers.iter().enumerate().filter(known) {
            if buffer.freed.is_none()
                && let Some(held) = whose(buffer).and_then(|of| tasks.get_mut(&of))
            {
                held.frees(index);
            }
        }
        cut.extend(tasks.values_mut().flat_map(Held::works_on));
        cut
    }
}

/// Whether a step makes or uses memory.
fn is_work(step: &Step) -> bool {
    matches!(
        step.op,
        Op::Malloc { .. }
            | Op::MallocAsync { .. }
            | Op::Launch(_)
            | Op::CopyHtoD(_)
            | Op::CopyDtoH(_)
    )
}

/// What a partition holds as the run goes on.
#[derive(Debug, Default)]
struct Held<'a> {
    /// How many buffers.
    live: u64,
    /// The failed step that it has done no work since.
    failed: Option<Kind<'a>>,
    /// What it freed since then.
    given_up: Vec<usize>,
}

impl<'a> Held<'a> {
    fn frees(&mut self, index: usize) {
        self.live = self.live.saturating_sub(1);
        if self.failed.is_some() {
            self.given_up.push(index);
        }
    }

    /// What it gave up, if that is all that it had at the failed step, with the kind of that.
    fn works_on(&mut self) -> impl Iterator<Item = (usize, Kind<'a>)> + use<'a> {
        let given_up = std::mem::take(&mut self.given_up);
        let failed = self.failed.take().filter(|_| self.live == 0);
        let all = failed.map(|kind| given_up.into_iter().map(move |index| (index, kind)));
        all.into_iter().flatten()
    }
}

fn kind(step: &Step) -> Kind<'_> {
    (step.op.name(), step.buf())
}

fn task(step: &Step) -> Task<'_> {
    (step.worker.unwrap_or(0), step.job(), step.partition())
}
