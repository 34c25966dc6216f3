//! How a partition is cut so that it fits: vectors beside `d_a`, and points a chunk.

use super::Phase;
use super::sizes::{BLOCK_BYTES, Sizes, bucket_bytes, digit_bytes, point_bytes};

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
const CHUNK_MIN: u64 = 1 << 10;

/// Device memory that a plan leaves free: the driver refuses the last block.
const HEADROOM_BYTES: u64 = BLOCK_BYTES;

/// How the work is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Vectors beside `d_a` in the transform: b and c, or one after the other.
    pub(super) beside: u64,
    /// Points on the device at once.
    pub(super) chunk: u64,
}

/// Working memory of the MSMs, made once for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) points: u64,
    pub(super) buckets: u64,
    pub(super) digits: u64,
}

impl Work {
    pub(super) fn of(sizes: &Sizes, chunk: u64) -> Self {
        let mut work = Self {
            points: 0,
            buckets: 0,
            digits: 0,
        };
        for phase in Phase::ALL.into_iter().skip(1) {
            let is_g2 = phase == Phase::MsmBG2;
            let points = sizes.points(phase);
            let chunk = chunk.min(points);
            work.points = work.points.max(point_bytes(chunk, is_g2));
            work.buckets = work.buckets.max(bucket_bytes(points, is_g2));
            work.digits = work.digits.max(digit_bytes(chunk, points));
        }
        work
    }

    const fn bytes(self) -> u64 {
        self.points
            .saturating_add(self.buckets)
            .saturating_add(self.digits)
    }
}

/// The peak of a partition that is cut so.
pub(super) fn peak(sizes: &Sizes, cut: Cut) -> u64 {
    let vector = sizes.vector_bytes();
    let transform = vector.saturating_mul(1 + cut.beside);
    let scalars = vector.max(sizes.witness_bytes());
    transform.max(scalars.saturating_add(Work::of(sizes, cut.chunk).bytes()))
}

/// The coarsest cut that fits into so many free bytes.
pub(super) fn cut(sizes: &Sizes, available: u64) -> Result<Cut, PlanError> {
    if !sizes.domain.is_power_of_two() || !(2..=1 << 32).contains(&sizes.domain) {
        return Err(PlanError::Domain {
            found: sizes.domain,
        });
    }
    let largest = Phase::ALL.iter().map(|phase| sizes.points(*phase)).max();
    let largest = largest.unwrap_or(0).max(CHUNK_MIN);
    let usable = available.saturating_sub(HEADROOM_BYTES);
    let fits = |cut: &Cut| peak(sizes, *cut) <= usable;
    let chunks = std::iter::successors(Some(largest), |chunk| {
        (*chunk > CHUNK_MIN).then(|| (chunk / 2).max(CHUNK_MIN))
    });
    let smallest = Cut {
        beside: 1,
        chunk: CHUNK_MIN,
    };
    // Streaming in more chunks costs little; a vector less costs an upload.
    let mut cuts = [2, 1].into_iter().flat_map(|beside| {
        let chunks = chunks.clone();
        chunks.map(move |chunk| Cut { beside, chunk })
    });
    cuts.find(fits).ok_or_else(|| PlanError::TooSmall {
        domain: sizes.domain,
        needed: peak(sizes, smallest).saturating_add(HEADROOM_BYTES),
        available,
    })
}
