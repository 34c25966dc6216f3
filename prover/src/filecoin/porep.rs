//! The proof that a sector is sealed: one partition, or thirteen of a non-interactive one.

use std::fmt;
use std::path::PathBuf;

use blstrs::Scalar;
use filecoin_proofs::constants::{DefaultPieceDomain, DefaultPieceHasher, SECTOR_SIZE_2_KIB};
use filecoin_proofs::parameters::setup_params;
use filecoin_proofs::{PoRepConfig, SealCommitPhase1Output, as_safe_commitment, verify_seal};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use storage_proofs_core::api_version::{ApiFeature, ApiVersion};
use storage_proofs_core::compound_proof::{self, CompoundProof as _};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{
    PublicInputs, StackedCircuit, StackedCompound, StackedDrg, Tau,
};

use super::sector::{Sealed, draw};
use super::{Tree, filecoin};
use crate::ProverError;

type Drg<'a> = StackedDrg<'a, Tree, DefaultPieceHasher>;
type Compound = StackedCompound<Tree, DefaultPieceHasher>;
type Inputs = <Drg<'static> as ProofScheme<'static>>::PublicInputs;
/// A circuit with its witness, and its public inputs.
pub(super) type Made = (StackedCircuit<Tree, DefaultPieceHasher>, Vec<Scalar>);
type Params<'a> = compound_proof::PublicParams<'a, Drg<'a>>;

/// Who asks the questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The chain, afterwards: one partition.
    Interactive,
    /// A hash: thirteen partitions of the same circuit.
    NonInteractive,
}

/// A sealed sector whose sealing is to be proved.
pub struct Porep {
    sealed: Sealed,
}

impl fmt::Debug for Porep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Porep")
            .field("config", &self.sealed.config)
            .finish_non_exhaustive()
    }
}

impl Porep {
    /// Seals a sector.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`].
    pub fn new(kind: Kind, seed: u64) -> Result<Self, ProverError> {
        let mut dice = ChaCha20Rng::seed_from_u64(seed);
        let prover_id = draw(&mut dice);
        let config = config(kind, kind.registered())?;
        Ok(Self {
            sealed: Sealed::new(&config, prover_id, &mut dice)?,
        })
    }

    /// Partitions of the proof.
    pub fn partitions(&self) -> usize {
        self.sealed.c1.vanilla_proofs.len()
    }

    /// The circuit of a partition with its witness, and its public inputs.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`].
    pub fn partition(&self, partition: usize) -> Result<Made, ProverError> {
        circuit(&self.sealed.config, &self.sealed.c1, partition).map_err(filecoin)
    }

    /// The first half of the commitment, as Filecoin's own interface hands it to the second.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`].
    pub fn request(&self) -> Result<Vec<u8>, ProverError> {
        bincode::serialize(&self.sealed.c1).map_err(filecoin)
    }

    /// Where Filecoin looks for the parameters and the verifying key of such proofs.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`].
    pub fn parameter_paths(&self) -> Result<(PathBuf, PathBuf), ProverError> {
        let config = &self.sealed.config;
        let params = config.get_cache_params_path::<Tree>();
        let vk = config.get_cache_verifying_key_path::<Tree>();
        Ok((params.map_err(filecoin)?, vk.map_err(filecoin)?))
    }

    /// Whether Filecoin's verifier accepts the proof of an interactive sealing.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`].
    pub fn accepts(&self, proof: &[u8]) -> Result<bool, ProverError> {
        let Sealed {
            config,
            id,
            prover_id,
            c1,
            ..
        } = &self.sealed;
        verify_seal::<Tree>(
            config, c1.comm_r, c1.comm_d, *prover_id, *id, c1.ticket, c1.seed, proof,
        )
        .map_err(filecoin)
    }
}

impl Kind {
    /// The number under which the chain knows a sealing of 2 KiB of this kind.
    pub const fn registered(self) -> u64 {
        match self {
            Self::Interactive => 5,
            Self::NonInteractive => 15,
        }
    }

    /// The kind of a number of the chain, for sectors of 2 KiB.
    pub const fn of_registered(number: u64) -> Option<Self> {
        match number {
            0 | 5 => Some(Self::Interactive),
            15 => Some(Self::NonInteractive),
            _ => None,
        }
    }
}

/// How a sector was sealed. The number of the chain is what its graph is drawn from.
pub(super) fn config(kind: Kind, registered: u64) -> Result<PoRepConfig, ProverError> {
    let (version, features) = match (kind, registered) {
        (Kind::Interactive, 0) => (ApiVersion::V1_0_0, vec![]),
        (Kind::Interactive, _) => (ApiVersion::V1_1_0, vec![]),
        (Kind::NonInteractive, _) => (ApiVersion::V1_2_0, vec![ApiFeature::NonInteractivePoRep]),
    };
    let mut porep_id = [0; 32];
    for (byte, of) in porep_id.iter_mut().zip(registered.to_le_bytes()) {
        *byte = of;
    }
    PoRepConfig::new_groth16_with_features(SECTOR_SIZE_2_KIB, porep_id, version, features)
        .map_err(filecoin)
}

/// The circuit of a partition of a commitment, and its public inputs.
pub(super) fn circuit(
    config: &PoRepConfig,
    c1: &SealCommitPhase1Output<Tree>,
    partition: usize,
) -> Result<Made, anyhow::Error> {
    let inputs = inputs(c1)?;
    let params: Params<'_> = Compound::setup(&compound_proof::SetupParams {
        vanilla_params: setup_params(config)?,
        partitions: Some(usize::from(config.partitions)),
        priority: false,
    })?;
    let vanilla = c1.vanilla_proofs.get(partition);
    let vanilla = vanilla.ok_or_else(|| anyhow::anyhow!("expected a partition, found none"))?;
    let params = &params.vanilla_params;
    let circuit = Compound::circuit(&inputs, (), vanilla, params, Some(partition))?;
    let public = Compound::generate_public_inputs(&inputs, params, Some(partition))?;
    Ok((circuit, public))
}

fn inputs(c1: &SealCommitPhase1Output<Tree>) -> Result<Inputs, anyhow::Error> {
    use filecoin_hashers::Domain as _;
    Ok(PublicInputs {
        replica_id: c1.replica_id,
        tau: Some(Tau {
            comm_d: DefaultPieceDomain::try_from_bytes(&c1.comm_d)?,
            comm_r: as_safe_commitment(&c1.comm_r, "comm_r")?,
        }),
        k: None,
        seed: Some(c1.seed),
    })
}
