//! `lock.order`: locks taken in an order that can deadlock, whether it did or not.
//!
//! Caught: workers of whom each takes a lock that the next holds, in a circle, of so many at
//! most as the bound below; a lock that its holder wants again. Not caught: orders that no worker
//! of this schedule takes, and what is left where the search is cut off, which is said. Silent,
//! since nobody can wait for anybody: a circle that one worker goes through alone, and one whose
//! locks are taken while the same other lock is held (the gate locks of Havelund, Using Runtime
//! Analysis to Guide Model Checking of Java Programs, 2000).

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::finding::{Code, Severity};
use tracefmt::ops::{Op, Step};

use super::{Drafted, Scene};
use crate::life::Locks;
use crate::run::{Stop, got};

/// How many locks a circle has at most.
const CIRCLE_MAX: usize = 5;
/// How many edges are tried before the search is cut off.
const TRIES_MAX: u32 = 200_000;

/// A lock that a worker took while it held others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Edge<'a> {
    held: &'a str,
    taken: &'a str,
    worker: u32,
    /// All that the worker held.
    all: BTreeSet<&'a str>,
}

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut reading = Reading::default();
    for (_, at, step, _) in scene.ran() {
        reading.step(at, step);
        if scene.stops_at(at) {
            reading.locks.clear(step.worker.unwrap_or(0));
        }
    }
    for (_, stop) in &scene.record.ending.stopped {
        if let Stop::Locked { at, .. } = stop
            && let Some(step) = scene.schedule.steps.get(*at)
        {
            reading.step(*at, step);
        }
    }
    let own = reading.own.iter().map(|(name, at)| {
        let title = format!("{name} is locked by the worker that holds it");
        draft(scene, *at, title).says(
            "It waits for itself, for ever.",
            "Hand the lock that is held on to what needs it, or let go of it before.",
        )
    });
    let own: Vec<Drafted> = own.collect();
    let Search { circles, left } = Search::of(&reading.edges);
    let cut = left.map(|at| cut_off(scene, at, circles.len()));
    let circles = circles.into_values().map(|circle| drawn(scene, &circle));
    own.into_iter().chain(circles).chain(cut).collect()
}

#[derive(Debug, Default)]
struct Reading<'a> {
    locks: Locks<'a>,
    /// What was taken while what was held, with the first step that did so.
    edges: BTreeMap<Edge<'a>, usize>,
    /// Locks that their holder wanted again.
    own: BTreeMap<&'a str, usize>,
}

impl<'a> Reading<'a> {
    fn step(&mut self, at: usize, step: &'a Step) {
        let worker = step.worker.unwrap_or(0);
        match &step.op {
            Op::Lock { name } => {
                let held = self.locks.of(worker);
                let all: BTreeSet<&'a str> = held.iter().copied().collect();
                let is_new = self.locks.take(worker, name);
                if !is_new && !got(step) {
                    self.own.entry(name).or_insert(at);
                }
                for held in all.iter().filter(|_| is_new) {
                    let edge = Edge {
                        held,
                        taken: name,
                        worker,
                        all: all.clone(),
                    };
                    self.edges.entry(edge).or_insert(at);
                }
            }
            Op::Unlock { name } => {
                self.locks.release(worker, name);
            }
            _ => {}
        }
    }
}

/// A circle: its edges in order, each with its step.
type Circle<'a> = Vec<(&'a Edge<'a>, usize)>;

/// The circles that can close.
#[derive(Debug, Default)]
struct Search<'a> {
    /// One for each set of locks: the first that is found, from the lock with the smallest name.
    circles: BTreeMap<BTreeSet<&'a str>, Circle<'a>>,
    /// Where the search was cut off, a step of what it had not looked at.
    left: Option<usize>,
}

impl<'a> Search<'a> {
    fn of(edges: &'a BTreeMap<Edge<'a>, usize>) -> Self {
        let mut from: BTreeMap<&str, Circle<'a>> = BTreeMap::new();
        for (edge, at) in edges {
            from.entry(edge.held).or_default().push((edge, *at));
        }
        let mut found = Self::default();
        let mut tries = 0;
        let mut open: Vec<Circle<'a>> = edges.iter().map(|(edge, at)| vec![(edge, *at)]).collect();
        while let Some(path) = open.pop() {
            let (Some((first, at)), Some((last, _))) = (path.first(), path.last()) else {
                continue;
            };
            if tries > TRIES_MAX {
                found.left = Some(*at);
                break;
            }
            if last.taken == first.held {
                let names = path.iter().map(|(edge, _)| edge.held).collect();
                found.circles.entry(names).or_insert(path);
                continue;
            }
            if path.len() == CIRCLE_MAX {
                continue;
            }
            for next in from.get(last.taken).into_iter().flatten() {
                tries += 1;
                let meets = |(edge, _): &(&Edge<'_>, usize)| {
                    edge.worker == next.0.worker || !edge.all.is_disjoint(&next.0.all)
                };
                if next.0.held > first.held && !path.iter().any(meets) {
                    let mut longer = path.clone();
                    longer.push(*next);
                    open.push(longer);
                }
            }
        }
        found
    }
}

/// Says that not all was looked at.
fn cut_off(scene: &Scene<'_>, at: usize, found: usize) -> Drafted {
    let title = format!("the search for circles of locks was cut off after {TRIES_MAX} tries");
    let drafted = scene.draft(at, Code::LockOrder, Severity::Info, title);
    let meaning = format!(
        "Locks are taken inside one another in more ways than are tried. Circles found until then: \
         {found}; there may be others."
    );
    drafted.says(
        &meaning,
        "Replay a part of the schedule with fewer workers, or take the locks in one order \
         everywhere.",
    )
}

fn draft(scene: &Scene<'_>, at: usize, title: String) -> Drafted {
    scene.draft(at, Code::LockOrder, scene.severity(at), title)
}

fn drawn(scene: &Scene<'_>, circle: &Circle<'_>) -> Drafted {
    let names: Vec<&str> = circle.iter().map(|(edge, _)| edge.held).collect();
    let title = match names.as_slice() {
        [one, other] => format!("{one} and {other} are taken in both orders"),
        [rest @ .., last] => format!("{} and {last} are taken in a circle", rest.join(", ")),
        [] => String::new(),
    };
    let at = circle.first().map_or(0, |(_, at)| *at);
    let mut drafted = draft(scene, at, title).says(
        "Workers can each hold what the next one waits for, and wait for ever.",
        "Take the locks in one order everywhere.",
    );
    for (_, at) in circle.iter().skip(1) {
        drafted.finding.evidence.extend(scene.evidence(*at));
    }
    drafted
}
