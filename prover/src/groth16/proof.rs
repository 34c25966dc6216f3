//! The proof itself and its 192 bytes.

use blstrs::{G1Affine, G2Affine};
use group::GroupEncoding as _;

use crate::ProverError;

/// Length of a proof: A (48), B (96), C (48), compressed.
pub const PROOF_BYTES: usize = 192;

/// A Groth16 proof over BLS12-381.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// A in G1.
    pub a: G1Affine,
    /// B in G2.
    pub b: G2Affine,
    /// C in G1.
    pub c: G1Affine,
}

impl Proof {
    /// A, B, C compressed, in this order: the encoding of bellperson and of Filecoin's chain.
    pub fn to_bytes(self) -> [u8; PROOF_BYTES] {
        let mut bytes = [0; PROOF_BYTES];
        let (a, rest) = bytes.split_at_mut(48);
        let (b, c) = rest.split_at_mut(96);
        a.copy_from_slice(self.a.to_bytes().as_ref());
        b.copy_from_slice(self.b.to_bytes().as_ref());
        c.copy_from_slice(self.c.to_bytes().as_ref());
        bytes
    }

    /// Reads what [`Proof::to_bytes`] wrote; every point is checked to be in its subgroup.
    ///
    /// # Errors
    /// [`ProverError::ProofBytes`] if the length is another, or a point is none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProverError> {
        let found = |found: String| ProverError::ProofBytes { found };
        let whole: &[u8; PROOF_BYTES] = bytes
            .try_into()
            .map_err(|_length| found(format!("{} bytes", bytes.len())))?;
        let (a, rest) = whole.split_at(48);
        let (b, c) = rest.split_at(96);
        let g1 = |part: &[u8], name: &str| {
            let mut repr = <G1Affine as group::GroupEncoding>::Repr::default();
            repr.as_mut().copy_from_slice(part);
            Option::from(G1Affine::from_bytes(&repr))
                .ok_or_else(|| found(format!("{name} that is no point of G1")))
        };
        let mut repr = <G2Affine as group::GroupEncoding>::Repr::default();
        repr.as_mut().copy_from_slice(b);
        Ok(Self {
            a: g1(a, "A")?,
            b: Option::from(G2Affine::from_bytes(&repr))
                .ok_or_else(|| found("B that is no point of G2".to_owned()))?,
            c: g1(c, "C")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Projective, G2Projective, Scalar};
    use group::{Curve as _, Group as _};

    use super::*;

    fn proof() -> Proof {
        Proof {
            a: (G1Projective::generator() * Scalar::from(3)).to_affine(),
            b: (G2Projective::generator() * Scalar::from(5)).to_affine(),
            c: (G1Projective::generator() * Scalar::from(7)).to_affine(),
        }
    }

    #[test]
    fn bytes_round_trip() {
        let bytes = proof().to_bytes();
        assert_eq!(Proof::from_bytes(&bytes).ok(), Some(proof()));
    }

    #[test]
    fn another_length_says_what_was_found() {
        let error = Proof::from_bytes(&[0; 191]).expect_err("too short");
        assert!(error.to_string().contains("191 bytes"), "{error}");
    }

    #[test]
    fn every_flipped_bit_of_a_is_another_proof_or_none() {
        let bytes = proof().to_bytes();
        for bit in 0..48 * 8 {
            let mut torn = bytes;
            torn[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Proof::from_bytes(&torn).ok(), Some(proof()), "bit {bit}");
        }
    }
}
