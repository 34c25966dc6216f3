//! Sizes of the prover's buffers, from the domain size.
//!
//! The formulas are those of the MSM library's working memory (Pippenger with sorted digits) and
//! of the engine's transforms; the numbers of points are those of a 32 GiB sector, scaled with
//! the domain. The number of multiprocessors changes a size by less than 0.4 MiB.

/// The domain of a 32 GiB sector.
const DOMAIN_32G: u64 = 1 << 27;
const SM_COUNT: u64 = 70;
const SCALAR_BYTES: u64 = 32;
const G1_BYTES: u64 = 96;
const G1_BUCKET_BYTES: u64 = 192;
const G2_BYTES: u64 = 192;
const G2_BUCKET_BYTES: u64 = 384;

/// Bytes of each buffer of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The vector a, later h.
    pub d_a: u64,
    /// The vectors b and c, or one of them where memory is short.
    pub d_bc: u64,
    /// Buckets of the H MSM.
    pub h_blob: u64,
    /// Its working memory.
    pub h_temp: u64,
    /// Working memory of the batch additions: L, A, B in G1, B in G2; one at a time.
    pub batch: [u64; 4],
    /// Buckets of one tail MSM.
    pub tail_blob: u64,
    /// Working memory of one tail MSM.
    pub tail_temp: u64,
}

impl Sizes {
    /// Sizes for a domain in elements; `lot_of_memory` as the log says it.
    pub fn of(domain: Option<u64>, lot_of_memory: Option<bool>) -> Self {
        let domain = domain.unwrap_or(DOMAIN_32G).clamp(1 << 10, 1 << 32);
        let scaled = |points: u64| {
            let wide = u128::from(points) * u128::from(domain) / u128::from(DOMAIN_32G);
            u64::try_from(wide).unwrap_or(u64::MAX).max(1024)
        };
        let d_a = domain * SCALAR_BYTES;
        let both = u64::from(lot_of_memory.unwrap_or(true));
        let h = Msm::of(domain - 1);
        let tail = Msm::of(scaled(12_000_000));
        Self {
            d_a,
            d_bc: d_a * (1 + both),
            h_blob: h.blob_bytes(),
            h_temp: h.temp_bytes(16),
            batch: [
                batch_bytes(scaled(130_169_893), G1_BYTES, G1_BUCKET_BYTES),
                batch_bytes(scaled(129_753_620), G1_BYTES, G1_BUCKET_BYTES),
                batch_bytes(scaled(33_112_282), G1_BYTES, G1_BUCKET_BYTES),
                batch_bytes(scaled(33_112_282), G2_BYTES, G2_BUCKET_BYTES),
            ],
            tail_blob: tail.blob_bytes(),
            tail_temp: tail.temp_bytes(32),
        }
    }
}

/// The windows of one MSM.
#[derive(Debug, Clone, Copy)]
struct Msm {
    points: u64,
    window_bits: u32,
    windows: u64,
}

impl Msm {
    fn of(points: u64) -> Self {
        let rounded = points.next_multiple_of(32);
        let window_bits = (rounded * 3 / 2).ilog2().saturating_sub(8).clamp(10, 18);
        Self {
            points,
            window_bits,
            windows: u64::from(254 / window_bits) + 1,
        }
    }

    /// Bytes of the buckets.
    fn blob_bytes(self) -> u64 {
        let row = 1_u64 << (self.window_bits - 1);
        let buckets = self.windows * row;
        (buckets + SM_COUNT * 8) * G1_BUCKET_BYTES + buckets * 4
    }

    /// Bytes of sort scratch (`scratch` a point), digits and points in flight.
    fn temp_bytes(self, scratch: u64) -> u64 {
        let bits = (self.points * 3 / 2).ilog2().max(self.window_bits);
        let batches = ((1_u64 << (bits - self.window_bits)) / 64).max(1);
        let stride = self.points.div_ceil(batches).next_multiple_of(32);
        let buffers = if batches > 1 { 2 } else { 1 };
        stride * scratch + self.windows * stride * 4 + buffers * stride * G1_BYTES
    }
}

/// Bytes of one batch addition.
fn batch_bytes(points: u64, affine: u64, bucket: u64) -> u64 {
    let batch = points.div_ceil(1024).div_ceil(8) * 1024;
    2 * batch * affine + SM_COUNT * 8 * bucket + points.div_ceil(64).next_multiple_of(32) * 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mib(bytes: u64) -> f64 {
        bytes as f64 / f64::from(1 << 20)
    }

    #[test]
    fn a_32_gib_sector_has_the_published_sizes() {
        let sizes = Sizes::of(Some(1 << 27), Some(true));
        let table = [
            (sizes.d_a, 4096.0),
            (sizes.d_bc, 8192.0),
            (sizes.h_blob, 367.6),
            (sizes.h_temp, 4288.0),
            (sizes.batch[0], 2995.0),
            (sizes.batch[1], 2985.6),
            (sizes.batch[2], 762.1),
            (sizes.batch[3], 1520.3),
            (sizes.tail_blob, 98.1),
            (sizes.tail_temp, 824.0),
        ];
        for (bytes, expected) in table {
            assert!(
                (mib(bytes) - expected).abs() < 0.6,
                "{} for {expected}",
                mib(bytes)
            );
        }
    }

    #[test]
    fn a_card_short_of_memory_has_one_vector_less() {
        let sizes = Sizes::of(Some(1 << 27), Some(false));
        assert_eq!(sizes.d_bc, sizes.d_a);
        assert_eq!(Sizes::of(None, None), Sizes::of(Some(1 << 27), Some(true)));
    }

    #[test]
    fn any_domain_gives_some_size() {
        for domain in [0, 1, 1 << 10, (1 << 20) + 1, 1 << 32, u64::MAX] {
            let sizes = Sizes::of(Some(domain), None);
            assert!(sizes.h_temp > 0 && sizes.batch.iter().all(|bytes| *bytes > 0));
        }
    }
}
