//! MiMC: a chain of cubes. Every variable is dense, so nothing of a proof is cheap.
//!
//! The permutation of Albrecht, Grassi, Rechberger, Roy and Tiessen, "MiMC: Efficient Encryption
//! and Cryptographic Hashing with Minimal Multiplicative Complexity", ASIACRYPT 2016, section 2,
//! in its Feistel form: (l, r) goes to (r + (l + cᵢ)³, l). Two constraints a round.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field as _;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

/// Knowledge of two numbers that the permutation takes to a public one.
#[derive(Clone, Debug)]
pub struct Mimc {
    start: (Scalar, Scalar),
    constants: Vec<Scalar>,
}

impl Mimc {
    /// So many rounds, with constants that are the same for all numbers.
    pub fn new(start: (Scalar, Scalar), rounds: usize) -> Self {
        let mut dice = ChaCha20Rng::from_seed(*b"round constants of the MiMC test");
        Self {
            start,
            constants: (0..rounds).map(|_| Scalar::random(&mut dice)).collect(),
        }
    }

    /// Rounds that fill a domain of 2^`log2` rows to the last: two a round, and two inputs.
    pub const fn rounds(log2: u32) -> usize {
        (1 << (log2 - 1)) - 1
    }

    /// Where the permutation ends: the public input.
    pub fn image(&self) -> Scalar {
        let (mut left, mut right) = self.start;
        for constant in &self.constants {
            let sum = left + constant;
            (left, right) = (right + sum.square() * sum, left);
        }
        left
    }
}

impl Circuit<Scalar> for Mimc {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let (mut left, mut right) = self.start;
        let mut left_at = cs.alloc(|| "left", || Ok(left))?;
        let mut right_at = cs.alloc(|| "right", || Ok(right))?;
        let last = self.constants.len().saturating_sub(1);
        for (round, constant) in self.constants.iter().enumerate() {
            let sum = left + constant;
            let square = sum.square();
            let square_at = cs.alloc(|| format!("square {round}"), || Ok(square))?;
            let with_constant =
                |variable: Variable| move |lc| lc + variable + (*constant, CS::one());
            cs.enforce(
                || format!("{round} squares"),
                with_constant(left_at),
                with_constant(left_at),
                |lc| lc + square_at,
            );
            let next = right + square * sum;
            let next_at = if round == last {
                cs.alloc_input(|| "image", || Ok(next))?
            } else {
                cs.alloc(|| format!("left {round}"), || Ok(next))?
            };
            cs.enforce(
                || format!("cube {round}"),
                |lc| lc + square_at,
                with_constant(left_at),
                |lc| lc + next_at - right_at,
            );
            (left, right) = (next, left);
            (left_at, right_at) = (next_at, left_at);
        }
        Ok(())
    }
}
