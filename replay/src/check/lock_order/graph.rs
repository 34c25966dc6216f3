//! Locks as a graph: what was taken while what was held, by whom, and the parts of it in which a
//! circle can be.
//!
//! Two edges go together if they are of two workers that hold no lock in common. An edge without
//! another that goes together with it before it and behind it is in no circle, and neither is one
//! between two strongly connected components.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many pairs of edges are compared to find those that are in no circle. Where it ends, more
/// edges than need be are left for the search.
const COMPARED_MAX: u64 = 20_000_000;

/// A lock, by the rank of its name.
pub(super) type Lock = usize;

/// A lock that a worker took while it held others.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub held: Lock,
    pub taken: Lock,
    pub worker: u32,
    /// The first step that did so.
    pub at: usize,
    held_all: Rc<Held>,
}

/// All that a worker held, sorted, and a bit for each by its number modulo the word.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held {
    locks: Vec<Lock>,
    bits: u128,
}

impl Held {
    pub(super) fn new(mut locks: Vec<Lock>) -> Self {
        locks.sort_unstable();
        let bits = locks.iter().fold(0, |bits, lock| bits | 1 << (lock % 128));
        Self { locks, bits }
    }

    fn is_disjoint(&self, other: &Self) -> bool {
        let (few, many) = if self.locks.len() < other.locks.len() {
            (self, other)
        } else {
            (other, self)
        };
        let apart = |lock: &Lock| many.locks.binary_search(lock).is_err();
        self.bits & other.bits == 0 || few.locks.iter().all(apart)
    }

    fn is_part_of(&self, other: &Self) -> bool {
        let in_other = |lock: &Lock| other.locks.binary_search(lock).is_ok();
        self.bits & !other.bits == 0 && self.locks.iter().all(in_other)
    }
}

impl Edge {
    pub(super) fn new(held: Lock, taken: Lock, worker: u32, at: usize, all: &Rc<Held>) -> Self {
        Self {
            held,
            taken,
            worker,
            at,
            held_all: Rc::clone(all),
        }
    }

    /// Whether two workers can come to these two places at once.
    pub(super) fn goes_with(&self, other: &Self) -> bool {
        self.worker != other.worker && self.held_all.is_disjoint(&other.held_all)
    }
}

/// All edges, by what was held and what was taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    edges: BTreeMap<Lock, BTreeMap<Lock, Vec<Edge>>>,
}

impl Graph {
    /// Adds an edge, unless the worker did the same before and held no more than now.
    pub(super) fn add(&mut self, edge: Edge) {
        let to = self.edges.entry(edge.held).or_default();
        let known = to.entry(edge.taken).or_default();
        let same = |other: &Edge| other.worker == edge.worker;
        let less = |other: &Edge| same(other) && other.held_all.is_part_of(&edge.held_all);
        if !known.iter().any(less) {
            known.retain(|other| !same(other) || !edge.held_all.is_part_of(&other.held_all));
            known.push(edge);
        }
    }

    /// What was taken while a lock was held, with the edges.
    pub(super) fn from(&self, lock: Lock) -> impl Iterator<Item = (Lock, &[Edge])> {
        let to = self.edges.get(&lock).into_iter().flatten();
        to.map(|(taken, edges)| (*taken, edges.as_slice()))
    }

    /// The locks that are held where another is taken.
    pub(super) fn locks(&self) -> impl Iterator<Item = Lock> {
        self.edges.keys().copied()
    }

    pub(super) fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.values().flat_map(BTreeMap::values).flatten()
    }

    fn keep(&mut self, mut wanted: impl FnMut(&Edge) -> bool) -> bool {
        let before = self.edges().count();
        for to in self.edges.values_mut() {
            for edges in to.values_mut() {
                edges.retain(&mut wanted);
            }
            to.retain(|_, edges| !edges.is_empty());
        }
        self.edges.retain(|_, to| !to.is_empty());
        self.edges().count() < before
    }

    /// The parts in which a circle can be, each strongly connected.
    pub(super) fn components(mut self) -> Vec<Self> {
        let mut compared = 0;
        loop {
            let of = self.numbered();
            let across = self.keep(|edge| of.get(&edge.held) == of.get(&edge.taken));
            let alone = self.lonely(&mut compared);
            let alone = self.keep(|edge| !alone.contains(&(edge.held, edge.taken, edge.at)));
            if !across && !alone {
                return self.split(&of);
            }
        }
    }

    /// Edges that have none before them or none behind them that they go together with.
    fn lonely(&self, compared: &mut u64) -> BTreeSet<(Lock, Lock, usize)> {
        let mut to: BTreeMap<Lock, Vec<&Edge>> = BTreeMap::new();
        for edge in self.edges() {
            to.entry(edge.taken).or_default().push(edge);
        }
        let mut alone = BTreeSet::new();
        for edge in self.edges() {
            let mut goes = |other: &Edge| {
                *compared += 1;
                *compared > COMPARED_MAX || edge.goes_with(other)
            };
            let mut behind = self.from(edge.taken).flat_map(|(_, edges)| edges);
            let mut before = to.get(&edge.held).into_iter().flatten();
            if !behind.any(&mut goes) || !before.any(|other| goes(other)) {
                alone.insert((edge.held, edge.taken, edge.at));
            }
        }
        alone
    }

    fn split(self, of: &BTreeMap<Lock, usize>) -> Vec<Self> {
        let mut parts: BTreeMap<usize, Self> = BTreeMap::new();
        for (held, to) in self.edges {
            let part = of.get(&held).copied().unwrap_or_default();
            parts.entry(part).or_default().edges.insert(held, to);
        }
        parts.into_values().collect()
    }

    /// The strongly connected component of each lock, by the smallest lock in it: Kosaraju's two
    /// passes, without recursion.
    fn numbered(&self) -> BTreeMap<Lock, usize> {
        let mut back: BTreeMap<Lock, Vec<Lock>> = BTreeMap::new();
        for lock in self.locks() {
            for (taken, _) in self.from(lock) {
                back.entry(taken).or_default().push(lock);
            }
        }
        let mut of = BTreeMap::new();
        for first in self.finished().into_iter().rev() {
            let mut open = vec![first];
            while let Some(lock) = open.pop() {
                of.entry(lock).or_insert_with(|| {
                    open.extend(back.get(&lock).into_iter().flatten());
                    first
                });
            }
        }
        of
    }

    /// The locks in the order in which a walk in depth is done with them.
    fn finished(&self) -> Vec<Lock> {
        let mut seen = BTreeSet::new();
        let mut done = Vec::new();
        for first in self.locks() {
            let mut open = vec![(first, false)];
            while let Some((lock, is_done)) = open.pop() {
                if is_done {
                    done.push(lock);
                } else if seen.insert(lock) {
                    open.push((lock, true));
                    let next = self.from(lock).map(|(taken, _)| (taken, false));
                    open.extend(next.filter(|(taken, _)| !seen.contains(taken)));
                }
            }
        }
        done
    }
}
