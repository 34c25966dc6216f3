//! The parameters of one circuit of the registry as a daemon has them: loaded when they are first
//! needed, given back on demand, never while a job uses them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::kinds::{Loaded, Refusal};
use crate::ProverError;
use crate::circuits::Family;
use crate::device::groth16::Parameters;
use crate::srs::{Ceremony, Manifest, Srs};

/// One circuit's parameters, here or not.
#[derive(Debug)]
pub(super) struct Slot {
    /// The circuit's name on the wire.
    pub(super) circuit_id: String,
    family: Family,
    /// Where they are read from; without a file they are made, insecurely.
    file: Option<PathBuf>,
    loaded: Mutex<Option<Arc<Parameters>>>,
}

impl Slot {
    pub(super) fn new(circuit_id: String, family: Family, file: Option<PathBuf>) -> Self {
        Self {
            circuit_id,
            family,
            file,
            loaded: Mutex::default(),
        }
    }

    fn loaded(&self) -> MutexGuard<'_, Option<Arc<Parameters>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The parameters, and whether they were there before. Who comes while they are made waits.
    pub(super) fn ready(&self) -> Result<(Arc<Parameters>, bool), Refusal> {
        let mut loaded = self.loaded();
        if let Some(parameters) = loaded.as_ref() {
            return Ok((Arc::clone(parameters), true));
        }
        let made = self
            .make()
            .map_err(|error| Refusal::NotReady(error.to_string()))?;
        let made = Arc::new(made);
        *loaded = Some(Arc::clone(&made));
        Ok((made, false))
    }

    fn make(&self) -> Result<Parameters, ProverError> {
        // The file first: a missing one is known before a circuit is synthesised.
        let read = |path: &PathBuf| Srs::open_as(path, Manifest::beside(path).as_ref());
        let read = self.file.as_ref().map(read).transpose()?;
        let shape = self.family.shape()?;
        let srs = match read {
            Some((srs, _)) => srs,
            None => Ceremony::insecure(0).parameters(&shape, &mut |_| ())?,
        };
        Parameters::new(shape, Box::new(srs))
    }

    /// Gives them back: how many bytes, or nothing if they were not here.
    pub(super) fn evict(&self) -> Result<Option<u64>, Refusal> {
        let mut loaded = self.loaded();
        let Some(parameters) = loaded.as_ref() else {
            return Ok(None);
        };
        let users = Arc::strong_count(parameters) - 1;
        if users > 0 {
            return Err(Refusal::NotReady(format!(
                "{users} partitions use the parameters of {}; try again later",
                self.circuit_id
            )));
        }
        let bytes = bytes_of(parameters);
        *loaded = None;
        Ok(Some(bytes))
    }

    /// What is here now; while they are loaded nobody waits for an answer about them.
    pub(super) fn status(&self) -> Option<Loaded> {
        let loaded = self.loaded.try_lock().ok()?;
        let parameters = loaded.as_ref()?;
        Some(Loaded {
            circuit_id: self.circuit_id.clone(),
            bytes: bytes_of(parameters),
            users: u32::try_from(Arc::strong_count(parameters) - 1).unwrap_or(u32::MAX),
        })
    }
}

/// The points: 96 bytes in G1, 192 in G2.
fn bytes_of(parameters: &Parameters) -> u64 {
    let sizes = parameters.sizes();
    let b = sizes.b_inputs + sizes.b_aux;
    let g1 = sizes.domain - 1 + sizes.aux + sizes.inputs + sizes.a_aux + b;
    96 * g1 + 192 * b
}
