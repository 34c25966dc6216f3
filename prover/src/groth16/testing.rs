//! Small circuits for the tests of this folder.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field as _;

/// x · x = the one public input.
pub(super) struct Square(Scalar);

/// A circuit of one constraint over `x`.
pub(super) fn square(x: u64) -> Square {
    Square(Scalar::from(x))
}

impl Circuit<Scalar> for Square {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || Ok(self.0))?;
        let square = cs.alloc_input(|| "square", || Ok(self.0.square()))?;
        cs.enforce(
            || "square",
            |zero| zero + x,
            |zero| zero + x,
            |zero| zero + square,
        );
        Ok(())
    }
}

/// Three parts that share nothing but "one", synthesised one after the other or apart and joined,
/// as Filecoin's circuits do where the constraint system lets them.
pub(super) struct Parts {
    pub(super) parallel: bool,
}

impl Parts {
    fn part<CS: ConstraintSystem<Scalar>>(cs: &mut CS, seed: u64) -> Result<(), SynthesisError> {
        let (x, y) = (Scalar::from(seed + 2), Scalar::from(seed + 3));
        let x_var = cs.alloc(|| "x", || Ok(x))?;
        let y_var = cs.alloc(|| "y", || Ok(y))?;
        let z_var = cs.alloc(|| "z", || Ok(x * y))?;
        let sum = x * y + Scalar::ONE;
        let sum_var = cs.alloc_input(|| "sum", || Ok(sum))?;
        cs.enforce(
            || "product",
            |zero| zero + x_var,
            |zero| zero + y_var,
            |zero| zero + z_var,
        );
        cs.enforce(
            || "sum",
            |zero| zero + (sum, CS::one()) + x_var - x_var,
            |zero| zero + (Scalar::ONE, y_var) - y_var,
            |zero| zero + sum_var - z_var - CS::one(),
        );
        Ok(())
    }
}

impl Circuit<Scalar> for Parts {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        for seed in 0..3 {
            if self.parallel && CS::is_extensible() {
                let mut part = CS::new();
                part.alloc_input(|| "one", || Ok(Scalar::ONE))?;
                Self::part(&mut part, seed)?;
                cs.extend(&part);
            } else {
                Self::part(cs, seed)?;
            }
        }
        Ok(())
    }
}
