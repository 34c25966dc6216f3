//! How a sum on a device is cut into windows, sets of buckets and pieces, and how much scratch
//! memory that takes: arithmetic only, so that a plan knows the bytes before anything is allocated.
//!
//! ```
//! use prover::plan::sums::SumShape;
//! let shape = SumShape::new(1 << 20, 1);
//! assert!(shape.bits * shape.sets >= 255);
//! assert!(shape.scratch_bytes(2) > shape.scratch_bytes(1));
//! ```

use super::arena::aligned;

/// Bits of a scalar once its sign is taken off, with room for the last carry.
const SCALAR_BITS: u32 = 255;
/// Threads that add points up at the same time on a large card: pieces are cut so that each gets
/// a few.
const THREADS_AT_ONCE: u64 = 132 * 384;
/// Cost of reducing one bucket, in additions of an affine point: two full additions and the way
/// through memory.
const BUCKET_COST: u64 = 4;
const LENGTHS: u64 = 1024;
/// A point over Fp in four coordinates.
const XYZZ_BYTES: u64 = 192;
/// A piece of work, as the kernels keep it.
const ITEM_BYTES: u64 = 16;

/// How a sum of `points` products is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumShape {
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

impl SumShape {
    /// The window that costs least for `points` points and `tables` tables of multiples.
    pub fn new(points: u64, tables: u32) -> Self {
        let bits = (4..=22).min_by_key(|&bits| cost(points, tables, bits));
        Self::with_bits(points, tables, bits.unwrap_or(4))
    }

    /// What it costs, in additions of an affine point.
    pub fn cost(&self) -> u64 {
        cost(self.points, self.tables, self.bits)
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

    /// Entries of all sets, and the list of ones.
    fn positions(&self) -> u64 {
        u64::from(self.sets) * self.entries() + self.points
    }

    /// Whether the kernels can count so many entries: 32 bits, one of them a sign.
    pub fn is_countable(&self) -> bool {
        self.entries() <= 1 << 31 && u32::try_from(self.positions()).is_ok()
    }

    /// The small tables.
    pub fn tables(&self) -> SumTables {
        SumTables::new(self)
    }

    /// The scratch pieces, for points whose coordinates are `lanes` elements of Fp: 1 for G1, 2
    /// for G2.
    pub fn scratch(&self, lanes: u64) -> SumScratch {
        let (tables, point) = (self.tables(), XYZZ_BYTES * lanes);
        let buckets = (self.buckets() + 1) * point;
        SumScratch {
            digits: self.positions() * 4,
            pairs: (self.positions() * 8).max(buckets),
            buckets,
            tables: tables.bytes,
            items: (tables.items + tables.runs + tables.bigs) * ITEM_BYTES,
            partials: (tables.partials + tables.groups) * point,
        }
    }

    /// Bytes of all scratch of one sum, as one arena whose pieces begin at multiples of
    /// [`ALIGN`](super::arena::ALIGN).
    pub fn scratch_bytes(&self, lanes: u64) -> u64 {
        self.scratch(lanes).pieces().map(aligned).iter().sum()
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
    pub fn sort_bits(&self) -> (u32, u32) {
        let key = self.bits - 1;
        let wanted = self.entries().max(2).ilog2().saturating_sub(14);
        let low = wanted.clamp(key.saturating_sub(12), key.min(11));
        (low, key - low)
    }

    /// Bits that are dropped of a piece's length, so that every length has its counter.
    pub fn length_shift(&self) -> u32 {
        let mut shift = 0;
        while u64::from(self.piece >> shift) >= LENGTHS {
            shift += 1;
        }
        shift
    }
}

fn cost(points: u64, tables: u32, bits: u32) -> u64 {
    let windows = u64::from(SCALAR_BITS.div_ceil(bits));
    let sets = windows.div_ceil(u64::from(tables));
    windows * points + ((sets * BUCKET_COST) << (bits - 1))
}

/// Where the small tables of a sum lie in their one piece, in bytes, and how many items of each
/// kind there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumTables {
    /// Counters of the whole sum.
    pub counters: u64,
    /// Entries a bin.
    pub hist: u64,
    /// Where the next pair of a bin goes.
    pub cursor: u64,
    /// Where a bin's pairs begin.
    pub bin_starts: u64,
    /// Pieces of each length.
    pub lengths: u64,
    /// Where the next piece of a length goes.
    pub slots: u64,
    /// Where a bucket's entries begin.
    pub starts: u64,
    /// Entries of a bucket.
    pub counts: u64,
    /// Bytes of all tables.
    pub bytes: u64,
    /// Bytes that are cleared before a sum; what is counted lies there.
    pub cleared: u64,
    /// Most pieces.
    pub items: u64,
    /// Most runs of partial sums.
    pub runs: u64,
    /// Most buckets that take more than one run.
    pub bigs: u64,
    /// Most partial sums.
    pub partials: u64,
    /// Most groups of partial sums.
    pub groups: u64,
}

impl SumTables {
    fn new(shape: &SumShape) -> Self {
        let (low, _) = shape.sort_bits();
        let (sets, bins, buckets) = (u64::from(shape.sets), 1_u64 << low, shape.buckets());
        let mut at = 0;
        let mut take = |words: u64| {
            let start = at;
            at += aligned(words * 4);
            start
        };
        let (counters, hist, lengths) = (take(8), take(sets * bins), take(LENGTHS));
        let cleared = take(0);
        let (cursor, bin_starts) = (take(sets * bins), take(sets * (bins + 1)));
        let slots = take(LENGTHS);
        let (starts, counts) = (take(buckets), take(buckets));
        let full = shape.positions() / u64::from(shape.piece) + 1;
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

/// Bytes of the scratch pieces of a sum, in the order in which they lie in their arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumScratch {
    /// Digits of every set, then sorted entries, and the list of ones.
    pub digits: u64,
    /// Pairs of the sort; later the second array of buckets.
    pub pairs: u64,
    /// Sums of the buckets, and of the ones.
    pub buckets: u64,
    /// [`SumTables`].
    pub tables: u64,
    /// Pieces, runs and large buckets.
    pub items: u64,
    /// Partial sums and groups; at the end the sums that go to the host.
    pub partials: u64,
}

impl SumScratch {
    /// The pieces in order.
    pub const fn pieces(&self) -> [u64; 6] {
        [
            self.digits,
            self.pairs,
            self.buckets,
            self.tables,
            self.items,
            self.partials,
        ]
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
                let shape = SumShape::new(1 << log2, tables);
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
            let bits = SumShape::new(1 << log2, 1).bits;
            assert!(bits >= before, "2^{log2}: {bits} after {before}");
            before = bits;
        }
    }

    #[test]
    fn a_full_set_of_tables_leaves_one_set() {
        let shape = SumShape::with_bits(1 << 20, 13, 20);
        assert_eq!((shape.sets, shape.table_doublings()), (1, 20));
        assert_eq!(SumShape::with_bits(1 << 20, 4, 16).sets, 4);
    }

    #[test]
    fn the_tables_do_not_overlap() {
        for shape in [
            SumShape::new(1, 1),
            SumShape::new(1 << 20, 1),
            SumShape::with_bits(5000, 5, 13),
        ] {
            let at = shape.tables();
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

    #[test]
    fn scratch_holds_what_the_kernels_write() {
        for log2 in 0..=26 {
            for points in [(1_u64 << log2) - 1, 1 << log2] {
                let shape = SumShape::new(points, 1);
                assert!(shape.is_countable(), "{shape:?}");
                let (one, two) = (shape.scratch(1), shape.scratch(2));
                // A level of folding halves the rows and adds one: never more than the buckets.
                assert!(one.pairs >= one.buckets && two.pairs >= two.buckets);
                assert!(one.digits >= 4 * u64::from(shape.sets + 1) * points);
                let rows = u64::from(shape.sets * shape.bits) + 1;
                assert!(two.partials >= 2 * 144 * rows, "{shape:?}");
                assert_eq!(shape.scratch_bytes(1) % crate::plan::arena::ALIGN, 0);
            }
        }
    }

    #[test]
    fn folding_never_needs_more_than_the_buckets() {
        for bits in 4..=22_u32 {
            let (mut vectors, mut len) = (1_u64, 1_u64 << (bits - 1));
            let buckets = len;
            while len > 1 {
                (vectors, len) = (vectors + 1, len / 2);
                assert!(vectors * len <= buckets, "{bits}: {vectors} rows of {len}");
            }
            assert_eq!(vectors, u64::from(bits));
        }
    }

    #[test]
    fn more_entries_than_words_count_are_refused() {
        assert!(SumShape::new(1 << 27, 1).is_countable());
        assert!(!SumShape::with_bits(1 << 27, 17, 15).is_countable());
    }
}
