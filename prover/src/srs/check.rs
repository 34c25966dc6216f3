//! Whether all points of a list lie in the subgroup of prime order, and the memory of the answer.
//!
//! Points of the curve outside the subgroup differ from a member by a point of small order. The
//! points are thrown into buckets at random and each bucket's sum is tested: whatever the other
//! points are, the last stray one lands where the strays cancel with a chance of at most one in the
//! number of buckets. Passes are repeated until that chance is 2^-128. A pass
//! costs one affine addition a point; a test of one point costs some ninety.
//!
//! The answer is remembered beside the file, by its hash: `NAME.checked`.

use std::path::{Path, PathBuf};

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use rayon::prelude::*;

use super::curve::Affine;

/// The chance that a bad file passes is below 2 to the minus this.
const SECURITY_BITS: u32 = 128;
/// Points that are thrown together: their references fit in a core's cache.
const BLOCK: usize = 1 << 20;
/// Points a bucket, about; with fewer the tests cost more than the additions.
const BUCKET_POINTS: usize = 512;

/// Whether every point lies in the subgroup; the dice are thrown from `seed`, which must be a hash
/// of the points, so that nobody can choose the points by the dice.
pub(crate) fn in_subgroup<P: Affine>(points: &[P], seed: [u8; 32]) -> bool {
    points
        .par_chunks(BLOCK)
        .enumerate()
        .all(|(block, points)| match points.len() / BUCKET_POINTS {
            0 | 1 => points.par_iter().all(|point| P::sum_in_subgroup(&[point])),
            buckets => {
                let bits = buckets.ilog2();
                (0..SECURITY_BITS.div_ceil(bits))
                    .into_par_iter()
                    .all(|pass| {
                        let mut dice = ChaCha20Rng::from_seed(seed);
                        dice.set_stream(((block as u64) << 32) | u64::from(pass));
                        buckets_in_subgroup(points, bits, &mut dice)
                    })
            }
        })
}

/// One throw of the points into 2^`bits` buckets.
fn buckets_in_subgroup<P: Affine>(points: &[P], bits: u32, dice: &mut ChaCha20Rng) -> bool {
    let mut buckets: Vec<Vec<&P>> = vec![Vec::with_capacity(2 * BUCKET_POINTS); 1 << bits];
    let shift = 32 - bits;
    for point in points {
        // The shift leaves `bits` bits, so there is always such a bucket.
        if let Some(bucket) = buckets.get_mut((dice.next_u32() >> shift) as usize) {
            bucket.push(point);
        }
    }
    buckets.par_iter().all(|bucket| P::sum_in_subgroup(bucket))
}

/// The hash by which a checked file is remembered.
pub(crate) fn hash(file: &[u8]) -> blake3::Hash {
    blake3::Hasher::new().update_rayon(file).finalize()
}

/// Where the answer of a file is remembered.
pub(crate) fn sidecar(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".checked");
    name.into()
}

/// First words of a sidecar; a change of the test changes the number.
const SIDECAR: &str = "cuzk.params-checked/1";

/// Whether the file of this hash has been found good before.
pub(crate) fn remembered(path: &Path, hash: &blake3::Hash) -> bool {
    std::fs::read_to_string(sidecar(path)).is_ok_and(|text| text == sidecar_text(hash))
}

/// Remembers that the file of this hash is good; whether that could be written.
pub(crate) fn remember(path: &Path, hash: &blake3::Hash) -> bool {
    std::fs::write(sidecar(path), sidecar_text(hash)).is_ok()
}

fn sidecar_text(hash: &blake3::Hash) -> String {
    format!("{SIDECAR} blake3={hash}\nEvery point of the file lies in its subgroup.\n")
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Affine, G1Projective, G2Affine};
    use group::prime::PrimeCurveAffine as _;
    use group::{Curve as _, Group as _};

    use super::*;
    use crate::srs::curve::Coordinate as _;

    /// A point of the curve outside G1: the first x from `start` that has a y, which is a member
    /// with a chance of 2^-125.
    fn stray(start: u8) -> G1Affine {
        (start..)
            .find_map(|x| {
                let mut bytes = [0; 48];
                bytes[0] = 0x80;
                bytes[47] = x;
                Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))
            })
            .expect("half of all x have a y")
    }

    fn members(count: u64) -> Vec<G1Affine> {
        let mut sum = G1Projective::generator();
        let points: Vec<G1Projective> = (0..count)
            .map(|_| {
                sum += G1Projective::generator();
                sum
            })
            .collect();
        let mut affine = vec![G1Affine::default(); points.len()];
        G1Projective::batch_normalize(&points, &mut affine);
        affine
    }

    #[test]
    fn members_pass_and_one_stray_point_never_does() {
        for count in [1, 5, 600, 5000] {
            let mut points = members(count);
            assert!(in_subgroup(&points, [7; 32]), "{count}");
            for at in [0, points.len() / 2, points.len() - 1] {
                let member = std::mem::replace(&mut points[at], stray(4));
                assert!(!in_subgroup(&points, [7; 32]), "{count}, stray at {at}");
                points[at] = member;
            }
        }
    }

    #[test]
    fn strays_that_cancel_each_other_are_found_too() {
        let mut points = members(4096);
        let stray = stray(9);
        points[17] = stray;
        points[3000] = -stray;
        assert!(G1Affine::sum_in_subgroup(&[&stray, &-stray]));
        assert!(!in_subgroup(&points, [0; 32]));
    }

    #[test]
    fn g2_has_strays_of_its_own() {
        let g2 = vec![G2Affine::generator(); 1200];
        assert!(in_subgroup(&g2, [1; 32]));
        let (x, y) = g2[0].coordinates();
        let mut bad = g2.clone();
        bad[1100] = G2Affine::of(x.add(&x), y);
        assert!(!in_subgroup(&bad, [1; 32]));
    }

    #[test]
    fn a_sidecar_is_for_one_hash_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.params");
        let (good, other) = (hash(b"good"), hash(b"other"));
        assert!(!remembered(&path, &good));
        assert!(remember(&path, &good));
        assert!(remembered(&path, &good) && !remembered(&path, &other));
        assert!(sidecar(&path).ends_with("x.params.checked"));
    }
}
