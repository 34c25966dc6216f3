//! Device memory as an account: what is allocated, by id, against a capacity.
//!
//! It accounts as `cudaMalloc` was measured to: whole blocks of 2 MiB, the last of which is never
//! given out, and page tables for host memory that is pinned. Addresses and pools are not
//! modelled; `replay::vram` does that, and a trace of this account replays there without a
//! difference.

use std::collections::BTreeMap;

use crate::plan::BLOCK_BYTES;

/// Device memory that pinning one whole GiB of host memory takes: its page tables.
pub const PIN_BYTES_PER_GIB: u64 = 2 << 20;

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
    held: u64,
    /// Page tables of pinned ranges.
    tables: u64,
    /// Of ranges that are no longer pinned one block each stays until something is freed.
    lingering: u64,
    peak: u64,
}

impl Memory {
    /// A device of `capacity` bytes, of which `baseline` are in use by others.
    pub fn new(capacity: u64, baseline: u64) -> Self {
        let baseline = rounded(baseline).min(capacity);
        Self {
            capacity,
            baseline,
            live: BTreeMap::new(),
            pinned: BTreeMap::new(),
            held: 0,
            tables: 0,
            lingering: 0,
            peak: baseline,
        }
    }

    /// Bytes of memory.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that are free.
    pub const fn free_bytes(&self) -> u64 {
        self.capacity.saturating_sub(self.used())
    }

    const fn used(&self) -> u64 {
        self.baseline + self.held + self.tables + self.lingering
    }

    /// Bytes that allocations hold now.
    pub const fn held_bytes(&self) -> u64 {
        self.held
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
        self.held += bytes;
        self.peak = self.peak.max(self.used());
        0
    }

    /// Frees; the code is 1 when there is no such allocation.
    pub fn free(&mut self, id: u64) -> i32 {
        let Some(bytes) = self.live.remove(&id) else {
            return RC_INVALID;
        };
        self.held -= bytes;
        self.lingering = 0;
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
        self.tables += pin_cost(bytes);
        self.peak = self.peak.max(self.used());
        0
    }

    /// Unpins a host range; the code is 713 when it is not pinned.
    pub fn unpin(&mut self, addr: u64) -> i32 {
        match self.pinned.remove(&addr) {
            Some(bytes) => {
                let cost = pin_cost(bytes);
                self.tables -= cost;
                self.lingering += cost.min(BLOCK_BYTES);
                0
            }
            None => RC_UNREGISTERED,
        }
    }

    /// Host ranges that are pinned.
    pub fn pinned_ranges(&self) -> usize {
        self.pinned.len()
    }
}

/// Device memory that pinning so many bytes of host memory takes.
pub(crate) const fn pin_cost(host_bytes: u64) -> u64 {
    (host_bytes >> 30).saturating_mul(PIN_BYTES_PER_GIB)
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

    #[test]
    fn pinning_takes_page_tables_as_the_model_of_the_card_says() {
        use tracefmt::ops::Op;

        const GIB: u64 = 1 << 30;
        let mut memory = Memory::new(64 * MIB, 0);
        let spec = tracefmt::ops::GpuSpec::new(64 * MIB, 0);
        let header = tracefmt::ops::Header {
            gpus: vec![spec],
            ..tracefmt::ops::Header::one_gpu(0, 0)
        };
        let mut free = Vec::new();
        let mut steps = Vec::new();
        let mut done = |rc: i32, memory: &Memory, op| {
            assert_eq!(rc, 0);
            free.push(memory.free_bytes());
            steps.push(tracefmt::ops::Step::new(op));
        };
        for (addr, bytes) in [(0, 3 * GIB + 5), (4 * GIB, GIB - 1), (8 * GIB, 12 * GIB)] {
            let rc = memory.pin(addr, bytes);
            done(rc, &memory, Op::HostRegister { addr, bytes });
        }
        let rc = memory.alloc(1, 3 * MIB);
        done(
            rc,
            &memory,
            Op::Malloc {
                id: 1,
                bytes: 3 * MIB,
            },
        );
        for addr in [0, 8 * GIB] {
            let rc = memory.unpin(addr);
            done(rc, &memory, Op::HostUnregister { addr });
        }
        let rc = memory.free(1);
        done(rc, &memory, Op::Free { id: 1 });
        assert_eq!(free, [58, 58, 34, 30, 34, 56, 64].map(|mib| mib * MIB));
        for (step, free) in steps.iter_mut().zip(&free) {
            step.set_truth(tracefmt::ops::Truth {
                rc: Some(0),
                free: Some(*free),
                ..Default::default()
            });
        }
        let schedule = tracefmt::ops::Schedule::new(header, steps);
        let request = replay::report::Request::events("account");
        let report = replay::report::replay(&schedule, &request).expect("a known driver");
        assert_eq!(report.truth.checked, 7);
        assert_eq!(report.truth.agree, 7);
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
