//! Pieces of one allocation, handed out in order. Sizes are known before, from [`crate::plan`].

use super::device::Buffer;
use crate::ProverError;
use crate::plan::arena::aligned;

/// What is left of a buffer.
#[derive(Debug)]
pub(crate) struct Arena<'a> {
    buffer: &'a Buffer,
    taken: u64,
}

impl<'a> Arena<'a> {
    /// All of `buffer`.
    pub(crate) const fn new(buffer: &'a Buffer) -> Self {
        Self { buffer, taken: 0 }
    }

    /// The next `bytes` bytes.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if the buffer ends before.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<Buffer, ProverError> {
        let piece = self.buffer.slice(self.taken, bytes)?;
        self.taken += aligned(bytes);
        Ok(piece)
    }
}
