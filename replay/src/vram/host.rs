//! Host memory: what is mapped, what is registered (pinned), and what registrations are stale.
//!
//! The driver compares byte ranges, not pages: neighbours that share a page are fine. It does
//! not notice that a range was unmapped, so a registration outlives its mapping.

use std::collections::BTreeMap;

/// `cudaErrorHostMemoryAlreadyRegistered`.
pub const RC_ALREADY_REGISTERED: u32 = 712;
/// `cudaErrorHostMemoryNotRegistered`.
pub const RC_NOT_REGISTERED: u32 = 713;
/// `cudaErrorInvalidValue`.
const RC_INVALID: u32 = 1;

/// One registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Registration {
    /// Length in bytes.
    pub bytes: u64,
    /// Whether a part of the range was unmapped since.
    pub stale: bool,
}

/// The registered ranges of a process.
#[derive(Debug, Clone, Default, Hash)]
pub struct HostRanges {
    registered: BTreeMap<u64, Registration>,
}

impl HostRanges {
    /// Registers a range; the result code.
    pub fn register(&mut self, addr: u64, bytes: u64) -> u32 {
        if bytes == 0 || addr.checked_add(bytes).is_none() {
            return RC_INVALID;
        }
        if self.overlapping(addr, bytes).next().is_some() {
            return RC_ALREADY_REGISTERED;
        }
        let stale = false;
        self.registered.insert(addr, Registration { bytes, stale });
        0
    }

    /// Unregisters the range that starts at an address.
    ///
    /// # Errors
    /// The result code, when none starts there.
    pub fn unregister(&mut self, addr: u64) -> Result<Registration, u32> {
        self.registered.remove(&addr).ok_or(RC_NOT_REGISTERED)
    }

    /// Host memory goes away: registrations on it become stale.
    pub fn unmap(&mut self, addr: u64, bytes: u64) {
        let starts: Vec<u64> = self
            .overlapping(addr, bytes)
            .map(|(start, _)| start)
            .collect();
        for start in starts {
            if let Some(registration) = self.registered.get_mut(&start) {
                registration.stale = true;
            }
        }
    }

    /// The registrations that a range overlaps, by address.
    pub fn overlapping(
        &self,
        addr: u64,
        bytes: u64,
    ) -> impl Iterator<Item = (u64, Registration)> + '_ {
        let end = addr.saturating_add(bytes);
        // Registered ranges are disjoint: only the last one before `addr` can reach into it.
        let first = self
            .registered
            .range(..addr)
            .next_back()
            .map_or(addr, |(&start, _)| start);
        self.registered
            .range(first..end.max(first))
            .filter(move |(start, range)| start.saturating_add(range.bytes) > addr)
            .map(|(&start, &range)| (start, range))
    }

    /// All registrations, by address.
    pub fn registered(&self) -> impl Iterator<Item = (u64, Registration)> + '_ {
        self.registered
            .iter()
            .map(|(&start, &range)| (start, range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_share_a_byte_collide_and_ranges_that_share_a_page_do_not() {
        let mut host = HostRanges::default();
        assert_eq!(host.register(1000, 100), 0);
        for (addr, bytes) in [(1000, 100), (1050, 100), (1020, 10), (900, 101), (900, 900)] {
            assert_eq!(
                host.register(addr, bytes),
                RC_ALREADY_REGISTERED,
                "{addr}+{bytes}"
            );
        }
        assert_eq!(host.register(1100, 1), 0);
        assert_eq!(host.register(999, 1), 0);
    }

    #[test]
    fn a_range_is_unregistered_once() {
        let mut host = HostRanges::default();
        host.register(1000, 100);
        assert!(host.unregister(1001).is_err(), "only by its start");
        assert!(host.unregister(1000).is_ok());
        assert_eq!(host.unregister(1000), Err(RC_NOT_REGISTERED));
    }

    #[test]
    fn a_registration_outlives_its_mapping_and_blocks_the_address() {
        let mut host = HostRanges::default();
        host.register(1000, 100);
        host.unmap(1099, 1);
        assert_eq!(host.register(1000, 100), RC_ALREADY_REGISTERED);
        let stale = Registration {
            bytes: 100,
            stale: true,
        };
        assert_eq!(host.registered().collect::<Vec<_>>(), [(1000, stale)]);
        assert_eq!(host.unregister(1000), Ok(stale));
        assert_eq!(host.register(1000, 100), 0);
    }

    #[test]
    fn a_range_that_is_no_range_is_refused() {
        let mut host = HostRanges::default();
        assert_eq!(host.register(5, 0), 1);
        assert_eq!(host.register(u64::MAX, 2), 1);
        host.unmap(u64::MAX, u64::MAX);
    }
}
