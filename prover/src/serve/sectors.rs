//! A daemon's kinds for real sectors, of 2 KiB: WindowPoSt, WinningPoSt and PoRep from the vanilla
//! proofs of a request to Filecoin's own circuits. Behind the feature `filecoin`.
//!
//! Parameters lie in one folder, a file a circuit: `window-post-2k.params` and so on, as
//! `cuzk setup --circuit window-post-2k` writes them, or Filecoin's own under these names. One that
//! is not there is said when it is asked for. `SnapDeals` is not served.

use std::path::Path;

use blstrs::Scalar;
use ff::Field as _;
use rand_core::OsRng;

use super::kinds::{Kinds, Loaded, Refusal, kind_of, word};
use super::parameters::Slot;
use super::wire::{ProofKind, SubmitProofRequest};
use crate::ProverError;
use crate::circuits::by_name;
use crate::device::groth16::{Groth16, Partition};
use crate::filecoin::{Asked, Which};
use crate::groth16::Proof;

/// The circuits, by their names in the registry, which are those on the wire.
const CIRCUITS: [(Which, &str, u32); 3] = [
    (Which::Window, "window-post-2k", 15),
    (Which::Winning, "winning-post-2k", 17),
    (Which::Porep, "porep-2k", 22),
];

/// Bytes of a sector that these circuits are for.
const SECTOR_BYTES: u64 = 2048;

/// Filecoin's circuits over 2 KiB sectors.
#[derive(Debug)]
pub struct Sectors {
    slots: Vec<(Which, Slot)>,
}

impl Sectors {
    /// With the parameters of a folder.
    ///
    /// # Errors
    /// None in a build that has these circuits.
    pub fn new(folder: &Path) -> Result<Self, ProverError> {
        let slot = |(which, name, log2): (Which, &str, u32)| {
            let family = by_name(name, log2)?;
            let file = folder.join(format!("{name}.params"));
            Ok((which, Slot::new(name.to_owned(), family, Some(file))))
        };
        let slots = CIRCUITS.into_iter().map(slot);
        Ok(Self {
            slots: slots.collect::<Result<_, ProverError>>()?,
        })
    }

    fn slot(&self, which: Which) -> Result<&Slot, Refusal> {
        let mut slots = self.slots.iter();
        let found = slots.find(|(known, _)| *known == which);
        let found = found.map(|(_, slot)| slot);
        found.ok_or_else(|| Refusal::Invalid("no such circuit".to_owned()))
    }

    fn named(&self, circuit_id: &str) -> Result<&Slot, Refusal> {
        let mut slots = self.slots.iter().map(|(_, slot)| slot);
        slots
            .find(|slot| slot.circuit_id == circuit_id)
            .ok_or_else(|| Refusal::UnknownCircuit {
                found: circuit_id.to_owned(),
                known: CIRCUITS.map(|(_, name, _)| name).join(", "),
            })
    }
}

/// The circuit that a request is for.
fn which(request: &SubmitProofRequest) -> Result<Which, Refusal> {
    let kind = kind_of(request)?;
    let which = match kind {
        ProofKind::WindowPostPartition => Which::Window,
        ProofKind::WinningPost => Which::Winning,
        ProofKind::PorepSealCommit => Which::Porep,
        ProofKind::SnapDealsUpdate | ProofKind::Unspecified => {
            return Err(Refusal::NotServed { kind: word(kind) });
        }
    };
    // Clients that leave the size out mean the only one there is.
    match request.sector_size {
        0 | SECTOR_BYTES => Ok(which),
        other => Err(Refusal::Invalid(format!(
            "sector_size is {other}; this daemon has the circuits of {SECTOR_BYTES} bytes"
        ))),
    }
}

impl Kinds<Groth16> for Sectors {
    fn load(&self, request: &SubmitProofRequest) -> Result<bool, Refusal> {
        Ok(self.slot(which(request)?)?.ready()?.1)
    }

    fn circuits(&self, request: &SubmitProofRequest) -> Result<Vec<Partition>, Refusal> {
        let which = which(request)?;
        let one = (!request.vanilla_proof.is_empty()).then_some(&request.vanilla_proof);
        let vanilla = one.into_iter().chain(&request.vanilla_proofs);
        let vanilla: Vec<&[u8]> = vanilla.map(Vec::as_slice).collect();
        let asked = Asked {
            which,
            registered: request.registered_proof,
            miner: request.miner_id,
            randomness: &request.randomness,
            vanilla: &vanilla,
        };
        let stated = asked.statements();
        let stated = stated.map_err(|error| Refusal::Invalid(error.to_string()))?;
        let (parameters, _) = self.slot(which)?.ready()?;
        let partitions = stated.into_iter().map(|(circuit, inputs)| {
            let blinding = (Scalar::random(OsRng), Scalar::random(OsRng));
            Partition::of_circuit(&parameters, circuit, inputs, blinding)
        });
        Ok(partitions.collect())
    }

    fn bytes(&self, proof: &Proof) -> Vec<u8> {
        proof.to_bytes().to_vec()
    }

    fn preload(&self, circuit_id: &str) -> Result<bool, Refusal> {
        Ok(self.named(circuit_id)?.ready()?.1)
    }

    fn evict(&self, circuit_id: &str) -> Result<Option<u64>, Refusal> {
        self.named(circuit_id)?.evict()
    }

    fn loaded(&self) -> Vec<Loaded> {
        let slots = self.slots.iter();
        slots.filter_map(|(_, slot)| slot.status()).collect()
    }
}
