//! SHA-256 of a secret text: every variable is a bit, so nearly all of a proof is cheap.

use bellpepper::gadgets::multipack;
use bellpepper::gadgets::sha256::sha256;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use sha2::{Digest as _, Sha256 as Hasher};

/// Rows of one block of 64 bytes, about: what the largest text of a size is reckoned with.
const BLOCK_ROWS: usize = 26_500;

/// Knowledge of a text whose SHA-256 digest is public, as two inputs of 254 and 2 bits.
#[derive(Clone, Debug)]
pub struct Sha256 {
    text: Vec<u8>,
}

impl Sha256 {
    /// A statement about this text.
    pub fn new(text: Vec<u8>) -> Self {
        Self { text }
    }

    /// Bytes of the longest text for 2^`log2` rows; the last block is padding alone.
    pub const fn text_bytes(log2: u32) -> usize {
        let blocks = (1 << log2) / BLOCK_ROWS;
        if blocks < 2 { 55 } else { (blocks - 1) * 64 }
    }

    /// The public inputs.
    pub fn inputs(&self) -> Vec<Scalar> {
        multipack::compute_multipacking(&multipack::bytes_to_bits(&Hasher::digest(&self.text)))
    }
}

impl Circuit<Scalar> for Sha256 {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let bits = multipack::bytes_to_bits(&self.text)
            .into_iter()
            .enumerate()
            .map(|(index, bit)| {
                AllocatedBit::alloc(cs.namespace(|| format!("bit {index}")), Some(bit))
                    .map(Boolean::from)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let digest = sha256(cs.namespace(|| "sha256"), &bits)?;
        multipack::pack_into_inputs(cs.namespace(|| "digest"), &digest)
    }
}
