//! Idle stretches with their cause, and their sums in whole microseconds.

use crate::interval::Span;
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
    /// Only the sums are wanted.
    sums_only: bool,
    sums: [i64; IdleCause::ALL.len()],
}

impl Ledger {
    /// A ledger without the list of gaps.
    pub(super) fn of_sums() -> Self {
        Self {
            sums_only: true,
            ..Self::default()
        }
    }

    /// Adds a stretch; they come in order of time, and neighbours of one cause become one gap.
    pub(super) fn add(&mut self, cause: IdleCause, span: Span) {
        self.sums[cause as usize] += span.us();
        if self.sums_only {
            return;
        }
        match self.gaps.last_mut() {
            Some(last) if last.cause == cause && last.span.end == span.start => {
                last.span.end = span.end;
            }
            _ => self.gaps.push(Gap { span, cause }),
        }
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
