//! From a witness to the polynomial H = (A·B − C)/(Xⁿ − 1): the products with the matrices, then
//! the transforms of [`Domain::quotient`].

use blstrs::Scalar;
use ff::Field as _;
use rayon::prelude::*;

use super::{Assignment, Matrix, Shape};
use crate::{ProverError, ntt::Domain};

/// The values of A, B and C on the domain, padded with zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluations {
    /// A·w.
    pub a: Vec<Scalar>,
    /// B·w.
    pub b: Vec<Scalar>,
    /// C·w.
    pub c: Vec<Scalar>,
}

impl Evaluations {
    /// The first row that the witness does not satisfy.
    pub fn first_unsatisfied(&self) -> Option<usize> {
        let rows = self.a.par_iter().zip(&self.b).zip(&self.c);
        rows.position_first(|((a, b), c)| a * b != *c)
    }
}

/// The products of the three matrices with an assignment of `shape`.
///
/// # Panics
/// If `assignment` has fewer variables than `shape`: [`Shape::check`] says so before.
pub fn evaluate(shape: &Shape, assignment: &Assignment) -> Evaluations {
    let product = |matrix: &Matrix| {
        let mut values = vec![Scalar::ZERO; shape.domain()];
        let rows = values[..matrix.rows()].par_iter_mut().with_min_len(256);
        rows.enumerate()
            .for_each(|(row, value)| *value = matrix.product(row, assignment));
        values
    };
    Evaluations {
        a: product(shape.a()),
        b: product(shape.b()),
        c: product(shape.c()),
    }
}

/// The coefficients of H, one less than the domain has elements: the last is zero.
///
/// # Errors
/// As [`Domain::quotient`].
pub fn quotient(domain: &Domain, evaluations: Evaluations) -> Result<Vec<Scalar>, ProverError> {
    let Evaluations {
        mut a,
        mut b,
        mut c,
    } = evaluations;
    domain.quotient(&mut a, &mut b, &mut c)?;
    a.pop();
    Ok(a)
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
        let value = |mut values: Vec<Scalar>| {
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
    fn values_are_padded_to_the_domain() {
        let (shape, values) = Shape::record(square(5)).expect("a shape");
        let Evaluations { a, b, c } = evaluate(&shape, &values);
        let scalars = |small: [u64; 4]| small.map(Scalar::from).to_vec();
        assert_eq!(a, scalars([5, 1, 25, 0]));
        assert_eq!((b, c), (scalars([5, 0, 0, 0]), scalars([25, 0, 0, 0])));
    }
}
