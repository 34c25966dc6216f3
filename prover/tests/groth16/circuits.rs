//! The circuits that are proved: a dense witness, a witness of bits, and one with every oddity that
//! a linear combination can have.

use bellpepper::gadgets::{multieq::MultiEq, multipack, sha256::sha256, uint32::UInt32};
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field as _;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore as _, SeedableRng as _};

/// `MiMC`: x ↦ (x + c)³ in a Feistel net, two constraints a round. Every value is dense.
#[derive(Clone)]
pub(crate) struct Mimc {
    constants: Vec<Scalar>,
    left: Scalar,
    right: Scalar,
}

impl Mimc {
    /// Exactly 2^`log2` rows: two a round, one for "one" and one for the image.
    pub(crate) fn rows(log2: u32, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let constants = (1..1 << (log2 - 1))
            .map(|_| Scalar::random(&mut rng))
            .collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Self {
            constants,
            left: Scalar::random(&mut rng),
            right: Scalar::random(&mut rng),
        }
    }
}

impl Circuit<Scalar> for Mimc {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let (mut left, mut right) = (self.left, self.right);
        let mut left_var = cs.alloc(|| "left", || Ok(left))?;
        let mut right_var = cs.alloc(|| "right", || Ok(right))?;
        for (round, constant) in self.constants.iter().enumerate() {
            let square = (left + constant).square();
            let square_var = cs.alloc(|| "square", || Ok(square))?;
            let shifted =
                |zero: LinearCombination<Scalar>| zero + left_var + (*constant, CS::one());
            cs.enforce(|| "square", shifted, shifted, |zero| zero + square_var);
            let next = square * (left + constant) + right;
            let next_var = if round + 1 == self.constants.len() {
                cs.alloc_input(|| "image", || Ok(next))?
            } else {
                cs.alloc(|| "next", || Ok(next))?
            };
            cs.enforce(
                || "cube",
                |zero| zero + square_var,
                shifted,
                |zero| zero + next_var - right_var,
            );
            (left, right) = (next, left);
            (left_var, right_var) = (next_var, left_var);
        }
        Ok(())
    }
}

/// SHA-256 of so many blocks less the padding, its digest packed into public inputs; all bits.
#[derive(Clone)]
pub(crate) struct Sha {
    message: Vec<u8>,
}

impl Sha {
    /// `blocks` compressions: 26,369 rows each, about.
    pub(crate) fn blocks(blocks: usize, seed: u64) -> Self {
        let mut message = vec![0; 64 * blocks - 9];
        ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut message);
        Self { message }
    }
}

fn bits<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    bytes: &[u8],
) -> Result<Vec<Boolean>, SynthesisError> {
    let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1 == 1;
    (0..8 * bytes.len())
        .map(|at| {
            let cs = cs.namespace(|| format!("bit {at}"));
            Ok(Boolean::from(AllocatedBit::alloc(cs, Some(bit(at)))?))
        })
        .collect()
}

impl Circuit<Scalar> for Sha {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let message = bits(cs, &self.message)?;
        let digest = sha256(cs.namespace(|| "sha256"), &message)?;
        multipack::pack_into_inputs(cs.namespace(|| "digest"), &digest)
    }
}

/// Rounds of the functions that SHA-256 is made of, for sizes below one compression.
#[derive(Clone)]
pub(crate) struct ShaRounds {
    /// How many; about 330 rows each.
    pub(crate) rounds: usize,
    pub(crate) seed: u64,
}

impl Circuit<Scalar> for ShaRounds {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut state = (0..4)
            .map(|word| {
                UInt32::alloc(
                    cs.namespace(|| format!("word {word}")),
                    Some(rng.next_u32()),
                )
            })
            .collect::<Result<Vec<_>, _>>()?;
        {
            let mut cs = MultiEq::new(cs.namespace(|| "rounds"));
            for round in 0..self.rounds {
                let mut cs = cs.namespace(|| format!("round {round}"));
                let [x, y, z, w] = [0, 1, 2, 3].map(|word| state[word].clone());
                let choice = UInt32::sha256_ch(cs.namespace(|| "ch"), &x, &y, &z)?;
                let majority = UInt32::sha256_maj(cs.namespace(|| "maj"), &x, &y, &z)?;
                let sigma = x.rotr(6).xor(cs.namespace(|| "xor"), &x.rotr(11))?;
                let sum = UInt32::addmany(
                    cs.namespace(|| "sum"),
                    &[choice, majority, sigma, w, UInt32::constant(0x428a_2f98)],
                )?;
                state = vec![sum, x, y, z];
            }
        }
        let bits: Vec<_> = state.into_iter().flat_map(UInt32::into_bits_be).collect();
        multipack::pack_into_inputs(cs.namespace(|| "state"), &bits)
    }
}

/// Zero coefficients, terms named twice, terms that cancel, empty combinations, variables that
/// occur in C only, inputs in B, bits and dense values together.
#[derive(Clone)]
pub(crate) struct Mixed {
    pub(crate) blocks: usize,
    pub(crate) seed: u64,
}

impl Mixed {
    fn block<CS: ConstraintSystem<Scalar>>(
        cs: &mut CS,
        rng: &mut ChaCha8Rng,
        input: (Scalar, Variable),
    ) -> Result<(), SynthesisError> {
        let (value, factor) = (Scalar::random(&mut *rng), Scalar::from(rng.next_u64()));
        let bit = Scalar::from(rng.next_u64() & 1);
        let x = cs.alloc(|| "x", || Ok(value))?;
        let y = cs.alloc(|| "y", || Ok(bit))?;
        let bit_row = |zero: LinearCombination<Scalar>| zero + CS::one() - y;
        cs.enforce(|| "bit", bit_row, |zero| zero + y, |zero| zero);
        // (2x + 0·y) · (input + y − y) = z, where z occurs in C only.
        let z = cs.alloc(|| "z", || Ok(value.double() * input.0))?;
        cs.enforce(
            || "duplicate and zero",
            |zero| zero + x + x + (Scalar::ZERO, y),
            |zero| zero + input.1 + y - y,
            |zero| zero + z,
        );
        // 0 · x = 0, an empty side; and −factor·x · y = −w.
        cs.enforce(|| "empty", |zero| zero, |zero| zero + x, |zero| zero);
        let w = cs.alloc(|| "w", || Ok(factor * value * bit))?;
        cs.enforce(
            || "minus",
            |zero| zero - (factor, x),
            |zero| zero + (Scalar::ZERO, x) + y,
            |zero| zero - w,
        );
        Ok(())
    }
}

impl Circuit<Scalar> for Mixed {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let values = [0; 3].map(|_| Scalar::random(&mut rng));
        let mut inputs = Vec::new();
        for value in values {
            inputs.push((value, cs.alloc_input(|| "input", || Ok(value))?));
        }
        for block in 0..self.blocks {
            // The last input occurs in no constraint of the circuit's own.
            Self::block(cs, &mut rng, inputs[block % 2])?;
        }
        Ok(())
    }
}
