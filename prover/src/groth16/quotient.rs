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
