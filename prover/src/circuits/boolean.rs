//! Nine variables of ten are random bits, the tenth is dense: the mix that provers are compared
//! with, at any size, and quick to synthesise.
//!
//! A link of the chain takes up nine bits bᵢ: the next number is (x + Σ 2^i·bᵢ)·x for the number x
//! before it. Each bit costs a constraint (1 − b)·b = 0, each link one. The chains start at secret
//! numbers and end at public ones.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field as _;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use rayon::prelude::*;

use super::parts::{self, Parts};

/// Bits of a link.
const BITS: usize = 9;
/// Binary logarithm of the rows of a chain, where there are several.
const CHAIN_LOG2: u32 = 15;

/// Knowledge of the starts and the bits of chains whose ends are public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boolean {
    seed: u64,
    chains: usize,
    /// Constraints of a chain.
    rows: usize,
}

impl Boolean {
    /// Chains with bits and starts of this seed that fill a domain of 2^`log2` rows but for a few.
    pub const fn new(seed: u64, log2: u32) -> Self {
        let chains = 1 << log2.saturating_sub(CHAIN_LOG2);
        // Each chain has a row for its public input, and one is for the constant one.
        let rows = ((1 << log2) - 1) / chains - 1;
        Self { seed, chains, rows }
    }

    /// Bits of each link of a chain: the first takes up what is left.
    fn links(self) -> impl Iterator<Item = usize> {
        let links = self.rows.div_ceil(BITS + 1);
        let rest = self.rows - (links - 1) * (BITS + 1) - 1;
        std::iter::once(rest).chain(std::iter::repeat_n(BITS, links - 1))
    }

    /// The start of a chain, and the dice of its bits.
    fn dice(self, chain: usize) -> (Scalar, ChaCha20Rng) {
        let mut dice = ChaCha20Rng::seed_from_u64(self.seed);
        dice.set_stream(chain as u64);
        (Scalar::random(&mut dice), dice)
    }

    /// The public inputs: where each chain ends.
    pub fn inputs(self) -> Vec<Scalar> {
        let end = |chain| {
            let (start, mut dice) = self.dice(chain);
            let next = |number, bits| next(number, dice.next_u32(), bits);
            self.links().fold(start, next)
        };
        (0..self.chains).into_par_iter().map(end).collect()
    }

    /// The first chain alone: what the shape of all is a repetition of.
    pub(super) const fn first(self) -> Self {
        Self { chains: 1, ..self }
    }

    /// How many chains there are.
    pub(super) const fn chains(self) -> usize {
        self.chains
    }
}

/// The number after `number`: the lowest `bits` bits of `word` are taken up.
fn next(number: Scalar, word: u32, bits: usize) -> Scalar {
    let taken = word & ((1 << bits) - 1);
    (number + Scalar::from(u64::from(taken))) * number
}

impl Parts for Boolean {
    fn count(&self) -> usize {
        self.chains
    }

    fn part<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        index: usize,
    ) -> Result<(), SynthesisError> {
        let (mut number, mut dice) = self.dice(index);
        let mut at = cs.alloc(|| "start", || Ok(number))?;
        let mut weights = [Scalar::ONE; BITS];
        for place in 1..BITS {
            weights[place] = weights[place - 1].double();
        }
        let mut links = self.links().enumerate().peekable();
        let mut bits = Vec::with_capacity(BITS);
        while let Some((link, count)) = links.next() {
            let word = dice.next_u32();
            bits.clear();
            for place in 0..count {
                bits.push(bit(cs, word >> place & 1 == 1, (link, place))?);
            }
            number = next(number, word, count);
            let name = || format!("number {link}");
            let next = if links.peek().is_none() {
                cs.alloc_input(name, || Ok(number))?
            } else {
                cs.alloc(name, || Ok(number))?
            };
            cs.enforce(
                || format!("link {link}"),
                |lc| {
                    let terms = weights.iter().zip(&bits);
                    terms.fold(lc + at, |lc, (weight, bit)| lc + (*weight, *bit))
                },
                |lc| lc + at,
                |lc| lc + next,
            );
            at = next;
        }
        Ok(())
    }
}

/// A variable that is zero or one.
fn bit<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    value: bool,
    (link, place): (usize, usize),
) -> Result<Variable, SynthesisError> {
    let value = if value { Scalar::ONE } else { Scalar::ZERO };
    let bit = cs.alloc(|| format!("bit {place} of link {link}"), || Ok(value))?;
    cs.enforce(
        || format!("bit {place} of link {link} is one"),
        |lc| lc + CS::one() - bit,
        |lc| lc + bit,
        |lc| lc,
    );
    Ok(bit)
}

impl Circuit<Scalar> for Boolean {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        parts::synthesize(&self, cs)
    }
}
