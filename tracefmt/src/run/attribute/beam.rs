//! The hypotheses that are followed side by side.

use super::hypothesis::{Candidate, Given, Hypothesis, NOBODY};
use super::live::Live;
use super::rules::Form;
use super::span::Span;
use crate::finding::Confidence;
use crate::run::mark::Owners;
use crate::run::{Mark, MarkKind};

/// A way that is strained by so much more than the best is given up, microseconds.
const PRUNE_US: i64 = 200_000;

/// A way must be strained by so much more than the best to be called wrong, on a machine that
/// is never late.
const MARGIN_US: i64 = 6_000;

/// And by so many times what lines are out of place whose owner is beyond doubt.
const MARGIN_NOISES: i64 = 8;

/// One line moves the mean of that by the 2^-6th part.
const NOISE_SHIFT: u32 = 6;

/// One line counts at most so much.
const NOISE_MAX_US: i64 = 100_000;

/// Ways followed at most.
const WIDTH: usize = 16;

/// Ways followed at most when more than so many calls are open: each way costs as many rules.
const CROWDED: (usize, usize) = (4, 6);

/// Lines that wait for a decision at most.
const TRAIL_MAX: usize = 512;

/// The ways to see it.
#[derive(Clone, Debug)]
pub(super) struct Beam {
    form: Form,
    ways: Vec<Hypothesis>,
    scratch: Vec<Candidate>,
    /// Mean strain of lines that only one call can own, microseconds, times 2^6.
    noise: i64,
}

impl Beam {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            ways: vec![Hypothesis::default()],
            scratch: Vec::new(),
            noise: 0,
        }
    }

    /// Whether one way is left and all lines so far have been given away.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.ways.as_slice(), [way] if way.trail.is_empty())
    }

    /// Whether two settled beams will see what comes alike. The mean strain is rounded as it
    /// fades, so that beams with different beginnings never agree on its last bits.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        let settled = self.is_settled() && other.is_settled();
        settled && self.ways == other.ways && (self.noise - other.noise).abs() < 1 << NOISE_SHIFT
    }

    pub(super) fn begin(&mut self, live: &Live) {
        for way in &mut self.ways {
            way.begin(live, self.form);
        }
    }

    pub(super) fn started(&mut self, call: u32, ms: u32) {
        for way in &mut self.ways {
            way.started(call, ms);
        }
    }

    pub(super) fn left(&mut self, owners: &mut Owners, call: u32) {
        for way in &mut self.ways {
            way.left(call, self.form);
        }
        self.narrow(owners);
    }

    pub(super) fn end(&mut self, owners: &mut Owners, call: u32, at: Span, ms: Option<i64>) {
        for way in &mut self.ways {
            way.end(call, at, ms, self.form);
        }
        self.narrow(owners);
    }

    /// How many ways are followed.
    fn width(&self) -> usize {
        let (few, crowd) = CROWDED;
        match self.ways.first() {
            Some(way) if way.open.len() > crowd => few,
            _ => WIDTH,
        }
    }

    /// How much more strain makes a way wrong.
    fn margin(&self) -> i64 {
        MARGIN_US + (self.noise >> NOISE_SHIFT) * MARGIN_NOISES
    }

    /// A line: each way gives it to each of its candidates.
    pub(super) fn mark(&mut self, owners: &mut Owners, index: usize, mark: &Mark) {
        if let [way] = self.ways.as_mut_slice() {
            way.candidates(mark, self.form, &mut self.scratch);
            if let [only] = self.scratch.as_slice() {
                if only.only && mark.kind() != MarkKind::AsyncDealloc {
                    self.noise += only.strain.min(NOISE_MAX_US) - (self.noise >> NOISE_SHIFT);
                }
                // What most lines are: one way to see it, one call that can own it.
                let given = way.give(index, mark, *only, self.form);
                if way.trail.is_empty() {
                    way.strain = 0;
                    assign(owners, &given, &[]);
                } else {
                    way.trail.push(given);
                    self.narrow(owners);
                }
                return;
            }
        }
        self.follow(owners, index, mark);
    }

    /// Each way gives a line to each of its candidates.
    fn follow(&mut self, owners: &mut Owners, index: usize, mark: &Mark) {
        let mut children = Vec::new();
        let single = self.ways.len() == 1;
        // No way is followed that would be given up at once, nor more than can be kept twice over.
        let mut best_total = i64::MAX;
        let width = self.width();
        for way in &mut self.ways {
            way.candidates(mark, self.form, &mut self.scratch);
            let Some((best, rest)) = self.scratch.split_first() else {
                continue;
            };
            if single && best.only && mark.kind() != MarkKind::AsyncDealloc {
                self.noise += best.strain.min(NOISE_MAX_US) - (self.noise >> NOISE_SHIFT);
            }
            best_total = best_total.min(way.strain + best.strain);
            let limit = best_total + PRUNE_US - way.strain;
            for candidate in rest.iter().take_while(|other| other.strain < limit) {
                if children.len() >= 2 * width {
                    break;
                }
                let mut child = way.clone();
                let given = child.give(index, mark, *candidate, self.form);
                child.trail.push(given);
                children.push(child);
            }
            let given = way.give(index, mark, *best, self.form);
            way.trail.push(given);
        }
        self.ways.append(&mut children);
        self.narrow(owners);
    }

    pub(super) fn finish(mut self, owners: &mut Owners) {
        self.keep_best(1);
        self.commit(owners);
    }

    /// Gives up what is too strained, puts together what has the same future, and writes down what
    /// is decided.
    fn narrow(&mut self, owners: &mut Owners) {
        if self.ways.len() > 1 {
            let best = self.ways.iter().map(|way| way.strain).min().unwrap_or(0);
            self.ways.retain(|way| way.strain <= best + PRUNE_US);
            self.ways.sort_by_key(|way| way.strain);
            self.merge();
            let long = self
                .ways
                .first()
                .is_some_and(|way| way.trail.len() > TRAIL_MAX);
            let width = self.width();
            self.keep_best(if long { 1 } else { width });
        }
        if self.ways.len() == 1 {
            self.commit(owners);
        }
    }

    fn merge(&mut self) {
        let margin = self.margin();
        let mut kept: Vec<Hypothesis> = Vec::with_capacity(self.ways.len());
        for way in self.ways.drain(..) {
            match kept.iter_mut().find(|other| other.same_future(&way)) {
                Some(better) if way.strain <= better.strain + margin => better.absorb(&way),
                Some(_) => {}
                None => kept.push(way),
            }
        }
        self.ways = kept;
    }

    /// Keeps the least strained ways; where those given up differ from the best and cannot be
    /// called wrong, both owners stay possible.
    fn keep_best(&mut self, width: usize) {
        let margin = self.margin();
        if self.ways.len() <= width {
            return;
        }
        self.ways.sort_by_key(|way| way.strain);
        let dropped = self.ways.split_off(width);
        if let Some(best) = self.ways.first_mut() {
            for way in &dropped {
                if way.strain <= best.strain + margin {
                    best.absorb(way);
                }
            }
        }
    }

    /// Only one way is left: its trail is what happened.
    fn commit(&mut self, owners: &mut Owners) {
        let Some(way) = self.ways.first_mut() else {
            return;
        };
        way.strain = 0;
        way.others.sort_unstable();
        way.others.dedup();
        let mut others = way.others.iter().peekable();
        let mut candidates = Vec::new();
        for (at, given) in (0_u32..).zip(way.trail.drain(..)) {
            candidates.clear();
            while let Some((_, call)) = others.next_if(|(index, _)| *index == at) {
                candidates.push(*call);
            }
            if !candidates.is_empty() {
                candidates.push(given.call);
                candidates.retain(|call| *call != NOBODY);
                candidates.sort_unstable();
                candidates.dedup();
                if candidates.is_empty() {
                    candidates.push(NOBODY);
                }
            }
            assign(owners, &given, &candidates);
        }
        way.others.clear();
    }
}

/// Writes the owner of a line down; `others` is empty when no other call is possible.
fn assign(owners: &mut Owners, given: &Given, others: &[u32]) {
    let owner = (given.call != NOBODY).then_some(given.call);
    let sure = match owner {
        Some(_) if others.is_empty() && given.only => Confidence::Certain,
        Some(_) if others.is_empty() => Confidence::Inferred,
        _ => Confidence::Ambiguous,
    };
    owners.assign(given.mark as usize, owner, sure, others);
}
