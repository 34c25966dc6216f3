//! How fast sums are, beside blst's Pippenger on the same bases and scalars, and beside a floor:
//! the multiplications that the method cannot do without, at the measured time of one.
//!
//! `cargo bench -p prover --bench msm`; blst uses all cores, and so does this.

use blst::{MultiPoint, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use divan::Bencher;
use divan::counter::ItemsCount;
use ff::Field;
use group::Group;
use prover::msm;

fn main() {
    divan::main();
}

/// Splitmix64.
fn words(count: usize) -> impl Iterator<Item = u64> {
    (1..=count as u64).map(|at| {
        let mut word = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    })
}

fn dense(count: usize) -> Vec<Scalar> {
    let power = Scalar::from(7).pow_vartime([0x0123_4567_89ab_cdef, 0x0011_2233_4455_6677]);
    words(count)
        .map(|word| Scalar::from(word) * power + Scalar::from(word >> 3))
        .collect()
}

/// The mix of a partition's witness: of 1000, 513 zeros, 471 ones and 16 dense.
fn witness(count: usize) -> Vec<Scalar> {
    let pick = |(word, dense): (u64, Scalar)| match word % 1000 {
        0..513 => Scalar::ZERO,
        513..984 => Scalar::ONE,
        _ => dense,
    };
    words(count).zip(dense(count)).map(pick).collect()
}

fn bases_g1(count: usize) -> Vec<G1Affine> {
    let mut point = G1Projective::generator();
    let mut points = Vec::with_capacity(count);
    for _ in 0..count {
        point = point.double() + G1Projective::generator();
        points.push(point);
    }
    let mut bases = vec![G1Affine::default(); count];
    group::Curve::batch_normalize(&points, &mut bases);
    bases
}

fn bases_g2(count: usize) -> Vec<G2Affine> {
    let mut point = G2Projective::generator();
    let mut points = Vec::with_capacity(count);
    for _ in 0..count {
        point = point.double() + G2Projective::generator();
        points.push(point);
    }
    let mut bases = vec![G2Affine::default(); count];
    group::Curve::batch_normalize(&points, &mut bases);
    bases
}

fn bytes(scalars: &[Scalar]) -> Vec<u8> {
    scalars.iter().flat_map(Scalar::to_bytes_le).collect()
}

#[divan::bench(args = [12, 16, 18], sample_count = 5, sample_size = 1)]
fn g1_dense(bencher: Bencher<'_, '_>, log2: usize) {
    let (bases, scalars) = (bases_g1(1 << log2), dense(1 << log2));
    bencher
        .counter(ItemsCount::new(bases.len()))
        .bench_local(|| msm::g1(&bases, &scalars));
}

#[divan::bench(args = [12, 16, 18], sample_count = 5, sample_size = 1)]
fn g1_dense_blst(bencher: Bencher<'_, '_>, log2: usize) {
    let bases = bases_g1(1 << log2);
    let bases: Vec<blst_p1_affine> = bases.iter().map(|base| *base.as_ref()).collect();
    let scalars = bytes(&dense(bases.len()));
    let sum = || bases.as_slice().mult(&scalars, 255);
    bencher
        .counter(ItemsCount::new(bases.len()))
        .bench_local(sum);
}

#[divan::bench(args = [18], sample_count = 5, sample_size = 1)]
fn g1_witness(bencher: Bencher<'_, '_>, log2: usize) {
    let (bases, scalars) = (bases_g1(1 << log2), witness(1 << log2));
    bencher
        .counter(ItemsCount::new(bases.len()))
        .bench_local(|| msm::g1(&bases, &scalars));
}

#[divan::bench(args = [18], sample_count = 5, sample_size = 1)]
fn g1_witness_blst(bencher: Bencher<'_, '_>, log2: usize) {
    let bases = bases_g1(1 << log2);
    let bases: Vec<blst_p1_affine> = bases.iter().map(|base| *base.as_ref()).collect();
    let scalars = bytes(&witness(bases.len()));
    let sum = || bases.as_slice().mult(&scalars, 255);
    bencher
        .counter(ItemsCount::new(bases.len()))
        .bench_local(sum);
}

#[divan::bench(args = [12, 16], sample_count = 5, sample_size = 1)]
fn g2_dense(bencher: Bencher<'_, '_>, log2: usize) {
    let (bases, scalars) = (bases_g2(1 << log2), dense(1 << log2));
    bencher
        .counter(ItemsCount::new(bases.len()))
        .bench_local(|| msm::g2(&bases, &scalars));
}

#[divan::bench(args = [12, 16], sample_count = 5, sample_size = 1)]
fn g2_dense_blst(bencher: Bencher<'_, '_>, log2: usize) {
    let bases = bases_g2(1 << log2);
    let bases: Vec<blst_p2_affine> = bases.iter().map(|base| *base.as_ref()).collect();
    let scalars = bytes(&dense(bases.len()));
    let sum = || bases.as_slice().mult(&scalars, 255);
    bencher
        .counter(ItemsCount::new(bases.len()))
        .bench_local(sum);
}
