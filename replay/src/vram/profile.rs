//! Driver profiles: what one driver on one card was measured to do about memory.
//!
//! A profile is plain numbers, so that another driver is another constant and not another
//! model. What every profile shares (pool states, stream order) is in the model itself.

use std::fmt;

/// One mebibyte.
pub const MIB: u64 = 1 << 20;

/// How a driver behaves, as far as it differs between drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Profile {
    /// The name that a schedule's header gives.
    pub name: &'static str,
    /// Bytes of physical memory in which `cudaMalloc` allocates.
    pub block_bytes: u64,
    /// Requests below this size share slabs of one block.
    pub slab_below_bytes: u64,
    /// Alignment of a small request inside its slab, and of a request inside the pool.
    pub align_bytes: u64,
    /// Bytes of physical memory in which the pool grows and shrinks.
    pub page_bytes: u64,
    /// Bytes that stay free whatever is asked for: an allocation that would leave less fails.
    pub headroom_bytes: u64,
    /// Whether an allocation takes idle pool pages when free memory is short.
    pub reclaims: bool,
    /// Device bytes that pinning one whole GiB of host memory costs.
    pub pin_bytes_per_gib: u64,
}

/// An NVIDIA H200 under driver 580.159, as measured.
pub const H200_580: Profile = Profile {
    name: "h200-580",
    block_bytes: 2 * MIB,
    slab_below_bytes: 2 * MIB,
    align_bytes: 512,
    page_bytes: 32 * MIB,
    headroom_bytes: 2 * MIB,
    reclaims: true,
    pin_bytes_per_gib: 2 * MIB,
};

/// The same without reclaim on demand: what holds here holds on a driver that never takes
/// pages back from a pool by itself.
pub const STRICT: Profile = Profile {
    name: "strict",
    reclaims: false,
    ..H200_580
};

/// All profiles, in the order of the documentation.
pub const PROFILES: [Profile; 2] = [H200_580, STRICT];

/// A name that is no driver profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a driver profile ({known}), found \"{found}\"")]
pub struct UnknownProfile {
    /// What was asked for.
    pub found: String,
    /// What there is.
    pub known: String,
}

impl Profile {
    /// Finds a profile by its name.
    ///
    /// # Errors
    /// [`UnknownProfile`] with the names that there are.
    pub fn named(name: &str) -> Result<Self, UnknownProfile> {
        PROFILES
            .into_iter()
            .find(|profile| profile.name == name)
            .ok_or_else(|| UnknownProfile {
                found: name.to_owned(),
                known: PROFILES.map(|profile| profile.name).join(", "),
            })
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_by_its_own_name() {
        for profile in PROFILES {
            assert_eq!(Profile::named(profile.name), Ok(profile));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = Profile::named("rtx").expect_err("no such profile");
        let message = error.to_string();
        assert!(
            message.contains("h200-580, strict") && message.contains("rtx"),
            "{message}"
        );
    }
}
