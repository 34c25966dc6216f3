//! Multi-scalar multiplication over BLS12-381: Σ sᵢ·Pᵢ, the work that most of a proof's time
//! goes to. Runs on the rayon pool it is called from.
//!
//! Not constant-time: how long a sum takes depends on its scalars.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::Group;
use group::prime::PrimeCurveAffine;

#[cfg(test)]
mod tests;

/// Σ `scalars[i]`·`bases[i]` in G1, over the shorter of the two lists.
///
/// Bases may be the point at infinity, repeat, or be opposite to each other.
pub fn g1(bases: &[G1Affine], scalars: &[Scalar]) -> G1Projective {
    g1_over(bases.iter().copied().zip(scalars.iter().copied()))
}

/// Σ `scalars[i]`·`bases[i]` in G2, over the shorter of the two lists.
pub fn g2(bases: &[G2Affine], scalars: &[Scalar]) -> G2Projective {
    g2_over(bases.iter().copied().zip(scalars.iter().copied()))
}

/// Σ `values[indices[i]]`·`bases[i]` in G1: bases in order, their scalars picked from a longer
/// list, as a query's density picks them from a witness.
///
/// Runs over the shorter of `bases` and `indices`; an index past the end of `values` counts as
/// the scalar zero.
pub fn g1_gather(bases: &[G1Affine], values: &[Scalar], indices: &[u32]) -> G1Projective {
    g1_over(bases.iter().copied().zip(picked(values, indices)))
}

/// As [`g1_gather`], in G2.
pub fn g2_gather(bases: &[G2Affine], values: &[Scalar], indices: &[u32]) -> G2Projective {
    g2_over(bases.iter().copied().zip(picked(values, indices)))
}

fn picked(values: &[Scalar], indices: &[u32]) -> impl Iterator<Item = Scalar> {
    let zero = Scalar::from(0);
    indices
        .iter()
        .map(move |&at| values.get(at as usize).copied().unwrap_or(zero))
}

fn g1_over(terms: impl Iterator<Item = (G1Affine, Scalar)>) -> G1Projective {
    let finite = terms.filter(|(base, _)| !bool::from(base.is_identity()));
    let (bases, scalars): (Vec<G1Projective>, Vec<Scalar>) = finite
        .map(|(base, scalar)| (G1Projective::from(base), scalar))
        .unzip();
    if bases.is_empty() {
        return G1Projective::identity();
    }
    G1Projective::multi_exp(&bases, &scalars)
}

fn g2_over(terms: impl Iterator<Item = (G2Affine, Scalar)>) -> G2Projective {
    let finite = terms.filter(|(base, _)| !bool::from(base.is_identity()));
    let (bases, scalars): (Vec<G2Projective>, Vec<Scalar>) = finite
        .map(|(base, scalar)| (G2Projective::from(base), scalar))
        .unzip();
    if bases.is_empty() {
        return G2Projective::identity();
    }
    G2Projective::multi_exp(&bases, &scalars)
}
