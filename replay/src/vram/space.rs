//! The address space of the pool: which ranges are used, which are free, and for whom.
//!
//! A free range is either *general*, open to every stream, or *pending* on the stream that freed
//! it. Neighbours of the same kind are one range; a general range may be mapped, unmapped, or
//! partly so. Pages are counted here and nowhere else, so that ranges and pages cannot drift
//! apart. Which range an allocation takes is decided in [`super::pool`].
//!
//! Addresses and lengths are in units of the pool's alignment.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use tracefmt::ops::Stream;

use super::ordered::Ordered;
use super::pages::{Pages, Range};
use super::ranges::{Node, Ranges, Span, State};
use super::streams::{Moment, Ranks};

/// One past the last address; far beyond any card.
pub(super) const SPACE_END: u64 = 1 << 47;

/// Streams without a pending free that are remembered all the same.
const EMPTY_MAX: usize = 32;

/// Free ranges by length, then address: the first that is long enough is the tightest.
type ByLength = Ordered<u128>;

/// The ranges of one pool, with their pages.
#[derive(Debug, Clone)]
pub(super) struct Space {
    page_units: u64,
    ranges: Ranges,
    /// General ranges all of whose pages were mapped when they came to be; some may not be now.
    whole: ByLength,
    /// All other general ranges.
    partial: ByLength,
    /// Pending ranges of each stream.
    pending: BTreeMap<Stream, ByLength>,
    pub(super) pages: Pages,
}

impl Space {
    pub(super) fn new(page_units: u64) -> Self {
        let (ranges, all) = Ranges::new(SPACE_END);
        let mut space = Self {
            page_units,
            ranges,
            whole: ByLength::default(),
            partial: ByLength::default(),
            pending: BTreeMap::new(),
            pages: Pages::default(),
        };
        space.enter(all);
        space
    }

    /// The pages that a range touches.
    pub(super) fn pages_of(&self, start: u64, end: u64) -> Range {
        let page = |at: u64| usize::try_from(at / self.page_units).unwrap_or(usize::MAX);
        page(start)..page(end.saturating_sub(1)).saturating_add(1)
    }

    /// The bounds of a range.
    pub(super) fn span(&self, node: Node) -> Span {
        self.ranges.span(node)
    }

    /// The tightest range that a stream freed itself.
    pub(super) fn own(&self, stream: Stream, units: u64) -> Option<Node> {
        let spans = self.pending.get(&stream)?;
        spans.at_least(least(units)).map(node_of)
    }

    /// The tightest general range.
    pub(super) fn general(&self, units: u64) -> Option<Node> {
        let least = least(units);
        let both = [self.whole.at_least(least), self.partial.at_least(least)];
        both.into_iter().flatten().min().map(node_of)
    }

    /// The tightest general range all of whose pages are mapped.
    pub(super) fn general_mapped(&mut self, units: u64) -> Option<Node> {
        // Pages of a general range are mapped only when the range is taken, so no other range has
        // become whole since it came to be.
        while let Some(key) = self.whole.at_least(least(units)) {
            let node = node_of(key);
            if self.is_mapped(node) {
                return Some(node);
            }
            self.whole.remove(key);
            self.partial.insert(key);
            self.ranges.set_whole(node, false);
        }
        None
    }

    /// Whether all pages of a range are mapped.
    fn is_mapped(&self, node: Node) -> bool {
        let span = self.ranges.span(node);
        let pages = self.pages_of(span.start, span.end);
        span.end < SPACE_END && self.pages.mapped_in(&pages) == pages.len() as u64
    }

    /// The tightest range that other streams freed and that `allowed` admits; streams in order.
    pub(super) fn foreign(
        &self,
        stream: Stream,
        units: u64,
        allowed: impl Fn(Stream, Moment) -> bool,
    ) -> Option<Node> {
        let others = self.pending.iter().filter(|(other, _)| **other != stream);
        others.into_iter().find_map(|(other, spans)| {
            let fitting = spans.starting_at(least(units)).map(node_of);
            fitting
                .into_iter()
                .find(|node| match self.ranges.state(*node) {
                    State::Pending(_, moment) => allowed(*other, moment),
                    State::Used | State::General => false,
                })
        })
    }

    /// Uses the first `units` of a free range; the rest stays what it was.
    pub(super) fn take(&mut self, node: Node, units: u64) {
        self.leave(node);
        let was = self.ranges.state(node);
        let rest = self.ranges.split(node, units);
        self.ranges.set_state(node, State::Used);
        let pages = self.pages_at(node);
        if let State::Pending(..) = was {
            let rest = rest.map_or(pages.end, |rest| self.pages_at(rest).start);
            self.pages.pend_to_use(pages, rest);
        } else {
            self.pages.use_range(pages, true);
        }
        if let Some(rest) = rest {
            self.enter(rest);
        }
    }

    /// Frees a used range for every stream and gives its bounds.
    pub(super) fn give(&mut self, node: Node) -> Span {
        let span = self.ranges.span(node);
        self.become_free(node, State::General);
        span
    }

    /// Frees a used range for one stream.
    pub(super) fn give_pending(&mut self, node: Node, stream: Stream, moment: Moment) {
        self.become_free(node, State::Pending(stream, moment));
    }

    /// Makes pending ranges general where `done` says so; `true` if there was one.
    pub(super) fn settle(&mut self, done: impl Fn(Stream, Moment) -> bool) -> bool {
        let pending = self.pending.values().flat_map(Ordered::iter);
        let pending = pending.map(node_of);
        let settled: Vec<Node> = pending
            .filter(|node| match self.ranges.state(*node) {
                State::Pending(stream, moment) => done(stream, moment),
                State::Used | State::General => false,
            })
            .collect();
        for node in &settled {
            self.become_free(*node, State::General);
        }
        !settled.is_empty()
    }

    /// Whether anything is pending.
    pub(super) fn has_pending(&self) -> bool {
        self.pending.values().any(|spans| !spans.is_empty())
    }

    /// The frees that are pending.
    pub(super) fn pending(&self) -> impl Iterator<Item = (Stream, Moment)> + '_ {
        self.ranges.iter().filter_map(|(_, state)| match state {
            State::Pending(stream, moment) => Some((stream, moment)),
            State::Used | State::General => None,
        })
    }

    /// Hashes ranges and pages, with ranks in place of moments.
    pub(super) fn hash_ranked<H: Hasher>(&self, ranks: &Ranks, state: &mut H) {
        for (span, kind) in self.ranges.iter() {
            let kind = match kind {
                State::Used => (0, None),
                State::General => (1, None),
                State::Pending(stream, moment) => (2, Some((stream, ranks.moment(stream, moment)))),
            };
            (span.start, span.end, kind).hash(state);
        }
        self.pages.hash_mapped(state);
    }

    /// Roughly how many bytes it takes.
    pub(super) fn size_bytes(&self) -> usize {
        let pending = self.pending.values().map(Ordered::size_bytes);
        let general = self.whole.size_bytes() + self.partial.size_bytes();
        self.ranges.size_bytes() + general + pending.sum::<usize>() + self.pages.size_bytes()
    }

    /// A range that was used, or pending, becomes free in a state, and one with its neighbours of
    /// the same kind.
    fn become_free(&mut self, node: Node, state: State) {
        self.leave(node);
        let pages = self.pages_at(node);
        match (self.ranges.state(node), state) {
            (State::Used, State::Pending(..)) => self.pages.use_to_pend(pages),
            (State::Used, _) => self.pages.use_range(pages, false),
            (State::Pending(..), State::General) => self.pages.pend_range(pages, false),
            (State::Pending(..) | State::General, _) => {}
        }
        self.ranges.set_state(node, state);
        for other in self.ranges.neighbours(node).into_iter().flatten() {
            let merged = self.ranges.state(node).merged(self.ranges.state(other));
            if let Some(merged) = merged {
                self.leave(other);
                if let State::Pending(..) = merged {
                    self.pages.pend_range(self.shared(node, other), false);
                }
                self.ranges.join(node, other);
                self.ranges.set_state(node, merged);
            }
        }
        self.enter(node);
    }

    /// The pages that a range touches.
    fn pages_at(&self, node: Node) -> Range {
        let span = self.ranges.span(node);
        self.pages_of(span.start, span.end)
    }

    /// The page that two neighbours touch, if they do.
    fn shared(&self, node: Node, other: Node) -> Range {
        let [one, other] = [self.pages_at(node), self.pages_at(other)];
        one.start.max(other.start)..one.end.min(other.end)
    }

    /// Counts a free range in among those of its kind.
    fn enter(&mut self, node: Node) {
        let span = self.ranges.span(node);
        match self.ranges.state(node) {
            State::Used => {}
            State::General => {
                let whole = self.is_mapped(node);
                self.ranges.set_whole(node, whole);
                let kind = if whole {
                    &mut self.whole
                } else {
                    &mut self.partial
                };
                kind.insert(key(span, node));
            }
            State::Pending(stream, _) => self.of_stream(stream).insert(key(span, node)),
        }
    }

    /// Counts a free range out.
    fn leave(&mut self, node: Node) {
        let span = self.ranges.span(node);
        match self.ranges.state(node) {
            State::Used => {}
            State::General => {
                let kind = if self.ranges.is_whole(node) {
                    &mut self.whole
                } else {
                    &mut self.partial
                };
                kind.remove(key(span, node));
            }
            State::Pending(stream, _) => self.of_stream(stream).remove(key(span, node)),
        }
    }

    /// The pending ranges of a stream.
    fn of_stream(&mut self, stream: Stream) -> &mut ByLength {
        if self.pending.len() > EMPTY_MAX {
            self.pending.retain(|_, spans| !spans.is_empty());
        }
        self.pending.entry(stream).or_default()
    }
}

/// A range as a number whose order is that of length, then address.
fn key(span: Span, node: Node) -> u128 {
    let length = u128::from(span.end - span.start);
    (length << 80) | (u128::from(span.start) << 32) | u128::from(node)
}

/// Not above the key of any range of at least so many units.
fn least(units: u64) -> u128 {
    u128::from(units) << 80
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low 32 bits of a key are the name of its range"
)]
fn node_of(key: u128) -> Node {
    key as Node
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S0: Stream = Stream::Id(0);
    const S1: Stream = Stream::Id(1);

    /// Uses ranges of these lengths from address 0 on, and gives their names.
    fn space<const N: usize>(lengths: [u64; N]) -> (Space, [Node; N]) {
        let mut space = Space::new(100);
        let nodes = lengths.map(|length| {
            let node = space.general(length).expect("the end is open");
            space.take(node, length);
            node
        });
        (space, nodes)
    }

    fn bounds(space: &Space, node: Option<Node>) -> Option<(u64, u64)> {
        let span = space.span(node?);
        Some((span.start, span.end))
    }

    #[test]
    fn neighbours_of_one_kind_become_one_range() {
        let (mut space, [a, b, c, _]) = space([50, 50, 50, 50]);
        space.give_pending(a, S0, Moment::default());
        space.give_pending(c, S0, Moment::default());
        assert_eq!(space.own(S0, 51), None);
        space.give_pending(b, S0, Moment::default());
        assert_eq!(bounds(&space, space.own(S0, 51)), Some((0, 150)));
        assert_eq!(space.own(S1, 1), None);
        let foreign = space.foreign(S1, 1, |_, _| true);
        assert_eq!(bounds(&space, foreign), Some((0, 150)));
    }

    #[test]
    fn ranges_of_two_streams_stay_apart_until_they_settle() {
        let (mut space, [a, b, _]) = space([50, 50, 50]);
        space.give_pending(a, S0, Moment::default());
        space.give_pending(b, S1, Moment::default());
        assert!(space.has_pending());
        assert!(space.settle(|stream, _| stream == S1));
        assert_eq!(bounds(&space, space.own(S0, 50)), Some((0, 50)));
        assert!(space.settle(|_, _| true));
        assert_eq!(bounds(&space, space.general(100)), Some((0, 100)));
        assert!(!space.has_pending() && !space.settle(|_, _| true));
    }

    #[test]
    fn the_rest_of_a_taken_range_stays_what_it_was() {
        let (mut space, [a, _]) = space([80, 20]);
        space.give_pending(a, S0, Moment::default());
        space.take(a, 30);
        assert_eq!(bounds(&space, space.own(S0, 1)), Some((30, 80)));
    }

    #[test]
    fn only_a_wholly_mapped_general_range_counts_as_mapped() {
        let (mut space, [a, b]) = space([250, 50]);
        space.pages.map(0..3, 2);
        space.give(a);
        assert_eq!(space.general_mapped(10), None, "page 2 is not mapped");
        let a = space.general(250).expect("what was freed");
        space.take(a, 250);
        space.pages.map(0..3, 1);
        space.give(a);
        let mapped = space.general_mapped(10);
        assert_eq!(bounds(&space, mapped), Some((0, 250)));
        space.pages.unmap_in(0..1, 1);
        assert_eq!(space.general_mapped(10), None, "no longer");
        assert_eq!(bounds(&space, space.general(10)), Some((0, 250)));
        space.give(b);
        assert_eq!(space.ranges.iter().count(), 1, "all one again");
    }

    /// What the pages should count: of each, the used and the pending ranges on it.
    fn counted(space: &Space, pages: usize) -> Vec<(u32, u32)> {
        let mut counts = vec![(0, 0); pages];
        for (span, state) in space.ranges.iter() {
            for at in space
                .pages_of(span.start, span.end)
                .take_while(|at| *at < pages)
            {
                match state {
                    State::Used => counts[at].0 += 1,
                    State::Pending(..) => counts[at].1 += 1,
                    State::General => {}
                }
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn pages_count_the_ranges_on_them_whatever_is_taken_given_and_settled(
            changes in proptest::collection::vec(
                (0_u32..6, any::<proptest::sample::Index>(), 1_u64..350, 0_u64..2),
                0..80,
            ),
        ) {
            let (mut space, []) = space([]);
            let mut used = Vec::new();
            space.pages.map(0..20, 20);
            for (kind, which, units, stream) in changes {
                let stream = Stream::Id(stream);
                match kind {
                    3 if !used.is_empty() => {
                        space.give(used.swap_remove(which.index(used.len())));
                    }
                    4 if !used.is_empty() => {
                        let node = used.swap_remove(which.index(used.len()));
                        space.give_pending(node, stream, Moment::default());
                    }
                    5 => drop(space.settle(|on, _| on == stream)),
                    _ => {
                        let node = space.own(stream, units).or_else(|| space.general(units));
                        let node = node.expect("the end is open");
                        space.take(node, units);
                        used.push(node);
                    }
                }
                let expected = counted(&space, 300);
                let counts: Vec<_> = (0..300).map(|at| space.pages.counts(at)).collect();
                prop_assert_eq!(&counts, &expected);
                let idle = expected.iter().take(20).filter(|counts| **counts == (0, 0));
                prop_assert_eq!(space.pages.idle(), idle.count() as u64);
            }
        }
    }

    #[test]
    fn pages_follow_the_ranges() {
        let (mut space, [a, b]) = space([250, 50]);
        space.pages.map(0..3, 9);
        assert_eq!(space.pages.idle(), 0);
        space.give_pending(a, S0, Moment::default());
        assert_eq!(space.pages.idle(), 0, "nothing is observed");
        space.settle(|_, _| true);
        assert_eq!(
            space.pages.idle(),
            2,
            "page 2 is shared with the second range"
        );
        space.give(b);
        assert_eq!(space.pages.idle(), 3);
    }
}
