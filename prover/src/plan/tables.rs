//! How a transform on a device is split into passes, and which tables its domain needs: arithmetic
//! only, so that a plan knows the bytes before anything is allocated.
//!
//! ```
//! use prover::plan::tables::{domain_bytes, split};
//! assert_eq!(split(27), [9, 9, 9]);
//! // Whole tables of 2^27 points: from the domain, to its coset and back from there.
//! assert!(domain_bytes(27, 27) > 3 * (32 << 27));
//! assert!(domain_bytes(27, 20) < 64 << 20);
//! ```

use super::arena::aligned;

/// Smallest and largest domain of the device's transforms, as binary logarithms. Smaller domains
/// are for the CPU.
pub const LOG2_RANGE: std::ops::RangeInclusive<u32> = 10..=27;

/// Points of one pass, as binary logarithms.
const PASS_RANGE: std::ops::RangeInclusive<u32> = 5..=9;
/// Most that two passes do.
const TWO_PASSES: u32 = 18;
const SCALAR_BYTES: u64 = 32;
/// A factor with its quotient, as [`Constant`](super::constants::Constant).
const CONSTANT_BYTES: u64 = 64;
/// Powers of the root that a pass works with.
const ROOTS: u64 = 512;

/// Products for eight points of a pass of 2^bits: twelve for a round of eight-point transforms
/// that another follows, five for the last, two or none for a last round of four or two points.
const fn products(bits: u32) -> u32 {
    let rounds = bits / 3;
    match bits % 3 {
        0 => 12 * (rounds - 1) + 5,
        1 => 12 * rounds,
        _ => 12 * rounds + 2,
    }
}

/// Binary logarithms of the passes of a transform of 2^log2 points, the largest first; a last 0 is
/// no pass. Of all ways the one with the fewest products, and among those the flattest.
pub fn split(log2: u32) -> [u32; 3] {
    let lasts = if log2 <= TWO_PASSES {
        0..=0
    } else {
        PASS_RANGE
    };
    let all = PASS_RANGE.flat_map(|first| {
        let lasts = lasts.clone();
        lasts.filter_map(move |last| {
            let second = log2.checked_sub(first + last)?;
            let fits = PASS_RANGE.contains(&second) && first >= second && second >= last;
            fits.then_some([first, second, last])
        })
    });
    let cost = |bits: &[u32; 3]| {
        let work: u32 = bits.iter().filter(|&&b| b > 0).map(|&b| products(b)).sum();
        (work, bits[0])
    };
    all.min_by_key(cost).unwrap_or([0; 3])
}

/// Which power of the root stands where a transform in place, split into b0, b1, b2, leaves its
/// values: place (k0·2^b1 + k1)·2^b2 + k2 holds number k0 + k1·2^b0 + k2·2^(b0 + b1).
pub const fn frequency(place: u64, [b0, b1, b2]: [u32; 3]) -> u64 {
    let k2 = place & ((1 << b2) - 1);
    let k1 = (place >> b2) & ((1 << b1) - 1);
    let k0 = place >> (b1 + b2);
    k0 + (k1 << b0) + (k2 << (b0 + b1))
}

/// Entries of a table of powers: whole, or in two parts that are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowersShape {
    /// Bits of an exponent that the first part takes.
    pub low_bits: u32,
    /// Entries of the first part.
    pub low: u64,
    /// Entries of the second part, 0 if the first is whole.
    pub high: u64,
}

impl PowersShape {
    /// A table for exponents below 2^log2, whole up to 2^whole entries.
    pub const fn new(log2: u32, whole: u32) -> Self {
        if log2 <= whole {
            return Self {
                low_bits: log2,
                low: 1 << log2,
                high: 0,
            };
        }
        let low_bits = log2 / 2;
        Self {
            low_bits,
            low: 1 << low_bits,
            high: 1 << (log2 - low_bits),
        }
    }

    const fn bytes(&self) -> u64 {
        aligned(self.low * SCALAR_BYTES) + aligned(self.high * SCALAR_BYTES)
    }
}

/// The tables of one direction of a transform, on the domain or on a coset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectionShape {
    /// Powers of the root that a pass works with, as constants.
    pub roots: u64,
    /// Powers between the first pass and the rest.
    pub outer: PowersShape,
    /// Whether that table has a product of row and column for every place.
    pub by_place: bool,
    /// Powers between the second pass and the third, for every place of both; 0 if there is none.
    pub inner: u64,
    /// Powers of a coset's generator by the row of the first pass, as constants: where the table
    /// for every place does not have them.
    pub outer_rows: u64,
    /// The same by the row of the last pass.
    pub last_rows: u64,
}

impl DirectionShape {
    /// The tables for 2^log2 points; those of at most 2^whole entries are whole.
    pub fn new(log2: u32, whole: u32, coset: bool) -> Self {
        let [first, second, last] = split(log2);
        let by_place = log2 <= whole;
        let rows = |bits: u32| if coset { 1 << bits } else { 0 };
        Self {
            roots: ROOTS,
            outer: PowersShape::new(log2, whole),
            by_place,
            inner: if last > 0 { 1 << (second + last) } else { 0 },
            outer_rows: if by_place { 0 } else { rows(first) },
            last_rows: rows(if last > 0 { last } else { second }),
        }
    }

    /// Bytes of all of them, as pieces of an arena.
    pub const fn bytes(&self) -> u64 {
        aligned(self.roots * CONSTANT_BYTES)
            + self.outer.bytes()
            + aligned(self.inner * SCALAR_BYTES)
            + aligned(self.outer_rows * CONSTANT_BYTES)
            + aligned(self.last_rows * CONSTANT_BYTES)
    }
}

/// Bytes of all tables of a quotient over 2^log2 points, as one arena: back from the domain, to
/// its coset and back from there. Tables of at most 2^whole entries are kept whole: that saves up
/// to one product in twelve and costs 32 bytes an entry in three tables. 0 outside
/// [`LOG2_RANGE`].
pub fn domain_bytes(log2: u32, whole: u32) -> u64 {
    if !LOG2_RANGE.contains(&log2) {
        return 0;
    }
    let [plain, coset] = [false, true].map(|of| DirectionShape::new(log2, whole, of).bytes());
    plain + 2 * coset
}

/// Bytes of the tables of both directions, on a domain or on a coset.
pub fn both_ways_bytes(log2: u32, whole: u32, coset: bool) -> u64 {
    2 * DirectionShape::new(log2, whole, coset).bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_splits_into_passes_that_exist() {
        for log2 in LOG2_RANGE {
            let [first, second, last] = split(log2);
            assert_eq!(first + second + last, log2);
            assert!(PASS_RANGE.contains(&first) && PASS_RANGE.contains(&second));
            assert!(PASS_RANGE.contains(&last) || (last == 0 && log2 <= TWO_PASSES));
            // The table between the inner passes is small, so it is always whole.
            assert!(log2 - first <= 18);
        }
        assert_eq!([22, 24, 26].map(split), [[8, 8, 6], [9, 9, 6], [9, 9, 8]]);
    }

    #[test]
    fn outside_the_range_there_is_no_split_and_no_table() {
        for log2 in [0, 9, 28, 32] {
            assert_eq!((split(log2), domain_bytes(log2, 27)), ([0; 3], 0));
        }
    }

    #[test]
    fn fewer_products_than_equal_passes() {
        let cost = |bits: [u32; 3]| bits.map(products).iter().sum::<u32>();
        assert_eq!([5, 6, 7, 8, 9].map(products), [14, 17, 24, 26, 29]);
        assert!(cost(split(22)) < cost([8, 7, 7]));
        assert!(cost(split(20)) < cost([7, 7, 6]));
    }

    #[test]
    fn the_in_place_order_is_an_order() {
        for log2 in 10..=20 {
            let mut seen = vec![false; 1 << log2];
            for place in 0..1_u64 << log2 {
                let number = usize::try_from(frequency(place, split(log2))).expect("small");
                assert!(
                    !std::mem::replace(&mut seen[number], true),
                    "2^{log2}: {place}"
                );
            }
        }
    }

    #[test]
    fn two_parts_hold_every_exponent_in_few_entries() {
        for log2 in LOG2_RANGE {
            let two = PowersShape::new(log2, 0);
            assert_eq!(two.low * two.high, 1 << log2);
            assert_eq!(PowersShape::new(log2, log2).low, 1 << log2);
            assert!(domain_bytes(log2, 0) <= domain_bytes(log2, 27));
        }
    }

    #[test]
    fn a_coset_adds_a_table_of_rows() {
        for log2 in LOG2_RANGE {
            let [first, second, last] = split(log2);
            let last = if last > 0 { last } else { second };
            for whole in [log2 - 1, log2] {
                let [plain, coset] = [false, true].map(|of| DirectionShape::new(log2, whole, of));
                assert_eq!((plain.last_rows, plain.outer_rows), (0, 0));
                assert_eq!(coset.last_rows, 1 << last);
                let outer = if whole < log2 { 1 << first } else { 0 };
                assert_eq!(coset.outer_rows, outer);
                assert_eq!(
                    coset.bytes() - plain.bytes(),
                    64 * (outer + coset.last_rows)
                );
            }
        }
    }
}
