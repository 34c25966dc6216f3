//! What the format of parameters has no room for, in a JSON file beside them: which circuit they
//! are of, which seed they come from, and that they are insecure.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Counts, check};
use crate::ProverError;

/// What a person must know before trusting such parameters.
pub const WARNING: &str = "INSECURE test parameters: their secrets follow from the seed, so \
                           anybody can forge proofs for them. Never use them for anything of \
                           value.";

/// The manifest of made parameters, `cuzk.params/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// `cuzk.params/1`
    pub schema: String,
    /// Always true: who makes parameters alone cannot make secure ones.
    pub insecure: bool,
    /// [`WARNING`]
    pub warning: String,
    /// Name of the circuit in the registry.
    pub circuit: String,
    /// Binary logarithm of the domain.
    pub log2: u32,
    /// Seed of the secrets.
    pub seed: u64,
    /// Points of each section.
    pub points: Points,
    /// Bytes of the parameter file.
    pub bytes: usize,
    /// BLAKE3 of the parameter file.
    pub blake3: String,
}

/// Points of each section, as [`Counts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Points {
    /// Public inputs, the constant one among them.
    pub ic: usize,
    /// Domain − 1.
    pub h: usize,
    /// Auxiliary variables.
    pub l: usize,
    /// Variables of A.
    pub a: usize,
    /// Variables of B.
    pub b: usize,
}

impl Manifest {
    /// The manifest of a parameter file that has been written.
    ///
    /// # Errors
    /// [`ProverError::File`] if it cannot be read again.
    pub fn of(
        path: &Path,
        counts: Counts,
        (circuit, log2): (&str, u32),
        seed: u64,
    ) -> Result<Self, ProverError> {
        let file = super::map::Mapped::open(path)?;
        let Counts { ic, h, l, a, b } = counts;
        Ok(Self {
            schema: "cuzk.params/1".to_owned(),
            insecure: true,
            warning: WARNING.to_owned(),
            circuit: circuit.to_owned(),
            log2,
            seed,
            points: Points { ic, h, l, a, b },
            bytes: file.len(),
            blake3: check::hash(&file).to_string(),
        })
    }

    /// Where the manifest of a parameter file lies: `NAME.json`.
    pub fn path(params: &Path) -> PathBuf {
        let mut name = params.as_os_str().to_owned();
        name.push(".json");
        name.into()
    }

    /// Writes it beside its parameters.
    ///
    /// # Errors
    /// [`ProverError::File`].
    pub fn save(&self, params: &Path) -> Result<(), ProverError> {
        let path = Self::path(params);
        let text = serde_json::to_string_pretty(self).map(|text| text + "\n");
        text.map_err(std::io::Error::from)
            .and_then(|text| std::fs::write(&path, text))
            .map_err(|source| ProverError::File {
                action: "write",
                path,
                source,
            })
    }

    /// The manifest beside a parameter file, if there is one that can be read.
    pub fn beside(params: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(Self::path(params)).ok()?;
        serde_json::from_str(&text).ok()
    }
}
