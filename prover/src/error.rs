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
    /// The circuit's own code failed.
    #[error("the circuit could not be synthesised")]
    Synthesis(#[from] bellpepper_core::SynthesisError),
    /// A witness or a key that belongs to another circuit.
    #[error("expected {what} with {expected} {of} for this circuit, found {found}")]
    OtherCircuit {
        /// What does not fit.
        what: &'static str,
        /// What was counted.
        of: &'static str,
        /// How many the circuit has.
        expected: usize,
        /// How many were found.
        found: usize,
    },
    /// A constraint names a variable that was never allocated.
    #[error("a constraint names {kind} variable {index}, but the circuit allocated {count}")]
    UnknownVariable {
        /// Input or auxiliary.
        kind: &'static str,
        /// The variable.
        index: usize,
        /// How many of its kind there are.
        count: usize,
    },
    /// More variables, constraints or terms than the matrices can hold.
    #[error(
        "{constraints} constraints over {variables} variables; at most {most} of each are held"
    )]
    TooLarge {
        /// Variables of the kind that has more.
        variables: usize,
        /// Rows of the matrices.
        constraints: usize,
        /// Most of each.
        most: usize,
    },
    /// The witness breaks a constraint: no proof of it would verify.
    #[error("the witness does not satisfy constraint {row} of {rows}, counted from 0")]
    Unsatisfied {
        /// The first such constraint.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// A key whose δ is the point at infinity, so that proofs would show the witness.
    #[error("δ of the key is the point at infinity: its proofs would hide nothing")]
    WeakKey,
}
