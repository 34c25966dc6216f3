//! Multi-scalar multiplication against the CPU: small sums term by term, large ones over bases
//! whose logarithms are known, so that the right answer is one product.

use std::time::Instant;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::Field as _;
use group::Group as _;
use prover::cuda::{Curve, G1, G2, Msm, Scalars, bases};
use prover::plan::sums::SumShape;

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
            let shape = SumShape::with_bits(n as u64, tables, bits);
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
            let mut shape = SumShape::with_bits(n as u64, 1, 5);
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

/// Sums of 0 to 300 awkward terms, and of some more, in the shapes that they are given by default,
/// over one scratch buffer, with and without indices.
pub(crate) fn small(bench: &Bench) -> Outcome {
    small_in::<G1>(bench)?;
    small_in::<G2>(bench)?;
    println!("sums of 0 to 300 terms, of 301 to 1000 in steps, in G1 and G2: equal to the CPU's");
    Ok(())
}

fn small_in<C: Curve>(bench: &Bench) -> Outcome
where
    C::Projective: group::Group<Scalar = Scalar> + group::Curve<AffineRepr = C::Affine>,
{
    const MOST: usize = 1000;
    let device = &bench.device;
    let scalars = awkward(bench.seed, 2 * MOST);
    let bases = awkward_bases::<C::Projective>(bench.seed, MOST);
    // Scalar i of the sums with indices is number 2 i + (i mod 2), a gap or none between two.
    let places: Vec<u32> = (0..1000).map(|at| 2 * at + at % 2).collect();
    let (points, on_device) = (device.upload(&bases)?, device.upload(&scalars)?);
    let indices = device.upload(&places)?;
    let sizes: Vec<u64> = (0..=300).chain((301..=1000).step_by(97)).collect();
    let needs = |&n: &u64| SumShape::new(n, 1).scratch_bytes(C::LANES);
    let most = sizes.iter().map(needs).max().unwrap_or(0);
    let scratch = device.alloc(usize::try_from(most)?)?;
    device.fill(&scratch, 0xff)?;
    let (mut plain, mut picked) = (C::Projective::identity(), C::Projective::identity());
    let mut done = 0;
    for n in sizes {
        for at in done..usize::try_from(n)? {
            let base = C::Projective::identity() + bases[at];
            plain += base * scalars[at + 5];
            picked += base * scalars[places[at] as usize];
        }
        done = usize::try_from(n)?;
        let msm = Msm::<C>::over(device, SumShape::new(n, 1), &scratch)?;
        for (want, first, indices) in [(plain, 5, None), (picked, 0, Some(&indices))] {
            let scalars = Scalars {
                buffer: &on_device,
                first,
                indices,
            };
            if msm.sum(&points, scalars)?.0 != want {
                let how = if first > 0 {
                    "from the fifth"
                } else {
                    "with indices"
                };
                return Err(format!("{n} terms in {}, {how}: wrong", C::SUFFIX).into());
            }
        }
    }
    Ok(())
}

/// One size in G1 over a quarter of a witness, by ascending indices.
pub(crate) fn indices(bench: &mut Bench, log2: u32) -> Outcome {
    let device = &bench.device;
    let n = 1_usize << log2;
    let witness = data::skewed(data::word(bench.seed, 5), 4 * n);
    let gap = |at: u64| u32::try_from(data::word(bench.seed, at) % 4).unwrap_or(0);
    let places: Vec<u32> = (0..)
        .zip(0..n as u64)
        .map(|(at, word)| 4 * at + gap(word))
        .collect();
    let scalars: Vec<Scalar> = places.iter().map(|&at| witness[at as usize]).collect();
    let logs = data::tables::<G1Projective>(bench.seed, log2);
    let points = bases::pair_sums::<G1>(device, &logs.low_points, &logs.high_points, n as u64)?;
    let (on_device, gathered) = (device.upload(&witness)?, device.upload(&scalars)?);
    let indices = device.upload(&places)?;
    let by_index = Scalars {
        buffer: &on_device,
        first: 0,
        indices: Some(&indices),
    };
    let msm = Msm::<G1>::new(device, SumShape::new(n as u64, 1))?;
    let want = G1Projective::generator() * logs.expected(&scalars);
    if msm.sum(&points, by_index)?.0 != want {
        return Err("the sum by indices is wrong".into());
    }
    let in_a_row: Scalars<'_> = (&gathered).into();
    let plain = median(|| Ok(msm.sum(&points, in_a_row)?.1))?;
    let times = median(|| Ok(msm.sum(&points, by_index)?.1))?;
    let detail = format!(
        "scalars gathered by index, device time; {:.3} ms with the same scalars in a row",
        plain[0]
    );
    let floor = floors::msm_g1(log2, 1);
    bench.row(("msm g1 by indices", log2), &detail, times, floor);
    Ok(())
}

fn compare<C: Curve>(
    bench: &Bench,
    shape: SumShape,
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
    if msm.sum(&points, (&scalars).into())?.0 != want {
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
        Some(bits) => SumShape::with_bits(n, tables, bits),
        None => SumShape::new(n, tables),
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
    if msm.sum(&points, (&on_device).into())?.0 != want {
        return Err(format!("the sum is wrong: {shape:?}").into());
    }
    let times = median(|| {
        let start = Instant::now();
        msm.sum(&points, (&on_device).into())?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    })?;
    let (_, parts) = msm.timed(&points, (&on_device).into())?;
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
        shape.scratch_bytes(C::LANES) >> 20
    );
    bench.row((what, log2), &detail, times, floor);
    Ok(())
}
