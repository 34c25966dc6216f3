//! A long list of scalars in memory that is mapped for it alone: when the list goes, its memory is
//! the system's again at once. What the heap is given back in lists of many sizes it keeps, in
//! pieces that the next phase of a proof cannot use, and a proof then takes half as much again.
//!
//! For the vectors of a proof that are as long as its domain; others are better off on the heap.
#![expect(unsafe_code, reason = "mapped bytes are seen as the scalars they hold")]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::slice::{from_raw_parts, from_raw_parts_mut};

use blstrs::Scalar;
use ff::Field as _;
use memmap2::MmapMut;

/// Bytes from which on a list is mapped: below, what the heap may keep of it does not matter.
const MAPPED_MIN: usize = 1 << 20;

/// A list of scalars, of a length that is known from the start and can only shrink.
pub struct Scalars {
    place: Place,
    len: usize,
}

enum Place {
    Heap(Vec<Scalar>),
    /// At least `len` scalars from the start of the map.
    Mapped(MmapMut),
}

impl Scalars {
    /// So many zeros.
    pub fn zeros(len: usize) -> Self {
        let bytes = len.saturating_mul(size_of::<Scalar>());
        let mapped = if bytes < MAPPED_MIN { None } else { map(bytes) };
        // A map that the system refuses is the heap's to give, or to end the program over.
        let place = mapped.map_or_else(|| Place::Heap(vec![Scalar::ZERO; len]), Place::Mapped);
        Self { place, len }
    }

    /// Leaves the first `len` scalars; nothing if there are not more.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

/// Zeroed memory, in large pages where the system has them: they cost a tenth at the first touch.
fn map(bytes: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(bytes).ok()?;
    #[cfg(target_os = "linux")]
    {
        // Small pages do as well.
        let _refused = map.advise(memmap2::Advice::HugePage);
    }
    Some(map)
}

impl Deref for Scalars {
    type Target = [Scalar];

    fn deref(&self) -> &[Scalar] {
        match &self.place {
            Place::Heap(values) => &values[..self.len],
            // SAFETY: the map begins at a page, lives as long as `self` and has `len` scalars at
            // least: bytes that were zero, which is the scalar zero, or were written as scalars.
            Place::Mapped(map) => unsafe { from_raw_parts(map.as_ptr().cast(), self.len) },
        }
    }
}

impl DerefMut for Scalars {
    fn deref_mut(&mut self) -> &mut [Scalar] {
        match &mut self.place {
            Place::Heap(values) => &mut values[..self.len],
            // SAFETY: as for reading, and `self` is borrowed for as long as the scalars are.
            Place::Mapped(map) => unsafe { from_raw_parts_mut(map.as_mut_ptr().cast(), self.len) },
        }
    }
}

impl Clone for Scalars {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl fmt::Debug for Scalars {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(out)
    }
}

impl PartialEq for Scalars {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Eq for Scalars {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Short, the longest on the heap, the shortest that is mapped, and one that ends in a page.
    const LENGTHS: [usize; 5] = [0, 5, (1 << 15) - 1, 1 << 15, (1 << 16) + 3];

    fn counted(len: usize) -> Scalars {
        let mut scalars = Scalars::zeros(len);
        for (at, scalar) in (0..).zip(scalars.iter_mut()) {
            *scalar = Scalar::from(at);
        }
        scalars
    }

    #[test]
    fn long_lists_are_mapped_and_others_are_not() {
        let mapped = LENGTHS.map(|len| matches!(Scalars::zeros(len).place, Place::Mapped(_)));
        assert_eq!(mapped, [false, false, false, true, true]);
    }

    #[test]
    fn a_list_is_zeros_until_it_is_written() {
        for len in LENGTHS {
            let zeros = Scalars::zeros(len);
            assert_eq!(zeros.len(), len);
            assert!(zeros.iter().all(|scalar| *scalar == Scalar::ZERO), "{len}");
            let counted = counted(len);
            let right = |(at, scalar): (u64, &Scalar)| *scalar == Scalar::from(at);
            assert!((0..).zip(counted.iter()).all(right), "{len}");
        }
    }

    #[test]
    fn a_copy_has_memory_of_its_own() {
        for len in LENGTHS {
            let list = counted(len);
            let mut copy = list.clone();
            assert_eq!(copy, list);
            if let Some(last) = copy.last_mut() {
                *last += Scalar::ONE;
                assert_ne!(copy, list, "{len}");
            }
        }
    }

    #[test]
    fn a_list_only_shrinks() {
        for len in LENGTHS {
            let mut list = counted(len);
            list.truncate(len + 1);
            assert_eq!(list.len(), len);
            list.truncate(3);
            assert_eq!(list[..], counted(len.min(3))[..]);
            list.truncate(len);
            assert_eq!((list.len(), list.clone().len()), (len.min(3), len.min(3)));
        }
    }

    #[test]
    fn more_than_there_is_of_anything_is_not_mapped() {
        assert!(map(usize::MAX >> 1).is_none());
    }

    #[test]
    fn a_list_is_printed_as_its_scalars() {
        let list = counted(2);
        assert_eq!(format!("{list:?}"), format!("{:?}", &list[..]));
    }
}
