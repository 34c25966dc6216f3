//! Uploads of any size through two pinned buffers that are allocated once: one is filled by the
//! processor while the other is on its way. Pinning the data itself would stop the card: the driver
//! holds its lock for half a second while it pins 4 GiB, and launches of other threads wait.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::{result, sys};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::memory::check_fits;
use super::{Buffer, Device, Plain, Upload, call};
use crate::ProverError;

/// Bytes of one of the two buffers: large enough that a copy takes longer than its launch.
const HALF_BYTES: usize = 64 << 20;
/// Threads that fill a buffer; one alone is slower than the bus.
const THREADS: usize = 4;

/// Two pinned buffers and the lane that they are copied on.
#[derive(Debug)]
pub struct Staging<'a> {
    device: &'a Device,
    lane: usize,
    halves: Mutex<[Pinned<'a>; 2]>,
    /// Threads of its own: those of the prover may be busy for long, and to start some for every
    /// piece waits for the memory map, which a witness that is freed beside holds for long.
    fillers: Option<ThreadPool>,
}

/// Pinned host memory, and the copy from it that is under way.
#[derive(Debug)]
struct Pinned<'a> {
    device: &'a Device,
    start: *mut u8,
    upload: Option<Upload>,
}

// SAFETY: the memory is owned, and only ever touched through `&mut`.
unsafe impl Send for Pinned<'_> {}

impl<'a> Pinned<'a> {
    fn new(device: &'a Device) -> Result<Self, ProverError> {
        let what = || format!("allocating {HALF_BYTES} bytes of pinned memory");
        device.bound(what)?;
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: a plain allocation, owned by the value returned.
        let start = call(what, unsafe { result::malloc_host(HALF_BYTES, flags) })?;
        Ok(Self {
            device,
            start: start.cast(),
            upload: None,
        })
    }

    /// The memory, once nothing is copied from it any more.
    fn free(&mut self) -> Result<&mut [u8], ProverError> {
        if let Some(upload) = self.upload.take() {
            upload.wait()?;
        }
        // SAFETY: the allocation has as many bytes; no copy reads it, and `self` is borrowed.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start, HALF_BYTES) })
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        // A copy that failed is over as well.
        let waited = self.free().map(|_| ());
        if waited.is_ok()
            && self
                .device
                .bound(|| "freeing pinned memory".to_owned())
                .is_ok()
        {
            // SAFETY: the address came from `malloc_host` and is freed once, here.
            let freed = unsafe { result::free_host(self.start.cast()) };
            self.device.context.record_err(freed);
        }
    }
}

impl<'a> Staging<'a> {
    /// Allocates the buffers for uploads on a lane.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn new(device: &'a Device, lane: usize) -> Result<Self, ProverError> {
        Ok(Self {
            device,
            lane,
            halves: Mutex::new([Pinned::new(device)?, Pinned::new(device)?]),
            fillers: fillers(),
        })
    }

    /// Copies `data` to the start of `buffer` beside what the card computes, and returns when it is
    /// there. Whatever was given to the card before must no longer use the buffer.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if it does not fit, [`ProverError::DeviceCall`].
    pub fn write<T: Plain>(&self, buffer: &Buffer, data: &[T]) -> Result<(), ProverError> {
        let bytes = size_of_val(data);
        check_fits("an upload", buffer.bytes(), bytes)?;
        // SAFETY: plain words may be read as bytes.
        let data = unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), bytes) };
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, piece) in data.chunks(HALF_BYTES).enumerate() {
            let half = &mut halves[number % 2];
            let Some(room) = half.free()?.get_mut(..piece.len()) else {
                continue;
            };
            copy(self.fillers.as_ref(), piece, room);
            let place = buffer.slice((number * HALF_BYTES) as u64, piece.len() as u64)?;
            // SAFETY: the pinned memory stays, and is not written again before the copy was waited
            // for: `free` does so.
            let upload = unsafe { self.device.write_ahead(self.lane, &place, room) }?;
            half.upload = Some(upload);
        }
        for half in halves.iter_mut() {
            half.free()?;
        }
        Ok(())
    }
}

/// Where the system gives no threads, the one that uploads fills the buffers.
fn fillers() -> Option<ThreadPool> {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(THREADS);
    threads
        .thread_name(|number| format!("upload-{number}"))
        .build()
        .ok()
}

/// Copies by several threads.
fn copy(fillers: Option<&ThreadPool>, from: &[u8], to: &mut [u8]) {
    let Some(fillers) = fillers else {
        return to.copy_from_slice(from);
    };
    let each = from.len().div_ceil(THREADS).max(1 << 20);
    fillers.install(|| {
        let pieces = from.par_chunks(each).zip(to.par_chunks_mut(each));
        pieces.for_each(|(from, to)| to.copy_from_slice(from));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied() {
        for len in [0, 1, 1 << 20, (5 << 20) + 3] {
            let from: Vec<u8> = (0..=250).cycle().take(len).collect();
            for fillers in [None, fillers()] {
                let mut to = vec![0; len];
                copy(fillers.as_ref(), &from, &mut to);
                assert_eq!(from, to, "{len}");
            }
        }
    }
}
