//! Poseidon, natively and in a circuit, with Filecoin's parameters: Grassi, Khovratovich,
//! Rechberger, Roy and Schofnegger, "Poseidon: A New Hash Function for Zero-Knowledge Proof
//! Systems", USENIX Security 2021. The functions are neptune's; here are the constants, made once,
//! and a circuit that is a chain of hashes.

use std::sync::LazyLock;

use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use generic_array::typenum::{U2, U8};
use neptune::circuit2::poseidon_hash_allocated;
use neptune::poseidon::{Poseidon as Hasher, PoseidonConstants};

/// Numbers that one hash of a tree takes in.
pub(super) const ARITY: usize = 8;
/// Rows of one hash of eight numbers, about.
const HASH_ROWS: usize = 400;

static EIGHT: LazyLock<PoseidonConstants<Scalar, U8>> = LazyLock::new(PoseidonConstants::new);
static TWO: LazyLock<PoseidonConstants<Scalar, U2>> = LazyLock::new(PoseidonConstants::new);

/// The hash of eight numbers.
pub(super) fn hash8(children: &[Scalar; ARITY]) -> Scalar {
    Hasher::new_with_preimage(children, &EIGHT).hash()
}

/// The hash of two numbers.
pub(super) fn hash2(pair: &[Scalar; 2]) -> Scalar {
    Hasher::new_with_preimage(pair, &TWO).hash()
}

/// The hash of eight variables.
pub(super) fn circuit8<CS: ConstraintSystem<Scalar>>(
    cs: CS,
    children: Vec<AllocatedNum<Scalar>>,
) -> Result<AllocatedNum<Scalar>, SynthesisError> {
    poseidon_hash_allocated(cs, children, &EIGHT)
}

/// The hash of two variables.
pub(super) fn circuit2<CS: ConstraintSystem<Scalar>>(
    cs: CS,
    pair: Vec<AllocatedNum<Scalar>>,
) -> Result<AllocatedNum<Scalar>, SynthesisError> {
    poseidon_hash_allocated(cs, pair, &TWO)
}

/// Knowledge of eight numbers at the start of a chain of hashes whose end is public: each link
/// hashes the eight numbers before it.
#[derive(Clone, Debug)]
pub struct Poseidon {
    start: [Scalar; ARITY],
    links: usize,
}

impl Poseidon {
    /// A chain of so many hashes.
    pub fn new(start: [Scalar; ARITY], links: usize) -> Self {
        Self { start, links }
    }

    /// Links for 2^`log2` rows.
    pub const fn links(log2: u32) -> usize {
        (1 << log2) / HASH_ROWS
    }

    /// The end of the chain: the public input.
    pub fn end(&self) -> Scalar {
        let mut window = self.start;
        for _link in 0..self.links {
            let next = hash8(&window);
            window.rotate_left(1);
            window[ARITY - 1] = next;
        }
        window[ARITY - 1]
    }
}

impl Circuit<Scalar> for Poseidon {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut chain = self
            .start
            .into_iter()
            .enumerate()
            .map(|(index, number)| {
                AllocatedNum::alloc(cs.namespace(|| format!("start {index}")), || Ok(number))
            })
            .collect::<Result<Vec<_>, _>>()?;
        for link in 0..self.links {
            let window = chain[link..link + ARITY].to_vec();
            chain.push(circuit8(cs.namespace(|| format!("link {link}")), window)?);
        }
        match chain.last() {
            Some(end) => end.inputize(cs.namespace(|| "end")),
            None => Err(SynthesisError::AssignmentMissing),
        }
    }
}
