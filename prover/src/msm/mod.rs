//! Multi-scalar multiplication over BLS12-381: Σ sᵢ·Pᵢ, the work that most of a proof's time
//! goes to. Runs on the rayon pool it is called from.
//!
//! How: zeros are dropped and ones summed by a tree ([`terms`]); the rest goes through the bucket
//! method with signed digits ([`pippenger`]); every addition is affine, thousands under one
//! inversion ([`affine`]); eight at a time where the processor has AVX-512 IFMA ([`ifma`]), by
//! blst's assembly where it has not ([`field`]). `docs/msm-and-ntt.md` says what was measured.
//!
//! Memory beside the arguments, for n scalars that are neither 0 nor 1 on t threads: 36·n bytes
//! for the scalars, 8·n·t for the sorted windows, and for what is added about 40·n bytes (G2: 80)
//! of all threads together, at most 3 MB (G2: 6) and at least 0.4 MB (G2: 0.8) a thread. Buckets
//! come on top, of large sums only: 12 MB a thread (G2: 24) with the widest windows. All of it is
//! asked for on the calling thread, so that one sum's memory is the next one's.
//!
//! Not constant-time: how long a sum takes depends on its scalars.
#![expect(
    clippy::inline_always,
    clippy::large_types_passed_by_value,
    reason = "wide instructions are switched on by function: what uses them must be inlined there"
)]

mod affine;
mod field;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod lanes;
mod pippenger;
mod terms;

#[cfg(test)]
mod tests;

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::Field;
use group::prime::PrimeCurveAffine;
use lanes::Quadratic;
use pippenger::Curve;

use crate::scalars::Scalars;
use terms::Terms;

/// Σ `scalars[i]`·`bases[i]` in G1, over the shorter of the two lists.
///
/// Bases may be the point at infinity, repeat, or be opposite to each other. At most 2^31 terms
/// are summed, four times more than any circuit of Filecoin has.
pub fn g1(bases: &[G1Affine], scalars: &[Scalar]) -> G1Projective {
    let count = bases.len().min(scalars.len());
    sum_g1(bases, Terms::sort(count, |index| &scalars[index]))
}

/// As [`g1`], and the scalars are given back to the memory before the sum begins.
pub fn g1_owned(bases: &[G1Affine], scalars: Scalars) -> G1Projective {
    let count = bases.len().min(scalars.len());
    let terms = Terms::sort(count, |index| &scalars[index]);
    drop(scalars);
    sum_g1(bases, terms)
}

/// Σ `scalars[i]`·`bases[i]` in G2; otherwise as [`g1`].
pub fn g2(bases: &[G2Affine], scalars: &[Scalar]) -> G2Projective {
    let count = bases.len().min(scalars.len());
    sum_g2(bases, Terms::sort(count, |index| &scalars[index]))
}

/// Σ `values[indices[i]]`·`bases[i]` in G1: bases in order, their scalars picked from a longer
/// list, as a query's density picks them from a witness.
///
/// Runs over the shorter of `bases` and `indices`; an index past the end of `values` counts as
/// the scalar zero.
pub fn g1_gather(bases: &[G1Affine], values: &[Scalar], indices: &[u32]) -> G1Projective {
    let count = bases.len().min(indices.len());
    sum_g1(
        bases,
        Terms::sort(count, |index| picked(values, indices[index])),
    )
}

/// As [`g1_gather`], in G2.
pub fn g2_gather(bases: &[G2Affine], values: &[Scalar], indices: &[u32]) -> G2Projective {
    let count = bases.len().min(indices.len());
    sum_g2(
        bases,
        Terms::sort(count, |index| picked(values, indices[index])),
    )
}

fn picked(values: &[Scalar], index: u32) -> &Scalar {
    values.get(index as usize).unwrap_or(&Scalar::ZERO)
}

struct G1;

impl Curve for G1 {
    type Raw = blst_fp;
    type Affine = G1Affine;
    type Sum = G1Projective;

    #[inline(always)]
    fn coordinates(base: &G1Affine) -> (&blst_fp, &blst_fp) {
        let point = base.as_ref();
        (&point.x, &point.y)
    }

    fn point(x: blst_fp, y: blst_fp) -> G1Projective {
        let mut point = G1Affine::identity();
        *point.as_mut() = blst_p1_affine { x, y };
        point.into()
    }
}

struct G2;

impl Curve for G2 {
    type Raw = blst_fp2;
    type Affine = G2Affine;
    type Sum = G2Projective;

    #[inline(always)]
    fn coordinates(base: &G2Affine) -> (&blst_fp2, &blst_fp2) {
        let point = base.as_ref();
        (&point.x, &point.y)
    }

    fn point(x: blst_fp2, y: blst_fp2) -> G2Projective {
        let mut point = G2Affine::identity();
        *point.as_mut() = blst_p2_affine { x, y };
        point.into()
    }
}

fn sum_g1(bases: &[G1Affine], terms: Terms) -> G1Projective {
    #[cfg(target_arch = "x86_64")]
    if ifma::available() {
        return pippenger::sum::<G1, ifma::Ifma>(bases, terms);
    }
    pippenger::sum::<G1, field::Assembly>(bases, terms)
}

fn sum_g2(bases: &[G2Affine], terms: Terms) -> G2Projective {
    #[cfg(target_arch = "x86_64")]
    if ifma::available() {
        return pippenger::sum::<G2, Quadratic<ifma::Ifma>>(bases, terms);
    }
    pippenger::sum::<G2, Quadratic<field::Assembly>>(bases, terms)
}
