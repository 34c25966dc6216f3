//! How large a partition is, and how large that makes its buffers on a card.
//!
//! Scalars take 32 bytes, affine points 96 (G1) and 192 (G2). Every buffer is rounded up to whole
//! blocks of [`BLOCK_BYTES`], the granularity of `cudaMalloc`, so that what is accounted is what is
//! taken. Scratch memory of sums and tables of transforms have modules of their own.

use std::ops::Range;

use super::Phase;
use super::arena::{ALIGN, aligned};
use crate::device::pin_cost;

/// The granularity of device memory.
pub const BLOCK_BYTES: u64 = 2 << 20;

const SCALAR_BYTES: u64 = 32;
const G1_BYTES: u64 = 96;
const G2_BYTES: u64 = 192;
/// One index of a density.
const INDEX_BYTES: u64 = 4;

/// The size of one partition's proof: what a plan is a function of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sizes {
    /// Elements of the evaluation domain, a power of two.
    pub domain: u64,
    /// Public inputs, the constant one included.
    pub inputs: u64,
    /// Auxiliary variables.
    pub aux: u64,
    /// Auxiliary variables that occur in A.
    pub a_aux: u64,
    /// Inputs that occur in B.
    pub b_inputs: u64,
    /// Auxiliary variables that occur in B.
    pub b_aux: u64,
    /// Bytes of the matrices A, B and C as a card reads them.
    pub matrices: [u64; 3],
}

/// Where the pieces of what all partitions share lie in their buffer, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout<const N: usize> {
    /// The pieces.
    pub pieces: [Range<u64>; N],
}

impl<const N: usize> Layout<N> {
    fn of(bytes: [u64; N]) -> Self {
        let mut end = 0_u64;
        let pieces = bytes.map(|bytes| {
            let start = aligned(end);
            end = start.saturating_add(bytes);
            start..end
        });
        Self { pieces }
    }

    /// Bytes of the buffer that holds them all.
    pub fn bytes(&self) -> u64 {
        self.pieces.last().map_or(0, |piece| piece.end)
    }
}

impl Sizes {
    /// The sizes of a 32 GiB sector's partition, scaled to another domain: 309.4, 130.3 and 282.7
    /// million terms in 130,278,869 rows.
    pub fn like_a_sector(domain: u64) -> Self {
        const SECTOR_DOMAIN: u128 = 1 << 27;
        const ROWS: u64 = 130_278_869;
        let scaled = |count: u64| {
            let count = u128::from(count) * u128::from(domain) / SECTOR_DOMAIN;
            u64::try_from(count).unwrap_or(u64::MAX).max(1)
        };
        let terms = [309_400_000, 130_300_000, 282_700_000];
        Self {
            domain,
            inputs: 328,
            aux: scaled(130_169_893),
            a_aux: scaled(129_753_292),
            b_inputs: 1,
            b_aux: scaled(33_112_281),
            matrices: terms.map(|terms| scaled((terms + ROWS) * 4)),
        }
    }

    /// Points of the MSM of a phase; 0 for what is none.
    pub fn points(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Quotient => 0,
            Phase::MsmH => self.domain.saturating_sub(1),
            Phase::MsmL => self.aux,
            Phase::MsmA => self.inputs + self.a_aux,
            Phase::MsmBG1 | Phase::MsmBG2 => self.b_inputs + self.b_aux,
        }
    }

    /// Bytes of one point of a phase.
    pub fn point_bytes(phase: Phase) -> u64 {
        match phase {
            Phase::MsmBG2 => G2_BYTES,
            _ => G1_BYTES,
        }
    }

    /// Where the points of the sums lie in `d_srs`: H, L, A, B in G1, B in G2.
    pub fn key_layout(&self) -> Layout<5> {
        self.key_layout_with(1)
    }

    /// The same with so many tables of multiples for H, the points themselves the first.
    pub(super) fn key_layout_with(&self, tables: u64) -> Layout<5> {
        let phases = [
            Phase::MsmH,
            Phase::MsmL,
            Phase::MsmA,
            Phase::MsmBG1,
            Phase::MsmBG2,
        ];
        let bytes = phases.map(|phase| self.points(phase) * Self::point_bytes(phase));
        let [h, l, a, b_g1, b_g2] = bytes;
        Layout::of([h.saturating_mul(tables), l, a, b_g1, b_g2])
    }

    /// Where the matrices A, B, C and the densities of A and B lie in `d_shape`. A density in
    /// which all variables occur is none.
    pub fn shape_layout(&self) -> Layout<5> {
        let [a, b, c] = self.matrices;
        let index = |phase| {
            if self.is_dense(phase) {
                0
            } else {
                self.points(phase) * INDEX_BYTES
            }
        };
        Layout::of([a, b, c, index(Phase::MsmA), index(Phase::MsmBG1)])
    }

    /// Host memory that is read anew for every partition where it does not stay on the device, the
    /// points of the sums and the matrices: bytes of its ranges.
    pub fn streamed_ranges(&self) -> impl Iterator<Item = u64> {
        let points = self.key_layout().pieces.into_iter();
        let points = points.map(|piece| piece.end - piece.start);
        points.chain(self.matrices)
    }

    /// Device memory that pinning all of that takes, at most.
    pub(super) fn pinning_bytes(&self) -> u64 {
        self.streamed_ranges().map(pin_cost).sum()
    }

    /// Whether the sum of a phase takes its scalars as they come, without a density.
    pub fn is_dense(&self, phase: Phase) -> bool {
        match phase {
            Phase::MsmA => self.a_aux == self.aux,
            Phase::MsmBG1 | Phase::MsmBG2 => self.b_aux == self.aux && self.b_inputs == self.inputs,
            Phase::Quotient | Phase::MsmH | Phase::MsmL => true,
        }
    }

    /// One vector over the domain.
    pub(super) fn vector_bytes(&self) -> u64 {
        self.domain.saturating_mul(SCALAR_BYTES)
    }

    /// The witness: inputs and auxiliary variables.
    pub(super) fn witness_bytes(&self) -> u64 {
        (self.inputs + self.aux).saturating_mul(SCALAR_BYTES)
    }
}

/// Bytes rounded up to whole blocks, at least one.
pub(super) fn blocks(bytes: u64) -> u64 {
    bytes
        .max(1)
        .div_ceil(BLOCK_BYTES)
        .saturating_mul(BLOCK_BYTES)
}

/// A buffer through which so many points of G1 stream, or half as many of G2, each with the index
/// of its scalar; the indices come after the points.
pub(super) fn stream_bytes(chunk: u64) -> u64 {
    chunk
        .saturating_mul(G1_BYTES + INDEX_BYTES)
        .saturating_add(ALIGN)
}

impl Sizes {
    /// Points of a phase that go through such a buffer at once.
    pub fn streamed(phase: Phase, chunk: u64) -> u64 {
        match phase {
            Phase::MsmBG2 => chunk / 2,
            _ => chunk,
        }
    }

    /// Where the indices of so many streamed points begin in their buffer, in bytes.
    pub fn indices_at(phase: Phase, points: u64) -> u64 {
        aligned(points * Self::point_bytes(phase))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_has_its_published_counts() {
        let sizes = Sizes::like_a_sector(1 << 27);
        let points: Vec<u64> = Phase::ALL
            .iter()
            .map(|phase| sizes.points(*phase))
            .collect();
        assert_eq!(
            points,
            [
                0,
                134_217_727,
                130_169_893,
                129_753_620,
                33_112_282,
                33_112_282
            ]
        );
        assert_eq!(sizes.vector_bytes(), 4 << 30);
        // 47.37 GB of points, as published.
        assert_eq!(sizes.key_layout().bytes() / 10_000_000, 4737);
    }

    #[test]
    fn sizes_are_whole_blocks_and_never_nothing() {
        for bytes in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1] {
            assert_eq!(blocks(bytes) % BLOCK_BYTES, 0, "{bytes}");
            assert!(blocks(bytes) >= bytes.max(1), "{bytes}");
        }
    }

    #[test]
    fn pieces_are_aligned_and_do_not_overlap() {
        let sizes = Sizes::like_a_sector(1 << 12);
        for pieces in [sizes.key_layout().pieces, sizes.shape_layout().pieces] {
            let ends = pieces.iter().map(|piece| piece.end);
            let starts = pieces.iter().skip(1).map(|piece| piece.start);
            assert!(ends.zip(starts).all(|(end, next)| end <= next));
            assert!(pieces.iter().all(|piece| piece.start % ALIGN == 0));
        }
    }

    #[test]
    fn what_streams_fits_its_buffer() {
        for chunk in [1 << 10, 1 << 16, (1 << 20) + 2] {
            for phase in Phase::ALL.into_iter().skip(1) {
                let points = Sizes::streamed(phase, chunk);
                let end = Sizes::indices_at(phase, points) + points * INDEX_BYTES;
                assert!(end <= stream_bytes(chunk), "{phase:?} {chunk}");
            }
        }
    }

    #[test]
    fn a_density_of_all_is_none() {
        let sparse = Sizes::like_a_sector(1 << 12);
        let dense = Sizes {
            a_aux: sparse.aux,
            ..sparse
        };
        assert!(!sparse.is_dense(Phase::MsmA) && dense.is_dense(Phase::MsmA));
        assert!(!dense.is_dense(Phase::MsmBG2) && dense.is_dense(Phase::MsmH));
        assert!(dense.shape_layout().bytes() < sparse.shape_layout().bytes());
    }
}
