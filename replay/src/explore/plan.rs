//! What exploration knows before it starts: programs, which workers can meet at all, and which
//! ops no other worker can notice.
//!
//! **Resources.** A card, the host's registrations, a lock, a barrier. Two ops of different
//! workers are independent if they share none: the machine keeps cards apart, and last-error
//! slots belong to a thread of one worker. Sticky errors are not made here (only recorded ones
//! are sticky), so no failure of one card reaches another.
//!
//! **Parts.** Workers that share no resource, directly or through others, cannot influence each
//! other; each such part is explored by itself, and the verdicts are put together.
//!
//! **Local ops.** An op is local if every resource it touches is *private*: touched by one
//! worker only, or *guarded*, that is touched under one and the same lock wherever it is
//! touched. Between a local op and whatever others do until its worker's next op there is no
//! order to try: while the worker holds the guard nobody else can reach the resource, so the op
//! commutes with all of it, and it neither enables nor disables any of it. Locks, barriers,
//! unlocks and panics are never local, since others wait for them.
//!
//! A jump (`fallback:`) over a lock or unlock would make "under the lock" depend on the path:
//! such a lock guards nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::owned::Owned;
use tracefmt::ops::{OnError, Op, Schedule, Step};

/// What two workers can meet at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Resource<'a> {
    Card(u32),
    Host,
    Lock(&'a str),
    Barrier(&'a str),
}

/// The programs of the workers, and what is known of their ops.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) schedule: &'a Schedule,
    /// The steps of each worker, in their order; workers in order of their number.
    pub(super) programs: Vec<Vec<usize>>,
    /// For each step, whether no other worker can notice it.
    local: Vec<bool>,
    /// Whether some worker unwinds, so that it matters who holds what.
    pub(super) unwinds: bool,
    /// Whether some host memory is pinned that costs the card something.
    pins: bool,
    /// Buffers of which it can be told whether they are freed too early.
    owned: Owned,
}

impl<'a> Plan<'a> {
    pub(super) fn new(schedule: &'a Schedule) -> Self {
        let mut programs: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, step) in schedule.steps.iter().enumerate() {
            let worker = step.worker.unwrap_or(0);
            programs.entry(worker).or_default().push(at);
        }
        let pins =
            |step: &Step| matches!(step.op, Op::HostRegister { bytes, .. } if bytes >> 30 > 0);
        let mut plan = Self {
            schedule,
            pins: schedule.steps.iter().any(pins),
            programs: programs.into_values().collect(),
            local: Vec::new(),
            owned: Owned::default(),
            unwinds: schedule
                .steps
                .iter()
                .any(|step| step.op == Op::Panic { unwind: true }),
        };
        let private = plan.private();
        let is_local =
            |step| !is_seen(step) && plan.resources(step).all(|one| private.contains(&one));
        plan.local = schedule.steps.iter().map(is_local).collect();
        plan.owned = Owned::of(&plan);
        plan
    }

    /// The worker that makes a buffer and the place of its program behind the first time that it
    /// does; none if it cannot be told whether the buffer is freed.
    pub(super) fn owner(&self, gpu: u32, id: u64) -> Option<(usize, usize)> {
        self.owned.owner(gpu, id)
    }

    /// A step of a worker's program, with its index in the schedule.
    pub(super) fn step(&self, worker: usize, next: usize) -> Option<(usize, &'a Step)> {
        let at = *self.programs.get(worker)?.get(next)?;
        Some((at, self.schedule.steps.get(at)?))
    }

    pub(super) fn is_local(&self, at: usize) -> bool {
        self.local.get(at).copied().unwrap_or(false)
    }

    /// Where a worker goes on that looks for a label; its end if there is none.
    pub(super) fn seek(&self, worker: usize, next: usize, label: &str) -> usize {
        let Some(program) = self.programs.get(worker) else {
            return next;
        };
        let rest = program.iter().skip(next).position(|at| {
            let step = self.schedule.steps.get(*at);
            step.is_some_and(|step| matches!(&step.op, Op::Label { name } if **name == *label))
        });
        rest.map_or(program.len(), |offset| next + offset)
    }

    /// Groups of workers that share nothing with each other, each in order.
    pub(super) fn parts(&self) -> Vec<Vec<usize>> {
        let mut part: Vec<usize> = (0..self.programs.len()).collect();
        let mut first: BTreeMap<Resource<'a>, usize> = BTreeMap::new();
        for (worker, program) in self.programs.iter().enumerate() {
            for one in self.steps_of(program).flat_map(|step| self.resources(step)) {
                let other = *first.entry(one).or_insert(worker);
                let (from, to) = (number(&part, worker), number(&part, other));
                for known in &mut part {
                    if *known == from {
                        *known = to;
                    }
                }
            }
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (worker, group) in part.into_iter().enumerate() {
            groups.entry(group).or_default().push(worker);
        }
        groups.into_values().collect()
    }

    fn steps_of<'b>(&'b self, program: &'b [usize]) -> impl Iterator<Item = &'a Step> + 'b {
        let step = |at: &usize| self.schedule.steps.get(*at);
        program.iter().filter_map(step)
    }

    /// Cards and registrations that one worker touches, or all under one lock.
    fn private(&self) -> BTreeSet<Resource<'a>> {
        let mut users: BTreeMap<Resource<'a>, BTreeSet<usize>> = BTreeMap::new();
        let mut guards: BTreeMap<Resource<'a>, BTreeSet<&'a str>> = BTreeMap::new();
        let mut jumped: BTreeSet<&'a str> = BTreeSet::new();
        for (worker, program) in self.programs.iter().enumerate() {
            let mut held: BTreeSet<&'a str> = BTreeSet::new();
            for (place, step) in self.steps_of(program).enumerate() {
                match &step.op {
                    Op::Lock { name } => drop(held.insert(name)),
                    Op::Unlock { name } => drop(held.remove(&**name)),
                    _ => {}
                }
                for one in self.resources(step) {
                    users.entry(one).or_default().insert(worker);
                    let guard = guards.entry(one).or_insert_with(|| held.clone());
                    guard.retain(|name| held.contains(name));
                }
                if let OnError::Fallback(label) = step.on_error() {
                    let end = self.seek(worker, place, label);
                    let over = program.get(place..end).unwrap_or(&[]);
                    jumped.extend(self.steps_of(over).filter_map(lock_name));
                }
            }
        }
        let alone = |one: &Resource<'a>| users.get(one).is_some_and(|users| users.len() == 1);
        let private = guards
            .into_iter()
            .filter(|(one, guard)| alone(one) || guard.iter().any(|name| !jumped.contains(name)));
        private.map(|(one, _)| one).collect()
    }
    /// What an op touches. A panic may free what its worker holds: it counts for its card.
    fn resources<'b>(&self, step: &'b Step) -> impl Iterator<Item = Resource<'b>> + use<'b> {
        let card = Some(Resource::Card(step.gpu.unwrap_or(0)));
        let both = match &step.op {
            Op::Lock { name } | Op::Unlock { name } => [Some(Resource::Lock(name)), None],
            Op::Barrier { name, .. } => [Some(Resource::Barrier(name)), None],
            // Page tables on the card are counted by the whole GiB.
            Op::HostRegister { .. } | Op::HostUnregister { .. } => {
                [card.filter(|_| self.pins), Some(Resource::Host)]
            }
            Op::HostUnmap { .. } => [None, Some(Resource::Host)],
            // The slot is the caller's own; nobody waits for a label or for fresh host memory;
            // and on an answer without a need nobody acts.
            Op::Label { .. }
            | Op::HostMap { .. }
            | Op::GetLastError
            | Op::PeekLastError
            | Op::MemGetInfo { need: None, .. } => [None, None],
            _ => [card, None],
        };
        both.into_iter().flatten()
    }
}

fn number(part: &[usize], worker: usize) -> usize {
    part.get(worker).copied().unwrap_or(worker)
}

fn lock_name(step: &Step) -> Option<&str> {
    match &step.op {
        Op::Lock { name } | Op::Unlock { name } => Some(name),
        _ => None,
    }
}

/// Whether others may wait for the op, whatever it touches.
fn is_seen(step: &Step) -> bool {
    matches!(
        step.op,
        Op::Lock { .. } | Op::Unlock { .. } | Op::Barrier { .. } | Op::Panic { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::schedule;

    fn local(lines: &str) -> Vec<usize> {
        let schedule = schedule(lines);
        let plan = Plan::new(&schedule);
        let steps = 0..schedule.steps.len();
        steps.filter(|at| plan.is_local(*at)).collect()
    }

    #[test]
    fn what_is_done_under_the_one_lock_is_local() {
        let lines = "0 lock name=gpu
                     0 malloc id=1 bytes=1
                     0 unlock name=gpu
                     1 lock name=gpu
                     1 free id=1
                     1 unlock name=gpu
                     1 label name=end";
        assert_eq!(local(lines), [1, 4, 6]);
    }

    #[test]
    fn one_use_outside_makes_all_seen() {
        let lines = "0 lock name=gpu
                     0 malloc id=1 bytes=1
                     0 unlock name=gpu
                     0 free id=1
                     1 lock name=gpu
                     1 malloc id=2 bytes=1
                     1 unlock name=gpu";
        assert_eq!(local(lines), [0_usize; 0]);
    }

    #[test]
    fn two_locks_guard_nothing_together() {
        let lines = "0 lock name=a
                     0 malloc id=1 bytes=1
                     0 unlock name=a
                     1 lock name=b
                     1 malloc id=2 bytes=1
                     1 unlock name=b";
        assert_eq!(local(lines), [0_usize; 0]);
    }

    #[test]
    fn a_jump_over_a_lock_takes_its_guard_away() {
        let lines = "0 memGetInfo need=1 on_error=fallback:in
                     0 lock name=gpu
                     0 label name=in
                     0 malloc id=1 bytes=1
                     0 unlock name=gpu
                     1 lock name=gpu
                     1 malloc id=2 bytes=1
                     1 unlock name=gpu";
        assert_eq!(local(lines), [2]);
    }

    #[test]
    fn a_card_of_one_worker_is_its_own() {
        let lines = "0 malloc id=1 bytes=1
                     1 malloc id=1 bytes=1 gpu=1
                     1 hostRegister addr=4096 bytes=1 gpu=1
                     0 hostUnmap addr=4096 bytes=1";
        assert_eq!(local(lines), [0, 1], "registrations are the host's");
    }

    #[test]
    fn workers_that_share_nothing_are_parts() {
        let lines = "0 malloc id=1 bytes=1
                     1 malloc id=1 bytes=1 gpu=1
                     2 lock name=a
                     3 malloc id=1 bytes=1
                     1 unlock name=a
                     4 memGetInfo";
        let schedule = schedule(lines);
        assert_eq!(
            Plan::new(&schedule).parts(),
            [vec![0, 3], vec![1, 2], vec![4]]
        );
    }
}
