//! The search itself: breadth first over the states of workers that can meet.

use rustc_hash::FxHashSet;

use super::plan::Plan;
use super::state::State;
use super::{Bound, Bounds, Exploration};
use crate::vram::Profile;

/// Bytes of one entry of the table of known states, with its free places.
const KNOWN_BYTES: u64 = 2 * 17;
/// Bytes of one entry of the paths.
const PATH_BYTES: u64 = 8;

/// One part's exploration.
pub(super) struct Search<'p, 'a> {
    plan: &'p Plan<'a>,
    profile: Profile,
    workers: &'p [usize],
    bounds: Bounds,
    known: FxHashSet<u128>,
    /// Where each state came from: its parent, and the worker that moved.
    path: Vec<(u32, u32)>,
    /// Bytes of the states that wait to be visited.
    waiting_bytes: u64,
    found: Exploration,
}

impl<'p, 'a> Search<'p, 'a> {
    pub(super) fn new(
        plan: &'p Plan<'a>,
        profile: Profile,
        workers: &'p [usize],
        bounds: Bounds,
    ) -> Self {
        Self {
            plan,
            profile,
            workers,
            bounds,
            known: FxHashSet::default(),
            path: Vec::new(),
            waiting_bytes: 0,
            found: Exploration::default(),
        }
    }

    pub(super) fn run(mut self) -> Exploration {
        let mut layer: Vec<(u32, State<'a>)> = Vec::new();
        self.add(&mut layer, State::new(self.plan, self.profile), (0, 0));
        while !layer.is_empty() {
            let mut next = Vec::new();
            for (here, state) in layer {
                self.visit(here, &state, &mut next);
                if self.found.bound.is_some() {
                    return self.found;
                }
                let bytes = state.size_bytes() as u64;
                self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes);
            }
            layer = next;
        }
        self.found
    }

    /// The bound that is reached, if one is.
    fn reached(&self) -> Option<Bound> {
        let bounds = self.bounds;
        let tables = self.known.len() as u64 * KNOWN_BYTES + self.path.len() as u64 * PATH_BYTES;
        if self.found.states >= bounds.states_max || self.path.len() >= u32::MAX as usize {
            Some(Bound::States)
        } else if tables + self.waiting_bytes > bounds.bytes_max {
            Some(Bound::Memory)
        } else {
            None
        }
    }

    /// Tries every worker's next move.
    fn visit(&mut self, here: u32, state: &State<'a>, next: &mut Vec<(u32, State<'a>)>) {
        let mut moved = false;
        for &worker in self.workers {
            if !state.can_move(self.plan, worker) {
                continue;
            }
            moved = true;
            let mut child = state.clone();
            let made = child.go(self.plan, worker, |_| {});
            let step = (here, u32::try_from(worker).unwrap_or(u32::MAX));
            if child.is_misused() && self.found.misused.is_none() {
                self.found.misused = Some(self.order(here, Some(worker)));
            }
            if !made.failed {
                self.add(next, child, step);
            } else if self.found.failing.is_none() {
                self.found.failing = Some(self.order(here, Some(worker)));
            }
        }
        if moved {
            return;
        }
        let over = state.is_over(self.plan, self.workers);
        if over && !state.is_misused() && self.found.passing.is_none() {
            self.found.passing = Some(self.order(here, None));
        } else if !over && self.found.stuck.is_none() {
            self.found.stuck = Some(self.order(here, None));
        }
    }

    /// Keeps a state for a visit, unless it is known.
    fn add(&mut self, next: &mut Vec<(u32, State<'a>)>, state: State<'a>, from: (u32, u32)) {
        if self.known.insert(state.fingerprint()) {
            self.found.bound = self.found.bound.or(self.reached());
            if self.found.bound.is_some() {
                return;
            }
            self.found.states += 1;
            self.waiting_bytes += state.size_bytes() as u64;
            let here = u32::try_from(self.path.len()).unwrap_or(u32::MAX);
            self.path.push(from);
            next.push((here, state));
        }
    }

    /// The steps that lead to a state, and then through one more move.
    fn order(&self, mut here: u32, last: Option<usize>) -> Vec<usize> {
        let mut moves: Vec<usize> = last.into_iter().collect();
        while here != 0
            && let Some(&(parent, worker)) = self.path.get(here as usize)
        {
            moves.push(worker as usize);
            here = parent;
        }
        let mut state = State::new(self.plan, self.profile);
        let mut steps = Vec::new();
        for worker in moves.into_iter().rev() {
            state.go(self.plan, worker, |at| steps.push(at));
        }
        steps
    }
}
