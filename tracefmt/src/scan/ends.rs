//! One pass over a block: where its lines end, and where the last mark before each end stands.
//!
//! A mark is a byte that a plain log line holds at most in its stamp: `Z`, which ends a stamp, and
//! NUL. A line with a later mark may hold a second line; all others need no search of their own.
//! This pass is what reading a foreign line costs, so it works on 64 bytes at a time where the
//! processor can; everywhere else `memchr` does the same.

/// The end of a line within a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    /// Offset of the line end in the window.
    pub(super) at: u32,
    /// Offset behind the last mark before it in the window; 0 if there is none.
    pub(super) mark: u32,
}

/// Bytes searched at once: small enough for the first-level caches with what is found.
pub(super) const WINDOW: usize = 32 << 10;

const LINE_END: u8 = b'\n';
const STAMP_END: u8 = b'Z';
const NUL: u8 = 0;

/// The ends found in one window, and room for as many as it can hold.
#[derive(Debug)]
pub(super) struct Ends {
    list: Box<[End]>,
    count: usize,
    /// Offset behind the last mark of the window, whether a line end follows it or not.
    mark: u32,
}

impl Default for Ends {
    fn default() -> Self {
        // One more than a window holds: the wide search writes an entry before it knows its use.
        Self {
            list: vec![End::default(); WINDOW + 1].into_boxed_slice(),
            count: 0,
            mark: 0,
        }
    }
}

impl Ends {
    /// Searches a window of at most [`WINDOW`] bytes.
    #[inline]
    pub(super) fn search(&mut self, window: &[u8]) -> &[End] {
        debug_assert!(window.len() <= WINDOW, "a window has room for its ends");
        self.count = 0;
        let tail = self.search_words(window);
        self.search_rest(window, tail);
        &self.list[..self.count]
    }

    /// Offset behind the last mark of the window that was searched; 0 if there is none.
    pub(super) fn last_mark(&self) -> u32 {
        self.mark
    }

    /// Searches as many whole words as can be searched wide. Returns where the rest begins and the
    /// last mark before it.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn search_words(&mut self, window: &[u8]) -> (usize, u32) {
        let wide = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("lzcnt");
        if !wide {
            return (0, 0);
        }
        let (words, _) = window.as_chunks::<64>();
        let mut found = (&mut *self.list, 0);
        #[expect(
            unsafe_code,
            reason = "a function for a wider processor can be called no other way"
        )]
        // SAFETY: the processor has the features, asked for above; the function is otherwise safe.
        let mark = unsafe { wide::search(words, &mut found) };
        self.count = found.1;
        (words.len() * 64, mark)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn search_words(&mut self, _: &[u8]) -> (usize, u32) {
        (0, 0)
    }

    fn search_rest(&mut self, window: &[u8], (start, mut mark): (usize, u32)) {
        for at in memchr::memchr3_iter(LINE_END, STAMP_END, NUL, &window[start..]) {
            let Ok(place) = u32::try_from(start + at) else {
                break;
            };
            if window[start + at] == LINE_END {
                self.list[self.count] = End { at: place, mark };
                self.count += 1;
            } else {
                mark = place + 1;
            }
        }
        self.mark = mark;
    }
}

/// The search for processors with AVX2: 64 bytes become two words of bits.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
        _mm256_setr_epi64x,
    };

    use super::{End, LINE_END, NUL, STAMP_END};

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(half: &[u8; 32]) -> __m256i {
        let (quarters, _) = half.as_chunks::<8>();
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| i64::from_le_bytes(quarters[i]));
        _mm256_setr_epi64x(a, b, c, d)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn splat(byte: u8) -> __m256i {
        _mm256_set1_epi8(byte.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits(low: __m256i, high: __m256i) -> u64 {
        let low = _mm256_movemask_epi8(low).cast_unsigned();
        let high = _mm256_movemask_epi8(high).cast_unsigned();
        u64::from(low) | u64::from(high) << 32
    }

    /// Fills the list with line ends and counts them; returns the offset behind the last mark.
    #[target_feature(enable = "avx2,bmi1,lzcnt")]
    pub(super) fn search(words: &[[u8; 64]], found: &mut (&mut [End], usize)) -> u32 {
        let (list, count) = (&mut *found.0, &mut found.1);
        let mut last = 0;
        let mut base = 0;
        for word in words {
            let (halves, _) = word.as_chunks::<32>();
            let (low, high) = (load(&halves[0]), load(&halves[1]));
            let equal = |byte: u8| {
                let byte = splat(byte);
                (_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
            };
            let (end_low, end_high) = equal(LINE_END);
            let (z_low, z_high) = equal(STAMP_END);
            let (nul_low, nul_high) = equal(NUL);
            let mut ends = bits(end_low, end_high);
            let marks = bits(
                _mm256_or_si256(z_low, nul_low),
                _mm256_or_si256(z_high, nul_high),
            );
            // Most words hold no end or one: that one is written before it is known to be there.
            loop {
                let at = ends.trailing_zeros();
                let before = marks & (1_u64.wrapping_shl(at)).wrapping_sub(1);
                let mark = if before == 0 {
                    last
                } else {
                    base + 64 - before.leading_zeros()
                };
                let Some(slot) = list.get_mut(*count) else {
                    return last;
                };
                *slot = End {
                    at: base + at,
                    mark,
                };
                *count += usize::from(ends != 0);
                ends &= ends.wrapping_sub(1);
                if ends == 0 {
                    break;
                }
            }
            if marks != 0 {
                last = base + 64 - marks.leading_zeros();
            }
            base += 64;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(window: &[u8]) -> Vec<End> {
        let (mut ends, mut mark) = (Vec::new(), 0);
        for (at, byte) in (0_u32..).zip(window) {
            match *byte {
                LINE_END => ends.push(End { at, mark }),
                STAMP_END | NUL => mark = at + 1,
                _ => {}
            }
        }
        ends
    }

    #[test]
    fn a_window_of_line_ends_has_room() {
        let window = vec![LINE_END; WINDOW];
        assert_eq!(Ends::default().search(&window), plain(&window));
    }

    proptest! {
        #[test]
        fn the_wide_search_finds_what_the_plain_one_finds(
            window in proptest::collection::vec(
                prop_oneof![6 => Just(b'a'), 1 => Just(LINE_END), 1 => Just(STAMP_END),
                    1 => Just(NUL), 1 => any::<u8>()],
                0..400),
        ) {
            let mut ends = Ends::default();
            prop_assert_eq!(ends.search(&window), plain(&window));
            ends.count = 0;
            ends.search_rest(&window, (0, 0));
            prop_assert_eq!(&ends.list[..ends.count], plain(&window));
        }
    }
}
