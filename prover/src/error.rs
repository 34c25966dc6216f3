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
    /// A domain was asked for that the field has no root of unity for.
    #[error("expected a domain of at most 2^32 points, found 2^{log2}: split the circuit")]
    DomainTooLarge {
        /// Binary logarithm of the size that was asked for.
        log2: u32,
    },
    /// A transform was given another number of values than its domain has points.
    #[error("expected {expected} values for a transform over this domain, found {found}")]
    DomainLength {
        /// Points of the domain.
        expected: usize,
        /// Values that were given.
        found: usize,
    },
}
