//! Idle stretches with their cause, and their sums in whole microseconds.

use crate::interval::{Cover, Span};
use crate::model::{IdleByCause, IdleCause};

/// A stretch of idle time with one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When.
    pub span: Span,
    /// Why.
    pub cause: IdleCause,
}

/// All idle time of one GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    gaps: Vec<Gap>,
    sums: [i64; IdleCause::ALL.len()],
}

impl Ledger {
    /// Adds the stretches of a cover.
    pub(super) fn add(&mut self, cause: IdleCause, cover: &Cover) {
        let gap = |span: &Span| Gap { span: *span, cause };
        self.gaps.extend(cover.spans().iter().map(gap));
        self.sums[cause as usize] += cover.us();
    }

    /// Brings the gaps into the order of time and joins neighbours of one cause.
    pub(super) fn sort(&mut self) {
        self.gaps.sort_by_key(|gap| gap.span.start);
        self.gaps.dedup_by(|next, kept| {
            let joins = next.cause == kept.cause && next.span.start == kept.span.end;
            if joins {
                kept.span.end = next.span.end;
            }
            joins
        });
    }

    /// All gaps in order of time, none touching another of its cause.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Microseconds of one cause.
    pub fn us(&self, cause: IdleCause) -> i64 {
        self.sums[cause as usize]
    }

    /// Microseconds of all causes.
    pub fn total_us(&self) -> i64 {
        self.sums.iter().sum()
    }

    /// The sums in milliseconds.
    pub fn by_cause_ms(&self) -> IdleByCause {
        let mut sums = IdleByCause::default();
        for cause in IdleCause::ALL {
            sums.add(cause, self.us(cause) as f64 / 1000.0);
        }
        sums
    }
}
