//! A daemon's kinds without sectors: a test circuit of the registry answers for one of the wire's
//! kinds, so that clients, queues and traces can be tried with proofs that are real.
//!
//! The statement of a job comes from the bytes of its `vanilla_proof`; the blinding factors from
//! the system's randomness. Parameters are read from a file, or made by the insecure ceremony when
//! they are first needed.

use std::path::PathBuf;

use blstrs::Scalar;
use ff::Field as _;
use rand_core::OsRng;

use super::kinds::{Kinds, Loaded, Refusal, kind_of, word};
use super::parameters::Slot;
use super::wire::{ProofKind, SubmitProofRequest};
use crate::circuits::Family;
use crate::device::groth16::{Groth16, Partition};
use crate::groth16::Proof;

/// A test circuit in the place of [`ProofKind::PorepSealCommit`].
#[derive(Debug)]
pub struct Rehearsal {
    family: Family,
    partitions: usize,
    slot: Slot,
}

impl Rehearsal {
    /// Jobs of `partitions` statements of `family`; parameters from `file`, if one is named.
    pub fn new(family: Family, partitions: usize, file: Option<PathBuf>) -> Self {
        let circuit_id = format!("{}-2^{}", family.name(), family.log2());
        Self {
            family,
            partitions,
            slot: Slot::new(circuit_id, family, file),
        }
    }

    fn named(&self, circuit_id: &str) -> Result<(), Refusal> {
        let known = &self.slot.circuit_id;
        if circuit_id == known {
            return Ok(());
        }
        Err(Refusal::UnknownCircuit {
            found: circuit_id.to_owned(),
            known: known.clone(),
        })
    }
}

/// A number that depends on every byte.
fn seed(request: &SubmitProofRequest) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(&request.vanilla_proof);
    for part in &request.vanilla_proofs {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut bytes = [0; 8];
    hash.finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

impl Kinds<Groth16> for Rehearsal {
    fn load(&self, request: &SubmitProofRequest) -> Result<bool, Refusal> {
        let kind = kind_of(request)?;
        if kind != ProofKind::PorepSealCommit {
            let kind = word(kind);
            return Err(if cfg!(feature = "filecoin") {
                Refusal::NotReady(format!(
                    "this daemon rehearses PoRep with a test circuit; start it with --filecoin \
                     for {kind}"
                ))
            } else {
                let feature = "filecoin";
                Refusal::NotBuilt { kind, feature }
            });
        }
        Ok(self.slot.ready()?.1)
    }

    fn circuits(&self, request: &SubmitProofRequest) -> Result<Vec<Partition>, Refusal> {
        self.load(request)?;
        let (parameters, _) = self.slot.ready()?;
        let statements = self.family.statements(seed(request), self.partitions);
        let partitions = statements.into_iter().map(|statement| {
            let blinding = (Scalar::random(OsRng), Scalar::random(OsRng));
            Partition::of_circuit(&parameters, statement.circuit, statement.inputs, blinding)
        });
        Ok(partitions.collect())
    }

    fn bytes(&self, proof: &Proof) -> Vec<u8> {
        proof.to_bytes().to_vec()
    }

    fn preload(&self, circuit_id: &str) -> Result<bool, Refusal> {
        self.named(circuit_id)?;
        Ok(self.slot.ready()?.1)
    }

    fn evict(&self, circuit_id: &str) -> Result<Option<u64>, Refusal> {
        self.named(circuit_id)?;
        self.slot.evict()
    }

    fn loaded(&self) -> Vec<Loaded> {
        self.slot.status().into_iter().collect()
    }
}
