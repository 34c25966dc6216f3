//! The polynomials of a circuit at one point τ: what its parameters are made of.
//!
//! Column j of a matrix M, read as a polynomial that takes the value Mᵢⱼ at ω^i, has the value
//! Σᵢ Mᵢⱼ·Lᵢ(τ) at τ, where Lᵢ(τ) = (τⁿ − 1)/n · ω^i/(τ − ω^i). No transform is needed.

use blstrs::Scalar;
use ff::{Field as _, PrimeField as _};
use rayon::prelude::*;

use crate::ProverError;
use crate::groth16::{Matrix, Shape};

/// Elements that share one inversion, and the grain of the parallel loops.
const CHUNK: usize = 4096;
/// Columns below which another thread does not pay.
const LEAST_RANGE: usize = 1024;

/// The columns of one matrix at τ.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// One value a public input.
    pub(crate) inputs: Vec<Scalar>,
    /// One value an auxiliary variable.
    pub(crate) aux: Vec<Scalar>,
}

/// All that the parameters need to know of a circuit and of τ.
#[derive(Clone, Debug)]
pub(crate) struct AtTau {
    /// τⁿ − 1
    pub(crate) vanishing: Scalar,
    pub(crate) a: Columns,
    pub(crate) b: Columns,
    pub(crate) c: Columns,
}

impl AtTau {
    /// Evaluates the columns of a shape.
    ///
    /// # Errors
    /// [`ProverError::WeakCeremony`] if τ is a point of the domain.
    pub(crate) fn new(shape: &Shape, tau: Scalar) -> Result<Self, ProverError> {
        let vanishing = tau.pow_vartime([shape.domain() as u64]) - Scalar::ONE;
        let lagrange = lagrange(shape.log2(), tau, vanishing)?;
        let columns = |matrix: &Matrix| columns(shape, matrix, &lagrange);
        let (a, b, c) = (columns(shape.a()), columns(shape.b()), columns(shape.c()));
        Ok(Self { vanishing, a, b, c })
    }
}

/// start·factorⁱ for i in 0..count.
pub(crate) fn powers(start: Scalar, factor: Scalar, count: usize) -> Vec<Scalar> {
    let mut powers = zeros(count);
    powers
        .par_chunks_mut(CHUNK)
        .enumerate()
        .for_each(|(chunk, powers)| {
            let mut power = start * factor.pow_vartime([(chunk * CHUNK) as u64]);
            for place in powers {
                *place = power;
                power *= factor;
            }
        });
    powers
}

/// The Lagrange polynomials of the domain of 2^`log2` points at τ.
fn lagrange(log2: u32, tau: Scalar, vanishing: Scalar) -> Result<Vec<Scalar>, ProverError> {
    if log2 > Scalar::S {
        return Err(ProverError::DomainTooLarge { log2 });
    }
    if bool::from(vanishing.is_zero()) {
        return Err(ProverError::WeakCeremony);
    }
    let mut omega = Scalar::ROOT_OF_UNITY;
    for _halving in log2..Scalar::S {
        omega = omega.square();
    }
    let size = Scalar::from(1_u64 << log2);
    let size: Scalar = Option::from(size.invert()).ok_or(ProverError::WeakCeremony)?;
    let mut values = powers(Scalar::ONE, omega, 1 << log2);
    let scale = vanishing * size;
    values.par_chunks_mut(CHUNK).for_each(|points| {
        let mut product = Scalar::ONE;
        let mut before = Vec::with_capacity(points.len());
        for point in points.iter() {
            before.push(product);
            product *= tau - point;
        }
        // No factor is zero, since τ is not in the domain; the default is never taken.
        let mut inverse = Option::from(product.invert()).unwrap_or(Scalar::ZERO);
        for (point, before) in points.iter_mut().zip(before).rev() {
            let denominator = tau - *point;
            *point *= scale * inverse * before;
            inverse *= denominator;
        }
    });
    Ok(values)
}

/// Each thread owns a range of the columns and looks at every term: no locks, and no copies to be
/// joined. Looking costs a fraction of the additions, which are shared out.
fn columns(shape: &Shape, matrix: &Matrix, lagrange: &[Scalar]) -> Columns {
    let mut columns = Columns {
        inputs: zeros(shape.num_inputs()),
        aux: zeros(shape.num_aux()),
    };
    let range = shape.num_aux().div_ceil(rayon::current_num_threads());
    let range = range.max(LEAST_RANGE);
    let aux = columns.aux.par_chunks_mut(range).enumerate();
    rayon::join(
        || matrix.add_columns(lagrange, (false, 0), &mut columns.inputs),
        || aux.for_each(|(at, sums)| matrix.add_columns(lagrange, (true, at * range), sums)),
    );
    columns
}

/// So many zeros, written by all threads.
fn zeros(count: usize) -> Vec<Scalar> {
    let mut zeros = Vec::new();
    zeros.par_extend(rayon::iter::repeat_n(Scalar::ZERO, count));
    zeros
}

#[cfg(test)]
mod tests {
    use bellpepper_core::Index;

    use super::*;

    #[test]
    fn lagrange_polynomials_interpolate() {
        let tau = Scalar::from(123_456_789);
        for log2 in [0, 1, 3, 13] {
            let n = 1_u64 << log2;
            let vanishing = tau.pow_vartime([n]) - Scalar::ONE;
            let values = lagrange(log2, tau, vanishing).expect("not in the domain");
            assert_eq!(values.len() as u64, n);
            // The polynomial one, and the polynomial x, from their values at the domain.
            assert_eq!(values.iter().sum::<Scalar>(), Scalar::ONE);
            if log2 > 0 {
                let mut omega = Scalar::ROOT_OF_UNITY;
                for _halving in log2..Scalar::S {
                    omega = omega.square();
                }
                let points = powers(Scalar::ONE, omega, values.len());
                let x: Scalar = values.iter().zip(points).map(|(l, x)| l * x).sum();
                assert_eq!(x, tau, "2^{log2}");
            }
        }
    }

    #[test]
    fn columns_are_those_of_one_row_after_another() {
        let family = crate::circuits::by_name("poseidon", 10).expect("known");
        let shape = family.shape().expect("a shape");
        let weights = powers(Scalar::from(3), Scalar::from(5), shape.domain());
        for matrix in [shape.a(), shape.b(), shape.c()] {
            let mut expected = [vec![Scalar::ZERO; shape.num_inputs()], Vec::new()];
            expected[1].resize(shape.num_aux(), Scalar::ZERO);
            for (row, weight) in (0..matrix.rows()).zip(&weights) {
                for (variable, coefficient) in matrix.row(row) {
                    match variable {
                        Index::Input(index) => expected[0][index] += coefficient * weight,
                        Index::Aux(index) => expected[1][index] += coefficient * weight,
                    }
                }
            }
            for threads in [1, 2, 3, 16] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = pool.build().expect("threads");
                let found = pool.install(|| columns(&shape, matrix, &weights));
                assert_eq!([found.inputs, found.aux], expected, "{threads} threads");
            }
        }
    }

    #[test]
    fn a_tau_of_the_domain_is_refused() {
        let error = lagrange(4, Scalar::ONE, Scalar::ZERO).expect_err("weak");
        assert!(matches!(error, ProverError::WeakCeremony), "{error}");
    }
}
