//! The constraint system of every later synthesis of a shape: it keeps values only, and tells
//! gadgets that know a shorter way to their values that they may take it.

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field as _;

use super::Assignment;

/// Keeps the values of a synthesis. Like [`super::record::Recorder`] it starts empty.
#[derive(Debug, Default)]
pub(super) struct Witness {
    pub(super) values: Assignment,
}

/// Appends `count` zeros and gives them out.
fn grow(values: &mut Vec<Scalar>, count: usize) -> &mut [Scalar] {
    let start = values.len();
    values.resize(start + count, Scalar::ZERO);
    &mut values[start..]
}

impl ConstraintSystem<Scalar> for Witness {
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

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
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
        self.values.extend(&other.values);
    }

    fn is_witness_generator(&self) -> bool {
        true
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
