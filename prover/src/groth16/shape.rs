//! What all proofs of one circuit share, whatever their witness: matrices, densities, sizes.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, Variable};
use blstrs::Scalar;
use ff::Field as _;

use super::ProvingKey;
use super::matrix::{Builder, MAX_VARIABLES, Matrix};
use super::synthesis::{Matrices, Recorder, Witness};
use crate::ProverError;

/// The values of all variables of a circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The public inputs, the constant one first.
    pub inputs: Vec<Scalar>,
    /// The auxiliary variables, in the order of their allocation.
    pub aux: Vec<Scalar>,
}

impl Assignment {
    /// Appends what was synthesised apart, its first input left out: it is the shared "one".
    pub(super) fn extend(&mut self, other: &Self) {
        self.inputs.extend(other.inputs.iter().skip(1));
        self.aux.extend_from_slice(&other.aux);
    }
}

/// Which variables of a kind occur in a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Density {
    /// Every one of so many.
    All(usize),
    /// Those with these indices, ascending.
    Some(Vec<u32>),
}

impl Density {
    fn of(matrix: &Matrix, count: usize, aux: bool) -> Self {
        let mut seen = vec![false; count];
        matrix.for_each_variable(|is_aux, index| {
            if is_aux == aux {
                seen[index] = true;
            }
        });
        if seen.iter().all(|&seen| seen) {
            return Self::All(count);
        }
        Self::Some(
            (0..)
                .zip(seen)
                .filter(|&(_, seen)| seen)
                .map(|(index, _)| index)
                .collect(),
        )
    }

    /// How many variables occur.
    pub fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(indices) => indices.len(),
        }
    }

    /// Memory that it holds, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::All(_) => 0,
            Self::Some(indices) => size_of_val(indices.as_slice()),
        }
    }

    /// Whether none occurs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A circuit's constraints, recorded once and kept: later proofs need a witness only.
///
/// The rows are the circuit's own constraints, then one (inputᵢ, 0, 0) for every input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    pub(super) a: Matrix,
    pub(super) b: Matrix,
    pub(super) c: Matrix,
    pub(super) a_aux: Density,
    pub(super) b_inputs: Density,
    pub(super) b_aux: Density,
    pub(super) num_inputs: usize,
    pub(super) num_aux: usize,
    pub(super) log2: u32,
}

impl Shape {
    /// Synthesises `circuit`, keeping its constraints and its values.
    ///
    /// # Errors
    /// What the synthesis says; or [`ProverError::TooLarge`]; or [`ProverError::UnknownVariable`]
    /// if a constraint names a variable that was never allocated.
    pub fn record<C: Circuit<Scalar>>(circuit: C) -> Result<(Self, Assignment), ProverError> {
        let mut recorder = Recorder::default();
        recorder.alloc_input(|| "one", || Ok(Scalar::ONE))?;
        circuit.synthesize(&mut recorder)?;
        for index in 0..recorder.values.inputs.len() {
            recorder.enforce(
                || "input",
                |zero| zero + Variable(Index::Input(index)),
                |zero| zero,
                |zero: LinearCombination<Scalar>| zero,
            );
        }
        let Recorder { values, rows } = recorder;
        let Matrices { a, b, c, count } = rows;
        let shape = Self::new([a, b, c], values.inputs.len(), values.aux.len(), count)?;
        Ok((shape, values))
    }

    fn new(
        matrices: [Builder; 3],
        num_inputs: usize,
        num_aux: usize,
        rows: usize,
    ) -> Result<Self, ProverError> {
        let too_large = || ProverError::TooLarge {
            variables: num_inputs.max(num_aux),
            constraints: rows,
            most: MAX_VARIABLES,
        };
        let [a, b, c] = matrices.map(Builder::finish);
        let (Some(a), Some(b), Some(c)) = (a, b, c) else {
            return Err(too_large());
        };
        let log2 = domain_log2(rows).ok_or_else(too_large)?;
        for matrix in [&a, &b, &c] {
            let (inputs, aux) = matrix.columns();
            for (kind, most, count) in [("input", inputs, num_inputs), ("auxiliary", aux, num_aux)]
            {
                if most > count {
                    return Err(ProverError::UnknownVariable {
                        kind,
                        index: most - 1,
                        count,
                    });
                }
            }
        }
        Ok(Self {
            a_aux: Density::of(&a, num_aux, true),
            b_inputs: Density::of(&b, num_inputs, false),
            b_aux: Density::of(&b, num_aux, true),
            a,
            b,
            c,
            num_inputs,
            num_aux,
            log2,
        })
    }

    /// Synthesises `circuit` for its values only, much faster than [`Shape::record`].
    ///
    /// # Errors
    /// What the synthesis says; or [`ProverError::OtherCircuit`] if the numbers of variables are
    /// not those of this shape.
    pub fn witness<C: Circuit<Scalar>>(&self, circuit: C) -> Result<Assignment, ProverError> {
        let mut witness = Witness::default();
        witness.values.inputs.reserve_exact(self.num_inputs);
        witness.values.aux.reserve_exact(self.num_aux);
        witness.alloc_input(|| "one", || Ok(Scalar::ONE))?;
        circuit.synthesize(&mut witness)?;
        self.check(&witness.values)?;
        Ok(witness.values)
    }

    /// Whether an assignment has as many variables as this shape.
    ///
    /// # Errors
    /// [`ProverError::OtherCircuit`] with both numbers if not.
    pub fn check(&self, values: &Assignment) -> Result<(), ProverError> {
        let counts = [
            ("inputs", self.num_inputs, values.inputs.len()),
            ("auxiliary variables", self.num_aux, values.aux.len()),
        ];
        other_circuit("a witness", &counts)
    }

    /// Whether a key has as many points as this shape needs.
    ///
    /// # Errors
    /// [`ProverError::OtherCircuit`] with both numbers if not.
    pub fn check_key(&self, key: &ProvingKey<'_>) -> Result<(), ProverError> {
        let dense = self.b_inputs.len() + self.b_aux.len();
        let counts = [
            ("points of ic", self.num_inputs, key.vk.ic.len()),
            ("points of h", self.domain() - 1, key.h.len()),
            ("points of l", self.num_aux, key.l.len()),
            (
                "points of a",
                self.num_inputs + self.a_aux.len(),
                key.a.len(),
            ),
            ("points of b_g1", dense, key.b_g1.len()),
            ("points of b_g2", dense, key.b_g2.len()),
        ];
        other_circuit("a key", &counts)
    }

    /// The matrix A.
    pub fn a(&self) -> &Matrix {
        &self.a
    }

    /// The matrix B.
    pub fn b(&self) -> &Matrix {
        &self.b
    }

    /// The matrix C.
    pub fn c(&self) -> &Matrix {
        &self.c
    }

    /// The auxiliary variables that occur in A; all inputs do.
    pub fn a_aux(&self) -> &Density {
        &self.a_aux
    }

    /// The inputs that occur in B.
    pub fn b_inputs(&self) -> &Density {
        &self.b_inputs
    }

    /// The auxiliary variables that occur in B.
    pub fn b_aux(&self) -> &Density {
        &self.b_aux
    }

    /// Number of public inputs, the constant one counted.
    pub fn num_inputs(&self) -> usize {
        self.num_inputs
    }

    /// Number of auxiliary variables.
    pub fn num_aux(&self) -> usize {
        self.num_aux
    }

    /// Number of rows: the circuit's own constraints and one for every input.
    pub fn num_constraints(&self) -> usize {
        self.a.rows()
    }

    /// Memory that it holds, in bytes.
    pub fn bytes(&self) -> usize {
        let densities = [&self.a_aux, &self.b_inputs, &self.b_aux].map(Density::bytes);
        let matrices = [&self.a, &self.b, &self.c].map(Matrix::bytes);
        densities.iter().chain(&matrices).sum()
    }

    /// Binary logarithm of [`Shape::domain`].
    pub fn log2(&self) -> u32 {
        self.log2
    }

    /// Size of the evaluation domain: the power of two that holds all rows.
    pub fn domain(&self) -> usize {
        1 << self.log2
    }
}

/// Binary logarithm of the domain that holds so many rows, if words can name its points.
pub(super) fn domain_log2(rows: usize) -> Option<u32> {
    let size = rows.checked_next_power_of_two()?;
    (size <= MAX_VARIABLES).then(|| size.ilog2())
}

fn other_circuit(
    what: &'static str,
    counts: &[(&'static str, usize, usize)],
) -> Result<(), ProverError> {
    let other = counts.iter().find(|(_, expected, found)| expected != found);
    other.map_or(Ok(()), |&(of, expected, found)| {
        Err(ProverError::OtherCircuit {
            what,
            of,
            expected,
            found,
        })
    })
}

#[cfg(test)]
mod tests {
    use bellpepper_core::SynthesisError;

    use super::super::testing::{Parts, square};
    use super::*;

    #[test]
    fn the_rows_of_inputs_come_last() {
        let (shape, values) = Shape::record(square(3)).expect("a shape");
        assert_eq!((shape.num_inputs(), shape.num_aux()), (2, 1));
        // x · x = square, then one row for "one" and one for the square.
        assert_eq!(
            (shape.num_constraints(), shape.log2(), shape.domain()),
            (3, 2, 4)
        );
        assert_eq!(values.inputs, [Scalar::ONE, Scalar::from(9)]);
        let rows: Vec<Vec<_>> = (0..3).map(|row| shape.a().row(row).collect()).collect();
        let [input, aux] = [Index::Input, Index::Aux as fn(usize) -> Index];
        let one = |index| vec![(index, Scalar::ONE)];
        assert_eq!(rows, [one(aux(0)), one(input(0)), one(input(1))]);
        assert_eq!((shape.b().row(1).count(), shape.c().row(2).count()), (0, 0));
    }

    #[test]
    fn densities_say_what_occurs() {
        let (shape, _) = Shape::record(Parts { parallel: false }).expect("a shape");
        // Each part: x · y = z over three new variables, the input in C only.
        assert_eq!(shape.a_aux(), &Density::Some(vec![0, 3, 6]));
        assert_eq!(shape.b_aux(), &Density::Some(vec![1, 4, 7]));
        assert!(shape.b_inputs().is_empty());
        // Six ends of rows a matrix and three of inputs, the words, two indices a part.
        let words = [shape.a(), shape.b(), shape.c()].map(|matrix| matrix.words().len());
        let ends = 3 * shape.num_constraints();
        let tables = shape.a().coefficients().len();
        let expected = 4 * (words.iter().sum::<usize>() + ends + 6) + 32 * tables;
        assert_eq!(shape.bytes(), expected);
        let (shape, _) = Shape::record(square(3)).expect("a shape");
        assert_eq!(
            (shape.a_aux(), shape.b_aux()),
            (&Density::All(1), &Density::All(1))
        );
    }

    #[test]
    fn parts_in_parallel_are_the_whole() {
        let whole = Shape::record(Parts { parallel: false }).expect("a shape");
        let parts = Shape::record(Parts { parallel: true }).expect("a shape");
        assert_eq!(parts, whole);
        let witness = whole
            .0
            .witness(Parts { parallel: true })
            .expect("a witness");
        assert_eq!(witness, whole.1);
    }

    #[test]
    fn another_circuit_is_told_by_its_counts() {
        let (shape, _) = Shape::record(square(3)).expect("a shape");
        let error = shape
            .witness(Parts { parallel: false })
            .expect_err("another circuit");
        assert_eq!(
            error.to_string(),
            "expected a witness with 2 inputs for this circuit, found 4"
        );
    }

    /// Names a variable that it never allocated.
    struct Foreign(Index);

    impl Circuit<Scalar> for Foreign {
        fn synthesize<CS: ConstraintSystem<Scalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), SynthesisError> {
            cs.alloc(|| "x", || Ok(Scalar::ONE))?;
            cs.enforce(
                || "foreign",
                |zero| zero,
                |zero| zero + Variable(self.0),
                |zero| zero,
            );
            Ok(())
        }
    }

    #[test]
    fn a_variable_that_was_never_allocated_is_named() {
        for (index, said) in [
            (
                Index::Aux(1),
                "a constraint names auxiliary variable 1, but the circuit allocated 1",
            ),
            (
                Index::Input(7),
                "a constraint names input variable 7, but the circuit allocated 1",
            ),
        ] {
            let error = Shape::record(Foreign(index)).expect_err("foreign");
            assert_eq!(error.to_string(), said);
        }
        let error = Shape::record(Foreign(Index::Aux(MAX_VARIABLES))).expect_err("too large");
        assert!(matches!(error, ProverError::TooLarge { .. }), "{error}");
    }

    /// A circuit that cannot compute its witness.
    struct Missing;

    impl Circuit<Scalar> for Missing {
        fn synthesize<CS: ConstraintSystem<Scalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), SynthesisError> {
            cs.alloc(|| "x", || Err(SynthesisError::DivisionByZero))
                .map(|_| ())
        }
    }

    #[test]
    fn a_failed_synthesis_keeps_its_reason() {
        let error = Shape::record(Missing).expect_err("no witness");
        let source = std::error::Error::source(&error).expect("a reason");
        assert_eq!(source.to_string(), "division by zero");
    }
}
