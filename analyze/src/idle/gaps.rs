//! Idle stretches with their cause, and their sums in whole microseconds.

use std::cmp::Reverse;

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

/// Which gaps are kept; sums never depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listing {
    /// Shorter gaps are not kept, milliseconds.
    pub floor_ms: f64,
    /// At most so many are kept, the longest ones.
    pub most: usize,
}

/// All idle time of one GPU. A long run has millions of gaps, so that only those to be listed are
/// kept while it is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// None where only the sums are wanted.
    listing: Option<Listing>,
    /// The last stretch, while more of its cause may follow.
    open: Option<Gap>,
    gaps: Vec<Gap>,
    /// Gaps that are long enough, but too many.
    left_out: u64,
    no_job: i64,
    sums: [i64; IdleCause::ALL.len()],
}

impl Ledger {
    /// A ledger that keeps gaps; without, there are only sums.
    pub(super) fn listing(listing: Listing) -> Self {
        Self {
            listing: Some(listing),
            ..Self::default()
        }
    }

    /// Adds a stretch; they come in order of time, and neighbours of one cause become one gap.
    pub(super) fn add(&mut self, cause: IdleCause, span: Span) {
        self.sums[cause as usize] += span.us();
        let Some(listing) = self.listing else { return };
        match &mut self.open {
            Some(open) if open.cause == cause && open.span.end == span.start => {
                open.span.end = span.end;
            }
            open => {
                let done = open.replace(Gap { span, cause });
                self.keep(done, listing);
            }
        }
    }

    /// Says of a stretch that is added as [`IdleCause::Unattributed`] that no job was open.
    pub(super) const fn without_job(&mut self, span: Span) {
        self.no_job += span.us();
    }

    /// No stretch follows: what was kept becomes the list.
    pub(super) fn close(mut self) -> Self {
        if let Some(listing) = self.listing {
            let last = self.open.take();
            self.keep(last, listing);
            self.prune(listing.most);
            self.gaps.sort_unstable_by_key(|gap| gap.span.start);
        }
        self
    }

    fn keep(&mut self, gap: Option<Gap>, listing: Listing) {
        let long = |gap: &Gap| gap.span.us() as f64 / 1000.0 >= listing.floor_ms;
        self.gaps.extend(gap.filter(long));
        // Twice as many as wanted, so that each is looked at a few times only.
        if self.gaps.len() / 2 > listing.most {
            self.prune(listing.most);
        }
    }

    /// Leaves the longest ones, of equal ones the earliest.
    fn prune(&mut self, most: usize) {
        if self.gaps.len() > most {
            let key = |gap: &Gap| (Reverse(gap.span.us()), gap.span.start);
            self.gaps.select_nth_unstable_by_key(most, key);
            self.left_out += (self.gaps.len() - most) as u64;
            self.gaps.truncate(most);
        }
    }

    /// The gaps that are listed, in order of time, none touching another of its cause.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// How many more gaps are not below the floor.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Microseconds of one cause.
    pub fn us(&self, cause: IdleCause) -> i64 {
        self.sums[cause as usize]
    }

    /// Microseconds in which the lock was free and no job open: a part of
    /// [`IdleCause::Unattributed`].
    pub const fn no_job_us(&self) -> i64 {
        self.no_job
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_gaps_are_kept_however_many_come() {
        let of = |at: i64| Gap {
            span: Span {
                start: at * 10_000,
                end: at * 10_000 + at * at * 7_919 % 6_007,
            },
            cause: if at % 3 == 0 {
                IdleCause::Fill
            } else {
                IdleCause::Drain
            },
        };
        let all: Vec<Gap> = (1..500).map(of).filter(|gap| gap.span.us() > 0).collect();
        for (floor_ms, most) in [(0.0, 1_000), (1.0, 7), (0.0, 100), (2.5, 1), (0.0, 0)] {
            let mut ledger = Ledger::listing(Listing { floor_ms, most });
            for gap in &all {
                ledger.add(gap.cause, gap.span);
            }
            let mut wanted = all.clone();
            wanted.retain(|gap| gap.span.us() as f64 >= floor_ms * 1000.0);
            wanted.sort_by_key(|gap| (Reverse(gap.span.us()), gap.span.start));
            wanted.truncate(most);
            wanted.sort_by_key(|gap| gap.span.start);
            let ledger = ledger.close();
            assert_eq!(ledger.gaps(), wanted, "{most} of at least {floor_ms} ms");
            let us: i64 = all.iter().map(|gap| gap.span.us()).sum();
            assert_eq!(ledger.total_us(), us);
            let long = |gap: &&Gap| gap.span.us() as f64 >= floor_ms * 1000.0;
            let long = all.iter().filter(long).count();
            assert_eq!(ledger.left_out(), (long - wanted.len()) as u64);
        }
    }

    #[test]
    fn neighbours_of_one_cause_are_one_gap() {
        let span = |start, end| Span { start, end };
        let mut ledger = Ledger::listing(Listing {
            floor_ms: 0.003,
            most: 9,
        });
        ledger.add(IdleCause::Fill, span(0, 2));
        ledger.add(IdleCause::MutexWait, span(2, 4));
        ledger.add(IdleCause::MutexWait, span(4, 6));
        ledger.add(IdleCause::MutexWait, span(7, 9));
        let ledger = ledger.close();
        assert_eq!(
            ledger.gaps(),
            [Gap {
                span: span(2, 6),
                cause: IdleCause::MutexWait
            }]
        );
    }
}
