//! Multi-scalar multiplication against the CPU: small sums term by term, large ones over bases
//! whose logarithms are known, so that the right answer is one product.

use std::time::Instant;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::Field as _;
use group::Group as _;
use prover::cuda::{Curve, G1, G2, Msm, Shape, bases};

use crate::{Bench, Outcome, data, floors, median};

/// Small sums with infinity, repeated and opposite bases, awkward scalars, in several shapes.
pub(crate) fn check(bench: &Bench) -> Outcome {
    for n in [1_usize, 2, 3, 31, 600, 5000] {
        let scalars = awkward(bench.seed, n);
        let g1: Vec<G1Affine> = awkward_bases::<G1Projective>(bench.seed, n);
        let g2: Vec<G2Affine> = awkward_bases::<G2Projective>(bench.seed, n);
        let want_g1: G1Projective = g1.iter().zip(&scalars).map(|(p, s)| *p * s).sum();
        let want_g2: G2Projective = g2.iter().zip(&scalars).map(|(p, s)| *p * s).sum();
        for (bits, tables) in [(4, 1), (8, 1), (9, 3), (11, 1), (13, 5)] {
            let shape = Shape::with_bits(n as u64, tables, bits);
            compare::<G1>(bench, shape, &g1, &scalars, want_g1)?;
            compare::<G2>(bench, shape, &g2, &scalars, want_g2)?;
        }
    }
    println!("sums of 1 to 5000 awkward terms in G1 and G2, 5 shapes: equal to the CPU's");
    Ok(())
}

/// Sums cut into pieces of many lengths, each said to be right or wrong.
pub(crate) fn pieces(bench: &Bench) -> Outcome {
    let mut wrong = 0;
    for n in [600_usize, 1000, 2500, 5000] {
        let scalars = awkward(bench.seed, n);
        let g1: Vec<G1Affine> = awkward_bases::<G1Projective>(bench.seed, n);
        let g2: Vec<G2Affine> = awkward_bases::<G2Projective>(bench.seed, n);
        let want_g1: G1Projective = g1.iter().zip(&scalars).map(|(p, s)| *p * s).sum();
        let want_g2: G2Projective = g2.iter().zip(&scalars).map(|(p, s)| *p * s).sum();
        for piece in [8, 16, 32, 64, 256] {
            let mut shape = Shape::with_bits(n as u64, 1, 5);
            shape.piece = piece;
            let right_g1 = compare::<G1>(bench, shape, &g1, &scalars, want_g1).is_ok();
            let right_g2 = compare::<G2>(bench, shape, &g2, &scalars, want_g2).is_ok();
            println!("{n} terms in pieces of {piece}: G1 {right_g1}, G2 {right_g2}");
            wrong += u32::from(!right_g1) + u32::from(!right_g2);
        }
    }
    if wrong > 0 {
        return Err(format!("{wrong} sums are wrong").into());
    }
    Ok(())
}

fn compare<C: Curve>(
    bench: &Bench,
    shape: Shape,
    points: &[C::Affine],
    scalars: &[Scalar],
    want: C::Projective,
) -> Outcome
where
    C::Projective: PartialEq,
{
    let device = &bench.device;
    let points = bases::tables::<C>(device, &device.upload(points)?, &shape)?;
    let scalars = device.upload(scalars)?;
    let msm = Msm::<C>::new(device, shape)?;
    if msm.sum(&points, &scalars, true)? != want {
        return Err(format!("a sum in {} is wrong: {shape:?}", C::SUFFIX).into());
    }
    Ok(())
}

fn awkward(seed: u64, n: usize) -> Vec<Scalar> {
    (0..n as u64)
        .map(|at| match data::word(seed, at) % 9 {
            0 => Scalar::ZERO,
            1 | 2 => Scalar::ONE,
            3 => -Scalar::ONE,
            4 => Scalar::from(data::word(seed, at + 7) & 0xff),
            5 => -Scalar::from(data::word(seed, at + 7) & 0xffff),
            6 => Scalar::from(2).invert().unwrap_or(Scalar::ONE),
            _ => data::scalar(seed, at),
        })
        .collect()
}

fn awkward_bases<P: group::Curve + group::Group<Scalar = Scalar>>(
    seed: u64,
    n: usize,
) -> Vec<P::AffineRepr> {
    let few: Vec<P> = (0..16)
        .map(|at| P::generator() * data::scalar(!seed, at))
        .collect();
    (0..n as u64)
        .map(|at| {
            let pick = data::word(seed, at + 99);
            let one = few[usize::try_from(pick % 16).unwrap_or(0)];
            match (pick >> 8) % 8 {
                0 => P::identity().to_affine(),
                1 => (-one).to_affine(),
                2 | 3 => (one * data::scalar(seed, pick)).to_affine(),
                _ => one.to_affine(),
            }
        })
        .collect()
}

/// One size in G1 over random scalars.
pub(crate) fn g1(bench: &mut Bench, log2: u32, bits: Option<u32>, tables: u32) -> Outcome {
    let scalars = data::scalars(data::word(bench.seed, 3), 1 << log2);
    let floor = floors::msm_g1(log2, tables);
    timed::<G1>(bench, ("msm g1", log2, bits, tables), &scalars, floor)
}

/// One size in G2.
pub(crate) fn g2(bench: &mut Bench, log2: u32, bits: Option<u32>) -> Outcome {
    let scalars = data::scalars(data::word(bench.seed, 3), 1 << log2);
    timed::<G2>(
        bench,
        ("msm g2", log2, bits, 1),
        &scalars,
        floors::msm_g2(log2),
    )
}

/// One size in G1 over a witness's mix of scalars.
pub(crate) fn skewed(bench: &mut Bench, log2: u32, bits: Option<u32>) -> Outcome {
    let scalars = data::skewed(data::word(bench.seed, 4), 1 << log2);
    let floor = floors::msm_g1(log2, 1);
    timed::<G1>(bench, ("msm g1 45/45/10", log2, bits, 1), &scalars, floor)
}

fn timed<C: Curve>(
    bench: &mut Bench,
    (what, log2, bits, tables): (&str, u32, Option<u32>, u32),
    scalars: &[Scalar],
    floor: f64,
) -> Outcome
where
    C::Affine: Send + Sync,
    C::Projective: group::Group<Scalar = Scalar> + group::Curve<AffineRepr = C::Affine> + Send,
{
    let n = 1_u64 << log2;
    let logs = data::tables::<C::Projective>(bench.seed, log2);
    let shape = match bits {
        Some(bits) => Shape::with_bits(n, tables, bits),
        None => Shape::new(n, tables),
    };
    let device = &bench.device;
    let points = bases::pair_sums::<C>(device, &logs.low_points, &logs.high_points, n)?;
    let points = if tables > 1 {
        bases::tables::<C>(device, &points, &shape)?
    } else {
        points
    };
    let on_device = device.upload(scalars)?;
    let msm = Msm::<C>::new(device, shape)?;
    let want = C::Projective::generator() * logs.expected(scalars);
    if msm.sum(&points, &on_device, true)? != want {
        return Err(format!("the sum is wrong: {shape:?}").into());
    }
    let times = median(|| {
        let start = Instant::now();
        msm.sum(&points, &on_device, true)?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    })?;
    let (_, parts) = msm.timed(&points, &on_device)?;
    let detail = format!(
        "bits {} sets {} tables {} piece {}; sort {:.2} accumulate {:.2} reduce {:.2} ms; \
         scratch {} MiB",
        shape.bits,
        shape.sets,
        shape.tables,
        shape.piece,
        parts.sort_ms,
        parts.accumulate_ms,
        parts.reduce_ms,
        msm.bytes() >> 20
    );
    bench.row((what, log2), &detail, times, floor);
    Ok(())
}
