//! What a daemon can prove: the way from a request to circuits, and the parameters they need.

use std::fmt;

use super::wire::{ProofKind, SubmitProofRequest};
use crate::device::Work;

/// The circuits of a daemon and their parameters.
pub trait Kinds<W: Work>: Send + Sync + fmt::Debug + 'static {
    /// Loads what a request needs before it is read; true if all of it was there already. May
    /// take long.
    ///
    /// # Errors
    /// [`Refusal`]: this daemon cannot serve the kind, or not now.
    fn load(&self, _request: &SubmitProofRequest) -> Result<bool, Refusal> {
        Ok(true)
    }

    /// The partitions of a request, in order. May take long: it parses.
    ///
    /// # Errors
    /// [`Refusal`]: the request makes no sense, or this daemon cannot serve its kind.
    fn circuits(&self, request: &SubmitProofRequest) -> Result<Vec<W::Circuit>, Refusal>;

    /// A proof as it goes over the wire.
    fn bytes(&self, proof: &W::Proof) -> Vec<u8>;

    /// Loads parameters before they are needed; true if they were there already.
    ///
    /// # Errors
    /// [`Refusal`]: no such circuit, or parameters that cannot be read.
    fn preload(&self, circuit_id: &str) -> Result<bool, Refusal>;

    /// Gives parameters back and says how many bytes; none if they were not loaded.
    ///
    /// # Errors
    /// [`Refusal`]: no such circuit, or a job uses them.
    fn evict(&self, circuit_id: &str) -> Result<Option<u64>, Refusal>;

    /// The parameters that are loaded, by circuit.
    fn loaded(&self) -> Vec<Loaded>;
}

/// Parameters in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The circuit, as `PreloadSRS` names it.
    pub circuit_id: String,
    /// Their size in bytes.
    pub bytes: u64,
    /// Open jobs that use them.
    pub users: u32,
}

/// Why a request is not served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The request makes no sense, whoever reads it.
    #[error("{0}")]
    Invalid(String),
    /// The kind exists and this binary was built without it.
    #[error(
        "{kind} needs the feature `{feature}` of the crate prover, and this daemon was built \
         without it"
    )]
    NotBuilt {
        /// The kind of proof.
        kind: &'static str,
        /// The feature that brings it.
        feature: &'static str,
    },
    /// The kind exists and is served by no build of this daemon.
    #[error("{kind} is not served: this prover has no circuit for it")]
    NotServed {
        /// The kind of proof.
        kind: &'static str,
    },
    /// Something has to be done first: parameters to be made, a job to end.
    #[error("{0}")]
    NotReady(String),
    /// No circuit has this name.
    #[error("no circuit is named {found:?}; this daemon has {known}")]
    UnknownCircuit {
        /// What was asked for.
        found: String,
        /// What there is.
        known: String,
    },
}

/// The kind of a request.
///
/// # Errors
/// [`Refusal::Invalid`] for none and for a number that is no kind.
pub fn kind_of(request: &SubmitProofRequest) -> Result<ProofKind, Refusal> {
    match ProofKind::try_from(request.proof_kind) {
        Ok(ProofKind::Unspecified) => Err(Refusal::Invalid(
            "proof_kind is not set; expected 1 to 4 (POREP_SEAL_COMMIT, SNAP_DEALS_UPDATE, \
             WINDOW_POST_PARTITION, WINNING_POST)"
                .to_owned(),
        )),
        Ok(kind) => Ok(kind),
        Err(_unknown) => Err(Refusal::Invalid(format!(
            "proof_kind is {}; expected 1 to 4",
            request.proof_kind
        ))),
    }
}

/// The word for a kind in tables, metrics and traces.
pub const fn word(kind: ProofKind) -> &'static str {
    match kind {
        ProofKind::Unspecified => "unspecified",
        ProofKind::PorepSealCommit => "porep-c2",
        ProofKind::SnapDealsUpdate => "snap-deals",
        ProofKind::WindowPostPartition => "window-post",
        ProofKind::WinningPost => "winning-post",
    }
}
