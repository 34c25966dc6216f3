//! `lock.two_holders`, `lock.order`, `lock.unbalanced`.
//!
//! Caught: two workers that use one card at the same time, each under a lock of its own; locks
//! taken in an order that can deadlock, whether it did or not; an unlock of what is not held;
//! a lock still held when its worker's ops are over. Not caught: cards shared without any lock,
//! which is a choice; orders that no worker of this schedule takes.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::finding::{Code, Severity};
use tracefmt::ops::Op;

use super::{Drafted, Scene};
use crate::run::Stop;

#[derive(Debug, Default)]
struct Holding<'a> {
    /// Locks of each worker, in the order in which they were taken.
    locks: BTreeMap<u32, Vec<&'a str>>,
    /// Cards that each worker has used since it took its first lock.
    cards: BTreeMap<u32, BTreeSet<u32>>,
    /// Which lock was taken while which other was held, and the step that did so first.
    orders: BTreeMap<(&'a str, &'a str), usize>,
    /// Pairs of locks already reported.
    shared: BTreeSet<(&'a str, &'a str)>,
}

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut holding = Holding::default();
    let mut drafts = Vec::new();
    for (_, at, step, _) in scene.ran() {
        let worker = step.worker.unwrap_or(0);
        match &step.op {
            Op::Lock { name } => holding.take(worker, at, name),
            Op::Unlock { name } if !holding.release(worker, name) => {
                let title = format!("worker {worker} unlocks {name}, which it does not hold");
                drafts.push(scene.draft(at, Code::LockUnbalanced, Severity::Warning, title));
            }
            op if uses_card(op) => {
                let gpu = step.gpu.unwrap_or(0);
                if let Some((mine, other, theirs)) = holding.touch(worker, gpu) {
                    drafts.push(two_holders(scene, at, (worker, mine), (other, theirs)));
                }
            }
            _ => {}
        }
        if scene.stops_at(at) {
            holding.locks.remove(&worker);
            holding.cards.remove(&worker);
        }
    }
    drafts.extend(orders(scene, &mut holding));
    drafts.extend(kept(scene, &holding));
    drafts
}

/// Whether an op makes the card work or changes its memory.
fn uses_card(op: &Op) -> bool {
    matches!(
        op,
        Op::Malloc { .. }
            | Op::MallocAsync { .. }
            | Op::Launch(_)
            | Op::CopyHtoD(_)
            | Op::CopyDtoH(_)
    )
}

impl<'a> Holding<'a> {
    fn take(&mut self, worker: u32, at: usize, name: &'a str) {
        let locks = self.locks.entry(worker).or_default();
        for held in locks.iter() {
            self.orders.entry((held, name)).or_insert(at);
        }
        locks.push(name);
    }

    /// `false` if the worker does not hold the lock.
    fn release(&mut self, worker: u32, name: &str) -> bool {
        let locks = self.locks.entry(worker).or_default();
        let Some(index) = locks.iter().rposition(|held| *held == name) else {
            return false;
        };
        locks.remove(index);
        if locks.is_empty() {
            self.cards.remove(&worker);
        }
        true
    }

    /// A worker uses a card: my lock, the other worker, and its lock, if it uses it too.
    fn touch(&mut self, worker: u32, gpu: u32) -> Option<(&'a str, u32, &'a str)> {
        let mine = *self.locks.get(&worker)?.first()?;
        self.cards.entry(worker).or_default().insert(gpu);
        let shares = |other: &u32| {
            self.cards
                .get(other)
                .is_some_and(|cards| cards.contains(&gpu))
        };
        let others = self
            .locks
            .iter()
            .filter(|(other, _)| **other != worker && shares(other));
        for (other, locks) in others {
            let Some(theirs) = locks.first() else {
                continue;
            };
            let pair = (mine.min(*theirs), mine.max(*theirs));
            if mine != *theirs && self.shared.insert(pair) {
                return Some((mine, *other, theirs));
            }
        }
        None
    }
}

fn two_holders(scene: &Scene<'_>, at: usize, me: (u32, &str), other: (u32, &str)) -> Drafted {
    let title = format!(
        "worker {} under {} and worker {} under {} use one card at once",
        me.0, me.1, other.0, other.1
    );
    let drafted = scene.draft(at, Code::LockTwoHolders, scene.severity(at), title);
    let mut drafted = drafted.says(
        "Each holds a lock of its own, so neither keeps the other from the card's memory.",
        "Let one lock guard the card, memory and work alike.",
    );
    drafted.explains = scene.failures().iter().map(|failure| failure.at).collect();
    drafted
}

/// Pairs of locks taken in both orders, and deadlocks that happened.
fn orders<'a>(scene: &Scene<'a>, holding: &mut Holding<'a>) -> Vec<Drafted> {
    for (worker, stop) in &scene.record.ending.stopped {
        if let Stop::Locked { at, .. } = stop
            && let Some(step) = scene.schedule.steps.get(*at)
            && let Op::Lock { name } = &step.op
        {
            holding.take(*worker, *at, name);
        }
    }
    let reaches = |from: &str, to: &str| {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(here) = open.pop() {
            for (_, next) in holding.orders.keys().filter(|(held, _)| *held == here) {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen.contains(to)
    };
    let mut drafts = Vec::new();
    for (&(held, taken), &at) in &holding.orders {
        if held == taken || (held < taken && reaches(taken, held)) {
            drafts.push(cycle(scene, at, held, taken));
        }
    }
    drafts
}

fn cycle(scene: &Scene<'_>, at: usize, held: &str, taken: &str) -> Drafted {
    let title = if held == taken {
        format!("{held} is locked by the worker that holds it")
    } else {
        format!("{held} and {taken} are taken in both orders")
    };
    let severity = scene.severity(at);
    scene.draft(at, Code::LockOrder, severity, title).says(
        "Two workers can each hold what the other waits for, and wait for ever.",
        "Take the locks in one order everywhere.",
    )
}

/// Locks still held by workers that came to their last op.
fn kept(scene: &Scene<'_>, holding: &Holding<'_>) -> Vec<Drafted> {
    let stopped = |worker: u32| {
        scene
            .record
            .ending
            .stopped
            .iter()
            .any(|(w, _)| *w == worker)
    };
    let mut drafts = Vec::new();
    for (name, holder) in &scene.record.ending.held {
        let taken = scene.ran().filter(|(_, _, step, _)| {
            step.worker.unwrap_or(0) == *holder
                && matches!(&step.op, Op::Lock { name: lock } if lock == name)
        });
        let Some((_, at, _, _)) = taken.last() else {
            continue;
        };
        if !stopped(*holder)
            && holding
                .locks
                .get(holder)
                .is_some_and(|l| l.contains(&name.as_str()))
        {
            let title = format!("worker {holder} never unlocks {name}");
            drafts.push(scene.draft(at, Code::LockUnbalanced, Severity::Warning, title));
        }
    }
    drafts
}
