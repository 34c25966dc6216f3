//! The constraint systems that circuits are synthesised into: the first time values and matrices
//! are kept ([`Recorder`]), every later time the values only ([`Witness`]).

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field as _;
use rayon::prelude::*;

use super::{Assignment, matrix::Builder};

/// What is done with the constraints of a synthesis.
pub(super) trait Rows: Default + Send {
    /// Whether they are not looked at, so that gadgets may take a shorter way to their values.
    const IGNORED: bool;

    /// Takes a constraint in.
    fn push<A, B, C>(&mut self, a: A, b: B, c: C)
    where
        A: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        B: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        C: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>;

    /// Appends what was synthesised apart; before it there are so many inputs and others.
    fn extend(&mut self, other: &Self, inputs: usize, aux: usize);
}

/// Zeros from which on more threads pay.
const MANY: usize = 1 << 20;

/// The three matrices.
#[derive(Debug, Default)]
pub(super) struct Matrices {
    pub(super) a: Builder,
    pub(super) b: Builder,
    pub(super) c: Builder,
    pub(super) count: usize,
}

impl Rows for Matrices {
    const IGNORED: bool = false;

    fn push<A, B, C>(&mut self, a: A, b: B, c: C)
    where
        A: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        B: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        C: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        self.a.push(&a(LinearCombination::zero()));
        self.b.push(&b(LinearCombination::zero()));
        self.c.push(&c(LinearCombination::zero()));
        self.count += 1;
    }

    fn extend(&mut self, other: &Self, inputs: usize, aux: usize) {
        self.a.extend(&other.a, inputs, aux);
        self.b.extend(&other.b, inputs, aux);
        self.c.extend(&other.c, inputs, aux);
        self.count += other.count;
    }
}

/// Nothing is kept of the constraints; they are not even formed.
impl Rows for () {
    const IGNORED: bool = true;

    fn push<A, B, C>(&mut self, _: A, _: B, _: C) {}

    fn extend(&mut self, (): &Self, _: usize, _: usize) {}
}

/// A synthesis on its way. It starts empty, without the input "one", as circuits that are
/// synthesised in parallel parts expect of [`ConstraintSystem::new`].
#[derive(Debug, Default)]
pub(super) struct Synthesis<R> {
    pub(super) values: Assignment,
    pub(super) rows: R,
}

/// Records a synthesis whole.
pub(super) type Recorder = Synthesis<Matrices>;
/// Keeps the values.
pub(super) type Witness = Synthesis<()>;

/// Appends `count` zeros and gives them out.
fn grow(values: &mut Vec<Scalar>, count: usize) -> &mut [Scalar] {
    let start = values.len();
    if count < MANY {
        values.resize(start + count, Scalar::ZERO);
    } else {
        // By all threads: the first touch of a page costs more than what is written there.
        values.par_extend(rayon::iter::repeat_n(Scalar::ZERO, count));
    }
    &mut values[start..]
}

impl<R: Rows> ConstraintSystem<Scalar> for Synthesis<R> {
    type Root = Self;

    fn new() -> Self {
        Self::default()
    }

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.values.aux.push(value()?);
        Ok(Variable(Index::Aux(self.values.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.values.inputs.push(value()?);
        Ok(Variable(Index::Input(self.values.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        self.rows.push(a, b, c);
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }

    fn is_extensible() -> bool {
        true
    }

    fn extend(&mut self, other: &Self) {
        let (inputs, aux) = (self.values.inputs.len(), self.values.aux.len());
        self.rows.extend(&other.rows, inputs, aux);
        self.values.extend(&other.values);
    }

    fn is_witness_generator(&self) -> bool {
        R::IGNORED
    }

    fn extend_inputs(&mut self, inputs: &[Scalar]) {
        self.values.inputs.extend_from_slice(inputs);
    }

    fn extend_aux(&mut self, aux: &[Scalar]) {
        self.values.aux.extend_from_slice(aux);
    }

    fn allocate_empty(&mut self, aux: usize, inputs: usize) -> (&mut [Scalar], &mut [Scalar]) {
        (
            grow(&mut self.values.aux, aux),
            grow(&mut self.values.inputs, inputs),
        )
    }

    fn allocate_empty_inputs(&mut self, count: usize) -> &mut [Scalar] {
        grow(&mut self.values.inputs, count)
    }

    fn allocate_empty_aux(&mut self, count: usize) -> &mut [Scalar] {
        grow(&mut self.values.aux, count)
    }

    fn inputs_slice(&self) -> &[Scalar] {
        &self.values.inputs
    }

    fn aux_slice(&self) -> &[Scalar] {
        &self.values.aux
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gadgets_that_know_a_shorter_way_may_take_it() {
        let mut cs = Witness::new();
        assert!(cs.is_witness_generator());
        cs.extend_inputs(&[Scalar::ONE]);
        cs.extend_aux(&[Scalar::from(2)]);
        let (aux, inputs) = cs.allocate_empty(1, 2);
        aux[0] = Scalar::from(3);
        inputs[1] = Scalar::from(4);
        cs.allocate_empty_aux(1)[0] = Scalar::from(5);
        cs.allocate_empty_inputs(1)[0] = Scalar::from(6);
        assert_eq!(cs.inputs_slice(), [1, 0, 4, 6].map(Scalar::from));
        assert_eq!(cs.aux_slice(), [2, 3, 5].map(Scalar::from));
        let variable = cs.alloc(|| "next", || Ok(Scalar::ZERO)).expect("a value");
        assert_eq!(variable.0, Index::Aux(3));
    }

    #[test]
    fn constraints_are_not_even_formed() {
        let mut cs = Witness::new();
        let mut formed = false;
        cs.enforce(
            || "",
            |zero| {
                formed = true;
                zero
            },
            |zero| zero,
            |zero| zero,
        );
        assert!(!formed);
    }
}
