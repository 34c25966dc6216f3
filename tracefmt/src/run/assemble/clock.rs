//! When each line was printed, as far as its stamped neighbours tell.
//!
//! Two clocks are in a log: `TIMELINE` offsets count from the engine's epoch, log lines carry the
//! wall clock. Neighbours of the two kinds bound the epoch: a log line after an event was stamped
//! no earlier than the event's offset, a log line before it no later. The epoch is the value that
//! agrees with nearly all, since single lines are printed late. Stamps without a zone are the
//! host's local time and tell nothing about it.

use crate::record::Stamp;
use crate::run::MarkStore;

/// A `TIMELINE` offset of t ms was taken in [t, t + 1) ms.
const TRUNCATION_US: i64 = 999;

/// Neighbouring pairs after which the epoch is settled.
const PAIRS: usize = 256;

/// Gaps that wait for the epoch at most; an input without log lines never has one.
const WAITING: usize = 1 << 16;

/// One line in so many may be printed late.
const OUTLIERS: usize = 20;

/// Late prints step back by a few lines only; looking no further back keeps one damaged stamp
/// from spoiling all later windows.
const RECENT: usize = 4;

/// No line is believed to be later than this, about the year 20,000: sums of a few such times fit.
const LATEST_US: i64 = i64::MAX / 16;

/// Whether a time or a length is none that a clock gives.
pub(super) fn unbelievable(us: u64) -> bool {
    i64::try_from(us).map_or(true, |us| us > LATEST_US)
}

/// Microseconds of a line, kept within what can be added up.
pub(super) fn bounded(us: u64) -> i64 {
    i64::try_from(us).unwrap_or(LATEST_US).min(LATEST_US)
}

/// A moment as a line gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum When {
    /// No time known.
    #[default]
    Unknown,
    /// Microseconds since the epoch.
    Offset(i64),
    /// Microseconds since 1970 UTC.
    Unix(i64),
}

/// The last few stamps of one clock.
#[derive(Clone, Copy, Debug)]
struct Recent {
    stamps: [i64; RECENT],
    next: usize,
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            stamps: [i64::MIN; RECENT],
            next: 0,
        }
    }
}

impl Recent {
    fn push(&mut self, stamp: i64) {
        if let Some(slot) = self.stamps.get_mut(self.next) {
            *slot = stamp;
        }
        self.next = (self.next + 1) % RECENT;
    }

    fn latest(&self) -> Option<i64> {
        self.stamps
            .into_iter()
            .max()
            .filter(|stamp| *stamp != i64::MIN)
    }
}

/// Marks between two stamped lines.
#[derive(Clone, Copy, Debug)]
struct Gap {
    first: usize,
    end: usize,
    offset: Option<i64>,
    unix: Option<i64>,
    next: When,
}

/// Collects stamps and gives marks their windows.
#[derive(Debug, Default)]
pub(super) struct Clock {
    offsets: Recent,
    unix: Recent,
    last: When,
    /// First mark since the last stamp.
    open: Option<Gap>,
    epoch: Option<i64>,
    settled: bool,
    /// `epoch >= lower`, from a log line before an event.
    lower: Vec<i64>,
    /// `epoch <= upper`, from a log line after an event.
    upper: Vec<i64>,
    waiting: Vec<Gap>,
}

impl Clock {
    /// The epoch in microseconds since 1970 UTC, once settled.
    pub(super) fn epoch(&self) -> Option<i64> {
        self.epoch
    }

    /// Whether further pairs of stamps change nothing.
    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether the last stamped line was an event, so that a log line now makes a pair.
    pub(super) fn awaits_log(&self) -> bool {
        matches!(self.last, When::Offset(_))
    }

    /// Our own header gives the epoch.
    pub(super) fn set_epoch(&mut self, unix_us: i64, marks: &mut MarkStore) {
        self.epoch = Some(unix_us);
        self.settle(marks);
    }

    /// One of the daemon's first lines: the engine starts after it.
    pub(super) fn starts(&mut self, stamp: Stamp) {
        if stamp.utc && !self.settled {
            self.lower.push(stamp.unix_us);
        }
    }

    /// A `TIMELINE` line; `exact` when its offset is in microseconds.
    pub(super) fn event(&mut self, us: i64, exact: bool, marks: &mut MarkStore) {
        let truncation = if exact { 0 } else { TRUNCATION_US };
        if let When::Unix(unix) = self.last
            && !self.settled
        {
            self.lower.push(unix - us - truncation);
        }
        self.close(When::Offset(us + truncation), marks);
        self.offsets.push(us);
        self.last = When::Offset(us);
    }

    /// A `TIMELINE` line that another writer tore: it began before the lines that were fed last.
    pub(super) fn repaired_event(&mut self, us: i64) {
        self.offsets.push(us);
    }

    /// A log line.
    pub(super) fn log(&mut self, stamp: Stamp, marks: &mut MarkStore) {
        if !stamp.utc {
            return;
        }
        if let When::Offset(us) = self.last
            && !self.settled
        {
            self.upper.push(stamp.unix_us - us);
            if self.upper.len() + self.lower.len() >= PAIRS {
                self.settle(marks);
            }
        }
        self.close(When::Unix(stamp.unix_us), marks);
        self.unix.push(stamp.unix_us);
        self.last = When::Unix(stamp.unix_us);
    }

    /// A timing line without a time of its own was appended.
    pub(super) fn mark(&mut self, index: usize) {
        let gap = self.open.get_or_insert_with(|| Gap {
            first: index,
            end: index,
            offset: self.offsets.latest(),
            unix: self.unix.latest(),
            next: When::Unknown,
        });
        gap.end = index + 1;
    }

    /// The last known moment before the line at hand.
    pub(super) fn now(&self) -> When {
        self.last
    }

    /// Microseconds since the epoch, if they can be told.
    pub(super) fn resolve(&self, when: When) -> Option<i64> {
        match when {
            When::Unknown => None,
            When::Offset(us) => Some(us),
            When::Unix(us) => self.epoch.map(|epoch| us - epoch),
        }
    }

    /// Ends the run: settles what is open.
    pub(super) fn finish(&mut self, marks: &mut MarkStore) {
        self.close(When::Unknown, marks);
        self.settle(marks);
    }

    fn close(&mut self, next: When, marks: &mut MarkStore) {
        let Some(mut gap) = self.open.take() else {
            return;
        };
        gap.next = next;
        if self.settled {
            self.give_window(gap, marks);
            return;
        }
        self.waiting.push(gap);
        if self.waiting.len() >= WAITING {
            self.settle(marks);
        }
    }

    fn settle(&mut self, marks: &mut MarkStore) {
        if self.settled {
            return;
        }
        self.settled = true;
        if self.epoch.is_none() {
            self.epoch = agree(&mut self.lower, &mut self.upper);
        }
        for gap in std::mem::take(&mut self.waiting) {
            self.give_window(gap, marks);
        }
        self.lower = Vec::new();
        self.upper = Vec::new();
    }

    fn give_window(&self, gap: Gap, marks: &mut MarkStore) {
        let unix = gap.unix.and_then(|us| self.resolve(When::Unix(us)));
        let after = gap.offset.max(unix);
        let before = self.resolve(gap.next);
        let after = after.unwrap_or_else(|| before.unwrap_or(0).min(0));
        marks.set_windows(gap.first..gap.end, after, before);
    }
}

/// The largest of the bounds that breaks no more than one in [`OUTLIERS`] of them, or as few as
/// any does.
fn agree(lower: &mut [i64], upper: &mut [i64]) -> Option<i64> {
    lower.sort_unstable();
    upper.sort_unstable();
    let broken = |epoch: i64| {
        let low = lower.len() - lower.partition_point(|bound| *bound <= epoch);
        let high = upper.partition_point(|bound| *bound < epoch);
        low + high
    };
    let candidates = || upper.iter().chain(lower.iter()).copied();
    let fewest = candidates().map(broken).min()?;
    let allowed = fewest.max((lower.len() + upper.len()) / OUTLIERS);
    candidates().filter(|epoch| broken(*epoch) <= allowed).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::LineRef;
    use crate::timing::TimingWhat;

    fn stamp(unix_us: i64) -> Stamp {
        Stamp { unix_us, utc: true }
    }

    fn mark(clock: &mut Clock, marks: &mut MarkStore) -> usize {
        let what = TimingWhat::PrepMsm { ms: 1 };
        let index = marks.push(&what, LineRef::default(), (0, i64::MAX));
        clock.mark(index);
        index
    }

    #[test]
    fn one_pair_gives_the_published_epoch() {
        let mut marks = MarkStore::default();
        let mut clock = Clock::default();
        clock.event(245_689_000, false, &mut marks);
        // 2026-02-19T04:24:22.996374Z
        clock.log(stamp(1_771_475_062_996_374), &mut marks);
        clock.finish(&mut marks);
        // 2026-02-19T04:20:17.307Z
        assert_eq!(clock.epoch().map(|us| us / 1000), Some(1_771_474_817_307));
    }

    #[test]
    fn a_late_line_does_not_move_the_epoch() {
        let mut marks = MarkStore::default();
        let mut clock = Clock::default();
        let epoch = 1_771_474_817_307_000;
        for at in 0..20_i64 {
            let us = at * 1_700_300;
            clock.event(us / 1000 * 1000, false, &mut marks);
            // The seventh log line was stamped early and printed late.
            let early = if at == 7 { 900_000 } else { 0 };
            clock.log(stamp(epoch + us + 40 - early), &mut marks);
        }
        clock.finish(&mut marks);
        let found = clock.epoch().unwrap();
        assert!((found - epoch).abs() < 700, "{}", found - epoch);
    }

    #[test]
    fn local_time_tells_nothing() {
        let mut marks = MarkStore::default();
        let mut clock = Clock::default();
        clock.event(1000, false, &mut marks);
        let local = Stamp {
            unix_us: 5,
            utc: false,
        };
        clock.log(local, &mut marks);
        clock.finish(&mut marks);
        assert_eq!(clock.epoch(), None);
    }

    #[test]
    fn windows_come_from_the_stamps_around() {
        let mut marks = MarkStore::default();
        let mut clock = Clock::default();
        let epoch = 1_771_474_817_307_000;
        let first = mark(&mut clock, &mut marks);
        clock.event(50_000, false, &mut marks);
        let second = mark(&mut clock, &mut marks);
        clock.log(stamp(epoch + 70_500), &mut marks);
        clock.event(70_000, false, &mut marks);
        // Printed late: stamped before the line above.
        clock.event(69_000, false, &mut marks);
        let third = mark(&mut clock, &mut marks);
        clock.event(90_000, false, &mut marks);
        let last = mark(&mut clock, &mut marks);
        clock.set_epoch(epoch, &mut marks);
        clock.finish(&mut marks);
        let window = |index: usize| {
            let mark = marks.get(index).unwrap();
            (mark.after_us(), mark.before_us())
        };
        assert_eq!(window(first), (0, 50_999));
        assert_eq!(window(second), (50_000, 70_500));
        assert_eq!(window(third), (70_500, 90_999));
        assert_eq!(window(last), (90_000, i64::MAX));
    }
}
