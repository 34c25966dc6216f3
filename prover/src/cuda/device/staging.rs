//! Uploads of any size through pinned memory that is allocated once. Each thread that fills it has
//! two pieces of its own: one is filled while the other is on its way, and no thread waits for
//! another, so that one that the system holds up delays its own piece only. Pinning the data itself
//! would stop the card: the driver holds its lock for half a second while it pins 4 GiB, and
//! launches of other threads wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cudarc::driver::{result, sys};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::memory::check_fits;
use super::{Buffer, Device, Plain, Upload, call};
use crate::ProverError;

/// Bytes that are copied at a time: large enough that the copy takes longer than its launch.
const PIECE_BYTES: usize = 8 << 20;
/// Threads that fill pieces; one alone is slower than the bus, and where synthesis keeps all
/// processors busy each has a part of one.
const THREADS: usize = 8;

/// The pinned memory, and the lane that is copied on.
#[derive(Debug)]
pub struct Staging<'a> {
    device: &'a Device,
    lane: usize,
    start: *mut u8,
    rows: Mutex<Vec<Row>>,
    /// Threads of its own: those of the prover may be busy for long, and to start some for every
    /// upload waits for the memory map, which a witness that is freed beside holds for long.
    fillers: Option<ThreadPool>,
}

/// What one thread fills: two pieces in turn.
#[derive(Debug)]
struct Row {
    pieces: [Piece; 2],
    next: usize,
}

/// A piece of the pinned memory, and the copy from it that is under way.
#[derive(Debug)]
struct Piece {
    start: *mut u8,
    upload: Option<Upload>,
}

// SAFETY: the memory is owned by the `Staging`, and each piece is only ever touched through `&mut`.
unsafe impl Send for Piece {}
// SAFETY: as above; the address itself is only used to free the memory, in `drop`.
unsafe impl Send for Staging<'_> {}
// SAFETY: as above: pieces are behind a lock.
unsafe impl Sync for Staging<'_> {}

impl Piece {
    /// Waits until nothing is copied from it any more.
    fn settle(&mut self) -> Result<(), ProverError> {
        self.upload.take().map_or(Ok(()), Upload::wait)
    }

    /// The memory, once nothing is copied from it.
    fn room(&mut self) -> Result<&mut [u8], ProverError> {
        self.settle()?;
        // SAFETY: as many bytes of the allocation are this piece's alone; no copy reads it, and
        // `self` is borrowed.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start, PIECE_BYTES) })
    }
}

impl<'a> Staging<'a> {
    /// Allocates the memory for uploads on a lane.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn new(device: &'a Device, lane: usize) -> Result<Self, ProverError> {
        let bytes = 2 * THREADS * PIECE_BYTES;
        let what = || format!("allocating {bytes} bytes of pinned memory");
        device.bound(what)?;
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: a plain allocation, owned by the value returned.
        let start: *mut u8 = call(what, unsafe { result::malloc_host(bytes, flags) })?.cast();
        let piece = |number: usize| Piece {
            start: start.wrapping_add(number * PIECE_BYTES),
            upload: None,
        };
        let row = |number: usize| Row {
            pieces: [piece(2 * number), piece(2 * number + 1)],
            next: 0,
        };
        Ok(Self {
            device,
            lane,
            start,
            rows: Mutex::new((0..THREADS).map(row).collect()),
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
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let copied = share(self.fillers.as_ref(), &mut rows, data, |row, at, from| {
            let piece = &mut row.pieces[row.next];
            row.next = 1 - row.next;
            let room = &mut piece.room()?[..from.len()];
            room.copy_from_slice(from);
            let place = buffer.slice(at as u64, from.len() as u64)?;
            // SAFETY: the pinned memory stays, and is not written again before the copy was waited
            // for: `room` does so.
            let upload = unsafe { self.device.write_ahead(self.lane, &place, room) }?;
            piece.upload = Some(upload);
            Ok(())
        });
        let settled = settle(&mut rows);
        copied.and(settled)
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        let rows = self.rows.get_mut().unwrap_or_else(PoisonError::into_inner);
        let bound = self.device.bound(|| "freeing pinned memory".to_owned());
        // A copy that failed is over as well; what is still read stays where it is.
        if settle(rows).is_ok() && bound.is_ok() {
            // SAFETY: the address came from `malloc_host` and is freed once, here; nothing is
            // copied from it.
            let freed = unsafe { result::free_host(self.start.cast()) };
            self.device.context.record_err(freed);
        }
    }
}

/// Waits for all copies; the first error, when all are over.
fn settle(rows: &mut [Row]) -> Result<(), ProverError> {
    let mut all = Ok(());
    for piece in rows.iter_mut().flat_map(|row| &mut row.pieces) {
        all = all.and(piece.settle());
    }
    all
}

/// Where the system gives no threads, the one that uploads fills the pieces.
fn fillers() -> Option<ThreadPool> {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(THREADS);
    threads
        .thread_name(|number| format!("upload-{number}"))
        .build()
        .ok()
}

/// Hands out `data` piece by piece, each with its place in bytes, to whoever asks next: a thread a
/// row. After an error nothing more is handed to its row.
fn share<R: Send, E: Send>(
    fillers: Option<&ThreadPool>,
    rows: &mut [R],
    data: &[u8],
    fill: impl Fn(&mut R, usize, &[u8]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let take = |row: &mut R| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed) * PIECE_BYTES;
            let Some(rest) = data.get(at..).filter(|rest| !rest.is_empty()) else {
                return Ok(());
            };
            fill(row, at, rest.get(..PIECE_BYTES).unwrap_or(rest))?;
        }
    };
    match fillers {
        Some(fillers) => fillers.install(|| rows.par_iter_mut().with_max_len(1).try_for_each(take)),
        None => rows.iter_mut().try_for_each(take),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each row got: places and bytes.
    type Got = Vec<(usize, Vec<u8>)>;

    #[test]
    fn every_byte_is_handed_out_once() {
        for len in [0, 1, PIECE_BYTES, 5 * PIECE_BYTES + 3] {
            let from: Vec<u8> = (0..=250).cycle().take(len).collect();
            for fillers in [None, fillers()] {
                let mut rows: Vec<Got> = vec![Vec::new(); THREADS];
                let shared = share(fillers.as_ref(), &mut rows, &from, |row, at, bytes| {
                    row.push((at, bytes.to_vec()));
                    Ok::<_, ()>(())
                });
                assert_eq!(shared, Ok(()));
                let mut all: Got = rows.into_iter().flatten().collect();
                all.sort_by_key(|(at, _)| *at);
                let places: Vec<usize> = all.iter().map(|(at, _)| *at).collect();
                let expected: Vec<usize> = (0..len).step_by(PIECE_BYTES).collect();
                assert_eq!(places, expected, "{len}");
                let bytes: Vec<u8> = all.into_iter().flat_map(|(_, bytes)| bytes).collect();
                assert_eq!(bytes, from, "{len}");
            }
        }
    }

    #[test]
    fn an_error_is_told() {
        let data = vec![0; 3 * PIECE_BYTES];
        for fillers in [None, fillers()] {
            let mut rows = vec![(); THREADS];
            let shared = share(fillers.as_ref(), &mut rows, &data, |(), at, _| {
                if at == PIECE_BYTES { Err("no") } else { Ok(()) }
            });
            assert_eq!(shared, Err("no"));
        }
    }
}
