//! The durations that a run prints, phase by phase, in recorded order.

use std::collections::BTreeMap;

use tracefmt::phase::{KnownPhase, Spent, each_of, on_device, residual_ms, synthesis};
use tracefmt::run::{MarkKind, Run};

/// All durations of a run by phase, milliseconds, each list in recorded order.
pub fn durations(run: &Run) -> BTreeMap<String, Vec<f64>> {
    let mut known = vec![Vec::new(); KnownPhase::COUNT];
    let mut own: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    each_duration(run, |name, ms, _| match name {
        Name::Known(phase) => known[phase.index()].push(ms.as_f64()),
        Name::Own(name) => match own.get_mut(name) {
            Some(list) => list.push(ms.as_f64()),
            None => {
                own.insert(name.to_owned(), vec![ms.as_f64()]);
            }
        },
    });
    for (phase, list) in KnownPhase::all().zip(known) {
        if !list.is_empty() {
            own.entry(phase.name().to_owned()).or_default().extend(list);
        }
    }
    own
}

/// Name of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name<'a> {
    /// Of the trace language.
    Known(KnownPhase),
    /// Of our own traces.
    Own(&'a str),
}

impl<'a> Name<'a> {
    pub(super) fn of(name: &'a str) -> Self {
        KnownPhase::find(name).map_or(Self::Own(name), Self::Known)
    }
}

/// A duration as its line gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Length {
    /// Whole milliseconds.
    Ms(u32),
    /// Milliseconds with a fraction.
    Exact(f64),
}

impl Length {
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Ms(ms) => f64::from(ms),
            Self::Exact(ms) => ms,
        }
    }
}

/// Where a duration was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Index into [`Run::calls`].
    Call(u32),
    /// Index into [`Run::tasks`]; what is measured is the worker's.
    Task(u32),
    /// Nobody, or no worker.
    None,
}

/// Calls `each` with every duration of a run.
pub(super) fn each_duration<'a>(run: &'a Run, mut each: impl FnMut(Name<'a>, Length, Owner)) {
    let length = |spent: Spent| match spent {
        Spent::Ms(ms) => u32::try_from(ms).ok().map(Length::Ms),
        Spent::Us(us) => (us >= 0).then(|| Length::Exact(spent.ms())),
    };
    for (index, task) in (0_u32..).zip(&run.tasks) {
        if let Some(length) = synthesis(run, task).and_then(length) {
            each(Name::Known(KnownPhase::SYNTH), length, Owner::None);
        }
        if let Some(length) = on_device(run, task).and_then(length) {
            each(Name::Known(KnownPhase::GPU_MS), length, Owner::Task(index));
        }
    }
    for mark in &run.marks {
        let owner = mark.call().map_or(Owner::None, Owner::Call);
        if mark.kind() == MarkKind::Phase {
            let name = Name::of(run.marks.name(&mark));
            each(name, Length::Exact(mark.us() as f64 / 1000.0), owner);
        } else {
            each_of(&run.marks, &mark, |phase, ms| {
                each(Name::Known(phase), Length::Ms(ms), owner);
            });
        }
    }
    // The wait at the barrier where no line prints it: what the parts leave of the total.
    for (index, call) in (0_u32..).zip(0..run.calls.len()) {
        if let Some(ms) = residual_ms(run, call) {
            let barrier = Name::Known(KnownPhase::BARRIER_WAIT);
            each(barrier, Length::Ms(ms), Owner::Call(index));
        }
    }
}
