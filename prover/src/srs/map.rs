//! A file as bytes, without a copy. Nothing here knows what the bytes mean.
#![expect(
    unsafe_code,
    reason = "a memory map is a promise about other processes; it says which"
)]

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::ProverError;

/// The bytes of a file, read from disk as they are touched.
#[derive(Debug)]
pub(crate) struct Mapped(Mmap);

impl Mapped {
    /// Maps a file.
    ///
    /// # Errors
    /// [`ProverError::File`] if it cannot be opened or mapped.
    pub(crate) fn open(path: &Path) -> Result<Self, ProverError> {
        let failed = |source| ProverError::File {
            action: "read",
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        // SAFETY: the map is read-only and lives no longer than the reading of the file. That
        // nobody shortens or rewrites a parameter file in that time is what every reader of mapped
        // parameters relies on; the worst that follows is a signal or a point that is refused,
        // since every byte is checked after it was read.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        Ok(Self(map))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
