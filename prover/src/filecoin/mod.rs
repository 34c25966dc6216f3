//! The real 2 KiB circuits of Filecoin, from a sealed sector to Filecoin's own verifier. Sealing,
//! circuits and verifiers are its crates' as they are; the proofs are ours.
//!
//! Its verifiers look for verifying keys in the folder that `FIL_PROOFS_PARAMETER_CACHE` names.
//! [`install`] puts made parameters there, and refuses when the variable is not set: they must
//! never end up among real ones.

mod circuit;
mod porep;
mod post;
mod sector;

use std::fmt::Display;
use std::path::Path;

use filecoin_proofs::constants::SectorShape2KiB;

use crate::ProverError;
use crate::srs::Srs;

pub use circuit::{Asked, Real, Stated, Which, statements};
pub use porep::{Kind, Porep};
pub use post::{Post, window, winning};
pub use sector::Sealed;

/// The tree of a 2 KiB sector.
pub type Tree = SectorShape2KiB;

/// The variable that names the folder of Filecoin's parameters.
pub const PARAMETER_CACHE: &str = "FIL_PROOFS_PARAMETER_CACHE";

/// Writes parameters and verifying key where Filecoin's crates look for them.
///
/// # Errors
/// [`ProverError::Filecoin`] when the folder is not named, [`ProverError::File`].
pub fn install(srs: &Srs, params: &Path, vk: &Path) -> Result<(), ProverError> {
    if std::env::var_os(PARAMETER_CACHE).is_none() {
        return Err(filecoin(format!(
            "{PARAMETER_CACHE} is not set; name a folder for test parameters by it"
        )));
    }
    for path in [params, vk] {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| ProverError::File {
                action: "write",
                path: folder.to_owned(),
                source,
            })?;
        }
    }
    srs.save(params)?;
    srs.vk.save(vk)
}

/// What Filecoin's crates say, in their words.
fn filecoin(error: impl Display) -> ProverError {
    ProverError::Filecoin {
        found: format!("{error:#}"),
    }
}
