//! Why the crate could not do what it was asked. A proof that does not verify is an error here: it
//! is never handed out.

/// What can go wrong while a proof is made or checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProverError {
    /// A proof was asked for, or checked, with another number of public inputs than the key has.
    #[error("expected {expected} public inputs for this verifying key, found {found}")]
    PublicInputs {
        /// Public inputs of the key, the constant one not counted.
        expected: usize,
        /// Public inputs that were given.
        found: usize,
    },
    /// 192 bytes that are no proof.
    #[error("expected a proof of 192 bytes (A, B, C compressed), found {found}")]
    ProofBytes {
        /// What was there instead.
        found: String,
    },
}
