//! Slabs: small `cudaMalloc` requests share blocks of physical memory.
//!
//! A request goes where it fits most tightly among the gaps of all slabs, else into a new
//! slab; a slab goes back when its last request is freed. Alignment is 512 bytes. This gives
//! the number of slabs at each of the 5,959 recorded random steps. What it does not model:
//! the driver's own small allocations, which live in slabs that it never shares.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

/// Where a small request lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlabPlace {
    slab: u64,
    offset: u64,
    bytes: u64,
}

impl SlabPlace {
    /// The place with the rank of its slab in place of the name.
    pub(super) fn ranked(self, names: &Names) -> (usize, u64, u64) {
        (names.rank(self.slab), self.offset, self.bytes)
    }
}

/// The names of the slabs in use, ascending.
#[derive(Debug)]
pub(super) struct Names(Vec<u64>);

impl Names {
    fn rank(&self, slab: u64) -> usize {
        self.0.partition_point(|&name| name < slab)
    }
}

/// All slabs of one card.
#[derive(Debug, Clone, Default)]
pub(super) struct Slabs {
    slab_bytes: u64,
    align_bytes: u64,
    /// Name of the next slab; names are never used again, so that order is age.
    next: u64,
    /// Gaps by slab and offset, with their length.
    gaps: BTreeMap<(u64, u64), u64>,
    /// The same gaps by length: the first that is long enough is the tightest.
    by_length: BTreeSet<(u64, u64, u64)>,
    live: u64,
}

impl Slabs {
    /// No slabs yet, of `slab_bytes` each.
    pub(super) fn new(slab_bytes: u64, align_bytes: u64) -> Self {
        Self {
            slab_bytes,
            align_bytes,
            ..Self::default()
        }
    }

    /// How many slabs are in use.
    pub(super) fn live(&self) -> u64 {
        self.live
    }

    /// Whether a request of `bytes` fits without a new slab.
    pub(super) fn fits(&self, bytes: u64) -> bool {
        self.tightest(self.round(bytes)).is_some()
    }

    /// Places a request of at most one slab.
    pub(super) fn allocate(&mut self, bytes: u64) -> SlabPlace {
        let bytes = self.round(bytes);
        let (length, slab, offset) = self.tightest(bytes).unwrap_or_else(|| {
            let slab = self.next;
            self.next += 1;
            self.live += 1;
            (self.slab_bytes, slab, 0)
        });
        self.remove_gap(slab, offset, length);
        if length > bytes {
            self.add_gap(slab, offset + bytes, length - bytes);
        }
        SlabPlace {
            slab,
            offset,
            bytes,
        }
    }

    /// Frees what [`Slabs::allocate`] placed; `true` if its slab went back.
    pub(super) fn free(&mut self, place: SlabPlace) -> bool {
        let SlabPlace {
            slab,
            mut offset,
            mut bytes,
        } = place;
        if let Some(after) = self.gaps.get(&(slab, offset + bytes)).copied() {
            self.remove_gap(slab, offset + bytes, after);
            bytes += after;
        }
        let before = self.gaps.range((slab, 0)..(slab, offset)).next_back();
        if let Some((&(_, start), &length)) = before
            && start + length == offset
        {
            self.remove_gap(slab, start, length);
            offset = start;
            bytes += length;
        }
        if bytes >= self.slab_bytes {
            self.live -= 1;
            return true;
        }
        self.add_gap(slab, offset, bytes);
        false
    }

    /// Hashes what decides later answers: of the names of slabs only their order does.
    pub(super) fn hash_ranked<H: Hasher>(&self, names: &Names, state: &mut H) {
        self.gaps.len().hash(state);
        for (&(slab, offset), &length) in &self.gaps {
            (names.rank(slab), offset, length).hash(state);
        }
    }

    /// The slabs in use, in order, given the places in use: a full slab has no gap.
    pub(super) fn names(&self, places: impl Iterator<Item = SlabPlace>) -> Names {
        let open = self.gaps.keys().map(|&(slab, _)| slab);
        let mut names: Vec<u64> = open.chain(places.map(|place| place.slab)).collect();
        names.sort_unstable();
        names.dedup();
        Names(names)
    }

    /// Roughly how many bytes they take.
    pub(super) fn size_bytes(&self) -> usize {
        self.gaps.len() * 80
    }

    fn round(&self, bytes: u64) -> u64 {
        bytes
            .next_multiple_of(self.align_bytes)
            .min(self.slab_bytes)
    }

    fn tightest(&self, bytes: u64) -> Option<(u64, u64, u64)> {
        self.by_length.range((bytes, 0, 0)..).next().copied()
    }

    fn add_gap(&mut self, slab: u64, offset: u64, length: u64) {
        self.gaps.insert((slab, offset), length);
        self.by_length.insert((length, slab, offset));
    }

    fn remove_gap(&mut self, slab: u64, offset: u64, length: u64) {
        self.gaps.remove(&(slab, offset));
        self.by_length.remove(&(length, slab, offset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slabs() -> Slabs {
        Slabs::new(2 << 20, 512)
    }

    #[test]
    fn twenty_requests_of_100_kib_share_a_slab_and_none_straddles() {
        let mut slabs = slabs();
        for _ in 0..20 {
            slabs.allocate(100 << 10);
        }
        assert_eq!(slabs.live(), 1);
        slabs.allocate(100 << 10);
        assert_eq!(slabs.live(), 2, "49,152 bytes are left: too few");
    }

    #[test]
    fn four_thousand_and_ninety_six_requests_of_512_bytes_share_a_slab() {
        let mut slabs = slabs();
        for _ in 0..4096 {
            slabs.allocate(1);
        }
        assert_eq!(slabs.live(), 1);
        assert!(!slabs.fits(1));
    }

    #[test]
    fn a_slab_goes_back_with_its_last_request() {
        let mut slabs = slabs();
        let (a, b, c) = (
            slabs.allocate(1000),
            slabs.allocate(1000),
            slabs.allocate(1000),
        );
        assert!(!slabs.free(b) && !slabs.free(a));
        assert!(slabs.free(c));
        assert_eq!(slabs.live(), 0);
        assert!(!slabs.fits(1), "a slab that went back offers nothing");
    }

    #[test]
    fn the_tightest_gap_is_taken() {
        let mut slabs = slabs();
        let wide = slabs.allocate(8192);
        slabs.allocate(512);
        let tight = slabs.allocate(4096);
        slabs.allocate(512);
        slabs.free(wide);
        slabs.free(tight);
        assert_eq!(slabs.allocate(4096), tight);
        assert_eq!(slabs.allocate(4096).offset, 0, "then the wide one");
    }
}
