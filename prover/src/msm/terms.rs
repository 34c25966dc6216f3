//! Sorts the scalars of a sum: zeros are dropped, ones and minus ones need no multiplication, and
//! the rest becomes signed digits.
//!
//! A real witness is half zeros and half ones (51 % and 47 % of a `PoRep` partition), so this
//! decides how much work a sum is.

use blstrs::Scalar;
use ff::{Field, PrimeField};
use rayon::prelude::*;

/// Scalars that one thread sorts at a time.
const PIECE: usize = 1 << 14;
/// Ranges that the buckets of a window are cut into, and how many buckets one has at least.
const RANGES: usize = 8;
const RANGE_BUCKETS_MIN: usize = 512;
/// (r − 1)/2, least significant word first.
const HALF: [u64; 4] = [
    0x7fff_ffff_8000_0000,
    0xa9de_d201_7fff_2dff,
    0x199c_ec04_04d0_ec02,
    0x39f6_d3a9_94ce_bea4,
];
/// r, least significant word first.
const MODULUS: [u64; 4] = [
    0xffff_ffff_0000_0001,
    0x53bd_a402_fffe_5bfe,
    0x3339_d808_09a1_d805,
    0x73ed_a753_299d_7d48,
];

/// The index of a base, and whether it is to be subtracted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry(u32);

impl Entry {
    fn new(index: usize, minus: bool) -> Self {
        // Bases are counted below 2^31: `Terms::sort` cuts there.
        #[expect(clippy::cast_possible_truncation, reason = "an index is below 2^31")]
        Self(((index as u32) << 1) | u32::from(minus))
    }

    pub(super) fn index(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn is_minus(self) -> bool {
        self.0 & 1 == 1
    }

    fn flipped_if(self, flip: bool) -> Self {
        Self(self.0 ^ u32::from(flip))
    }
}

/// The nonzero terms of a stretch of the sum.
#[derive(Default)]
struct Piece {
    ones: Vec<Entry>,
    dense: Vec<Entry>,
    /// |scalar| of the dense terms, at most (r − 1)/2, word by word, so that a window reads only
    /// the words that it lies in.
    words: [Vec<u64>; 4],
    bits: u32,
}

/// The nonzero terms of a sum. Holds 36 bytes a dense term and 4 a one.
pub(super) struct Terms {
    pieces: Vec<Piece>,
}

/// How the dense scalars are cut: `count` windows of `width` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) width: u32,
    pub(super) count: u32,
}

/// The dense terms of one window by bucket: bucket b, for the digits ±(b + 1), has the entries
/// from `starts[b]` to `starts[b + 1]`.
pub(super) struct Sorted {
    pub(super) entries: Vec<Entry>,
    pub(super) starts: Vec<u32>,
    /// Where the next entry of a bucket goes.
    next: Vec<u32>,
}

impl Windows {
    /// The cut that costs least for `count` terms of at most `bits` bits, by counting additions:
    /// one a term and window, and two a bucket, which cost a little more.
    pub(super) fn choose(count: usize, bits: u32) -> Self {
        let windows = |width: u32| Self {
            width,
            count: (bits + 1).div_ceil(width),
        };
        let cost = |cut: &Self| {
            let adds = count as u64 + 5 * (1_u64 << (cut.width - 1)) / 2;
            u64::from(cut.count) * (adds + 64)
        };
        (2..=18).map(windows).min_by_key(cost).unwrap_or(windows(8))
    }

    pub(super) fn buckets(self) -> usize {
        1 << (self.width - 1)
    }

    /// How many ranges the buckets of a window are cut into, and how many of them each has.
    pub(super) fn ranges(self) -> (usize, usize) {
        let ranges = (self.buckets() / RANGE_BUCKETS_MIN).clamp(1, RANGES);
        (ranges, self.buckets() / ranges)
    }

    /// Σ 2^(width − 1) over all windows but the top one: added to a scalar, it turns its digits
    /// from 0 to 2^width − 1 into digits from −2^(width−1) up without a carry to follow.
    fn raise(self) -> [u64; 4] {
        let mut words = [0; 4];
        for window in 0..self.count.saturating_sub(1) {
            let bit = (window + 1) * self.width - 1;
            words[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        words
    }
}

impl Terms {
    /// Sorts `count` terms; `scalar(i)` goes with base i.
    ///
    /// All memory is asked for here, on the calling thread, to the entry: what the threads of the
    /// pool ask for stays with each of them, and is then there once a thread.
    pub(super) fn sort<'a>(count: usize, scalar: impl Fn(usize) -> &'a Scalar + Sync) -> Self {
        let count = count.min(1 << 31);
        let starts = (0..count).into_par_iter().step_by(PIECE);
        let range = |from: usize| from..count.min(from + PIECE);
        let sizes: Vec<_> = starts
            .map(|from| Piece::sizes(range(from), &scalar))
            .collect();
        let mut pieces: Vec<Piece> = sizes.into_iter().map(Piece::with_room).collect();
        let all = pieces.par_iter_mut().enumerate();
        all.for_each(|(at, piece)| piece.sort(range(at * PIECE), &scalar));
        Self { pieces }
    }

    pub(super) fn ones(&self) -> impl ParallelIterator<Item = &[Entry]> {
        self.pieces
            .par_iter()
            .map(|piece| piece.ones.as_slice())
            .filter(|ones| !ones.is_empty())
    }

    /// How many terms are plus or minus a base.
    pub(super) fn count_ones(&self) -> usize {
        self.pieces.iter().map(|piece| piece.ones.len()).sum()
    }

    /// How many terms are left besides the ones, and how many bits their scalars have.
    pub(super) fn dense(&self) -> (usize, u32) {
        let bits = self
            .pieces
            .iter()
            .map(|piece| piece.bits)
            .max()
            .unwrap_or(0);
        (
            self.pieces.iter().map(|piece| piece.dense.len()).sum(),
            bits,
        )
    }

    /// Makes the dense scalars ready for [`Terms::window`] with these windows; once.
    pub(super) fn raise(&mut self, windows: Windows) {
        let raise = windows.raise();
        self.pieces
            .par_iter_mut()
            .for_each(|piece| piece.raise(raise));
    }

    /// Room for the dense terms of one window.
    pub(super) fn room(&self, windows: Windows) -> Sorted {
        let (count, _) = self.dense();
        Sorted {
            entries: Vec::with_capacity(count),
            starts: Vec::with_capacity(windows.buckets() + 1),
            next: Vec::with_capacity(windows.buckets() + 1),
        }
    }

    /// The dense terms by their digit in one window: a counting sort. Holds 4 bytes a term.
    pub(super) fn window(&self, windows: Windows, window: u32, sorted: &mut Sorted) {
        let digits = Digits::new(windows, window);
        let Sorted {
            entries,
            starts,
            next,
        } = sorted;
        starts.clear();
        starts.resize(windows.buckets() + 1, 0);
        for piece in &self.pieces {
            digits.each(piece, |_, bucket| starts[bucket + 1] += 1);
        }
        let mut before = 0;
        for start in starts.iter_mut() {
            before += *start;
            *start = before;
        }
        entries.clear();
        entries.resize(before as usize, Entry(0));
        next.clone_from(starts);
        for piece in &self.pieces {
            digits.each(piece, |entry, bucket| {
                entries[next[bucket] as usize] = entry;
                next[bucket] += 1;
            });
        }
    }
}

impl Piece {
    /// How many ones and how many dense terms there are, minus ones among the dense.
    fn sizes<'a>(
        range: std::ops::Range<usize>,
        scalar: &impl Fn(usize) -> &'a Scalar,
    ) -> (usize, usize) {
        range.map(scalar).fold((0, 0), |(ones, dense), scalar| {
            if *scalar == Scalar::ZERO {
                (ones, dense)
            } else if *scalar == Scalar::ONE {
                (ones + 1, dense)
            } else {
                (ones, dense + 1)
            }
        })
    }

    fn with_room((ones, dense): (usize, usize)) -> Self {
        Self {
            ones: Vec::with_capacity(ones),
            dense: Vec::with_capacity(dense),
            words: std::array::from_fn(|_| Vec::with_capacity(dense)),
            bits: 0,
        }
    }

    fn sort<'a>(&mut self, range: std::ops::Range<usize>, scalar: &impl Fn(usize) -> &'a Scalar) {
        let piece = self;
        for index in range {
            let scalar = scalar(index);
            if *scalar == Scalar::ZERO {
                continue;
            }
            if *scalar == Scalar::ONE {
                piece.ones.push(Entry::new(index, false));
                continue;
            }
            let (size, minus) = balance(words_of(scalar));
            if size == [1, 0, 0, 0] {
                piece.ones.push(Entry::new(index, minus));
                continue;
            }
            piece.dense.push(Entry::new(index, minus));
            for (words, word) in piece.words.iter_mut().zip(size) {
                words.push(word);
            }
            piece.bits = piece.bits.max(bits_of(size));
        }
    }

    fn raise(&mut self, raise: [u64; 4]) {
        let [first, second, third, fourth] = &mut self.words;
        let upper = second.iter_mut().zip(third).zip(fourth);
        for (first, ((second, third), fourth)) in first.iter_mut().zip(upper) {
            let mut carry = false;
            for (word, more) in [first, second, third, fourth].into_iter().zip(raise) {
                let (sum, over) = word.overflowing_add(more);
                let (sum, again) = sum.overflowing_add(u64::from(carry));
                *word = sum;
                carry = over || again;
            }
        }
    }
}

/// Reads the digits of one window.
struct Digits {
    word: usize,
    bit: u32,
    mask: u64,
    /// What [`Windows::raise`] added to this digit.
    raised: u64,
}

impl Digits {
    fn new(windows: Windows, window: u32) -> Self {
        let from = window * windows.width;
        let raised = if window + 1 == windows.count {
            0
        } else {
            windows.buckets() as u64
        };
        let mask = (1 << windows.width) - 1;
        Self {
            word: (from / 64) as usize,
            bit: from % 64,
            mask,
            raised,
        }
    }

    /// Calls `take` with every term whose digit is not zero, and the bucket it belongs to.
    #[inline]
    fn each(&self, piece: &Piece, mut take: impl FnMut(Entry, usize)) {
        let low = &piece.words[self.word];
        // Over the end of the last word are zeros.
        let (high, keep) = match piece.words.get(self.word + 1) {
            Some(high) => (high, u64::MAX),
            None => (low, 0),
        };
        for ((entry, low), high) in piece.dense.iter().zip(low).zip(high) {
            let both = (u128::from(*high & keep) << 64) | u128::from(*low);
            #[expect(clippy::cast_possible_truncation, reason = "masked to the window")]
            let digit = (both >> self.bit) as u64 & self.mask;
            if digit != self.raised {
                let bucket = digit.abs_diff(self.raised) - 1;
                #[expect(clippy::cast_possible_truncation, reason = "below the buckets")]
                take(entry.flipped_if(digit < self.raised), bucket as usize);
            }
        }
    }
}

fn words_of(scalar: &Scalar) -> [u64; 4] {
    let bytes = scalar.to_repr();
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|word| u64::from_le_bytes(words[word]))
}

/// |s| and whether s is negative, for s taken between −(r − 1)/2 and (r − 1)/2.
fn balance(words: [u64; 4]) -> ([u64; 4], bool) {
    if words.iter().rev().le(HALF.iter().rev()) {
        return (words, false);
    }
    let mut out = [0; 4];
    let mut borrow = false;
    for word in 0..4 {
        let (less, first) = MODULUS[word].overflowing_sub(words[word]);
        let (less, second) = less.overflowing_sub(u64::from(borrow));
        out[word] = less;
        borrow = first || second;
    }
    (out, true)
}

fn bits_of(words: [u64; 4]) -> u32 {
    let top = words.iter().rposition(|word| *word != 0);
    top.map_or(0, |at| {
        64 * (u32::try_from(at).unwrap_or(0) + 1) - words[at].leading_zeros()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(words: [u64; 4]) -> Scalar {
        let base = Scalar::from(u64::MAX) + Scalar::ONE;
        words
            .iter()
            .rev()
            .fold(Scalar::ZERO, |sum, word| sum * base + Scalar::from(*word))
    }

    fn digits_add_up(scalar: Scalar, width: u32) {
        let scalars = [scalar];
        let mut terms = Terms::sort(1, |index| &scalars[index]);
        let (count, bits) = terms.dense();
        let windows = Windows {
            width,
            count: (bits + 1).div_ceil(width),
        };
        terms.raise(windows);
        let mut sum = Scalar::ZERO;
        for window in (0..windows.count).rev() {
            let mut sorted = terms.room(windows);
            terms.window(windows, window, &mut sorted);
            for _ in 0..width {
                sum = sum.double();
            }
            for (at, entry) in sorted.entries.iter().enumerate() {
                let bucket = sorted.starts.partition_point(|start| *start as usize <= at);
                let digit = Scalar::from(bucket as u64);
                sum += if entry.is_minus() { -digit } else { digit };
            }
        }
        for ones in terms.pieces.iter().map(|piece| &piece.ones) {
            for one in ones {
                sum += if one.is_minus() {
                    -Scalar::ONE
                } else {
                    Scalar::ONE
                };
            }
        }
        assert_eq!(sum, scalar, "{width} bits, {count} dense");
    }

    #[test]
    fn the_constants_are_the_field_s() {
        assert_eq!(value(MODULUS), Scalar::ZERO);
        assert_eq!(value(HALF).double(), -Scalar::ONE);
    }

    #[test]
    fn digits_of_awkward_scalars_add_up() {
        let half = value(HALF);
        let two = Scalar::from(2);
        for width in 2..=18 {
            for scalar in [
                Scalar::ZERO,
                Scalar::ONE,
                -Scalar::ONE,
                two,
                -two,
                half,
                -half,
            ] {
                digits_add_up(scalar, width);
            }
            for power in 1..255_u64 {
                digits_add_up(two.pow_vartime([power]), width);
                digits_add_up(two.pow_vartime([power]) - Scalar::ONE, width);
            }
        }
    }

    #[test]
    fn small_scalars_need_few_windows() {
        let scalars: Vec<Scalar> = (2..1000).map(Scalar::from).collect();
        let terms = Terms::sort(scalars.len(), |index| &scalars[index]);
        assert_eq!(terms.dense(), (998, 10));
        assert!(Windows::choose(998, 10).count <= 2);
    }

    proptest! {
        #[test]
        fn digits_add_up_to_the_scalar(words: [u64; 4], width in 2_u32..19) {
            digits_add_up(value(words), width);
        }
    }
}
