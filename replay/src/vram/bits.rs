//! A row of bits, of which whole ranges are counted and searched by the word.

/// Bits of a word.
const WORD: usize = 64;

/// A row of bits; those beyond its length are zero.
#[derive(Debug, Clone, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn get(&self, at: usize) -> bool {
        let word = self.0.get(at / WORD);
        word.is_some_and(|word| (word >> (at % WORD)) & 1 == 1)
    }

    pub(super) fn set(&mut self, at: usize, to: bool) {
        let index = at / WORD;
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        if let Some(word) = self.0.get_mut(index) {
            let bit = 1 << (at % WORD);
            *word = if to { *word | bit } else { *word & !bit };
        }
    }

    /// How many bits of a range are set.
    pub(super) fn count(&self, range: &std::ops::Range<usize>) -> usize {
        let mut count = 0;
        for index in self.words(range) {
            count += self.word(index, range).count_ones() as usize;
        }
        count
    }

    /// The highest set bit of a range.
    pub(super) fn highest(&self, range: &std::ops::Range<usize>) -> Option<usize> {
        self.words(range).rev().find_map(|index| {
            let word = self.word(index, range);
            let bit = word.checked_ilog2()? as usize;
            Some(index * WORD + bit)
        })
    }

    /// Roughly how many bytes they take.
    pub(super) fn size_bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }

    /// The words that there are of a range.
    fn words(&self, range: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        let end = range.end.div_ceil(WORD).min(self.0.len());
        (range.start / WORD).min(end)..end
    }

    /// A word that [`Bits::words`] gives, with what lies outside the range taken out.
    fn word(&self, index: usize, range: &std::ops::Range<usize>) -> u64 {
        let mut word = self.0.get(index).copied().unwrap_or(0);
        let start = index * WORD;
        if range.start > start {
            word &= u64::MAX << (range.start - start);
        }
        if range.end < start + WORD {
            word &= !(u64::MAX << (range.end - start));
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_counted_and_searched_bit_for_bit(
            set in proptest::collection::btree_set(0_usize..400, 0..200),
            (start, end) in (0_usize..500, 0_usize..500),
        ) {
            let mut bits = Bits::default();
            for at in 0..400 {
                bits.set(at, true);
            }
            for at in (0..400).filter(|at| !set.contains(at)) {
                bits.set(at, false);
            }
            let range = start..end.max(start);
            let inside = |at: &&usize| range.contains(*at);
            prop_assert_eq!(bits.count(&range), set.iter().filter(inside).count());
            prop_assert_eq!(bits.highest(&range), set.iter().rfind(inside).copied());
            prop_assert_eq!(bits.get(start), set.contains(&start));
        }
    }
}
