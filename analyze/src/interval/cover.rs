//! Sets of time: sorted, disjoint stretches in whole microseconds, with the algebra that splits a
//! run by cause. Every operation is one pass; lengths add up exactly.

/// A stretch of time `[start, end)`, microseconds since the run's epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First microsecond.
    pub start: i64,
    /// Behind the last one; not below `start`.
    pub end: i64,
}

impl Span {
    /// A span; none if it would be empty.
    pub fn new(start: i64, end: i64) -> Option<Self> {
        (start < end).then_some(Self { start, end })
    }

    /// Length in microseconds.
    pub const fn us(self) -> i64 {
        self.end - self.start
    }

    /// What lies in both.
    pub fn and(self, other: Self) -> Option<Self> {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }
}

/// A set of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    spans: Vec<Span>,
}

impl From<Span> for Cover {
    fn from(span: Span) -> Self {
        Self { spans: vec![span] }
    }
}

impl FromIterator<Span> for Cover {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        let spans = spans.into_iter();
        let mut union = Union::default();
        union.spans.reserve(spans.size_hint().0);
        for span in spans {
            union.add(span);
        }
        union.close()
    }
}

/// The union of spans in any order; linear where they come nearly sorted, as in a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Union {
    spans: Vec<Span>,
    /// One came before the one that was added before it.
    is_unsorted: bool,
}

impl Union {
    /// Adds one; one that is empty, or ends before it starts, adds nothing.
    pub(crate) fn add(&mut self, span: Span) {
        if span.start >= span.end {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.start > span.start => self.is_unsorted = true,
            Some(last) if last.end >= span.start => {
                last.end = last.end.max(span.end);
                return;
            }
            _ => {}
        }
        self.spans.push(span);
    }

    /// The set of all that was added.
    pub(crate) fn close(self) -> Cover {
        let Self {
            mut spans,
            is_unsorted,
        } = self;
        if is_unsorted {
            // Stable on purpose: it finds the sorted stretches that logs are made of.
            spans.sort_by_key(|span| span.start);
            spans.dedup_by(|next, kept| {
                let touches = next.start <= kept.end;
                if touches {
                    kept.end = kept.end.max(next.end);
                }
                touches
            });
        }
        Cover { spans }
    }
}

impl Cover {
    /// The stretches, sorted, none touching another.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Total length in microseconds.
    pub fn us(&self) -> i64 {
        self.spans.iter().map(|span| span.us()).sum()
    }

    /// Start of the first stretch and end of the last one.
    pub fn hull(&self) -> Option<Span> {
        let (first, last) = self.spans.first().zip(self.spans.last())?;
        Span::new(first.start, last.end)
    }

    /// What lies inside a stretch.
    #[must_use]
    pub fn within(mut self, span: Span) -> Self {
        let before = self.spans.partition_point(|own| own.end <= span.start);
        let until = self.spans.partition_point(|own| own.start < span.end);
        self.spans.truncate(until);
        self.spans.drain(..before.min(until));
        if let Some(first) = self.spans.first_mut() {
            first.start = first.start.max(span.start);
        }
        if let Some(last) = self.spans.last_mut() {
            last.end = last.end.min(span.end);
        }
        self
    }

    /// For cutting stretches by this set, one behind the other.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { left: &self.spans }
    }
}

/// Cuts stretches, which come in order of time, by a set.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    /// What no stretch has passed yet.
    left: &'a [Span],
}

impl Cursor<'_> {
    /// Calls `each` with the parts of a stretch in order, and whether they lie in the set.
    pub fn cut(&mut self, span: Span, mut each: impl FnMut(Span, bool)) {
        let mut start = span.start;
        while let [first, rest @ ..] = self.left {
            if first.end <= start {
                self.left = rest;
                continue;
            }
            if first.start >= span.end {
                break;
            }
            if let Some(before) = Span::new(start, first.start) {
                each(before, false);
            }
            let end = first.end.min(span.end);
            if let Some(inside) = Span::new(start.max(first.start), end) {
                each(inside, true);
            }
            start = end;
            if first.end > span.end {
                return;
            }
        }
        if let Some(rest) = Span::new(start, span.end) {
            each(rest, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cover(spans: &[(i64, i64)]) -> Cover {
        spans
            .iter()
            .filter_map(|(start, end)| Span::new(*start, *end))
            .collect()
    }

    #[test]
    fn union_merges_what_touches() {
        let all = cover(&[(5, 7), (0, 2), (2, 3), (6, 9), (9, 9)]);
        assert_eq!(all, cover(&[(0, 3), (5, 9)]));
        assert_eq!(all.us(), 7);
        assert_eq!(all.hull(), Span::new(0, 9));
        assert_eq!(Cover::default().hull(), None);
    }

    /// The parts of one set that lie in another, and those that do not.
    fn split(a: &Cover, b: &Cover) -> (Vec<Span>, Vec<Span>) {
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        let mut cursor = b.cursor();
        for span in a.spans() {
            cursor.cut(*span, |part, covered| {
                if covered {
                    inside.push(part);
                } else {
                    outside.push(part);
                }
            });
        }
        (inside, outside)
    }

    #[test]
    fn cuts_fall_in_the_middle_and_at_the_ends() {
        let all = cover(&[(0, 10), (20, 30)]);
        let cut = cover(&[(-5, 1), (4, 6), (9, 22), (29, 40)]);
        let (inside, outside) = split(&all, &cut);
        let wanted = cover(&[(0, 1), (4, 6), (9, 10), (20, 22), (29, 30)]);
        assert_eq!(inside, wanted.spans());
        assert_eq!(outside, cover(&[(1, 4), (6, 9), (22, 29)]).spans());
        let span = Span { start: 5, end: 25 };
        assert_eq!(all.within(span), cover(&[(5, 10), (20, 25)]));
        let between = Span { start: 12, end: 18 };
        assert_eq!(cut.clone().within(between), Cover::from(between));
        let none = cover(&[(0, 3)]).within(Span { start: 3, end: 9 });
        assert_eq!(none, Cover::default());
    }

    proptest! {
        /// Against the set of microseconds itself.
        #[test]
        fn algebra_agrees_with_sets(
            a in prop::collection::vec((0_i64..60, 0_i64..12), 0..8),
            b in prop::collection::vec((0_i64..60, 0_i64..12), 0..8),
            window in (0_i64..60, 1_i64..30),
        ) {
            let build = |list: &[(i64, i64)]| -> Cover {
                list.iter().filter_map(|(at, n)| Span::new(*at, at + n)).collect()
            };
            let (a, b) = (build(&a), build(&b));
            let has = |set: &[Span], t: i64| set.iter().any(|s| s.start <= t && t < s.end);
            let (both, rest) = split(&a, &b);
            let window = Span { start: window.0, end: window.0 + window.1 };
            let within = a.clone().within(window);
            for t in 0..100 {
                let (in_a, in_b) = (has(a.spans(), t), has(b.spans(), t));
                prop_assert_eq!(has(&both, t), in_a && in_b);
                prop_assert_eq!(has(&rest, t), in_a && !in_b);
                let inside = window.start <= t && t < window.end;
                prop_assert_eq!(has(within.spans(), t), in_a && inside);
            }
            let us = |spans: &[Span]| spans.iter().map(|span| span.us()).sum::<i64>();
            prop_assert_eq!(us(&both) + us(&rest), a.us());
            for set in [&both, &rest] {
                prop_assert!(set.is_sorted() && set.iter().all(|span| span.start < span.end));
            }
            prop_assert_eq!(within.rebuilt(), within);
        }
    }

    impl Cover {
        /// Rebuilds the set, which changes nothing if it is sorted and disjoint.
        fn rebuilt(&self) -> Self {
            self.spans.iter().copied().collect()
        }
    }
}
