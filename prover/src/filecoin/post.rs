//! Proofs that sectors are still there: WindowPoSt over two sectors, WinningPoSt over one.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use blstrs::Scalar;
use filecoin_proofs::constants::{
    SECTOR_SIZE_2_KIB, WINDOW_POST_CHALLENGE_COUNT, WINNING_POST_CHALLENGE_COUNT,
};
use filecoin_proofs::parameters::{window_post_setup_params, winning_post_setup_params};
use filecoin_proofs::{
    ChallengeSeed, FallbackPoStSectorProof, PoRepConfig, PoStConfig, PoStType, PrivateReplicaInfo,
    ProverId, PublicReplicaInfo, as_safe_commitment, generate_fallback_sector_challenges,
    generate_single_vanilla_proof, partition_vanilla_proofs, verify_window_post,
    verify_winning_post,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::{self, CircuitComponent, CompoundProof as _};
use storage_proofs_post::fallback::{
    self, FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound, PublicSector,
};

use super::sector::{Sealed, draw};
use super::{Tree, filecoin};
use crate::ProverError;

/// A proof to be made about sealed sectors.
pub struct Post {
    config: PoStConfig,
    randomness: ChallengeSeed,
    prover_id: ProverId,
    sectors: Vec<Sealed>,
    vanilla: Vec<FallbackPoStSectorProof<Tree>>,
    /// The circuit with its witness.
    pub circuit: FallbackPoStCircuit<Tree>,
    /// The public inputs, the constant one not among them.
    pub inputs: Vec<Scalar>,
}

impl fmt::Debug for Post {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Post")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// WindowPoSt over two sectors that are sealed for it.
///
/// # Errors
/// [`ProverError::Filecoin`].
pub fn window(seed: u64) -> Result<Post, ProverError> {
    Post::new(PoStType::Window, seed)
}

/// WinningPoSt over one sector that is sealed for it.
///
/// # Errors
/// [`ProverError::Filecoin`].
pub fn winning(seed: u64) -> Result<Post, ProverError> {
    Post::new(PoStType::Winning, seed)
}

impl Post {
    fn new(typ: PoStType, seed: u64) -> Result<Self, ProverError> {
        let config = config(typ);
        let mut dice = ChaCha20Rng::seed_from_u64(seed);
        let (prover_id, randomness) = (draw(&mut dice), draw(&mut dice));
        let porep = PoRepConfig::new_groth16(SECTOR_SIZE_2_KIB, [208; 32], config.api_version);
        let mut sectors = (0..config.sector_count)
            .map(|_| Sealed::new(&porep, prover_id, &mut dice))
            .collect::<Result<Vec<_>, _>>()?;
        sectors.sort_by_key(|sector| sector.id);
        let vanilla = vanilla(&config, &randomness, prover_id, &sectors).map_err(filecoin)?;
        let (circuit, inputs) =
            circuit(&config, &randomness, prover_id, &vanilla).map_err(filecoin)?;
        Ok(Self {
            config,
            randomness,
            prover_id,
            sectors,
            vanilla,
            circuit,
            inputs,
        })
    }

    /// The challenges of the day, and what the sectors answer, each as Filecoin's own interface
    /// hands it from one process to another.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`].
    pub fn request(&self) -> Result<(ChallengeSeed, Vec<Vec<u8>>), ProverError> {
        let each = self.vanilla.iter().map(bincode::serialize);
        let vanilla = each.collect::<Result<_, _>>().map_err(filecoin)?;
        Ok((self.randomness, vanilla))
    }

    /// Where Filecoin looks for the parameters and the verifying key of such proofs.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`].
    pub fn parameter_paths(&self) -> Result<(PathBuf, PathBuf), ProverError> {
        let params = self.config.get_cache_params_path::<Tree>();
        let vk = self.config.get_cache_verifying_key_path::<Tree>();
        Ok((params.map_err(filecoin)?, vk.map_err(filecoin)?))
    }

    /// Whether Filecoin's verifier accepts the proof.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`].
    pub fn accepts(&self, proof: &[u8]) -> Result<bool, ProverError> {
        let replicas = self.sectors.iter().map(|sector| {
            PublicReplicaInfo::new(sector.c1.comm_r).map(|replica| (sector.id, replica))
        });
        let (config, random, prover) = (&self.config, &self.randomness, self.prover_id);
        if self.config.typ == PoStType::Window {
            let replicas: Result<BTreeMap<_, _>, _> = replicas.collect();
            let replicas = replicas.map_err(filecoin)?;
            return verify_window_post::<Tree>(config, random, &replicas, prover, proof)
                .map_err(filecoin);
        }
        let replicas: Result<Vec<_>, _> = replicas.collect();
        let replicas = replicas.map_err(filecoin)?;
        verify_winning_post::<Tree>(config, random, &replicas, prover, proof).map_err(filecoin)
    }
}

/// What goes into a circuit beside its proof: nothing.
type Component = <FallbackPoStCircuit<Tree> as CircuitComponent>::ComponentPrivateInputs;

/// A circuit with its witness, and its public inputs.
pub(super) type Made = (FallbackPoStCircuit<Tree>, Vec<Scalar>);

/// How such proofs about 2 KiB sectors are made.
pub(super) fn config(typ: PoStType) -> PoStConfig {
    let (sector_count, challenge_count) = match typ {
        PoStType::Window => (2, WINDOW_POST_CHALLENGE_COUNT),
        PoStType::Winning => (1, WINNING_POST_CHALLENGE_COUNT),
    };
    PoStConfig {
        sector_size: SECTOR_SIZE_2_KIB.into(),
        sector_count,
        challenge_count,
        typ,
        priority: false,
        api_version: ApiVersion::V1_1_0,
    }
}

/// The answers of sealed sectors to the challenges of the day.
pub(super) fn vanilla(
    config: &PoStConfig,
    randomness: &ChallengeSeed,
    prover_id: ProverId,
    sectors: &[Sealed],
) -> Result<Vec<FallbackPoStSectorProof<Tree>>, anyhow::Error> {
    let ids: Vec<_> = sectors.iter().map(|sector| sector.id).collect();
    let challenges =
        generate_fallback_sector_challenges::<Tree>(config, randomness, &ids, prover_id)?;
    let answer = |sector: &Sealed| {
        let replica =
            PrivateReplicaInfo::<Tree>::new(sector.replica(), sector.c1.comm_r, sector.cache())?;
        let challenges = challenges.get(&sector.id).map_or(&[][..], Vec::as_slice);
        generate_single_vanilla_proof::<Tree>(config, sector.id, &replica, challenges)
    };
    sectors.iter().map(answer).collect()
}

/// The circuit of the one partition that such answers fill.
pub(super) fn circuit(
    config: &PoStConfig,
    randomness: &ChallengeSeed,
    prover_id: ProverId,
    vanilla: &[FallbackPoStSectorProof<Tree>],
) -> Result<Made, anyhow::Error> {
    let vanilla_params = match config.typ {
        PoStType::Window => window_post_setup_params(config),
        PoStType::Winning => winning_post_setup_params(config)?,
    };
    let params: compound_proof::PublicParams<'_, FallbackPoSt<'_, Tree>> =
        FallbackPoStCompound::setup(&compound_proof::SetupParams {
            vanilla_params,
            partitions: None,
            priority: false,
        })?;
    let inputs = fallback::PublicInputs {
        randomness: as_safe_commitment(randomness, "randomness")?,
        prover_id: as_safe_commitment(&prover_id, "prover_id")?,
        sectors: vanilla
            .iter()
            .map(|proof| PublicSector {
                id: proof.sector_id,
                comm_r: proof.comm_r,
            })
            .collect(),
        k: None,
    };
    let proofs = partition_vanilla_proofs(config, &params.vanilla_params, &inputs, 1, vanilla)?;
    let first = proofs
        .first()
        .ok_or_else(|| anyhow::anyhow!("expected a partition, found none"))?;
    let params = &params.vanilla_params;
    let component = Component::default();
    let circuit =
        FallbackPoStCompound::<Tree>::circuit(&inputs, component, first, params, Some(0))?;
    // The circuit repeats its last sector until it is full; what is public of it does too.
    let mut whole = inputs;
    if let Some(last) = whole.sectors.last().cloned() {
        whole.sectors.resize(params.sector_count, last);
    }
    let public = FallbackPoStCompound::<Tree>::generate_public_inputs(&whole, params, Some(0))?;
    Ok((circuit, public))
}
