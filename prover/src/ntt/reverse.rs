//! Puts values at the index that has their bits in reverse, in place, on all threads.
//!
//! Indices are split into three high bits, a middle and three low bits, and 64 values are swapped
//! at a time, so that every cache line that is touched is used.
#![expect(unsafe_code, reason = "threads swap pairs that no other thread has")]

use blstrs::Scalar;
use rayon::prelude::*;

/// Where the values are, for threads that take disjoint pairs of them.
struct Place(*mut Scalar);

// SAFETY: the pointer is only used for pairs of indices that one thread has.
unsafe impl Sync for Place {}

impl Place {
    /// # Safety
    ///
    /// Both indices are in the values, and no other thread uses either.
    unsafe fn swap(&self, a: usize, b: usize) {
        // SAFETY: in bounds, as the caller says.
        let first = unsafe { self.0.add(a) };
        // SAFETY: in bounds, as the caller says.
        let second = unsafe { self.0.add(b) };
        // SAFETY: valid, and no one else's, as the caller says.
        unsafe { std::ptr::swap(first, second) };
    }
}

fn reversed(value: usize, bits: u32) -> usize {
    value
        .reverse_bits()
        .checked_shr(usize::BITS - bits)
        .unwrap_or(0)
}

/// Swaps every value with the one at its index read backwards; a power of two of them.
pub(super) fn reverse(values: &mut [Scalar]) {
    let bits = values.len().trailing_zeros();
    if bits < 6 {
        for at in 0..values.len() {
            let other = reversed(at, bits);
            if at < other {
                values.swap(at, other);
            }
        }
        return;
    }
    let place = Place(values.as_mut_ptr());
    let place = &place;
    let middles = (0..values.len() >> 6).into_par_iter().with_min_len(16);
    middles.for_each(|middle| {
        let other = reversed(middle, bits - 6);
        if middle > other {
            return;
        }
        for tile in 0..64 {
            let (high, low) = (tile >> 3, tile & 7);
            let from = (high << (bits - 3)) | (middle << 3) | low;
            let to = (reversed(low, 3) << (bits - 3)) | (other << 3) | reversed(high, 3);
            if middle < other || from < to {
                // SAFETY: both are below 2^bits; `to` is `from` reversed, and the pair belongs to
                // the smaller of the two middles.
                unsafe { place.swap(from, to) };
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_goes_to_its_index_reversed() {
        for bits in 0..14 {
            let count = 1_usize << bits;
            let mut values: Vec<Scalar> = (0..count as u64).map(Scalar::from).collect();
            reverse(&mut values);
            for (at, value) in values.iter().enumerate() {
                assert_eq!(
                    *value,
                    Scalar::from(reversed(at, bits) as u64),
                    "{at} of 2^{bits}"
                );
            }
        }
    }
}
