//! The smallest card on which a schedule passes, and what binds there.
//!
//! Memory is taken in blocks, so the answer is exact in steps of a block above the baseline. It
//! is found by halving: the card passes and the next smaller one fails. More memory never hurts a
//! schedule without the pool (a property test); with it a still smaller card may pass, since a
//! driver without room reuses pages where one with room grows the pool. What a schedule that its
//! own failure cut off would have asked for later is not known: there the answer is a lower bound.

use tracefmt::ops::Schedule;

use crate::change::Changed;
use crate::life::{Buffer, Cuts, Life};
use crate::run::{Options, Record};
use crate::vram::Profile;

/// A capacity that no schedule should need.
const CAPACITY_MAX: u64 = 1 << 50;

/// The smallest card, and the step that would fail on the next smaller one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Minimum {
    /// Bytes of the smallest card on which no allocation fails.
    pub bytes: u64,
    /// The allocation that fails first with one block less; none if nothing is allocated.
    pub binding: Option<Binding>,
    /// The first step that succeeds on it although only what came of its failure was recorded:
    /// what would have come next is not known, and no smaller card does.
    pub unrecorded: Option<usize>,
}

/// What binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The step that fails with one block less.
    pub at: usize,
    /// What is allocated on its card at that moment.
    pub live: Vec<Buffer>,
}

/// Finds the smallest card; none when the schedule passes on no card at all. All cards of a
/// schedule with several are taken to be of one size.
pub fn minimum(schedule: &Schedule, profile: Profile) -> Option<Minimum> {
    let mut changed = Changed::unchanged(schedule).schedule;
    let base = changed.header.gpus.iter().map(|gpu| gpu.baseline).max()?;
    let block = profile.block_bytes;
    let mut run = |capacity: u64| {
        for gpu in &mut changed.header.gpus {
            gpu.capacity = capacity;
        }
        let record = Record::of(&changed, &Options::hypothetical(profile));
        (record.passes(&changed), record)
    };
    let (passes, record) = run(CAPACITY_MAX);
    if !passes {
        return None;
    }
    let peak = record.peaks.iter().map(|peak| peak.bytes).max()?;
    let card = |blocks: u64| base.saturating_add(blocks.saturating_mul(block));
    let above = peak.saturating_sub(base);
    let (mut low, mut high) = (0, above.div_ceil(block).saturating_add(2));
    while !run(card(high)).0 {
        if card(high) >= CAPACITY_MAX {
            return None;
        }
        high = high.saturating_mul(2);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if run(card(middle)).0 {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let unrecorded = {
        let record = run(card(low)).1;
        Cuts::of(schedule).passed(&record).min()
    };
    let below = low.checked_sub(1).map(|blocks| run(card(blocks)).1);
    Some(Minimum {
        bytes: card(low),
        binding: below.and_then(|record| binding(&changed, &record)),
        unrecorded,
    })
}

fn binding(schedule: &Schedule, record: &Record) -> Option<Binding> {
    let (place, ran, step) = record.failed_allocations(schedule).next()?;
    let life = Life::of(schedule, record);
    let live = life
        .live_at(place, step.gpu.unwrap_or(0))
        .copied()
        .collect();
    Some(Binding { at: ran.at, live })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{schedule, with_header};
    use crate::vram::{H200_580, MIB, STRICT};

    const GIB: u64 = 1 << 30;

    #[test]
    fn the_smallest_card_holds_the_peak_and_the_headroom() {
        let lines = "0 malloc id=1 bytes=4G buf=d_a
                     0 malloc id=2 bytes=8G buf=d_bc
                     0 free id=2
                     0 malloc id=3 bytes=1G";
        let minimum = minimum(&schedule(lines), H200_580).expect("some card");
        assert_eq!(minimum.bytes, 12 * GIB + 2 * MIB);
        let binding = minimum.binding.expect("the second request");
        assert_eq!(binding.at, 1);
        assert_eq!(
            binding
                .live
                .iter()
                .map(|buffer| buffer.id)
                .collect::<Vec<_>>(),
            [1]
        );
    }

    #[test]
    fn the_baseline_counts_and_an_empty_schedule_needs_nothing_else() {
        let header = r#"{"schema":"cuzk.ops/1","capacity":5,"baseline":1000}"#;
        let empty = with_header(header, "0 ctxSync");
        let none = minimum(&empty, H200_580).expect("some card");
        assert_eq!((none.bytes, none.binding), (1000, None));
        let one = with_header(header, "0 malloc id=1 bytes=1");
        assert_eq!(
            minimum(&one, H200_580).expect("some card").bytes,
            1000 + 4 * MIB
        );
    }

    #[test]
    fn reclaim_saves_what_strict_needs() {
        let lines = "0 setThreshold bytes=18446744073709551615
                     0 mallocAsync id=1 bytes=8G stream=1
                     0 freeAsync id=1 stream=1
                     0 ctxSync
                     0 malloc id=2 bytes=8G";
        let with = minimum(&schedule(lines), H200_580)
            .expect("some card")
            .bytes;
        let without = minimum(&schedule(lines), STRICT).expect("some card").bytes;
        assert_eq!((with, without), (8 * GIB + 2 * MIB, 16 * GIB + 2 * MIB));
    }

    #[test]
    fn what_a_failure_cut_off_makes_it_a_lower_bound() {
        let lines = "0 malloc id=1 bytes=4G
                     0 malloc id=2 bytes=16G rc=2 on_error=fallback:out
                     0 label name=out
                     0 free id=1";
        let minimum = minimum(&schedule(lines), H200_580).expect("some card");
        assert_eq!(minimum.bytes, 20 * GIB + 2 * MIB);
        assert_eq!(minimum.unrecorded, Some(1));
    }

    #[test]
    fn no_card_is_large_enough_for_nonsense() {
        let lines = "0 malloc id=1 bytes=18446744073709551615";
        assert_eq!(minimum(&schedule(lines), H200_580), None);
    }

    #[test]
    fn a_card_that_others_fill_to_the_last_byte_has_a_smallest_size() {
        let header = r#"{"schema":"cuzk.ops/1","capacity":5,"baseline":18446744073709551615}"#;
        let found = minimum(&with_header(header, "0 ctxSync"), H200_580).expect("some card");
        assert_eq!((found.bytes, found.binding), (u64::MAX, None));
        let asks = with_header(header, "0 malloc id=1 bytes=1");
        assert_eq!(minimum(&asks, H200_580), None);
    }
}
