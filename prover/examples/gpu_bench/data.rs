//! Random scalars and bases whose logarithms are known, made on all cores.

use blstrs::Scalar;
use group::Group;
use rayon::prelude::*;

/// Splitmix64: word `at` of the stream that starts at `seed`.
pub(crate) fn word(seed: u64, at: u64) -> u64 {
    let mut z = seed.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A random scalar: limbs below 2^254 taken as a Montgomery form.
pub(crate) fn scalar(seed: u64, at: u64) -> Scalar {
    let limb = |k| word(seed, 4 * at + k);
    let l = [limb(0), limb(1), limb(2), limb(3) & (u64::MAX >> 2)];
    Scalar::from(blst::blst_fr { l })
}

/// n random scalars.
pub(crate) fn scalars(seed: u64, n: usize) -> Vec<Scalar> {
    (0..n as u64)
        .into_par_iter()
        .map(|at| scalar(seed, at))
        .collect()
}

/// 45 % zero, 45 % one, the rest random: a witness's mix.
pub(crate) fn skewed(seed: u64, n: usize) -> Vec<Scalar> {
    (0..n as u64)
        .into_par_iter()
        .map(|at| match word(!seed, at) % 100 {
            0..45 => Scalar::from(0),
            45..90 => Scalar::from(1),
            _ => scalar(seed, at),
        })
        .collect()
}

/// Logarithms and points of the two tables whose sums are 2^log2 bases.
pub(crate) struct Tables<A> {
    /// Logarithms of the low table; base i has low[i mod len] + high[i / len].
    pub(crate) low: Vec<Scalar>,
    /// Logarithms of the high table.
    pub(crate) high: Vec<Scalar>,
    /// Points of the low table.
    pub(crate) low_points: Vec<A>,
    /// Points of the high table.
    pub(crate) high_points: Vec<A>,
}

/// Tables for 2^log2 bases in the group of `P`.
pub(crate) fn tables<P>(seed: u64, log2: u32) -> Tables<P::AffineRepr>
where
    P: Group<Scalar = Scalar> + group::Curve + Send,
    P::AffineRepr: Send,
{
    let low = scalars(word(seed, 1), 1 << (log2 / 2));
    let high = scalars(word(seed, 2), 1 << (log2 - log2 / 2));
    let points = |logs: &[Scalar]| {
        logs.par_iter()
            .map(|log| (P::generator() * log).to_affine())
            .collect()
    };
    Tables {
        low_points: points(&low),
        high_points: points(&high),
        low,
        high,
    }
}

impl<A> Tables<A> {
    /// Σ scalarᵢ times the logarithm of base i.
    pub(crate) fn expected(&self, scalars: &[Scalar]) -> Scalar
    where
        A: Sync,
    {
        let width = self.low.len();
        scalars
            .par_chunks(width)
            .zip(&self.high)
            .map(|(row, high)| {
                let weighted: Scalar = row.iter().zip(&self.low).map(|(s, l)| *s * l).sum();
                let plain: Scalar = row.iter().sum();
                weighted + plain * high
            })
            .sum()
    }
}
