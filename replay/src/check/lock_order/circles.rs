//! The circles of one component: pairs first, then longer ones, length by length.
//!
//! From each lock the circles are looked for in which it is the smallest, over locks from which
//! there is a way back to it that is short enough. A way over locks is followed as long as its
//! edges can be chosen so that all go together. What is tried is counted, and where the tries are
//! used up the search is cut off.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::graph::{Edge, Graph, Lock};

/// A circle: its edges in order.
pub(super) type Circle<'a> = Vec<&'a Edge>;

/// How many circles of one component are told of.
const CIRCLES_MAX: usize = 100;

/// The circles of a component.
#[derive(Debug)]
pub(super) struct Search<'a> {
    graph: &'a Graph,
    /// One for each set of locks: the first that is found, from the lock with the smallest name.
    pub circles: BTreeMap<BTreeSet<Lock>, Circle<'a>>,
    tries_left: u64,
    /// Whether something was left untried.
    pub is_cut_off: bool,
}

/// A way over locks and the choice of its edges, each by its place among those of its two locks.
#[derive(Debug, Clone, Default)]
struct Way<'a> {
    among: Vec<&'a [Edge]>,
    chosen: Vec<usize>,
}

impl<'a> Search<'a> {
    pub(super) fn of(graph: &'a Graph, tries_max: u64) -> Self {
        let mut search = Self {
            graph,
            circles: BTreeMap::new(),
            tries_left: tries_max,
            is_cut_off: false,
        };
        search.run();
        search
    }

    fn run(&mut self) {
        let workers: BTreeSet<u32> = self.graph.edges().map(|edge| edge.worker).collect();
        let longest = workers.len().min(self.graph.locks().count());
        let mut shortest = BTreeMap::new();
        for first in self.graph.locks() {
            let back = self.back_to(first);
            let ways = self.graph.from(first);
            let round = ways.filter_map(|(next, _)| back.get(&next)).min();
            if let Some(round) = round {
                shortest.insert(first, round + 1);
            }
        }
        let mut length = 2;
        while length <= longest && !self.is_cut_off {
            let starts = shortest.iter().filter(|(_, round)| **round <= length);
            let starts: Vec<Lock> = starts.map(|(first, _)| *first).collect();
            let mut goes_on = false;
            for first in starts {
                goes_on |= self.from(first, length);
            }
            let next = shortest.values().filter(|round| **round > length).min();
            length = match next {
                _ if goes_on => length + 1,
                Some(next) => *next,
                None => return,
            };
        }
    }

    /// How many edges it takes back to a lock over none that is smaller.
    fn back_to(&mut self, first: Lock) -> BTreeMap<Lock, usize> {
        let mut before: BTreeMap<Lock, Vec<Lock>> = BTreeMap::new();
        for lock in self.graph.locks().filter(|lock| *lock >= first) {
            for (taken, _) in self.graph.from(lock) {
                before.entry(taken).or_default().push(lock);
            }
        }
        let mut back = BTreeMap::from([(first, 0)]);
        let mut open = VecDeque::from([(first, 0)]);
        while let Some((lock, steps)) = open.pop_front() {
            self.spend(1);
            for from in before.get(&lock).into_iter().flatten() {
                back.entry(*from).or_insert_with(|| {
                    open.push_back((*from, steps + 1));
                    steps + 1
                });
            }
        }
        back
    }

    fn spend(&mut self, tries: usize) {
        let left = self.tries_left.checked_sub(tries as u64);
        self.is_cut_off |= left.is_none();
        self.tries_left = left.unwrap_or(0);
    }

    /// The circles of one length from their smallest lock; whether there may be longer ones.
    fn from(&mut self, first: Lock, length: usize) -> bool {
        let back = self.back_to(first);
        let mut goes_on = false;
        let mut open = vec![(first, Way::default())];
        while let Some((last, way)) = open.pop() {
            for (next, edges) in self.graph.from(last) {
                if self.is_cut_off {
                    return false;
                }
                let Some(rest) = back.get(&next) else {
                    continue;
                };
                let taken = way.among.len() + 1;
                goes_on |= taken + rest > length;
                if taken + rest > length || (*rest == 0 && taken < length) {
                    continue;
                }
                let mut longer = way.clone();
                longer.among.push(edges);
                let is_possible = self.choose(&mut longer);
                if is_possible && *rest == 0 {
                    self.keep(&longer);
                } else if is_possible {
                    open.push((next, longer));
                }
            }
        }
        goes_on
    }

    fn keep(&mut self, way: &Way<'a>) {
        let circle: Circle<'a> = way.edges().collect();
        let names = circle.iter().map(|edge| edge.held).collect();
        if self.circles.len() == CIRCLES_MAX && !self.circles.contains_key(&names) {
            self.is_cut_off = true;
            return;
        }
        self.circles.entry(names).or_insert(circle);
    }

    /// Goes on from the choice for all but the last edges to the next one for all; `false` if
    /// there is none. What comes before it fails for the shorter way, and so for this one.
    fn choose(&mut self, way: &mut Way<'a>) -> bool {
        let mut spent = way.among.len();
        let mut from = 0;
        while let Some(edges) = way.among.get(way.chosen.len()) {
            let rest = edges.iter().enumerate().skip(from);
            let mut goes = |edge: &Edge| {
                spent += 1;
                way.edges().all(|other| other.goes_with(edge))
            };
            let next = rest.into_iter().find(|(_, edge)| goes(edge));
            match (next.map(|(at, _)| at), way.chosen.last()) {
                (Some(at), _) => {
                    way.chosen.push(at);
                    from = 0;
                }
                (None, Some(last)) => {
                    from = last + 1;
                    way.chosen.pop();
                }
                (None, None) => {
                    self.spend(spent);
                    return false;
                }
            }
            if spent as u64 > self.tries_left {
                break;
            }
        }
        self.spend(spent);
        !self.is_cut_off
    }
}

impl<'a> Way<'a> {
    fn edges(&self) -> impl Iterator<Item = &'a Edge> {
        let pairs = self.among.iter().zip(&self.chosen);
        pairs.filter_map(|(edges, at)| edges.get(*at))
    }
}
