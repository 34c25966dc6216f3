//! Whether barriers or events keep two workers from coming to two steps at once.

use std::collections::BTreeMap;

use tracefmt::ops::Op;

use crate::check::Scene;

/// What one worker waits for, or lets others go on by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meeting<'a> {
    Barrier(&'a str),
    /// Recorded by one, waited for by another.
    Event(u64),
}

/// The steps of each worker at which it meets others: those that let others go on, and those at
/// which it waits. A barrier is both.
#[derive(Debug, Default)]
pub(super) struct Meetings<'a> {
    signals: BTreeMap<u32, BTreeMap<Meeting<'a>, Vec<usize>>>,
    waits: BTreeMap<u32, BTreeMap<Meeting<'a>, Vec<usize>>>,
}

impl<'a> Meetings<'a> {
    pub(super) fn of(scene: &Scene<'a>) -> Self {
        let mut found = Self::default();
        for (at, step) in scene.schedule.steps.iter().enumerate() {
            let worker = step.worker.unwrap_or(0);
            let (meeting, signals, waits) = match &step.op {
                Op::Barrier { name, .. } => (Meeting::Barrier(name), true, true),
                Op::EventRecord { event, .. } => (Meeting::Event(*event), true, false),
                Op::EventSync { event } => (Meeting::Event(*event), false, true),
                _ => continue,
            };
            for (sides, is_one) in [(&mut found.signals, signals), (&mut found.waits, waits)] {
                if is_one {
                    let of = sides.entry(worker).or_default();
                    of.entry(meeting).or_default().push(at);
                }
            }
        }
        found
    }

    /// Whether one of two steps of two workers always comes before the other.
    pub(super) fn orders(&self, one: (u32, usize), other: (u32, usize)) -> bool {
        self.puts_before(one, other) || self.puts_before(other, one)
    }

    /// Whether a worker waits, before its step, for what another does behind its own: round by
    /// round, as often as each has been there.
    fn puts_before(&self, (one, at): (u32, usize), (other, later): (u32, usize)) -> bool {
        let (Some(signals), Some(waits)) = (self.signals.get(&one), self.waits.get(&other)) else {
            return false;
        };
        waits.iter().any(|(meeting, waits)| {
            let signals = signals.get(meeting).map_or(&[][..], Vec::as_slice);
            let before = signals.partition_point(|step| *step < at);
            before < signals.len() && waits.partition_point(|step| *step < later) > before
        })
    }
}
