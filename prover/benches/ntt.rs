//! How fast transforms and the quotient are, beside the time of the multiplications alone.
//!
//! `cargo bench -p prover --bench ntt`.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot run says so and stops"
)]

use blstrs::Scalar;
use divan::Bencher;
use divan::counter::ItemsCount;
use ff::Field;
use prover::ntt::Domain;

fn main() {
    divan::main();
}

fn scalars(count: usize) -> Vec<Scalar> {
    let mut value = Scalar::from(3);
    let step = |_| {
        value = value.square() + Scalar::ONE;
        value
    };
    (0..count).map(step).collect()
}

#[divan::bench(args = [14, 16, 18, 20], sample_count = 7, sample_size = 1)]
fn fft(bencher: Bencher<'_, '_>, log2: u32) {
    let (domain, mut values) = (Domain::new(log2).unwrap(), scalars(1 << log2));
    let butterflies = (u64::from(log2) << log2) / 2;
    bencher
        .counter(ItemsCount::new(butterflies))
        .bench_local(|| domain.fft(&mut values).unwrap());
}

#[divan::bench(args = [20], sample_count = 7, sample_size = 1)]
fn icoset_fft(bencher: Bencher<'_, '_>, log2: u32) {
    let (domain, mut values) = (Domain::new(log2).unwrap(), scalars(1 << log2));
    bencher.bench_local(|| domain.icoset_fft(&mut values).unwrap());
}

#[divan::bench(args = [16, 20], sample_count = 5, sample_size = 1)]
fn quotient(bencher: Bencher<'_, '_>, log2: u32) {
    let domain = Domain::new(log2).unwrap();
    let [mut a, mut b, c] = [(); 3].map(|()| scalars(1 << log2));
    let mut quotient = || domain.quotient(&mut a, &mut b, |values| values.copy_from_slice(&c));
    bencher.bench_local(|| quotient().unwrap());
}

/// The multiplications of a transform of 2^16 points, one after the other by blst, on one core.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn products_of_2_16_by_blst(bencher: Bencher<'_, '_>) {
    let (count, factor) = (16_usize << 15, Scalar::from(5).invert().unwrap());
    let product = || {
        let mut value = factor;
        for _ in 0..count {
            value *= divan::black_box(factor);
        }
        value
    };
    bencher.counter(ItemsCount::new(count)).bench_local(product);
}
