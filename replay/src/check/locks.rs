//! `lock.two_holders`, `lock.unbalanced`; orders are [`super::lock_order`]'s.
//!
//! Caught: two workers that hold one lock at once, by a record that says so; two that use one
//! card at the same time, each under a lock of its own; an unlock of what is not held; a lock
//! that is got again by its holder; a lock still held when its worker's ops are over. Not caught:
//! cards shared without any lock, which is a choice; two holders of whom the record does not say
//! that the first still had the lock: it let go of it later, for the partition that it took it
//! for, or made the card work for that partition. A line can be lost.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::finding::{Code, OomCause, Severity};
use tracefmt::ops::{Op, Step};

use super::{Drafted, Scene};
use crate::life::Locks;
use crate::run::got;

/// A worker got a lock that another had by the record.
#[derive(Debug, Clone, Copy)]
struct Doubt<'a> {
    name: &'a str,
    first: u32,
    second: u32,
    /// The steps at which they got it, and the place of the second.
    taken: usize,
    at: usize,
    place: usize,
    /// Whether the first used a card since, for the partition that it took the lock for.
    used: bool,
}

#[derive(Debug, Default)]
struct Holding<'a> {
    locks: Locks<'a>,
    /// The step at which each lock was taken.
    taken: BTreeMap<(u32, &'a str), usize>,
    /// Cards that each worker has used since it took its first lock.
    cards: BTreeMap<u32, BTreeSet<u32>>,
    /// Pairs of locks already reported.
    shared: BTreeSet<(&'a str, &'a str)>,
    doubts: Vec<Doubt<'a>>,
    /// Those that the record bears out, and where the first let go.
    proven: Vec<(Doubt<'a>, usize)>,
}

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut holding = Holding::default();
    let mut drafts = Vec::new();
    let warning = |at, title| unbalanced(scene, at, title);
    for (place, at, step, _) in scene.ran() {
        let worker = step.worker.unwrap_or(0);
        match &step.op {
            Op::Lock { name } => {
                let again = !holding.take(place, at, step, name) && got(step);
                let title = || {
                    format!("worker {worker} gets {name}, which it holds: no release is recorded")
                };
                drafts.extend(again.then(|| warning(at, title())));
            }
            Op::Unlock { name } => {
                holding.settle(scene, place, step, name);
                if !holding.release(worker, name) {
                    let title = format!("worker {worker} unlocks {name}, which it does not hold");
                    drafts.push(warning(at, title));
                }
            }
            op if uses_card(op) => {
                holding.work(scene, step);
                let gpu = step.gpu.unwrap_or(0);
                if let Some((mine, other, theirs)) = holding.touch(worker, gpu) {
                    drafts.push(two_locks(scene, at, (worker, mine), (other, theirs)));
                }
            }
            _ => {}
        }
        if scene.stops_at(at) {
            for name in holding.locks.of(worker).to_vec() {
                holding.settle(scene, place, step, name);
            }
            holding.locks.clear(worker);
            holding.cards.remove(&worker);
        }
    }
    let end = scene.record.ran.len();
    let used = holding.doubts.iter().filter(|doubt| doubt.used);
    holding.proven.extend(used.map(|doubt| (*doubt, end)));
    drafts.extend(two_holders(scene, &holding.proven));
    drafts.extend(kept(scene, &holding));
    drafts
}

fn unbalanced(scene: &Scene<'_>, at: usize, title: String) -> Drafted {
    let drafted = scene.draft(at, Code::LockUnbalanced, Severity::Warning, title);
    drafted.says(
        "Each lock that is taken is let go of once; here one of the two is not in the schedule.",
        "Release by a guard; in a record, look for a line that is lost.",
    )
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

/// Whether two steps are of one partition.
fn is_alike(scene: &Scene<'_>, taken: usize, step: &Step) -> bool {
    let taken = scene.schedule.steps.get(taken);
    taken.is_some_and(|taken| (taken.job(), taken.partition()) == (step.job(), step.partition()))
}

impl<'a> Holding<'a> {
    /// `false` if the worker holds the lock already.
    fn take(&mut self, place: usize, at: usize, step: &Step, name: &'a str) -> bool {
        let worker = step.worker.unwrap_or(0);
        let others = self.locks.holders(name);
        if !self.locks.take(worker, name) {
            // Nobody knows when it let go of it.
            self.doubts
                .retain(|doubt| (doubt.first, doubt.name) != (worker, name));
            self.taken.insert((worker, name), at);
            return false;
        }
        for first in others {
            if let Some(&taken) = self.taken.get(&(first, name)) {
                self.doubts.push(Doubt {
                    name,
                    first,
                    second: worker,
                    taken,
                    at,
                    place,
                    used: false,
                });
            }
        }
        self.taken.insert((worker, name), at);
        true
    }

    /// A worker lets go of a lock, or stops: until now it held it.
    fn settle(&mut self, scene: &Scene<'_>, place: usize, step: &Step, name: &str) {
        let worker = step.worker.unwrap_or(0);
        let (mine, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.doubts)
            .into_iter()
            .partition(|doubt| (doubt.first, doubt.name) == (worker, name));
        self.doubts = others;
        let proven = mine.into_iter();
        let proven = proven.filter(|doubt| doubt.used || is_alike(scene, doubt.taken, step));
        self.proven.extend(proven.map(|doubt| (doubt, place)));
    }

    fn work(&mut self, scene: &Scene<'_>, step: &Step) {
        let worker = step.worker.unwrap_or(0);
        for doubt in &mut self.doubts {
            doubt.used |= doubt.first == worker && is_alike(scene, doubt.taken, step);
        }
    }

    /// `false` if the worker does not hold the lock.
    fn release(&mut self, worker: u32, name: &str) -> bool {
        let held = self.locks.release(worker, name);
        if self.locks.of(worker).is_empty() {
            self.cards.remove(&worker);
        }
        held
    }

    /// A worker uses a card: my lock, the other worker, and its lock, if it uses it too.
    fn touch(&mut self, worker: u32, gpu: u32) -> Option<(&'a str, u32, &'a str)> {
        let mine = *self.locks.of(worker).first()?;
        self.cards.entry(worker).or_default().insert(gpu);
        let others = self.cards.iter();
        let others = others.filter(|(other, cards)| **other != worker && cards.contains(&gpu));
        for (other, _) in others {
            let Some(theirs) = self.locks.of(*other).first() else {
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

/// One finding for each lock and pair of workers, with the count.
fn two_holders(scene: &Scene<'_>, proven: &[(Doubt<'_>, usize)]) -> Vec<Drafted> {
    let mut drafts: BTreeMap<(&str, u32, u32), Drafted> = BTreeMap::new();
    let mut sorted = proven.to_vec();
    sorted.sort_by_key(|(doubt, _)| doubt.at);
    for (doubt, end) in sorted {
        let pair = (doubt.first.min(doubt.second), doubt.first.max(doubt.second));
        let failures = scene.failures().iter().filter(|failure| {
            let during = failure.place > doubt.place && failure.place < end;
            during && failure.cause != OomCause::Unexplained
        });
        let known = drafts.entry((doubt.name, pair.0, pair.1));
        let drafted = known.or_insert_with(|| one_lock(scene, doubt));
        drafted.explains.extend(failures.map(|failure| failure.at));
        drafted.finding.count += 1;
    }
    drafts.into_values().collect()
}

fn one_lock(scene: &Scene<'_>, doubt: Doubt<'_>) -> Drafted {
    let Doubt {
        name,
        first,
        second,
        taken,
        at,
        ..
    } = doubt;
    let title = format!("worker {second} gets {name} while worker {first} holds it");
    let drafted = scene.draft(at, Code::LockTwoHolders, scene.severity(at), title);
    let mut drafted = drafted.says(
        "Both have it by the record, so that it keeps neither from the memory of the card.",
        "Look at how the lock is made: one for each card, shared by all of its workers.",
    );
    drafted.finding.count = 0;
    drafted.finding.evidence.extend(scene.evidence(taken));
    drafted
}

fn two_locks(scene: &Scene<'_>, at: usize, me: (u32, &str), other: (u32, &str)) -> Drafted {
    let title = format!(
        "worker {} under {} and worker {} under {} use one card at once",
        me.0, me.1, other.0, other.1
    );
    let drafted = scene.draft(at, Code::LockTwoHolders, scene.severity(at), title);
    let mut drafted = drafted.says(
        "Each holds a lock of its own, so neither keeps the other from the card's memory.",
        "Let one lock guard the card, memory and work alike.",
    );
    let failures = scene.failures().iter();
    let of_it = failures.filter(|failure| failure.cause != OomCause::Unexplained);
    drafted.explains = of_it.map(|failure| failure.at).collect();
    drafted
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
                && matches!(&step.op, Op::Lock { name: lock } if **lock == *name)
        });
        let Some((_, at, _, _)) = taken.last() else {
            continue;
        };
        if !stopped(*holder) && holding.locks.of(*holder).contains(&name.as_str()) {
            let title = format!("worker {holder} never unlocks {name}");
            drafts.push(unbalanced(scene, at, title));
        }
    }
    drafts
}
