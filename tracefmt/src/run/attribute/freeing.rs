//! Whose memory was freed: `async_dealloc` is printed by a thread of its own some time after its
//! call, in later versions one after the other.

use super::hypothesis::{Candidate, NOBODY};
use super::span::Span;
use crate::run::Mark;

/// Calls whose freeing is awaited at most.
const WAITING_MAX: usize = 64;

/// From the end of a call to the start of its freeing.
const DETACH_US: i64 = 5_000;

/// Threads that wait for a mutex are woken in the order of their coming, as a rule.
const OVERTAKE_US: i64 = 40_000;

/// Before phase 11 nobody waits: a freeing that begins later than its call ends is strained.
const QUEUED_US: i64 = 15_000;

/// A call whose memory is still to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    call: u32,
    end: Span,
}

/// Calls that have ended and whose memory is still to be freed, in the order of their ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Freeing {
    waiting: Vec<Waiting>,
    /// When the last freeing was done.
    last: Span,
}

impl Default for Freeing {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            last: Span::ANY,
        }
    }
}

impl Freeing {
    pub(super) fn push(&mut self, call: u32, end: Span) {
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.remove(0);
        }
        let end = Span::new(end.lo, end.hi + DETACH_US);
        self.waiting.push(Waiting { call, end });
    }

    /// Who could be meant. `in_turn`: this version frees one after the other, as a rule.
    pub(super) fn candidates(
        &self,
        mark: &Mark,
        at: Span,
        in_turn: bool,
        out: &mut Vec<Candidate>,
    ) {
        for position in 0..self.waiting.len() {
            out.push(Candidate {
                at: Some(position),
                strain: self.fit(position, mark.ms(), at, in_turn).0,
                only: self.waiting.len() == 1,
            });
        }
    }

    /// The strain of freeing a call now, and when that was done.
    fn fit(&self, position: usize, ms: i64, at: Span, in_turn: bool) -> (i64, Span) {
        let Some(call) = self.waiting.get(position) else {
            return (0, at);
        };
        let overtaken = i64::from(position > 0);
        let done = call.end.after_ms(ms);
        let at_once = (at.gap(done), at.meet(done));
        let alone = at_once.0 + overtaken * if in_turn { OVERTAKE_US } else { 0 };
        if self.last == Span::ANY {
            return (alone, at_once.1);
        }
        let done = self.last.latest(call.end).after_ms(ms);
        let queued = (at.gap(done), at.meet(done));
        let after = queued.0 + overtaken * OVERTAKE_US + if in_turn { 0 } else { QUEUED_US };
        if alone <= after {
            (alone, at_once.1)
        } else {
            (after, queued.1)
        }
    }

    /// The call at a position was freed; gives back which it is, and when that was done.
    pub(super) fn take(
        &mut self,
        position: usize,
        ms: i64,
        at: Span,
        in_turn: bool,
    ) -> (u32, Span) {
        let (_, done) = self.fit(position, ms, at, in_turn);
        self.last = done;
        if position < self.waiting.len() {
            (self.waiting.remove(position).call, done)
        } else {
            (NOBODY, done)
        }
    }

    /// Whether the same calls are waited for.
    pub(super) fn same(&self, other: &Self) -> bool {
        let calls = |waiting: &Waiting| waiting.call;
        self.waiting.len() == other.waiting.len()
            && (self.waiting.iter().map(calls)).eq(other.waiting.iter().map(calls))
    }
}
