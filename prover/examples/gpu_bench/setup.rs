//! Multiples of one base, and whole parameters, against the processor's.

use std::time::Instant;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::Field as _;
use group::Curve as _;
use prover::circuits;
use prover::cuda::fixed_base::{FixedBaseOnDevice, OnDevice};
use prover::cuda::{G1, G2};
use prover::srs::{Ceremony, Multiples as _, OnProcessor, Srs, Wanted};

use crate::{Bench, Outcome, data, floors};

/// Sizes up to which the processor makes all of them, too.
const LOG2_BOTH: u32 = 16;

/// Random scalars, with every edge of a window among them.
fn scalars(seed: u64, count: usize) -> Vec<Scalar> {
    let mut all = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE];
    for bit in 0..255 {
        let power = Scalar::from(2).pow_vartime([bit]);
        all.extend([power, power - Scalar::ONE, power + Scalar::ONE, -power]);
    }
    all.extend(data::scalars(seed, count));
    all.truncate(count.max(1));
    all
}

/// 2^log2 multiples in both groups: all compared with the processor's for small sizes, some of
/// them for large ones.
pub(crate) fn fixed(bench: &mut Bench, log2: u32) -> Outcome {
    let scalars = scalars(data::word(bench.seed, 11), 1 << log2);
    let ceremony = Ceremony::insecure(bench.seed);
    let wanted = Wanted {
        g1: scalars.len().min(1 << LOG2_BOTH),
        g2: scalars.len().min(1 << LOG2_BOTH),
    };
    let processor = OnProcessor::new(&ceremony, wanted);
    // The edges are at the start; the last chunk has an end of its own.
    let (head, tail) = (wanted.g1, scalars.len() - scalars.len().min(5000));
    let table = FixedBaseOnDevice::<G1>::new(&bench.device, ceremony.g1)?;
    let (points, times_g1) = timed(|| table.multiples(&scalars))?;
    let right = points[..head] == processor.g1(&scalars[..head])?
        && points[tail..] == processor.g1(&scalars[tail..])?;
    let mut again = vec![G1Affine::default(); points.len()];
    let kept = table.multiples_on_device(&scalars)?;
    bench.device.read(&kept, &mut again)?;
    if !right || again != points || !hold_g1(&ceremony, &scalars, &points) {
        return Err(format!("multiples in G1, 2^{log2}, are wrong").into());
    }
    drop((table, points, kept, again));
    let table = FixedBaseOnDevice::<G2>::new(&bench.device, ceremony.g2)?;
    let (points, times_g2) = timed(|| table.multiples(&scalars))?;
    let right = points[..head] == processor.g2(&scalars[..head])?
        && points[tail..] == processor.g2(&scalars[tail..])?;
    if !right || !hold_g2(&ceremony, &scalars, &points) {
        return Err(format!("multiples in G2, 2^{log2}, are wrong").into());
    }
    drop((table, points));
    let what = "host to host, 16 windows of 16 bits";
    let floor = |g2| floors::fixed_base(log2, g2);
    bench.row(("fixed base g1", log2), what, times_g1, floor(false));
    bench.row(("fixed base g2", log2), what, times_g2, floor(true));
    Ok(())
}

/// Some of the multiples by blst's own product.
fn hold_g1(ceremony: &Ceremony, scalars: &[Scalar], points: &[G1Affine]) -> bool {
    let pairs = scalars.iter().zip(points);
    pairs
        .step_by(scalars.len().div_ceil(300))
        .all(|(scalar, point)| (G1Projective::from(ceremony.g1) * scalar).to_affine() == *point)
}

fn hold_g2(ceremony: &Ceremony, scalars: &[Scalar], points: &[G2Affine]) -> bool {
    let pairs = scalars.iter().zip(points);
    pairs
        .step_by(scalars.len().div_ceil(300))
        .all(|(scalar, point)| (G2Projective::from(ceremony.g2) * scalar).to_affine() == *point)
}

/// What is made, and median, least and most of three times after a warm-up, in milliseconds.
fn timed<T>(
    run: impl Fn() -> Result<T, prover::ProverError>,
) -> Result<(T, [f64; 3]), prover::ProverError> {
    drop(run()?);
    let mut times = [0.0; 3];
    let mut once = |place: usize| {
        let start = Instant::now();
        let made = run();
        times[place] = start.elapsed().as_secs_f64() * 1e3;
        made
    };
    drop(once(0)?);
    drop(once(1)?);
    let made = once(2)?;
    times.sort_by(f64::total_cmp);
    let [least, median, most] = times;
    Ok((made, [median, least, most]))
}

/// Parameters of a circuit whose domain has 2^log2 rows, on the device; up to 2^16 also by the
/// processor, and byte for byte the same.
pub(crate) fn setup(bench: &mut Bench, log2: u32) -> Outcome {
    let name = if log2 < 18 { "mimc" } else { "porep-tiled" };
    let family = circuits::by_name(name, log2)?;
    let ceremony = Ceremony::insecure(bench.seed);
    let start = Instant::now();
    let shape = family.shape()?;
    println!(
        "{name} 2^{log2}: shape in {:.2} s",
        start.elapsed().as_secs_f64()
    );
    let start = Instant::now();
    let mut last = ("start", start);
    let mut parts = Vec::new();
    let mut progress = |next: &'static str| {
        parts.push((last.0, last.1.elapsed().as_secs_f64()));
        last = (next, Instant::now());
    };
    let device = &bench.device;
    let tables = |_| OnDevice::new(device, &ceremony);
    let srs = ceremony.parameters_by(&shape, tables, &mut progress)?;
    progress("end");
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let counts = srs.counts();
    let points = (counts.ic + counts.h + counts.l + counts.a + counts.b) as f64;
    let floor =
        floors::additions(points * 16.0, false) + floors::additions(counts.b as f64 * 16.0, true);
    println!("seconds by what was made: {parts:.2?}");
    bench.row(
        ("parameters", log2),
        &format!("{name}: {counts}"),
        [ms; 3],
        floor,
    );
    if log2 <= LOG2_BOTH {
        let other = ceremony.parameters(&shape, &mut |_| ())?;
        same(&srs, &other)?;
        println!("parameters of {name} 2^{log2}: the same bytes as the processor's");
    }
    Ok(())
}

fn same(ours: &Srs, other: &Srs) -> Outcome {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    ours.write(&mut left)?;
    other.write(&mut right)?;
    if left != right {
        return Err("the parameters are not the processor's".into());
    }
    Ok(())
}
