//! A sector of 2 KiB of random data, sealed.

use std::fs::File;
use std::path::PathBuf;

use filecoin_proofs::{
    PoRepConfig, ProverId, SealCommitPhase1Output, add_piece, clear_cache,
    generate_piece_commitment, seal_commit_phase1, seal_pre_commit_phase1, seal_pre_commit_phase2,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::RngCore as _;
use storage_proofs_core::sector::SectorId;
use tempfile::TempDir;

use super::{Tree, filecoin};
use crate::ProverError;

/// A sealed sector and the first half of its commitment.
#[derive(Debug)]
pub struct Sealed {
    /// How it was sealed.
    pub config: PoRepConfig,
    /// Its number.
    pub id: SectorId,
    /// Whose it is.
    pub prover_id: ProverId,
    /// The vanilla proofs, with what they are about.
    pub c1: SealCommitPhase1Output<Tree>,
    folder: TempDir,
}

impl Sealed {
    /// Seals random data.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`].
    pub fn new(
        config: &PoRepConfig,
        prover_id: ProverId,
        dice: &mut ChaCha20Rng,
    ) -> Result<Self, ProverError> {
        let folder = tempfile::tempdir().map_err(filecoin)?;
        let at = |name: &str| folder.path().join(name);
        let (staged, replica, cache) = (at("staged"), at("replica"), at("cache"));
        std::fs::create_dir(&cache).map_err(filecoin)?;
        let staged_file = File::create(&staged).map_err(filecoin)?;
        File::create(&replica).map_err(filecoin)?;
        let bytes = config.unpadded_bytes_amount();
        let mut piece = vec![0; 2048 * 127 / 128];
        dice.fill_bytes(&mut piece);
        let info = generate_piece_commitment(piece.as_slice(), bytes).map_err(filecoin)?;
        add_piece(piece.as_slice(), staged_file, bytes, &[]).map_err(filecoin)?;
        let (id, ticket, seed) = (SectorId::from(dice.next_u64()), draw(dice), draw(dice));
        let infos = [info];
        let pc1 = seal_pre_commit_phase1::<_, _, _, Tree>(
            config, &cache, &staged, &replica, prover_id, id, ticket, &infos,
        )
        .map_err(filecoin)?;
        let pc2 = seal_pre_commit_phase2::<_, _, Tree>(config, pc1, &cache, &replica)
            .map_err(filecoin)?;
        let c1 = seal_commit_phase1::<_, Tree>(
            config, &cache, &replica, prover_id, id, ticket, seed, pc2, &infos,
        )
        .map_err(filecoin)?;
        clear_cache(&cache).map_err(filecoin)?;
        Ok(Self {
            config: config.clone(),
            id,
            prover_id,
            c1,
            folder,
        })
    }

    /// The sealed data.
    pub fn replica(&self) -> PathBuf {
        self.folder.path().join("replica")
    }

    /// Its trees.
    pub fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }
}

/// 32 bytes that are a number of the field.
pub(super) fn draw(dice: &mut ChaCha20Rng) -> [u8; 32] {
    let mut bytes = [0; 32];
    dice.fill_bytes(&mut bytes);
    bytes[31] &= 0x3f;
    bytes
}
