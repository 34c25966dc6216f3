//! A daemon's kinds without sectors: a test circuit of the registry answers for one of the wire's
//! kinds, so that clients, queues and traces can be tried with proofs that are real.
//!
//! The statement of a job comes from the bytes of its `vanilla_proof`; the blinding factors from
//! the system's randomness. Parameters are read from a file, or made by the insecure ceremony when
//! they are first needed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blstrs::Scalar;
use ff::Field as _;
use rand_core::OsRng;

use super::kinds::{Kinds, Loaded, Refusal, kind_of, word};
use super::wire::{ProofKind, SubmitProofRequest};
use crate::circuits::Family;
use crate::device::groth16::{Groth16, Parameters, Partition};
use crate::groth16::{Proof, Shape};
use crate::srs::{Ceremony, Srs};

/// A test circuit in the place of [`ProofKind::PorepSealCommit`].
#[derive(Debug)]
pub struct Rehearsal {
    family: Family,
    partitions: usize,
    file: Option<PathBuf>,
    parameters: Mutex<Option<Arc<Parameters>>>,
}

impl Rehearsal {
    /// Jobs of `partitions` statements of `family`; parameters from `file`, if one is named.
    pub fn new(family: Family, partitions: usize, file: Option<PathBuf>) -> Self {
        Self {
            family,
            partitions,
            file,
            parameters: Mutex::default(),
        }
    }

    /// The circuit's name on the wire.
    pub fn circuit_id(&self) -> String {
        format!("{}-2^{}", self.family.name(), self.family.log2())
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<Parameters>>> {
        self.parameters
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The parameters, and whether they were there before. Who comes while they are made waits.
    fn ready(&self) -> Result<(Arc<Parameters>, bool), Refusal> {
        let mut slot = self.slot();
        if let Some(parameters) = slot.as_ref() {
            return Ok((Arc::clone(parameters), true));
        }
        let made = self
            .make()
            .map_err(|error| Refusal::NotReady(error.to_string()))?;
        let made = Arc::new(made);
        *slot = Some(Arc::clone(&made));
        Ok((made, false))
    }

    fn make(&self) -> Result<Parameters, crate::ProverError> {
        let (shape, _) = Shape::record(self.family.example().circuit)?;
        let srs = match &self.file {
            Some(path) => Srs::open(path)?.0,
            None => Ceremony::insecure(0).parameters(&shape, &mut |_| ())?,
        };
        Parameters::new(shape, Box::new(srs))
    }

    fn named(&self, circuit_id: &str) -> Result<(), Refusal> {
        let known = self.circuit_id();
        if circuit_id == known {
            return Ok(());
        }
        Err(Refusal::UnknownCircuit {
            found: circuit_id.to_owned(),
            known,
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
    fn circuits(&self, request: &SubmitProofRequest) -> Result<Vec<Partition>, Refusal> {
        let kind = kind_of(request)?;
        if kind != ProofKind::PorepSealCommit {
            return Err(Refusal::NotBuilt {
                kind: word(kind),
                feature: "filecoin",
            });
        }
        let (parameters, _) = self.ready()?;
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
        Ok(self.ready()?.1)
    }

    fn evict(&self, circuit_id: &str) -> Result<Option<u64>, Refusal> {
        self.named(circuit_id)?;
        let mut slot = self.slot();
        let Some(parameters) = slot.as_ref() else {
            return Ok(None);
        };
        let users = Arc::strong_count(parameters) - 1;
        if users > 0 {
            return Err(Refusal::NotReady(format!(
                "{users} partitions use the parameters of {circuit_id}; try again later"
            )));
        }
        let bytes = bytes_of(parameters);
        *slot = None;
        Ok(Some(bytes))
    }

    fn loaded(&self) -> Vec<Loaded> {
        // While parameters are made nobody waits for an answer about them.
        let Ok(slot) = self.parameters.try_lock() else {
            return Vec::new();
        };
        let loaded = slot.as_ref().map(|parameters| Loaded {
            circuit_id: self.circuit_id(),
            bytes: bytes_of(parameters),
            users: u32::try_from(Arc::strong_count(parameters) - 1).unwrap_or(u32::MAX),
        });
        loaded.into_iter().collect()
    }
}

/// The points: 96 bytes in G1, 192 in G2.
fn bytes_of(parameters: &Parameters) -> u64 {
    let sizes = parameters.sizes();
    let b = sizes.b_inputs + sizes.b_aux;
    let g1 = sizes.domain - 1 + sizes.aux + sizes.inputs + sizes.a_aux + b;
    96 * g1 + 192 * b
}
