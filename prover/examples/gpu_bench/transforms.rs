//! Transforms and the quotient against the CPU: small ones value by value, large ones at a random
//! point, where coefficients and values must agree.

use blstrs::Scalar;
use ff::Field as _;
use prover::cuda::quotient::Quotient;
use prover::cuda::{Buffer, DeviceDomain, Way, root_of_order};
use prover::ntt::Domain;
use prover::plan::tables::{frequency, split};
use rayon::prelude::*;

use crate::{Bench, Outcome, data, floors, median};

/// The coset that the CPU's domain uses.
const GENERATOR: u64 = 7;

/// All sizes that the CPU does quickly, all transforms, value by value.
pub(crate) fn check(bench: &Bench) -> Outcome {
    for log2 in 10..=20 {
        small(bench, log2, 27)?;
        small(bench, log2, log2 - 1)?;
    }
    println!(
        "transforms of 2^10 to 2^20, both ways, coset or not, in place too, and quotients: equal to \
         the CPU's"
    );
    Ok(())
}

fn small(bench: &Bench, log2: u32, whole: u32) -> Outcome {
    let device = &bench.device;
    let cpu = Domain::new(log2)?;
    let domain = DeviceDomain::new(device, log2, whole)?;
    let coset = domain.coset(Scalar::from(GENERATOR))?;
    let input = data::scalars(bench.seed ^ u64::from(log2), 1 << log2);
    let out = device.alloc(32 << log2)?;
    for case in 0..4 {
        let (way, on) = [
            (Way::Forward, None),
            (Way::Inverse, None),
            (Way::Forward, Some(&coset)),
            (Way::Inverse, Some(&coset)),
        ][case];
        let mut want = input.clone();
        match case {
            0 => cpu.fft(&mut want)?,
            1 => cpu.ifft(&mut want)?,
            2 => cpu.coset_fft(&mut want)?,
            _ => cpu.icoset_fft(&mut want)?,
        }
        let values = device.upload(&input)?;
        device.fill(&out, 0xff)?;
        domain.transform(way, &values, &out, on)?;
        if domain.canonical(&out)? != want {
            return Err(format!("transform 2^{log2} {way:?} coset {} is wrong", case > 1).into());
        }
    }
    let values = device.upload(&input)?;
    domain.to_in_place(Way::Inverse, &values, None)?;
    domain.in_place_to_natural(Way::Forward, &values, None)?;
    if domain.canonical(&values)? != input {
        return Err(format!("there and back in place, 2^{log2}, is wrong").into());
    }
    domain.to_in_place(Way::Inverse, &values, None)?;
    domain.in_place_to_natural(Way::Forward, &values, Some(&coset))?;
    let mut want = input.clone();
    cpu.ifft(&mut want)?;
    cpu.coset_fft(&mut want)?;
    if domain.canonical(&values)? != want {
        return Err(format!("to the coset in place, 2^{log2}, is wrong").into());
    }
    let values = device.upload(&input)?;
    domain.to_in_place(Way::Inverse, &values, Some(&coset))?;
    let found = domain.canonical(&values)?;
    let mut want = input;
    cpu.icoset_fft(&mut want)?;
    for (place, value) in (0..).zip(&found) {
        if *value != want[usize::try_from(frequency(place, split(log2)))?] {
            return Err(format!("from the coset in place, 2^{log2}, is wrong at {place}").into());
        }
    }
    quotient_is_right(bench, log2, whole).map(drop)
}

/// f(z) from coefficients.
fn horner(coefficients: &[Scalar], z: Scalar) -> Scalar {
    const CHUNK: usize = 1 << 12;
    coefficients
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(k, part)| {
            let inner = part.iter().rev().fold(Scalar::ZERO, |sum, c| sum * z + c);
            inner * z.pow_vartime([(k * CHUNK) as u64])
        })
        .sum()
}

/// f(z) from the values over the domain of 2^log2 points: (zⁿ − 1)/n · Σ vₖ wᵏ / (z − wᵏ).
fn barycentric(values: &[Scalar], log2: u32, z: Scalar) -> Scalar {
    const CHUNK: usize = 1 << 10;
    let w = root_of_order(log2);
    let sum: Scalar = values
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(k, part)| {
            let mut point = w.pow_vartime([(k * CHUNK) as u64]);
            let mut points = Vec::with_capacity(part.len());
            let mut before = Vec::with_capacity(part.len());
            let mut product = Scalar::ONE;
            for _ in part {
                points.push(point);
                before.push(product);
                product *= z - point;
                point *= w;
            }
            let mut inverse = product.invert().unwrap_or(Scalar::ZERO);
            let mut sum = Scalar::ZERO;
            for ((value, point), before) in part.iter().zip(&points).zip(&before).rev() {
                sum += *value * point * inverse * before;
                inverse *= z - point;
            }
            sum
        })
        .sum();
    let n = Scalar::from(1_u64 << log2);
    (z.pow_vartime([1_u64 << log2]) - Scalar::ONE) * n.invert().unwrap_or(Scalar::ZERO) * sum
}

/// Forward and inverse coset at one size: checked at a random point, then timed.
pub(crate) fn ntt(bench: &mut Bench, log2: u32, whole: u32) -> Outcome {
    let device = &bench.device;
    let domain = DeviceDomain::new(device, log2, whole)?;
    let g = Scalar::from(GENERATOR);
    let coset = domain.coset(g)?;
    let input = data::scalars(bench.seed ^ 0x55, 1 << log2);
    let z = data::scalar(bench.seed ^ 0x66, 0);
    let values = device.upload(&input)?;
    let out = device.alloc(32 << log2)?;
    let mut rows = Vec::new();
    for (name, way, on) in [
        ("ntt forward", Way::Forward, None),
        ("ntt inverse", Way::Inverse, None),
        ("ntt forward coset", Way::Forward, Some(&coset)),
        ("ntt inverse coset", Way::Inverse, Some(&coset)),
    ] {
        device.write(&values, &input)?;
        device.fill(&out, 0xff)?;
        domain.transform(way, &values, &out, on)?;
        let result = domain.canonical(&out)?;
        let (coefficients, points) = match way {
            Way::Forward => (&input, &result),
            Way::Inverse => (&result, &input),
        };
        let at = if on.is_some() { g * z } else { z };
        if horner(coefficients, at) != barycentric(points, log2, z) {
            return Err(format!("{name} 2^{log2} is wrong").into());
        }
        let times = median(|| {
            let from = device.mark()?;
            domain.transform(way, &values, &out, on)?;
            let to = device.mark()?;
            device.elapsed_ms(&from, &to)
        })?;
        rows.push((name, times));
    }
    drop((values, out));
    let tables = if whole < log2 {
        "tables in two parts"
    } else {
        "whole tables"
    };
    for (name, times) in rows {
        bench.row((name, log2), tables, times, floors::ntt(log2));
    }
    Ok(())
}

/// The quotient at one size, in two vectors, checked, then timed.
pub(crate) fn quotient(bench: &mut Bench, log2: u32, whole: u32) -> Outcome {
    let times = quotient_is_right(bench, log2, whole)?;
    let detail = "six transforms, two vectors, a copy of C, natural order";
    bench.row(("quotient", log2), detail, times, 6.0 * floors::ntt(log2));
    Ok(())
}

#[expect(clippy::many_single_char_names, reason = "the polynomials' own names")]
/// A·B − C = H·(Xⁿ − 1) at a random point; then the times.
fn quotient_is_right(
    bench: &Bench,
    log2: u32,
    whole: u32,
) -> Result<[f64; 3], Box<dyn std::error::Error>> {
    let device = &bench.device;
    let n = 1_usize << log2;
    let quotient = Quotient::new(device, log2, whole)?;
    let (a, b) = (
        data::scalars(bench.seed ^ 0x77, n),
        data::scalars(bench.seed ^ 0x88, n),
    );
    let c: Vec<Scalar> = a.par_iter().zip(&b).map(|(a, b)| *a * b).collect();
    let (first, second, third) = (device.upload(&b)?, device.upload(&a)?, device.upload(&c)?);
    let fill = |to: &Buffer| device.copy(&third, to, 32 * n);
    quotient.run(&first, &second, fill)?;
    let mut h = vec![Scalar::ZERO; n];
    device.read(&first, &mut h)?;
    let z = data::scalar(bench.seed ^ 0x99, 0);
    let at = |values: &[Scalar]| barycentric(values, log2, z);
    let vanishing = z.pow_vartime([n as u64]) - Scalar::ONE;
    if at(&a) * at(&b) - at(&c) != horner(&h, z) * vanishing || h.last() != Some(&Scalar::ZERO) {
        return Err(format!("the quotient 2^{log2} is wrong").into());
    }
    let times = median(|| {
        let from = device.mark()?;
        quotient.run(&first, &second, fill)?;
        let to = device.mark()?;
        device.elapsed_ms(&from, &to)
    })?;
    Ok(times)
}
