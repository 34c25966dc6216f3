//! Latest ends: when each step would have to be over at the latest, microseconds.

use std::collections::BTreeMap;

use tracefmt::run::{Run, Task};

use crate::interval::{Hold, Reconstruction, sane};

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
}

impl Late {
    pub(super) fn of(run: &Run, all: &Reconstruction) -> Self {
        let mut late = Self {
            hold_of: Links::none(run.tasks.len()),
            ..Self::default()
        };
        for (index, hold) in (0_u32..).zip(&all.holds) {
            let task = run.calls.get(hold.call as usize).map(|call| call.task);
            if let Some(task) = task {
                late.hold_of.set(task as usize, Some(index));
            }
        }
        late.worker_before = worker_before(run, all);
        late.slot_before = slot_before(&run.tasks);
        let end = all.span.map_or(0, |span| span.end);
        late.fill_calls(run, all, end);
        late.fill_syntheses(run, all, end);
        late
    }

    fn fill_calls(&mut self, run: &Run, all: &Reconstruction, end: i64) {
        let n = all.holds.len();
        self.finish = vec![end; n];
        self.hold = vec![end; n];
        self.before = vec![end; n];
        for (index, hold) in all.holds.iter().enumerate().rev() {
            let finish = at(&self.finish, index, end);
            let over = task_of(run, hold).and_then(|task| task.gpu_end);
            let behind = over.map_or(0, |over| (sane(over.us) - hold.released).max(0));
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

    fn fill_syntheses(&mut self, run: &Run, all: &Reconstruction, end: i64) {
        self.synthesis = vec![end; run.tasks.len()];
        for (index, task) in run.tasks.iter().enumerate().rev() {
            let own = self.hold_of.get(index);
            let hold = own.and_then(|hold| Some((hold, all.holds.get(hold as usize)?)));
            let mut latest = at(&self.synthesis, index, end);
            if let Some((at_hold, hold)) = hold {
                let request = at(&self.before, at_hold as usize, end);
                latest = latest.min(request.saturating_sub(hold.request - hold.ready));
                set(&mut self.synthesis, index, latest);
            }
            let before = self.slot_before.get(index);
            let length = task
                .synth_end
                .zip(task.synth_start)
                .map(|(to, from)| sane(to.us) - sane(from.us));
            if let Some((before, length)) = before.zip(length) {
                let slot = at(&self.synthesis, before as usize, end);
                set(
                    &mut self.synthesis,
                    before as usize,
                    slot.min(latest.saturating_sub(length)),
                );
            }
        }
    }
}

pub(super) fn task_of<'a>(run: &'a Run, hold: &Hold) -> Option<&'a Task> {
    let call = run.calls.get(hold.call as usize)?;
    run.tasks.get(call.task as usize)
}

fn at(list: &[i64], index: usize, otherwise: i64) -> i64 {
    list.get(index).copied().unwrap_or(otherwise)
}

fn set(list: &mut [i64], index: usize, us: i64) {
    if let Some(slot) = list.get_mut(index) {
        *slot = us;
    }
}

/// The call that a worker had to end before: only where workers prove one call at a time.
fn worker_before(run: &Run, all: &Reconstruction) -> Links {
    // By number: a log may call a worker anything, and then a list of all numbers has no room.
    let mut last: BTreeMap<u32, u32> = BTreeMap::new();
    let mut before = Links::none(all.holds.len());
    for (at, (index, hold)) in (0_u32..).zip(&all.holds).enumerate() {
        let worker = run
            .calls
            .get(hold.call as usize)
            .and_then(|call| call.worker);
        let Some(worker) = worker else {
            continue;
        };
        let previous = last.insert(worker, index).filter(|previous| {
            let previous = all.holds.get(*previous as usize);
            let over = previous.and_then(|hold| task_of(run, hold)?.gpu_end);
            over.is_some_and(|over| sane(over.us) <= hold.ready + 1_000)
        });
        before.set(at, previous);
    }
    before
}

/// Matches each start of a synthesis with the latest end right before it that is not taken yet.
fn slot_before(tasks: &[Task]) -> Links {
    let mut ends: Vec<(i64, u32)> = Vec::with_capacity(tasks.len());
    let mut starts: Vec<(i64, u32)> = Vec::with_capacity(tasks.len());
    for (index, task) in (0_u32..).zip(tasks) {
        ends.extend(task.synth_end.map(|at| (sane(at.us), index)));
        starts.extend(task.synth_start.map(|at| (sane(at.us), index)));
    }
    ends.sort_unstable();
    starts.sort_unstable();
    let mut before = Links::none(tasks.len());
    let (mut from, mut free) = (0, Vec::new());
    for (start, index) in starts {
        while let Some(end) = ends.get(from).filter(|(us, _)| *us <= start + 1_000) {
            free.push(*end);
            from += 1;
        }
        let last = free.pop().filter(|(us, _)| start - us <= TOGETHER_US);
        before.set(index as usize, last.map(|(_, task)| task));
        if last.is_none() {
            free.clear();
        }
    }
    before
}
