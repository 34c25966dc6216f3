//! The constraint system that a circuit is first synthesised into: it keeps values and matrices.

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;

use super::{Assignment, matrix::Builder};

/// Records a synthesis whole. It starts empty, without the input "one", as circuits that are
/// synthesised in parallel parts expect of [`ConstraintSystem::new`].
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) values: Assignment,
    pub(super) a: Builder,
    pub(super) b: Builder,
    pub(super) c: Builder,
    pub(super) rows: usize,
}

impl ConstraintSystem<Scalar> for Recorder {
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
        self.a.push(&a(LinearCombination::zero()));
        self.b.push(&b(LinearCombination::zero()));
        self.c.push(&c(LinearCombination::zero()));
        self.rows += 1;
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
        self.a.extend(&other.a, inputs, aux);
        self.b.extend(&other.b, inputs, aux);
        self.c.extend(&other.c, inputs, aux);
        self.rows += other.rows;
        self.values.extend(&other.values);
    }
}
