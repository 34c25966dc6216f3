//! The address space of the pool: which ranges are used, which are free, and for whom.
//!
//! A free range is either *general*, open to every stream, or *pending* on the stream that freed
//! it. Neighbours of the same kind are one range; a general range may be mapped, unmapped, or
//! partly so. Pages are counted here and nowhere else, so that ranges and pages cannot drift
//! apart. Which range an allocation takes is decided in [`super::pool`].

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use tracefmt::ops::Stream;

use super::pages::{Pages, Range};
use super::streams::{Moment, Ranks};

/// One past the last address; far beyond any card.
const SPACE_END: u64 = 1 << 57;

/// The largest request that is placed at all.
pub(super) const REQUEST_BYTES_MAX: u64 = 1 << 56;

/// What a range is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Used,
    General,
    /// Freed on a stream at a moment that nothing has observed yet.
    Pending(Stream, Moment),
}

impl State {
    /// The one state of two neighbours, if they are of one kind.
    fn merged(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::General, Self::General) => Some(Self::General),
            (Self::Pending(a, early), Self::Pending(b, late)) if a == b => {
                Some(Self::Pending(a, early.max(late)))
            }
            _ => None,
        }
    }
}

/// A free range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Free ranges by length, then address: the first that is long enough is the tightest.
type ByLength = BTreeSet<(u64, u64)>;

/// The ranges of one pool, with their pages.
#[derive(Debug, Clone)]
pub(super) struct Space {
    page_bytes: u64,
    ranges: BTreeMap<u64, (u64, State)>,
    general: ByLength,
    pending: BTreeMap<Stream, ByLength>,
    pub(super) pages: Pages,
}

impl Space {
    pub(super) fn new(page_bytes: u64) -> Self {
        let mut space = Self {
            page_bytes,
            ranges: BTreeMap::new(),
            general: ByLength::new(),
            pending: BTreeMap::new(),
            pages: Pages::default(),
        };
        space.insert(0, SPACE_END, State::General);
        space
    }

    /// The pages that a range touches.
    pub(super) fn pages_of(&self, start: u64, end: u64) -> Range {
        let page = |at: u64| usize::try_from(at / self.page_bytes).unwrap_or(usize::MAX);
        page(start)..page(end.saturating_sub(1)).saturating_add(1)
    }

    /// The tightest range that a stream freed itself.
    pub(super) fn own(&self, stream: Stream, bytes: u64) -> Option<Span> {
        tightest(self.pending.get(&stream)?, bytes).next()
    }

    /// The tightest general range.
    pub(super) fn general(&self, bytes: u64) -> Option<Span> {
        tightest(&self.general, bytes).next()
    }

    /// The tightest general range all of whose pages are mapped.
    pub(super) fn general_mapped(&self, bytes: u64) -> Option<Span> {
        tightest(&self.general, bytes)
            .take_while(|span| span.end < SPACE_END)
            .find(|span| {
                let pages = self.pages_of(span.start, span.end);
                self.pages.mapped_in(&pages) == pages.len() as u64
            })
    }

    /// The tightest range that other streams freed and that `allowed` admits; streams in order.
    pub(super) fn foreign(
        &self,
        stream: Stream,
        bytes: u64,
        allowed: impl Fn(Stream, Moment) -> bool,
    ) -> Option<Span> {
        let others = self.pending.iter().filter(|(other, _)| **other != stream);
        others.into_iter().find_map(|(&other, spans)| {
            tightest(spans, bytes).find(|span| match self.ranges.get(&span.start) {
                Some((_, State::Pending(_, moment))) => allowed(other, *moment),
                _ => false,
            })
        })
    }

    /// Uses the first `bytes` of a free range; the rest stays what it was.
    pub(super) fn take(&mut self, span: Span, bytes: u64) {
        let Some((end, state)) = self.remove(span.start) else {
            return;
        };
        let middle = span.start + bytes;
        self.insert(span.start, middle, State::Used);
        if middle < end {
            self.insert(middle, end, state);
        }
    }

    /// Frees a used range for every stream and gives its bounds.
    pub(super) fn give(&mut self, start: u64) -> Option<Span> {
        self.give_as(start, State::General)
    }

    /// Frees a used range for one stream.
    pub(super) fn give_pending(&mut self, start: u64, stream: Stream, moment: Moment) {
        self.give_as(start, State::Pending(stream, moment));
    }

    fn give_as(&mut self, start: u64, state: State) -> Option<Span> {
        let (end, _) = self.remove(start)?;
        self.join(start, end, state);
        Some(Span { start, end })
    }

    /// Makes pending ranges general where `done` says so; `true` if there was one.
    pub(super) fn settle(&mut self, done: impl Fn(Stream, Moment) -> bool) -> bool {
        let starts: Vec<u64> = self
            .pending
            .values()
            .flatten()
            .map(|&(_, start)| start)
            .filter(|start| match self.ranges.get(start) {
                Some((_, State::Pending(stream, moment))) => done(*stream, *moment),
                _ => false,
            })
            .collect();
        for start in &starts {
            if let Some((end, _)) = self.remove(*start) {
                self.join(*start, end, State::General);
            }
        }
        !starts.is_empty()
    }

    /// Whether anything is pending.
    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The frees that are pending.
    pub(super) fn pending(&self) -> impl Iterator<Item = (Stream, Moment)> + '_ {
        self.ranges.values().filter_map(|(_, state)| match state {
            State::Pending(stream, moment) => Some((*stream, *moment)),
            State::Used | State::General => None,
        })
    }

    /// Hashes ranges and pages, with ranks in place of moments.
    pub(super) fn hash_ranked<H: Hasher>(&self, ranks: &Ranks, state: &mut H) {
        self.ranges.len().hash(state);
        for (start, (end, kind)) in &self.ranges {
            let kind = match kind {
                State::Used => (0, None),
                State::General => (1, None),
                State::Pending(stream, moment) => {
                    (2, Some((*stream, ranks.moment(*stream, *moment))))
                }
            };
            (start, end, kind).hash(state);
        }
        self.pages.hash_mapped(state);
    }

    /// Roughly how many bytes it takes.
    pub(super) fn size_bytes(&self) -> usize {
        self.ranges.len() * 96 + self.pages.size_bytes()
    }

    /// Inserts a free range and makes it one with its neighbours of the same kind.
    fn join(&mut self, mut start: u64, mut end: u64, mut state: State) {
        if let Some(&(after_end, after)) = self.ranges.get(&end)
            && let Some(merged) = state.merged(after)
        {
            self.remove(end);
            (end, state) = (after_end, merged);
        }
        let before = self.ranges.range(..start).next_back();
        if let Some((&before_start, &(before_end, before))) = before
            && before_end == start
            && let Some(merged) = state.merged(before)
        {
            self.remove(before_start);
            (start, state) = (before_start, merged);
        }
        self.insert(start, end, state);
    }

    fn insert(&mut self, start: u64, end: u64, state: State) {
        self.ranges.insert(start, (end, state));
        self.count(start, end, state, true);
        match state {
            State::Used => {}
            State::General => {
                self.general.insert((end - start, start));
            }
            State::Pending(stream, _) => {
                let spans = self.pending.entry(stream).or_default();
                spans.insert((end - start, start));
            }
        }
    }

    fn remove(&mut self, start: u64) -> Option<(u64, State)> {
        let (end, state) = self.ranges.remove(&start)?;
        self.count(start, end, state, false);
        match state {
            State::Used => {}
            State::General => {
                self.general.remove(&(end - start, start));
            }
            State::Pending(stream, _) => {
                if let Some(spans) = self.pending.get_mut(&stream) {
                    spans.remove(&(end - start, start));
                    if spans.is_empty() {
                        self.pending.remove(&stream);
                    }
                }
            }
        }
        Some((end, state))
    }

    fn count(&mut self, start: u64, end: u64, state: State, add: bool) {
        let pages = self.pages_of(start, end);
        match state {
            State::Used => self.pages.use_range(pages, add),
            State::Pending(..) => self.pages.pend_range(pages, add),
            State::General => {}
        }
    }
}

/// The ranges of at least `bytes`, tightest first, lowest address first among equals.
fn tightest(spans: &ByLength, bytes: u64) -> impl Iterator<Item = Span> {
    spans.range((bytes, 0)..).map(|&(length, start)| Span {
        start,
        end: start + length,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const S0: Stream = Stream::Id(0);
    const S1: Stream = Stream::Id(1);

    /// Uses ranges of these lengths from address 0 on.
    fn space(lengths: &[u64]) -> Space {
        let mut space = Space::new(100);
        for &length in lengths {
            let span = space.general(length).expect("the end is open");
            space.take(span, length);
        }
        space
    }

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    #[test]
    fn neighbours_of_one_kind_become_one_range() {
        let mut space = space(&[50, 50, 50, 50]);
        space.give_pending(0, S0, Moment::default());
        space.give_pending(100, S0, Moment::default());
        assert_eq!(space.own(S0, 51), None);
        space.give_pending(50, S0, Moment::default());
        assert_eq!(space.own(S0, 51), Some(span(0, 150)));
        assert_eq!(space.own(S1, 1), None);
        assert_eq!(space.foreign(S1, 1, |_, _| true), Some(span(0, 150)));
    }

    #[test]
    fn ranges_of_two_streams_stay_apart_until_they_settle() {
        let mut space = space(&[50, 50, 50]);
        space.give_pending(0, S0, Moment::default());
        space.give_pending(50, S1, Moment::default());
        assert!(space.has_pending());
        assert!(space.settle(|stream, _| stream == S1));
        assert_eq!(space.own(S0, 50), Some(span(0, 50)));
        assert!(space.settle(|_, _| true));
        assert_eq!(space.general(100), Some(span(0, 100)));
        assert!(!space.has_pending() && !space.settle(|_, _| true));
    }

    #[test]
    fn the_rest_of_a_taken_range_stays_what_it_was() {
        let mut space = space(&[80, 20]);
        space.give_pending(0, S0, Moment::default());
        space.take(span(0, 80), 30);
        assert_eq!(space.own(S0, 1), Some(span(30, 80)));
    }

    #[test]
    fn only_a_wholly_mapped_general_range_counts_as_mapped() {
        let mut space = space(&[250, 50]);
        space.pages.map(0..3, 2);
        space.give(0);
        assert_eq!(space.general_mapped(10), None, "page 2 is not mapped");
        space.pages.map(0..3, 1);
        assert_eq!(space.general_mapped(10), Some(span(0, 250)));
    }

    #[test]
    fn pages_follow_the_ranges() {
        let mut space = space(&[250, 50]);
        space.pages.map(0..3, 9);
        assert_eq!(space.pages.idle(), 0);
        space.give_pending(0, S0, Moment::default());
        assert_eq!(space.pages.idle(), 0, "nothing is observed");
        space.settle(|_, _| true);
        assert_eq!(
            space.pages.idle(),
            2,
            "page 2 is shared with the second range"
        );
        space.give(250);
        assert_eq!(space.pages.idle(), 3);
    }
}
