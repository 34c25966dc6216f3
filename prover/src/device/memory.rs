//! Device memory as an account: what is allocated, by id, against a capacity.
//!
//! It accounts as `cudaMalloc` was measured to: whole blocks of 2 MiB, the last of which is never
//! given out. Addresses and pools are not modelled; `replay::vram` does that, and a trace of this
//! account replays there without a difference.

use std::collections::BTreeMap;

use crate::plan::BLOCK_BYTES;

/// `cudaErrorInvalidValue`.
pub const RC_INVALID: i32 = 1;
/// `cudaErrorMemoryAllocation`.
pub const RC_OUT_OF_MEMORY: i32 = 2;
/// `cudaErrorHostMemoryAlreadyRegistered`.
pub const RC_REGISTERED: i32 = 712;
/// `cudaErrorHostMemoryNotRegistered`.
pub const RC_UNREGISTERED: i32 = 713;

/// The account of one device.
#[derive(Debug)]
pub struct Memory {
    capacity: u64,
    baseline: u64,
    live: BTreeMap<u64, u64>,
    pinned: BTreeMap<u64, u64>,
    used: u64,
    peak: u64,
}

impl Memory {
    /// A device of `capacity` bytes, of which `baseline` are in use by others.
    pub fn new(capacity: u64, baseline: u64) -> Self {
        let used = rounded(baseline).min(capacity);
        Self {
            capacity,
            baseline: used,
            live: BTreeMap::new(),
            pinned: BTreeMap::new(),
            used,
            peak: used,
        }
    }

    /// Bytes of memory.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that are free.
    pub const fn free_bytes(&self) -> u64 {
        self.capacity.saturating_sub(self.used)
    }

    /// Bytes that allocations hold now.
    pub const fn held_bytes(&self) -> u64 {
        self.used - self.baseline
    }

    /// The most bytes that were ever in use.
    pub const fn peak_bytes(&self) -> u64 {
        self.peak
    }

    /// Allocates; the code is 2 when the memory is not there.
    pub fn alloc(&mut self, id: u64, bytes: u64) -> i32 {
        if bytes == 0 || self.live.contains_key(&id) {
            return RC_INVALID;
        }
        let bytes = rounded(bytes);
        if bytes.saturating_add(BLOCK_BYTES) > self.free_bytes() {
            return RC_OUT_OF_MEMORY;
        }
        self.live.insert(id, bytes);
        self.used += bytes;
        self.peak = self.peak.max(self.used);
        0
    }

    /// Frees; the code is 1 when there is no such allocation.
    pub fn free(&mut self, id: u64) -> i32 {
        let Some(bytes) = self.live.remove(&id) else {
            return RC_INVALID;
        };
        self.used -= bytes;
        0
    }

    /// Whether all of these are allocated.
    pub fn holds(&self, ids: &[u64]) -> bool {
        ids.iter().all(|id| self.live.contains_key(id))
    }

    /// Pins a host range; the code is 712 when a part of it is pinned.
    pub fn pin(&mut self, addr: u64, bytes: u64) -> i32 {
        let end = addr.saturating_add(bytes);
        if bytes == 0 {
            return RC_INVALID;
        }
        let before = self.pinned.range(..end).next_back();
        if before.is_some_and(|(from, length)| from.saturating_add(*length) > addr) {
            return RC_REGISTERED;
        }
        self.pinned.insert(addr, bytes);
        0
    }

    /// Unpins a host range; the code is 713 when it is not pinned.
    pub fn unpin(&mut self, addr: u64) -> i32 {
        match self.pinned.remove(&addr) {
            Some(_) => 0,
            None => RC_UNREGISTERED,
        }
    }

    /// Host ranges that are pinned.
    pub fn pinned_ranges(&self) -> usize {
        self.pinned.len()
    }
}

const fn rounded(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_last_block_is_never_given() {
        let mut memory = Memory::new(10 * MIB, 0);
        assert_eq!(memory.alloc(1, 8 * MIB), 0);
        assert_eq!(memory.alloc(2, 1), RC_OUT_OF_MEMORY);
        assert_eq!(memory.free(1), 0);
        assert_eq!(memory.alloc(2, 8 * MIB + 1), RC_OUT_OF_MEMORY);
        assert_eq!((memory.held_bytes(), memory.peak_bytes()), (0, 8 * MIB));
    }

    #[test]
    fn misuse_has_its_codes() {
        let mut memory = Memory::new(64 * MIB, 3 * MIB);
        assert_eq!(memory.free_bytes(), 60 * MIB);
        assert_eq!(memory.free(7), RC_INVALID);
        assert_eq!(memory.alloc(7, 0), RC_INVALID);
        assert_eq!(memory.alloc(7, 1), 0);
        assert_eq!(memory.alloc(7, 1), RC_INVALID);
        assert_eq!((memory.free(7), memory.free(7)), (0, RC_INVALID));
        assert_eq!(memory.pin(4096, 100), 0);
        for (addr, bytes) in [(4096, 100), (4000, 97), (4195, 1), (4100, 5)] {
            assert_eq!(memory.pin(addr, bytes), RC_REGISTERED, "{addr}");
        }
        assert_eq!((memory.pin(4196, 4), memory.pin(4000, 96)), (0, 0));
        assert_eq!(
            (memory.unpin(4096), memory.unpin(4096)),
            (0, RC_UNREGISTERED)
        );
        assert_eq!(memory.pinned_ranges(), 2);
    }

    proptest! {
        /// What is held is the sum of what was given and not freed; freeing all gives all back.
        #[test]
        fn the_account_balances(
            ops in prop::collection::vec((0_u64..8, 0_u64..40, any::<bool>()), 0..64),
        ) {
            let mut memory = Memory::new(96 * MIB, 0);
            let mut live = BTreeMap::new();
            for (id, mib, frees) in ops {
                if frees {
                    prop_assert_eq!(memory.free(id) == 0, live.remove(&id).is_some());
                } else if memory.alloc(id, mib * MIB) == 0 {
                    live.insert(id, (mib * MIB).next_multiple_of(BLOCK_BYTES));
                }
                prop_assert_eq!(memory.held_bytes(), live.values().sum::<u64>());
                prop_assert!(memory.peak_bytes() >= memory.held_bytes());
            }
            for id in live.into_keys() {
                prop_assert_eq!(memory.free(id), 0);
            }
            prop_assert_eq!(memory.free_bytes(), 96 * MIB);
        }
    }
}
