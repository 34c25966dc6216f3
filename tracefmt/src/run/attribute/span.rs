//! Intervals of time in which something happened, and how far two of them lie apart.

/// An interval, microseconds since the epoch, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) lo: i64,
    pub(super) hi: i64,
}

/// A duration is printed in whole milliseconds, cut off.
const TRUNCATION_US: i64 = 1_000;

/// What passes between the end of a phase and the start of the next, or its print.
const SLACK_US: i64 = 1_000;

impl Default for Span {
    fn default() -> Self {
        Self::ANY
    }
}

impl Span {
    /// No idea.
    pub(super) const ANY: Self = Self {
        lo: i64::MIN / 4,
        hi: i64::MAX / 4,
    };

    pub(super) fn new(lo: i64, hi: i64) -> Self {
        let (low, high) = (Self::ANY.lo, Self::ANY.hi);
        let lo = lo.clamp(low, high);
        Self {
            lo,
            hi: hi.clamp(lo, high),
        }
    }

    /// So many printed milliseconds later.
    pub(super) fn after_ms(self, ms: i64) -> Self {
        let us = length_us(ms);
        Self::new(self.lo + us, self.hi + us + TRUNCATION_US + SLACK_US)
    }

    /// So many printed milliseconds earlier.
    pub(super) fn before_ms(self, ms: i64) -> Self {
        let us = length_us(ms);
        Self::new(self.lo - us - TRUNCATION_US - SLACK_US, self.hi - us)
    }

    /// The later of two moments.
    pub(super) fn latest(self, other: Self) -> Self {
        Self::new(self.lo.max(other.lo), self.hi.max(other.hi))
    }

    /// Microseconds between two intervals; 0 if they meet.
    pub(super) fn gap(self, other: Self) -> i64 {
        (self.lo - other.hi).max(other.lo - self.hi).max(0)
    }

    /// How much earlier than `bound` all of this is; 0 if some of it is not.
    pub(super) fn too_early(self, bound: Self) -> i64 {
        (bound.lo - self.hi).max(0)
    }

    /// What both allow; where they do not meet, the edge of `self` that is nearest.
    pub(super) fn meet(self, other: Self) -> Self {
        if other.hi < self.lo {
            Self::new(self.lo, self.lo)
        } else if other.lo > self.hi {
            Self::new(self.hi, self.hi)
        } else {
            Self::new(self.lo.max(other.lo), self.hi.min(other.hi))
        }
    }
}

/// Microseconds of printed milliseconds, which may be any number, kept within what adds up.
fn length_us(ms: i64) -> i64 {
    let us = ms.saturating_mul(1000);
    us.clamp(Span::ANY.lo, Span::ANY.hi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_meet_or_lie_apart() {
        let a = Span::new(10, 20);
        assert_eq!(a.gap(Span::new(15, 40)), 0);
        assert_eq!(a.gap(Span::new(23, 40)), 3);
        assert_eq!(a.gap(Span::new(0, 4)), 6);
        assert_eq!(a.meet(Span::new(15, 40)), Span::new(15, 20));
        assert_eq!(a.meet(Span::new(23, 40)), Span::new(20, 20));
        assert_eq!(a.meet(Span::new(0, 4)), Span::new(10, 10));
        assert_eq!(a.meet(Span::ANY), a);
        assert_eq!(a.too_early(Span::new(50, 60)), 30);
        assert_eq!(a.too_early(Span::new(12, 60)), 0);
        assert_eq!(a.latest(Span::new(15, 17)), Span::new(15, 20));
    }

    #[test]
    fn a_printed_duration_is_at_least_so_long() {
        let end = Span::new(0, 0).after_ms(7);
        assert!(end.lo == 7_000 && end.hi >= 8_000 && end.hi < 12_000);
        let start = end.before_ms(7);
        assert!(start.lo <= 0 && start.hi >= 0);
        assert_eq!(Span::ANY.after_ms(i64::from(i32::MAX)).gap(Span::ANY), 0);
    }
}
