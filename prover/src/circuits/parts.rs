//! Circuits of many parts that share nothing but "one": synthesised side by side where the
//! constraint system lets them, one after another where it does not, with the same outcome.

use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field as _;
use rayon::prelude::*;

type Result<T> = std::result::Result<T, SynthesisError>;

/// A circuit made of parts. All parts allocate the same numbers of variables, each its own, and
/// have the same constraints.
pub(super) trait Parts: Sync {
    /// How many.
    fn count(&self) -> usize;

    /// Synthesises one of them, from 0 on.
    fn part<CS: ConstraintSystem<Scalar>>(&self, cs: &mut CS, index: usize) -> Result<()>;
}

/// Synthesises all parts.
pub(super) fn synthesize<P: Parts, CS: ConstraintSystem<Scalar>>(
    parts: &P,
    cs: &mut CS,
) -> Result<()> {
    if !CS::is_extensible() {
        for index in 0..parts.count() {
            parts.part(&mut cs.namespace(|| format!("part {index}")), index)?;
        }
        return Ok(());
    }
    if cs.is_witness_generator() {
        return values(parts, cs);
    }
    let wave = 2 * rayon::current_num_threads();
    for first in (0..parts.count()).step_by(wave) {
        let last = parts.count().min(first + wave);
        let made: Vec<Result<CS>> = (first..last)
            .into_par_iter()
            .map(|index| apart(parts, index))
            .collect();
        for part in made {
            cs.extend(&part?);
        }
    }
    Ok(())
}

/// One part in a constraint system of its own.
fn apart<P: Parts, CS: ConstraintSystem<Scalar>>(parts: &P, index: usize) -> Result<CS> {
    let mut cs = CS::new();
    cs.alloc_input(|| "one", || Ok(Scalar::ONE))?;
    parts.part(&mut cs, index)?;
    Ok(cs)
}

/// The values of all parts, each thread writing its own to their place.
fn values<P: Parts, CS: ConstraintSystem<Scalar>>(parts: &P, cs: &mut CS) -> Result<()> {
    if parts.count() == 0 {
        return Ok(());
    }
    let first: CS = apart(parts, 0)?;
    let sizes = (first.aux_slice().len(), first.inputs_slice().len() - 1);
    drop(first);
    let (aux, inputs) = cs.allocate_empty(sizes.0 * parts.count(), sizes.1 * parts.count());
    // A part without variables of a kind has an empty piece of it.
    let aux = aux.par_chunks_mut(sizes.0.max(1));
    let mut inputs: Vec<&mut [Scalar]> = inputs.chunks_mut(sizes.1.max(1)).collect();
    inputs.resize_with(parts.count(), || &mut []);
    aux.zip(inputs)
        .enumerate()
        .try_for_each(|(index, (aux, inputs))| {
            let part: CS = apart(parts, index)?;
            let found = (part.aux_slice().len(), part.inputs_slice().len() - 1);
            if found != sizes {
                return Err(SynthesisError::Unsatisfiable);
            }
            aux.copy_from_slice(part.aux_slice());
            inputs.copy_from_slice(part.inputs_slice().get(1..).unwrap_or(&[]));
            Ok(())
        })
}
