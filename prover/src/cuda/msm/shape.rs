//! How a sum is cut into windows, sets of buckets and pieces, and how much scratch memory that
//! takes.

/// Bits of a scalar once its sign is taken off, with room for the last carry.
const SCALAR_BITS: u32 = 255;
/// Threads that add points up at the same time on a large card: pieces are cut so that each gets
/// a few.
const THREADS_AT_ONCE: u64 = 132 * 384;
/// Cost of reducing one bucket, in additions of an affine point: two full additions and the way
/// through memory.
const BUCKET_COST: u64 = 4;
const LENGTHS: u64 = 1024;

/// How a sum of `points` products is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Points, and scalars.
    pub points: u64,
    /// Bits of a window; digits are signed, so a set has 2^(bits − 1) buckets.
    pub bits: u32,
    /// Tables of precomputed multiples, the points themselves counted: 1 is none.
    pub tables: u32,
    /// Sets of buckets: windows that no table saves.
    pub sets: u32,
    /// Most points that one thread adds up in a row.
    pub piece: u32,
}

impl Shape {
    /// The window that costs least for `points` points and `tables` tables of multiples.
    pub fn new(points: u64, tables: u32) -> Self {
        let cost = |bits: u32| {
            let windows = u64::from(SCALAR_BITS.div_ceil(bits));
            let sets = windows.div_ceil(u64::from(tables));
            windows * points + ((sets * BUCKET_COST) << (bits - 1))
        };
        let bits = (4..=22).min_by_key(|&bits| cost(bits)).unwrap_or(4);
        Self::with_bits(points, tables, bits)
    }

    /// A given window.
    pub fn with_bits(points: u64, tables: u32, bits: u32) -> Self {
        let tables = tables.max(1);
        let sets = SCALAR_BITS.div_ceil(bits).div_ceil(tables);
        let mut shape = Self {
            points,
            bits,
            tables,
            sets,
            piece: 0,
        };
        let each = u64::from(sets) * shape.entries() / (2 * THREADS_AT_ONCE);
        shape.piece = narrow(each.next_power_of_two().clamp(32, 512));
        shape
    }

    /// Entries of a set.
    pub fn entries(&self) -> u64 {
        self.points * u64::from(self.tables)
    }

    /// Buckets of all sets.
    pub fn buckets(&self) -> u64 {
        u64::from(self.sets) << (self.bits - 1)
    }

    /// Doublings from one table of multiples to the next.
    pub fn table_doublings(&self) -> u32 {
        self.bits * self.sets
    }

    /// Low and high bits of a bucket's number: first and second pass of the sort.
    pub(super) fn sort_bits(&self) -> (u32, u32) {
        let key = self.bits - 1;
        let wanted = self.entries().max(2).ilog2().saturating_sub(14);
        let low = wanted.clamp(key.saturating_sub(12), key.min(11));
        (low, key - low)
    }

    pub(super) fn length_shift(&self) -> u32 {
        let mut shift = 0;
        while u64::from(self.piece >> shift) >= LENGTHS {
            shift += 1;
        }
        shift
    }
}

/// Where the small tables lie in their one buffer, in bytes, and how many pieces there can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offsets {
    pub(super) counters: u64,
    pub(super) hist: u64,
    pub(super) cursor: u64,
    pub(super) bin_starts: u64,
    pub(super) lengths: u64,
    pub(super) slots: u64,
    pub(super) starts: u64,
    pub(super) counts: u64,
    pub(super) bytes: u64,
    pub(super) cleared: u64,
    pub(super) items: u64,
    pub(super) runs: u64,
    pub(super) bigs: u64,
    pub(super) partials: u64,
    pub(super) groups: u64,
}

impl Offsets {
    pub(super) fn new(shape: &Shape) -> Self {
        let (low, _) = shape.sort_bits();
        let (sets, bins, buckets) = (u64::from(shape.sets), 1_u64 << low, shape.buckets());
        let mut at = 0;
        let mut take = |words: u64| {
            let start = at;
            at += (words * 4).next_multiple_of(256);
            start
        };
        let (counters, hist, lengths) = (take(8), take(sets * bins), take(LENGTHS));
        let cleared = take(0);
        let (cursor, bin_starts) = (take(sets * bins), take(sets * (bins + 1)));
        let slots = take(LENGTHS);
        let (starts, counts) = (take(buckets), take(buckets));
        let full = (sets * shape.entries() + shape.points) / u64::from(shape.piece) + 1;
        Self {
            counters,
            hist,
            cursor,
            bin_starts,
            lengths,
            slots,
            starts,
            counts,
            bytes: take(0),
            cleared,
            items: buckets + 1 + full,
            runs: full + full / 8 + 1,
            bigs: full / 16 + 1,
            partials: (2 * full).max(sets * u64::from(shape.bits) + 1),
            groups: full / 8 + 1,
        }
    }
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_a_scalar_and_grow_with_the_sum() {
        let mut before = 0;
        for log2 in 0..=27 {
            for tables in [1, 3, 12] {
                let shape = Shape::new(1 << log2, tables);
                assert!(
                    shape.bits * shape.sets * shape.tables >= SCALAR_BITS,
                    "{shape:?}"
                );
                let (low, high) = shape.sort_bits();
                assert_eq!(low + high, shape.bits - 1, "{shape:?}");
                assert!(
                    high <= 12 && low <= 11,
                    "the scans hold 4096 bins: {shape:?}"
                );
                assert!(u64::from(shape.piece >> shape.length_shift()) < LENGTHS);
            }
            let bits = Shape::new(1 << log2, 1).bits;
            assert!(bits >= before, "2^{log2}: {bits} after {before}");
            before = bits;
        }
    }

    #[test]
    fn a_full_set_of_tables_leaves_one_set() {
        let shape = Shape::with_bits(1 << 20, 13, 20);
        assert_eq!((shape.sets, shape.table_doublings()), (1, 20));
        assert_eq!(Shape::with_bits(1 << 20, 4, 16).sets, 4);
    }

    #[test]
    fn the_tables_do_not_overlap() {
        for shape in [
            Shape::new(1, 1),
            Shape::new(1 << 20, 1),
            Shape::with_bits(5000, 5, 13),
        ] {
            let at = Offsets::new(&shape);
            let starts = [
                at.counters,
                at.hist,
                at.lengths,
                at.cleared,
                at.bin_starts,
                at.slots,
                at.starts,
                at.counts,
                at.bytes,
            ];
            assert!(starts.is_sorted(), "{at:?}");
            assert!(at.bytes - at.counts >= shape.buckets() * 4);
            assert!(at.partials > u64::from(shape.sets * shape.bits));
        }
    }
}
