//! What stays on a card and what streams through it, so that a partition fits.

use super::build::Build;
use super::sizes::{BLOCK_BYTES, Sizes};
use super::sums::SumShape;
use super::{Phase, Plan, Room};

/// Why no plan could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The device is too small even for the smallest pieces.
    #[error(
        "a partition of domain {domain} needs {needed} bytes of device memory at least, and \
         {available} are available; use a larger card or smaller partitions"
    )]
    TooSmall {
        /// Elements of the domain.
        domain: u64,
        /// Bytes that the smallest plan takes.
        needed: u64,
        /// Bytes at hand.
        available: u64,
    },
    /// The domain is no power of two, or so large that sizes overflow.
    #[error("expected a domain that is a power of two from 2 to 2^32, found {found}")]
    Domain {
        /// What was asked for.
        found: u64,
    },
}

/// Points that stream through the device at once are never fewer.
const CHUNK_MIN: u64 = 1 << 14;
/// Points that stream at once are never more: beyond it nothing is gained.
const CHUNK_MAX: u64 = 1 << 24;

/// Device memory that a plan leaves free: the driver refuses the last block.
pub const HEADROOM_BYTES: u64 = BLOCK_BYTES;

/// Tables of at most 2^20 entries are kept whole where there is no room for larger ones.
const TABLES_SMALL: u32 = 20;

/// What stays on the device from one partition to the next; each stage more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stays {
    /// Tables of transforms; points and matrices stream through.
    Tables,
    /// Points, matrices and densities too.
    Key,
    /// Vectors and scratch memory too.
    All,
    /// Multiples of the points of H too.
    Multiples,
}

/// How the work is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// What stays on the device from one partition to the next.
    pub(super) stays: Stays,
    /// The witness of the next partition is uploaded while this one is proved.
    pub(super) ahead: bool,
    /// Tables of at most 2^`whole` entries are kept whole.
    pub(super) whole: u32,
    /// Points of G1 that stream at once.
    pub(super) chunk: u64,
    /// Tables of points for H, the points themselves counted.
    pub(super) multiples: u32,
}

impl Cut {
    /// Tables of points for a sum. Only the scalars of H are dense in every circuit: of the others
    /// most are 0 and 1, which take no window.
    pub(super) const fn tables(self, phase: Phase) -> u32 {
        match phase {
            Phase::MsmH => self.multiples,
            _ => 1,
        }
    }
}

/// Sums for which multiples are planned: of those that were timed with them they saved 8 to 14 %.
/// Of smaller sums the additions are not what takes time, and for larger ones whole sets of tables
/// are larger than cards.
const MULTIPLES_POINTS: std::ops::RangeInclusive<u64> = (1 << 20) - 1..=1 << 24;
/// Fewer than a window in one set, for cards without room for that.
const MULTIPLES_FEW: u32 = 4;

/// How many tables of multiples to try, the fastest first.
fn multiples(points: u64) -> Vec<u32> {
    if !MULTIPLES_POINTS.contains(&points) {
        return Vec::new();
    }
    let whole = (MULTIPLES_FEW + 1..=16).min_by_key(|&tables| SumShape::new(points, tables).cost());
    let tries = whole.into_iter().chain([MULTIPLES_FEW]);
    tries
        .filter(|&tables| SumShape::new(points, tables).is_countable())
        .collect()
}

/// The cuts from the fastest to the smallest.
fn cuts(sizes: &Sizes, room: Room) -> Vec<Cut> {
    let log2 = sizes.domain.ilog2();
    let ahead: &[bool] = if room.workers > 1 {
        &[true, false]
    } else {
        &[false]
    };
    let cut = |stays, ahead, whole, chunk| Cut {
        stays,
        ahead,
        whole,
        chunk,
        multiples: 1,
    };
    let mut cuts = Vec::new();
    let small = log2.min(TABLES_SMALL);
    if room.keep && room.repeats {
        let all = cut(Stays::Multiples, room.workers > 1, log2, 0);
        let tables = multiples(sizes.points(Phase::MsmH)).into_iter();
        cuts.extend(tables.map(|multiples| Cut { multiples, ..all }));
    }
    for &ahead in ahead {
        for whole in [log2, small] {
            if room.keep {
                cuts.push(cut(Stays::All, ahead, whole, 0));
            }
            cuts.push(cut(Stays::Key, ahead, whole, 0));
        }
    }
    let most = sizes.domain.clamp(CHUNK_MIN, CHUNK_MAX);
    for &ahead in ahead {
        let mut chunk = most;
        while chunk >= CHUNK_MIN {
            cuts.push(cut(Stays::Tables, ahead, small, chunk));
            chunk /= 2;
        }
    }
    cuts
}

/// The fastest plan that fits.
pub(super) fn fit(sizes: &Sizes, room: Room) -> Result<Plan, PlanError> {
    if !sizes.domain.is_power_of_two() || !(2..=1 << 32).contains(&sizes.domain) {
        return Err(PlanError::Domain {
            found: sizes.domain,
        });
    }
    let usable = room.bytes.saturating_sub(HEADROOM_BYTES);
    let mut needed = u64::MAX;
    for cut in cuts(sizes, room) {
        let plan = Build::plan(sizes, cut, room.workers);
        if plan.peak_bytes <= usable {
            return Ok(plan);
        }
        needed = needed.min(plan.peak_bytes);
    }
    Err(PlanError::TooSmall {
        domain: sizes.domain,
        needed: needed.saturating_add(HEADROOM_BYTES),
        available: room.bytes,
    })
}

/// The next plan in the order of cuts that takes less and fits.
pub(super) fn smaller(plan: &Plan, room: Room) -> Option<Plan> {
    let usable = room.bytes.saturating_sub(HEADROOM_BYTES);
    let later = cuts(&plan.sizes, room).into_iter();
    let later = later.skip_while(|cut| *cut != plan.cut).skip(1);
    let mut plans = later.map(|cut| Build::plan(&plan.sizes, cut, room.workers));
    plans.find(|next| next.peak_bytes <= usable && next.peak_bytes < plan.peak_bytes)
}
