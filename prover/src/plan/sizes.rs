//! How large a partition is, and how large that makes its buffers on a card.
//!
//! Scalars take 32 bytes, affine points 96 (G1) and 192 (G2), buckets in extended coordinates
//! twice that. Every buffer is rounded up to whole blocks of [`BLOCK_BYTES`], the granularity of
//! `cudaMalloc`, so that what is accounted is what is taken.

/// The granularity of device memory.
pub const BLOCK_BYTES: u64 = 2 << 20;

const SCALAR_BYTES: u64 = 32;
const G1_BYTES: u64 = 96;
const G2_BYTES: u64 = 192;
/// A bucket has four coordinates where an affine point has two.
const BUCKET_FACTOR: u64 = 2;
const SCALAR_BITS: u64 = 255;

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
}

impl Sizes {
    /// The sizes of a 32 GiB sector's partition, scaled to another domain.
    pub fn like_a_sector(domain: u64) -> Self {
        const SECTOR_DOMAIN: u128 = 1 << 27;
        let scaled = |count: u64| {
            let count = u128::from(count) * u128::from(domain) / SECTOR_DOMAIN;
            u64::try_from(count).unwrap_or(u64::MAX).max(1)
        };
        Self {
            domain,
            inputs: 328,
            aux: scaled(130_169_893),
            a_aux: scaled(129_753_292),
            b_inputs: 1,
            b_aux: scaled(33_112_281),
        }
    }

    /// Points of the MSM of a phase; 0 for what is none.
    pub fn points(&self, phase: super::Phase) -> u64 {
        match phase {
            super::Phase::Quotient => 0,
            super::Phase::MsmH => self.domain.saturating_sub(1),
            super::Phase::MsmL => self.aux,
            super::Phase::MsmA => self.inputs + self.a_aux,
            super::Phase::MsmBG1 | super::Phase::MsmBG2 => self.b_inputs + self.b_aux,
        }
    }

    /// One vector over the domain.
    pub(super) fn vector_bytes(&self) -> u64 {
        blocks(self.domain.saturating_mul(SCALAR_BYTES))
    }

    /// The witness: inputs and auxiliary variables.
    pub(super) fn witness_bytes(&self) -> u64 {
        blocks((self.inputs + self.aux).saturating_mul(SCALAR_BYTES))
    }
}

/// Bytes rounded up to whole blocks, at least one.
pub(super) fn blocks(bytes: u64) -> u64 {
    bytes
        .max(1)
        .div_ceil(BLOCK_BYTES)
        .saturating_mul(BLOCK_BYTES)
}

/// Points of an MSM, chunk by chunk.
pub(super) fn point_bytes(chunk: u64, is_g2: bool) -> u64 {
    blocks(chunk.saturating_mul(if is_g2 { G2_BYTES } else { G1_BYTES }))
}

/// Width of a window for so many points: close to their logarithm, within what a card sorts well.
pub(super) fn window_bits(points: u64) -> u64 {
    u64::from(points.max(2).ilog2())
        .saturating_sub(6)
        .clamp(8, 18)
}

fn windows(points: u64) -> u64 {
    SCALAR_BITS.div_ceil(window_bits(points))
}

/// Buckets of all windows; digits are signed, so half of them.
pub(super) fn bucket_bytes(points: u64, is_g2: bool) -> u64 {
    let one = BUCKET_FACTOR * if is_g2 { G2_BYTES } else { G1_BYTES };
    blocks((windows(points) << (window_bits(points) - 1)).saturating_mul(one))
}

/// Sorted digits of a chunk: one 32-bit word a window and point.
pub(super) fn digit_bytes(chunk: u64, points: u64) -> u64 {
    blocks(chunk.saturating_mul(windows(points)).saturating_mul(4))
}

#[cfg(test)]
mod tests {
    use super::super::Phase;
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
    }

    #[test]
    fn sizes_are_whole_blocks_and_never_nothing() {
        for bytes in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1] {
            assert_eq!(blocks(bytes) % BLOCK_BYTES, 0, "{bytes}");
            assert!(blocks(bytes) >= bytes.max(1), "{bytes}");
        }
        assert_eq!(point_bytes(1, true), BLOCK_BYTES);
    }

    #[test]
    fn windows_cover_the_scalar() {
        for bits in 1..40 {
            let points = 1_u64 << bits;
            assert!(
                windows(points) * window_bits(points) >= SCALAR_BITS,
                "2^{bits}"
            );
            assert!(bucket_bytes(points, true) >= bucket_bytes(points, false));
        }
    }
}
