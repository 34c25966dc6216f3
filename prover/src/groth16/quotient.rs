//! From a witness to the polynomial H = (A·B − C)/(Xⁿ − 1): the products with the matrices, then
//! the transforms of [`Domain::quotient`].

use std::sync::atomic::{AtomicUsize, Ordering};

use blstrs::Scalar;
use ff::Field as _;
use rayon::prelude::*;

use super::{Assignment, Matrix, Shape};
use crate::{ProverError, ntt::Domain, scalars::Scalars};

/// The values of A, B and C on the domain, padded with zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluations {
    /// A·w.
    pub a: Scalars,
    /// B·w.
    pub b: Scalars,
    /// C·w.
    pub c: Scalars,
}

impl Evaluations {
    /// The first row that the witness does not satisfy.
    pub fn first_unsatisfied(&self) -> Option<usize> {
        let rows = self.a.par_iter().zip(&self.b[..]).zip(&self.c[..]);
        rows.position_first(|((a, b), c)| a * b != *c)
    }
}

/// The products of the three matrices with an assignment of `shape`.
///
/// # Panics
/// If `assignment` has fewer variables than `shape`: [`Shape::check`] says so before.
pub fn evaluate(shape: &Shape, assignment: &Assignment) -> Evaluations {
    let product = |matrix: &Matrix| {
        let mut values = Scalars::zeros(shape.domain());
        multiply(matrix, assignment, &mut values);
        values
    };
    Evaluations {
        a: product(shape.a()),
        b: product(shape.b()),
        c: product(shape.c()),
    }
}

/// The product of a matrix, padded with zeros.
fn multiply(matrix: &Matrix, assignment: &Assignment, values: &mut [Scalar]) {
    let (rows, padding) = values.split_at_mut(matrix.rows());
    let each = rows.par_iter_mut().with_min_len(ROWS_MIN).enumerate();
    each.for_each(|(row, value)| *value = matrix.product(row, assignment));
    padding.fill(Scalar::ZERO);
}

/// Rows that a thread takes at least.
const ROWS_MIN: usize = 256;

/// The coefficients of H, one less than the domain has elements: the last is zero.
///
/// # Errors
/// As [`Domain::quotient`].
pub fn quotient(domain: &Domain, evaluations: Evaluations) -> Result<Scalars, ProverError> {
    let Evaluations { mut a, mut b, c } = evaluations;
    if c.len() != b.len() {
        return Err(ProverError::DomainLength {
            expected: b.len(),
            found: c.len(),
        });
    }
    domain.quotient(&mut a, &mut b, |values| values.copy_from_slice(&c))?;
    a.truncate(domain.size() - 1);
    Ok(a)
}

/// The values of A and B on the domain, padded with zeros; those of C are made when their turn
/// comes, in the vector that B then no longer needs. A third less memory than [`Evaluations`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    a: Scalars,
    b: Scalars,
}

impl Factors {
    /// The products of A and B with an assignment of `shape`; every row is checked against C.
    ///
    /// # Errors
    /// [`ProverError::OtherCircuit`] if the assignment has other numbers of variables,
    /// [`ProverError::Unsatisfied`] with the first row that does not hold.
    pub fn new(shape: &Shape, assignment: &Assignment) -> Result<Self, ProverError> {
        shape.check(assignment)?;
        let mut a = Scalars::zeros(shape.domain());
        let mut b = Scalars::zeros(shape.domain());
        let broken = AtomicUsize::new(usize::MAX);
        let rows = a.par_iter_mut().zip(&mut b[..]).take(shape.a().rows());
        let rows = rows.with_min_len(ROWS_MIN).enumerate();
        rows.for_each(|(row, (a, b))| {
            *a = shape.a().product(row, assignment);
            *b = shape.b().product(row, assignment);
            if *a * *b != shape.c().product(row, assignment) {
                broken.fetch_min(row, Ordering::Relaxed);
            }
        });
        match broken.into_inner() {
            usize::MAX => Ok(Self { a, b }),
            row => Err(ProverError::Unsatisfied {
                row,
                rows: shape.num_constraints(),
            }),
        }
    }

    /// As [`quotient`], for the shape and the assignment that these are of.
    ///
    /// # Errors
    /// As [`Domain::quotient`].
    pub fn quotient(
        self,
        domain: &Domain,
        shape: &Shape,
        assignment: &Assignment,
    ) -> Result<Scalars, ProverError> {
        let Self { mut a, mut b } = self;
        domain.quotient(&mut a, &mut b, |values| {
            multiply(shape.c(), assignment, values);
        })?;
        a.truncate(domain.size() - 1);
        Ok(a)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Parts, square};
    use super::*;

    fn at(coefficients: &[Scalar], x: Scalar) -> Scalar {
        let horner = |sum, coefficient: &Scalar| sum * x + coefficient;
        coefficients.iter().rev().fold(Scalar::ZERO, horner)
    }

    #[test]
    fn a_times_b_is_c_plus_h_times_z_at_some_point() {
        let (shape, values) = Shape::record(Parts { parallel: false }).expect("a shape");
        let evaluations = evaluate(&shape, &values);
        assert_eq!(evaluations.first_unsatisfied(), None);
        let domain = Domain::new(shape.log2()).expect("small");
        let h = quotient(&domain, evaluations.clone()).expect("lengths fit");
        assert_eq!(h.len(), shape.domain() - 1);
        let x = Scalar::from(0x00c0_ffee);
        let value = |mut values: Scalars| {
            domain.ifft(&mut values).expect("lengths fit");
            at(&values, x)
        };
        let Evaluations { a, b, c } = evaluations;
        let z = x.pow_vartime([shape.domain() as u64]) - Scalar::ONE;
        assert_eq!(value(a) * value(b), value(c) + at(&h, x) * z);
    }

    #[test]
    fn the_first_broken_row_is_found() {
        let (shape, mut values) = Shape::record(Parts { parallel: false }).expect("a shape");
        // z of the second part, and of the third.
        values.aux[5] += Scalar::ONE;
        values.aux[8] += Scalar::ONE;
        assert_eq!(evaluate(&shape, &values).first_unsatisfied(), Some(2));
    }

    #[test]
    fn two_vectors_give_what_three_give() {
        let (shape, values) = Shape::record(Parts { parallel: false }).expect("a shape");
        let domain = Domain::new(shape.log2()).expect("small");
        let factors = Factors::new(&shape, &values).expect("satisfied");
        let evaluations = evaluate(&shape, &values);
        assert_eq!((&factors.a, &factors.b), (&evaluations.a, &evaluations.b));
        assert_eq!(
            factors.quotient(&domain, &shape, &values).ok(),
            quotient(&domain, evaluations).ok()
        );
        let mut broken = values.clone();
        broken.aux[5] += Scalar::ONE;
        broken.aux[8] += Scalar::ONE;
        let error = Factors::new(&shape, &broken).expect_err("broken");
        assert!(matches!(error, ProverError::Unsatisfied { row: 2, .. }));
        broken.aux.pop();
        let error = Factors::new(&shape, &broken).expect_err("shorter");
        assert!(matches!(error, ProverError::OtherCircuit { .. }));
    }

    #[test]
    fn values_are_padded_to_the_domain() {
        let (shape, values) = Shape::record(square(5)).expect("a shape");
        let Evaluations { a, b, c } = evaluate(&shape, &values);
        let scalars = |small: [u64; 4]| small.map(Scalar::from).to_vec();
        assert_eq!(a[..], scalars([5, 1, 25, 0]));
        assert_eq!(b[..], scalars([5, 0, 0, 0]));
        assert_eq!(c[..], scalars([25, 0, 0, 0]));
    }
}
