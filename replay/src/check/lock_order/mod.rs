//! `lock.order`: locks taken in an order that can deadlock, whether it did or not.
//!
//! Caught: workers of whom each takes a lock that the next holds, in a circle of any length; a lock
//! that its holder wants again. Not caught: orders that no worker of this schedule takes, and what
//! is left where the search is cut off, which is said: a part of the locks in which no circle was
//! found until then is undecided. Silent, since nobody can wait for anybody: a circle that one
//! worker goes through alone, and one whose locks are taken while the same other lock is held (the
//! gate locks of Havelund, Using Runtime Analysis to Guide Model Checking of Java Programs, 2000).
//! Where barriers or events order two workers of a circle, it is inferred; where every order was
//! tried and passes, it is a warning.

mod circles;
mod graph;
mod ordered;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tracefmt::finding::{Code, Confidence, Finding, Severity};
use tracefmt::ops::{Op, Step};

use super::{Drafted, Scene};
use crate::life::Locks;
use crate::run::{Stop, got};
use circles::{Circle, Search};
use graph::{Edge, Graph, Held, Lock};
use ordered::Meetings;

/// How much is tried before the search is cut off, in all parts together.
const TRIES_MAX: u64 = 1_000_000;

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut reading = Reading::of(scene);
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
    let Reading { names, graph, .. } = reading;
    let parts = graph.components();
    let tries = TRIES_MAX / (parts.len() as u64).max(1);
    let told = Told {
        scene,
        names: &names,
        meetings: Meetings::of(scene),
    };
    let found = parts.iter().flat_map(|part| told.part(part, tries));
    own.into_iter().chain(found).collect()
}

/// Whether a finding says that a part of the locks is undecided.
pub(crate) fn is_undecided(finding: &Finding) -> bool {
    finding.code == Code::LockOrder && finding.confidence == Confidence::Ambiguous
}

/// Every order was tried, and each passes: what is undecided is decided, and a circle that cannot
/// close is no error.
pub(crate) fn every_order_passes(findings: &mut Vec<Finding>) {
    findings.retain(|finding| !is_undecided(finding));
    let orders = findings.iter_mut();
    for finding in orders.filter(|finding| finding.code == Code::LockOrder) {
        finding.severity = finding.severity.min(Severity::Warning);
        finding.root = false;
        "All orders were tried, and none gets stuck: something else orders the workers. Where that \
         is changed, they can wait for each other for ever."
            .clone_into(&mut finding.explanation);
    }
    if !findings.iter().any(|finding| finding.root) {
        let is_root = |finding: &&mut Finding| {
            finding.severity == Severity::Error && finding.caused_by.is_empty()
        };
        if let Some(root) = findings.iter_mut().find(is_root) {
            root.root = true;
        }
    }
}

#[derive(Debug, Default)]
struct Reading<'a> {
    locks: Locks<'a>,
    graph: Graph,
    /// The names of all locks of the schedule, by rank.
    names: Vec<&'a str>,
    /// Locks that their holder wanted again.
    own: BTreeMap<&'a str, usize>,
}

impl<'a> Reading<'a> {
    fn of(scene: &'a Scene<'_>) -> Self {
        let locks = scene.schedule.steps.iter();
        let names = locks.filter_map(|step| match &step.op {
            Op::Lock { name } => Some(&**name),
            _ => None,
        });
        let names: BTreeSet<&str> = names.collect();
        Self {
            names: names.into_iter().collect(),
            ..Self::default()
        }
    }

    fn rank(&self, name: &str) -> Lock {
        self.names.partition_point(|other| *other < name)
    }

    fn step(&mut self, at: usize, step: &'a Step) {
        let worker = step.worker.unwrap_or(0);
        match &step.op {
            Op::Lock { name } => {
                let held = self.locks.of(worker);
                let held: Vec<Lock> = held.iter().map(|name| self.rank(name)).collect();
                let is_new = self.locks.take(worker, name);
                if !is_new && !got(step) {
                    self.own.entry(name).or_insert(at);
                }
                if !is_new || held.is_empty() {
                    return;
                }
                let taken = self.rank(name);
                let all = Rc::new(Held::new(held.clone()));
                for held in held {
                    self.graph.add(Edge::new(held, taken, worker, at, &all));
                }
            }
            Op::Unlock { name } => {
                self.locks.release(worker, name);
            }
            _ => {}
        }
    }
}

/// What is told of.
struct Told<'a> {
    scene: &'a Scene<'a>,
    names: &'a [&'a str],
    meetings: Meetings<'a>,
}

impl Told<'_> {
    /// The circles of a part, and whether it was looked at as a whole.
    fn part(&self, part: &Graph, tries: u64) -> Vec<Drafted> {
        let search = Search::of(part, tries);
        let found = search.circles.values().map(|circle| self.drawn(circle));
        let mut found: Vec<Drafted> = found.collect();
        if search.is_cut_off {
            found.extend(self.cut_off(part, found.len()));
        }
        found
    }

    /// Says that not all was looked at. Without a circle until then nothing is known.
    fn cut_off(&self, part: &Graph, found: usize) -> Option<Drafted> {
        let at = part.edges().map(|edge| edge.at).min()?;
        let locks = part.locks().count();
        let title = format!("the search for circles among {locks} locks was cut off");
        let severity = if found == 0 {
            Severity::Warning
        } else {
            Severity::Info
        };
        let meaning = format!(
            "They are taken inside one another in more ways than are tried. Circles found until \
             then: {found}; there may be others."
        );
        let drafted = self.scene.draft(at, Code::LockOrder, severity, title);
        let mut drafted = drafted.says(
            &meaning,
            "Try all orders with --explore, replay a part of the schedule with fewer workers, or \
             take the locks in one order everywhere.",
        );
        drafted.finding.confidence = if found == 0 {
            Confidence::Ambiguous
        } else {
            Confidence::Inferred
        };
        Some(drafted)
    }

    fn drawn(&self, circle: &Circle<'_>) -> Drafted {
        let names = circle.iter().map(|edge| self.names.get(edge.held));
        let names: Vec<&str> = names.flatten().copied().collect();
        let title = match names.as_slice() {
            [one, other] => format!("{one} and {other} are taken in both orders"),
            [rest @ .., last] => format!("{} and {last} are taken in a circle", rest.join(", ")),
            [] => String::new(),
        };
        let at = circle.first().map_or(0, |edge| edge.at);
        let fix = "Take the locks in one order everywhere.";
        let drafted = draft(self.scene, at, title);
        let mut drafted = if self.is_ordered(circle) {
            let mut drafted = drafted.says(
                "Workers can each hold what the next one waits for. Barriers or events order some \
                 of them here: --explore tries whether every order passes.",
                fix,
            );
            let finding = &mut drafted.finding;
            finding.confidence = finding.confidence.min(Confidence::Inferred);
            drafted
        } else {
            drafted.says(
                "Workers can each hold what the next one waits for, and wait for ever.",
                fix,
            )
        };
        for edge in circle.iter().skip(1) {
            drafted
                .finding
                .evidence
                .extend(self.scene.evidence(edge.at));
        }
        drafted
    }

    fn is_ordered(&self, circle: &Circle<'_>) -> bool {
        circle.iter().enumerate().any(|(place, one)| {
            let mut others = circle.iter().skip(place + 1);
            others.any(|other| {
                let places = ((one.worker, one.at), (other.worker, other.at));
                self.meetings.orders(places.0, places.1)
            })
        })
    }
}

fn draft(scene: &Scene<'_>, at: usize, title: String) -> Drafted {
    scene.draft(at, Code::LockOrder, scene.severity(at), title)
}
