//! Latest ends: when each step would have to be over at the latest, microseconds.

use std::collections::BTreeMap;

use tracefmt::run::{At, Run, Task};

use crate::interval::{Reconstruction, sane};

/// Two events this close belong together: a slot that one synthesis leaves and the next takes.
pub(super) const TOGETHER_US: i64 = 20_000;

/// From one index to another, for the million of them: four bytes each.
#[derive(Debug, Default)]
pub(super) struct Links(Vec<u32>);

impl Links {
    fn none(count: usize) -> Self {
        Self(vec![u32::MAX; count])
    }

    pub(super) fn get(&self, index: usize) -> Option<u32> {
        self.0.get(index).copied().filter(|to| *to != u32::MAX)
    }

    fn set(&mut self, index: usize, to: Option<u32>) {
        if let Some(slot) = self.0.get_mut(index) {
            *slot = to.unwrap_or(u32::MAX);
        }
    }
}

/// Latest ends of all steps, and who follows whom.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// Latest end of the whole call, indexed as the holds.
    pub(super) finish: Vec<i64>,
    /// Latest release of the lock, indexed as the holds.
    pub(super) hold: Vec<i64>,
    /// Latest request of the lock, indexed as the holds.
    pub(super) before: Vec<i64>,
    /// Latest end of synthesis, indexed as the tasks.
    pub(super) synthesis: Vec<i64>,
    /// The hold before on the same worker, indexed as the holds.
    pub(super) worker_before: Links,
    /// The synthesis whose slot a task took, indexed as the tasks.
    pub(super) slot_before: Links,
    /// The hold of a task's last call.
    pub(super) hold_of: Links,
    /// Ends of calls with their holds, in order of time.
    ended: Vec<(i64, u32)>,
}

/// Stands for what the log does not give.
const NEVER: i64 = i64::MAX;

/// What is wanted of the calls, gathered in one pass: a long run has hundreds of megabytes of tasks
/// and calls. All are indexed as the holds, but `hold_of` as the tasks.
struct Calls {
    worker_before: Links,
    hold_of: Links,
}

impl Calls {
    fn of(run: &Run, all: &Reconstruction, tick: i64) -> Self {
        let mut calls = Self {
            worker_before: Links::none(all.holds.len()),
            hold_of: Links::none(run.tasks.len()),
        };
        // By number: a log may call a worker anything, and then a list of all numbers has no room.
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        for (index, hold) in (0_u32..).zip(&all.holds) {
            let Some(call) = run.calls.get(hold.call as usize) else {
                continue;
            };
            calls.hold_of.set(call.task as usize, Some(index));
            let before = call.worker.and_then(|worker| last.insert(worker, index));
            // Only where workers prove one call at a time.
            let before = before.filter(|before| {
                let over = all
                    .holds
                    .get(*before as usize)
                    .and_then(|hold| hold.over.us());
                over.is_some_and(|over| over <= hold.ready + tick)
            });
            calls.worker_before.set(index as usize, before);
        }
        calls
    }
}

impl Late {
    /// `tick` is the step of the log's clock, microseconds; 0 where it is exact.
    pub(super) fn of(run: &Run, all: &Reconstruction, tick: i64) -> Self {
        let syntheses = || {
            let times: Vec<(i64, i64)> = run.tasks.iter().map(synthesis).collect();
            (slot_before(&times, tick), times)
        };
        let (calls, (slot_before, times)) = rayon::join(|| Calls::of(run, all, tick), syntheses);
        let mut ended = Vec::with_capacity(all.holds.len());
        let holds = (0_u32..).zip(&all.holds);
        ended.extend(holds.filter_map(|(index, hold)| Some((hold.over.us()?, index))));
        ended.sort_unstable();
        let mut late = Self {
            worker_before: calls.worker_before,
            hold_of: calls.hold_of,
            slot_before,
            ended,
            ..Self::default()
        };
        let end = all.span.map_or(0, |span| span.end);
        late.fill_calls(all, end);
        late.fill_syntheses(all, &times, end);
        late
    }

    /// The last call that was over by a time: its end and its hold.
    pub(super) fn call_ended_by(&self, us: i64) -> Option<(i64, u32)> {
        let behind = self.ended.partition_point(|(over, _)| *over <= us);
        self.ended.get(behind.checked_sub(1)?).copied()
    }

    fn fill_calls(&mut self, all: &Reconstruction, end: i64) {
        let n = all.holds.len();
        self.finish = vec![end; n];
        self.hold = vec![end; n];
        self.before = vec![end; n];
        for (index, hold) in all.holds.iter().enumerate().rev() {
            let finish = at(&self.finish, index, end);
            let over = hold.over.us();
            let behind = over.map_or(0, |over| (over - hold.released).max(0));
            let mut release = finish.saturating_sub(behind);
            let next = all.holds.get(index + 1).filter(|next| next.gpu == hold.gpu);
            if let Some(next) = next.filter(|next| next.locked()) {
                let latest = at(&self.hold, index + 1, end);
                release = release.min(latest.saturating_sub(next.released - next.acquired));
            }
            let request = release.saturating_sub(hold.released - hold.acquired);
            set(&mut self.hold, index, release);
            set(&mut self.before, index, request);
            let before = self.worker_before.get(index);
            if let Some(before) = before {
                let ready = request.saturating_sub(hold.request - hold.ready);
                let slot = at(&self.finish, before as usize, end);
                set(&mut self.finish, before as usize, slot.min(ready));
            }
        }
    }

    fn fill_syntheses(&mut self, all: &Reconstruction, times: &[(i64, i64)], end: i64) {
        self.synthesis = vec![end; times.len()];
        for (index, (from, to)) in times.iter().enumerate().rev() {
            let own = self.hold_of.get(index);
            let hold = own.and_then(|hold| Some((hold, all.holds.get(hold as usize)?)));
            let mut latest = at(&self.synthesis, index, end);
            if let Some((at_hold, hold)) = hold {
                let request = at(&self.before, at_hold as usize, end);
                latest = latest.min(request.saturating_sub(hold.request - hold.ready));
                set(&mut self.synthesis, index, latest);
            }
            let before = self.slot_before.get(index);
            if let Some(before) = before.filter(|_| *from != NEVER && *to != NEVER) {
                let slot = at(&self.synthesis, before as usize, end);
                let latest = latest.saturating_sub(to - from);
                set(&mut self.synthesis, before as usize, slot.min(latest));
            }
        }
    }
}

fn at(list: &[i64], index: usize, otherwise: i64) -> i64 {
    list.get(index).copied().unwrap_or(otherwise)
}

fn set(list: &mut [i64], index: usize, us: i64) {
    if let Some(slot) = list.get_mut(index) {
        *slot = us;
    }
}

/// Start and end of a task's synthesis, [`NEVER`] where the log does not say.
fn synthesis(task: &Task) -> (i64, i64) {
    let us = |at: Option<At>| at.map_or(NEVER, |at| sane(at.us));
    (us(task.synth_start), us(task.synth_end))
}

/// Matches each start of a synthesis with the latest end right before it that is not taken yet.
///
/// On a clock with a coarse `tick` an end may be printed that much behind the start that it allows;
/// one shorter than a tick still comes before what it allows, so that no chain leads in a circle.
fn slot_before(times: &[(i64, i64)], tick: i64) -> Links {
    let sorted = |us: fn(&(i64, i64), i64) -> Option<i64>| {
        let mut known: Vec<(i64, u32)> = Vec::with_capacity(times.len());
        let all = (0_u32..).zip(times);
        known.extend(all.filter_map(|(index, times)| Some((us(times, tick)?, index))));
        known.sort_unstable();
        known
    };
    let start = |times: &(i64, i64), _: i64| Some(times.0).filter(|us| *us != NEVER);
    let left = |(start, end): &(i64, i64), tick: i64| {
        let known = *start != NEVER && *end != NEVER;
        known.then(|| (end - tick).max(start + 1))
    };
    let (starts, ends) = rayon::join(|| sorted(start), || sorted(left));
    let mut before = Links::none(times.len());
    let (mut from, mut free) = (0, Vec::new());
    for (start, index) in starts {
        while let Some(end) = ends.get(from).filter(|(us, _)| *us <= start) {
            free.push(*end);
            from += 1;
        }
        let last = free
            .pop()
            .filter(|(us, _)| start - us <= TOGETHER_US + tick);
        before.set(index as usize, last.map(|(_, task)| task));
        if last.is_none() {
            free.clear();
        }
    }
    before
}
