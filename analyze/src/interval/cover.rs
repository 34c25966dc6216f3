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
    /// The union of spans in any order; linear where they come nearly sorted.
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        let mut spans: Vec<Span> = spans.into_iter().filter(|s| s.start < s.end).collect();
        // Stable on purpose: it finds the sorted stretches that logs are made of.
        spans.sort_by_key(|span| span.start);
        spans.dedup_by(|next, kept| {
            let touches = next.start <= kept.end;
            if touches {
                kept.end = kept.end.max(next.end);
            }
            touches
        });
        Self { spans }
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

    /// What lies in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.spans.iter().peekable(), other.spans.iter().peekable());
        let mut spans = Vec::new();
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            spans.extend(x.and(**y));
            if x.end <= y.end {
                a.next();
            } else {
                b.next();
            }
        }
        Self { spans }
    }

    /// What lies in this one and not in the other.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut cuts = other.spans.iter().peekable();
        let mut spans = Vec::new();
        for span in &self.spans {
            let mut start = span.start;
            while let Some(cut) = cuts.peek() {
                if cut.start >= span.end {
                    break;
                }
                spans.extend(Span::new(start, cut.start));
                start = start.max(cut.end);
                if cut.end > span.end {
                    break;
                }
                cuts.next();
            }
            spans.extend(Span::new(start, span.end));
        }
        Self { spans }
    }

    /// Splits this set: what lies in `other`, and what does not.
    #[must_use]
    pub fn split(&self, other: &Self) -> (Self, Self) {
        (self.and(other), self.minus(other))
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

    #[test]
    fn minus_cuts_in_the_middle_and_at_the_ends() {
        let all = cover(&[(0, 10), (20, 30)]);
        let cut = cover(&[(-5, 1), (4, 6), (9, 22), (29, 40)]);
        assert_eq!(all.minus(&cut), cover(&[(1, 4), (6, 9), (22, 29)]));
        assert_eq!(
            all.and(&cut),
            cover(&[(0, 1), (4, 6), (9, 10), (20, 22), (29, 30)])
        );
    }

    proptest! {
        /// Against the set of microseconds itself.
        #[test]
        fn algebra_agrees_with_sets(
            a in prop::collection::vec((0_i64..60, 0_i64..12), 0..8),
            b in prop::collection::vec((0_i64..60, 0_i64..12), 0..8),
        ) {
            let build = |list: &[(i64, i64)]| -> Cover {
                list.iter().filter_map(|(at, n)| Span::new(*at, at + n)).collect()
            };
            let (a, b) = (build(&a), build(&b));
            let has = |set: &Cover, t: i64| set.spans().iter().any(|s| s.start <= t && t < s.end);
            let (both, rest) = a.split(&b);
            for t in 0..80 {
                prop_assert_eq!(has(&both, t), has(&a, t) && has(&b, t));
                prop_assert_eq!(has(&rest, t), has(&a, t) && !has(&b, t));
            }
            prop_assert_eq!(both.us() + rest.us(), a.us());
            prop_assert_eq!(rest.rebuilt(), rest);
        }
    }

    impl Cover {
        /// Rebuilds the set, which changes nothing if it is sorted and disjoint.
        fn rebuilt(&self) -> Self {
            self.spans.iter().copied().collect()
        }
    }
}
