//! Slabs: small `cudaMalloc` requests share blocks of physical memory.
//!
//! A request goes where it fits most tightly among the gaps of all slabs, else into a new
//! slab; a slab goes back when its last request is freed. Alignment is 512 bytes. This gives
//! the number of slabs at each of the 5,959 recorded random steps. What it does not model:
//! the driver's own small allocations, which live in slabs that it never shares.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHashMap;

use super::ordered::Ordered;

/// Bits of a key that hold an offset, in units of the alignment.
const OFFSET_BITS: u32 = 12;
/// Bits of a key that hold the name of a slab.
const NAME_BITS: u32 = 39;

/// Where a small request lies; offset and length in units of the alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlabPlace {
    slab: u64,
    offset: u32,
    units: u32,
}

impl SlabPlace {
    /// The place with the rank of its slab in place of the name.
    pub(super) fn ranked(self, names: &Names) -> (usize, u64, u64) {
        (
            names.rank(self.slab),
            u64::from(self.offset),
            u64::from(self.units),
        )
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

/// A gap: where it begins and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    offset: u32,
    units: u32,
}

/// The gaps of one slab, ascending.
type Gaps = Vec<Gap>;

/// All slabs of one card.
#[derive(Debug, Clone, Default)]
pub(super) struct Slabs {
    align_bytes: u64,
    slab_units: u32,
    /// Name of the next slab; names are never used again, so that order is age.
    next: u64,
    /// The slabs in use.
    open: FxHashMap<u64, Gaps>,
    /// All gaps by length, then slab and offset: the first that is long enough is the tightest.
    by_length: Ordered<u64>,
}

impl Slabs {
    /// No slabs yet, of `slab_bytes` each.
    pub(super) fn new(slab_bytes: u64, align_bytes: u64) -> Self {
        let units = (slab_bytes / align_bytes).min(1 << OFFSET_BITS);
        Self {
            align_bytes,
            slab_units: u32::try_from(units).unwrap_or(u32::MAX),
            ..Self::default()
        }
    }

    /// How many slabs are in use.
    pub(super) fn live(&self) -> u64 {
        self.open.len() as u64
    }

    /// Whether a request of `bytes` fits without a new slab.
    #[cfg(test)]
    fn fits(&self, bytes: u64) -> bool {
        self.tightest(self.units(bytes)).is_some()
    }

    /// Places a request in the tightest gap; none if no gap is long enough.
    pub(super) fn fit(&mut self, bytes: u64) -> Option<SlabPlace> {
        let units = self.units(bytes);
        let (slab, gap) = self.tightest(units)?;
        self.by_length.remove(key(slab, gap));
        let rest = Gap {
            offset: gap.offset + units,
            units: gap.units - units,
        };
        let gaps = self.open.get_mut(&slab)?;
        let at = gaps.partition_point(|known| known.offset < gap.offset);
        if rest.units == 0 {
            gaps.remove(at);
        } else {
            if let Some(known) = gaps.get_mut(at) {
                *known = rest;
            }
            self.by_length.insert(key(slab, rest));
        }
        Some(SlabPlace {
            slab,
            offset: gap.offset,
            units,
        })
    }

    /// Places a request at the start of a new slab.
    pub(super) fn open(&mut self, bytes: u64) -> SlabPlace {
        let units = self.units(bytes);
        let slab = self.next;
        self.next += 1;
        let rest = Gap {
            offset: units,
            units: self.slab_units - units,
        };
        let gaps = if rest.units > 0 {
            self.by_length.insert(key(slab, rest));
            vec![rest]
        } else {
            Gaps::new()
        };
        self.open.insert(slab, gaps);
        SlabPlace {
            slab,
            offset: 0,
            units,
        }
    }

    /// Frees what was placed; `true` if its slab went back.
    pub(super) fn free(&mut self, place: SlabPlace) -> bool {
        let SlabPlace {
            slab,
            offset,
            units,
        } = place;
        let Some(gaps) = self.open.get_mut(&slab) else {
            return false;
        };
        let mut at = gaps.partition_point(|known| known.offset < offset);
        let mut gap = Gap { offset, units };
        let after = gaps.get(at).filter(|gap| gap.offset == offset + units);
        if let Some(after) = after.copied() {
            self.by_length.remove(key(slab, after));
            gap.units += after.units;
            gaps.remove(at);
        }
        let before = at.checked_sub(1).and_then(|before| gaps.get(before));
        let before = before.filter(|gap| gap.offset + gap.units == offset);
        if let Some(before) = before.copied() {
            self.by_length.remove(key(slab, before));
            gap.offset = before.offset;
            gap.units += before.units;
            at -= 1;
            gaps.remove(at);
        }
        if gap.units >= self.slab_units {
            self.open.remove(&slab);
            return true;
        }
        gaps.insert(at, gap);
        self.by_length.insert(key(slab, gap));
        false
    }

    /// Hashes what decides later answers: of the names of slabs only their order does.
    pub(super) fn hash_ranked<H: Hasher>(&self, names: &Names, state: &mut H) {
        for (rank, name) in names.0.iter().enumerate() {
            for gap in self.open.get(name).into_iter().flatten() {
                (rank, gap.offset, gap.units).hash(state);
            }
        }
        names.0.len().hash(state);
    }

    /// The slabs in use, in order.
    pub(super) fn names(&self) -> Names {
        let mut names: Vec<u64> = self.open.keys().copied().collect();
        names.sort_unstable();
        Names(names)
    }

    /// Roughly how many bytes they take.
    pub(super) fn size_bytes(&self) -> usize {
        let gaps = self.open.values().map(Vec::capacity).sum::<usize>();
        let table = self.open.capacity() * (size_of::<u64>() + size_of::<Gaps>());
        table + gaps * size_of::<Gap>() + self.by_length.size_bytes()
    }

    fn units(&self, bytes: u64) -> u32 {
        let units = bytes.div_ceil(self.align_bytes);
        u32::try_from(units)
            .unwrap_or(u32::MAX)
            .min(self.slab_units)
    }

    fn tightest(&self, units: u32) -> Option<(u64, Gap)> {
        let from = Gap { offset: 0, units };
        self.by_length.at_least(key(0, from)).map(read)
    }
}

/// A gap as a number whose order is that of length, then slab, then offset.
fn key(slab: u64, gap: Gap) -> u64 {
    let length = u64::from(gap.units) << (NAME_BITS + OFFSET_BITS);
    length | (slab << OFFSET_BITS) | u64::from(gap.offset)
}

/// The gap of a [`key`], and its slab.
fn read(key: u64) -> (u64, Gap) {
    let low = |bits: u32| (1_u64 << bits) - 1;
    let part = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let gap = Gap {
        offset: part(key & low(OFFSET_BITS)),
        units: part(key >> (NAME_BITS + OFFSET_BITS)),
    };
    ((key >> OFFSET_BITS) & low(NAME_BITS), gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slabs() -> Slabs {
        Slabs::new(2 << 20, 512)
    }

    fn allocate(slabs: &mut Slabs, bytes: u64) -> SlabPlace {
        let fits = slabs.fits(bytes);
        let place = slabs.fit(bytes);
        assert_eq!(place.is_some(), fits);
        place.unwrap_or_else(|| slabs.open(bytes))
    }

    #[test]
    fn a_key_is_read_back_and_orders_by_length_then_age_then_place() {
        let gap = |offset, units| Gap { offset, units };
        let ordered = [
            (7, gap(9, 1)),
            (1, gap(4095, 2)),
            (2, gap(0, 2)),
            (2, gap(1, 2)),
            ((1 << NAME_BITS) - 1, gap(4095, 4096)),
        ];
        let keys = ordered.map(|(slab, gap)| key(slab, gap));
        assert!(keys.is_sorted(), "{keys:?}");
        assert_eq!(keys.map(read), ordered);
    }

    #[test]
    fn twenty_requests_of_100_kib_share_a_slab_and_none_straddles() {
        let mut slabs = slabs();
        for _ in 0..20 {
            allocate(&mut slabs, 100 << 10);
        }
        assert_eq!(slabs.live(), 1);
        allocate(&mut slabs, 100 << 10);
        assert_eq!(slabs.live(), 2, "49,152 bytes are left: too few");
    }

    #[test]
    fn four_thousand_and_ninety_six_requests_of_512_bytes_share_a_slab() {
        let mut slabs = slabs();
        for _ in 0..4096 {
            allocate(&mut slabs, 1);
        }
        assert_eq!(slabs.live(), 1);
        assert!(!slabs.fits(1));
    }

    #[test]
    fn a_slab_goes_back_with_its_last_request() {
        let mut slabs = slabs();
        let (a, b, c) = (
            allocate(&mut slabs, 1000),
            allocate(&mut slabs, 1000),
            allocate(&mut slabs, 1000),
        );
        assert!(!slabs.free(b) && !slabs.free(a));
        assert!(slabs.free(c));
        assert_eq!(slabs.live(), 0);
        assert!(!slabs.fits(1), "a slab that went back offers nothing");
    }

    #[test]
    fn the_tightest_gap_is_taken() {
        let mut slabs = slabs();
        let wide = allocate(&mut slabs, 8192);
        allocate(&mut slabs, 512);
        let tight = allocate(&mut slabs, 4096);
        allocate(&mut slabs, 512);
        slabs.free(wide);
        slabs.free(tight);
        assert_eq!(allocate(&mut slabs, 4096), tight);
        assert_eq!(allocate(&mut slabs, 4096).offset, 0, "then the wide one");
    }
}
