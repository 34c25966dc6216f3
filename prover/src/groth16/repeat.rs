//! A shape repeated: what recording a circuit of equal parts, one after another, would give, made
//! from one part on all cores.

use rayon::prelude::*;

use super::matrix::MAX_VARIABLES;
use super::shape::{Density, Shape, domain_log2};
use crate::ProverError;

impl Shape {
    /// The shape of a circuit that synthesises this shape's circuit `count` times (once at least).
    /// The copies share the constant one and nothing else: each has its own inputs and its own
    /// auxiliary variables, those of a copy after those of the one before.
    ///
    /// # Errors
    /// [`ProverError::TooLarge`].
    pub fn repeat(&self, count: usize) -> Result<Self, ProverError> {
        let count = count.max(1);
        let (inputs, aux) = (self.num_inputs - 1, self.num_aux);
        let rows = self.num_constraints() - self.num_inputs;
        let whole = || {
            let num_inputs = inputs.checked_mul(count)?.checked_add(1)?;
            let num_aux = aux.checked_mul(count)?;
            let log2 = domain_log2(rows.checked_mul(count)?.checked_add(num_inputs)?)?;
            if num_inputs.max(num_aux) > MAX_VARIABLES {
                return None;
            }
            let matrix = |matrix: &super::Matrix, occur| {
                matrix
                    .repeat((rows, count), (inputs, aux))?
                    .with_input_rows(num_inputs, occur)
            };
            Some(Self {
                a: matrix(&self.a, true)?,
                b: matrix(&self.b, false)?,
                c: matrix(&self.c, false)?,
                a_aux: self.a_aux.repeat(count, aux),
                b_aux: self.b_aux.repeat(count, aux),
                b_inputs: self.b_inputs.repeat_but_first(count, inputs),
                num_inputs,
                num_aux,
                log2,
            })
        };
        whole().ok_or_else(|| ProverError::TooLarge {
            variables: self.num_inputs.max(aux).saturating_mul(count),
            constraints: rows.saturating_mul(count),
            most: MAX_VARIABLES,
        })
    }
}

impl Density {
    /// Of `count` copies, each with its variables `step` further on.
    fn repeat(&self, count: usize, step: usize) -> Self {
        match self {
            Self::All(each) => Self::All(each * count),
            Self::Some(indices) => Self::Some(copies(indices, count, step)),
        }
    }

    /// The same where variable 0 is one for all copies.
    fn repeat_but_first(&self, count: usize, step: usize) -> Self {
        match self {
            Self::All(_) => Self::All(1 + count * step),
            Self::Some(indices) => {
                let first = indices.iter().take_while(|index| **index == 0).count();
                let (first, own) = indices.split_at(first);
                let mut all = first.to_vec();
                all.append(&mut copies(own, count, step));
                Self::Some(all)
            }
        }
    }
}

/// The caller knows that every index fits.
fn copies(indices: &[u32], count: usize, step: usize) -> Vec<u32> {
    let mut all = vec![0; indices.len() * count];
    all.par_chunks_mut(indices.len().max(1))
        .enumerate()
        .for_each(|(copy, all)| {
            let by = u32::try_from(copy * step).unwrap_or(0);
            for (to, index) in all.iter_mut().zip(indices) {
                *to = index + by;
            }
        });
    all
}

#[cfg(test)]
mod tests {
    use bellpepper_core::{Circuit, ConstraintSystem, Index, SynthesisError, Variable};
    use blstrs::Scalar;
    use ff::Field as _;
    use proptest::prelude::*;

    use super::*;

    /// One term: kind of variable (bit 0), its index, kind of the coefficient.
    type Term = (bool, usize, u64);

    /// So many copies of a part with these variables and rows.
    #[derive(Clone, Debug)]
    struct Copies {
        count: usize,
        inputs: usize,
        aux: usize,
        rows: Vec<[Vec<Term>; 3]>,
    }

    impl Circuit<Scalar> for Copies {
        fn synthesize<CS: ConstraintSystem<Scalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), SynthesisError> {
            for _ in 0..self.count {
                let mut inputs = vec![CS::one()];
                for _ in 0..self.inputs {
                    inputs.push(cs.alloc_input(|| "input", || Ok(Scalar::ONE))?);
                }
                let aux: Vec<Variable> = (0..self.aux)
                    .map(|_| cs.alloc(|| "aux", || Ok(Scalar::ONE)))
                    .collect::<Result<_, _>>()?;
                for row in &self.rows {
                    let [a, b, c] = row.each_ref().map(|terms| {
                        terms.iter().fold(
                            bellpepper_core::LinearCombination::zero(),
                            |sum, &(is_aux, index, coefficient)| {
                                let of = if is_aux && !aux.is_empty() {
                                    aux[index % aux.len()]
                                } else {
                                    inputs[index % inputs.len()]
                                };
                                sum + (Scalar::from(coefficient) - Scalar::ONE, of)
                            },
                        )
                    });
                    cs.enforce(|| "row", |_| a, |_| b, |_| c);
                }
            }
            Ok(())
        }
    }

    fn rows() -> impl Strategy<Value = Vec<[Vec<Term>; 3]>> {
        let terms = || prop::collection::vec((any::<bool>(), 0_usize..9, 0_u64..5), 0..4);
        prop::collection::vec([terms(), terms(), terms()], 0..6)
    }

    proptest! {
        #[test]
        fn a_repeated_shape_is_that_of_the_copies_in_a_row(
            count in 1_usize..6,
            (inputs, aux) in (0_usize..4, 0_usize..5),
            rows in rows(),
        ) {
            let part = Copies { count: 1, inputs, aux, rows };
            let all = Copies { count, ..part.clone() };
            let (part, _) = Shape::record(part).expect("recorded");
            let (all, _) = Shape::record(all).expect("recorded");
            prop_assert_eq!(part.repeat(count).expect("small"), all);
        }
    }

    #[test]
    fn a_shape_that_words_cannot_name_is_too_large() {
        let part = Copies {
            count: 1,
            inputs: 1,
            aux: 3,
            rows: vec![[vec![(true, 0, 2)], vec![(true, 1, 2)], vec![(false, 1, 2)]]],
        };
        let (part, _) = Shape::record(part).expect("recorded");
        for count in [1 << 29, usize::MAX] {
            let error = part.repeat(count).expect_err("too large");
            assert!(matches!(error, ProverError::TooLarge { .. }), "{error}");
        }
        let row = part.repeat(5).expect("small").a().row(3).next();
        assert_eq!(row, Some((Index::Aux(9), Scalar::ONE)));
    }
}
