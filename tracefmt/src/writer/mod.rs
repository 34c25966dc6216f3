//! Our own trace: events and timings to lines, and a writer that never tears one.
//!
//! [`write_event`] and [`write_timing`] render one line; [`Writer`] gives each line to the
//! operating system in one call, whoever else writes to the same descriptor, and counts events
//! for the closing `TRACE_END`. When things happen and what they mean is the caller's business;
//! no clock is read here.
//!
//! ```
//! use tracefmt::event::{Event, Place, TraceStart, What};
//! use tracefmt::writer::Writer;
//!
//! let writer = Writer::start(Vec::new(), &TraceStart::default())?;
//! writer.event(&Event {
//!     ms: 5,
//!     t_us: Some(5001),
//!     job: "a,b".into(),
//!     place: Place { gpu: Some(0), worker: Some(1), partition: Some(3) },
//!     what: What::GpuEnd { gpu_ms: Some(4) },
//! })?;
//! let text = String::from_utf8(writer.finish(6000)?).unwrap();
//! let line = text.lines().nth(1).unwrap();
//! assert_eq!(line, "TIMELINE,5,GPU_END,a%2Cb,gpu=0,worker=1,partition=3,t_us=5001,gpu_ms=4");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::event::{Event, EventKind, Place, TraceStart, What};
use crate::timing::Timing;

mod buffer;
mod event;
mod timing;

pub use event::write_event;
pub use timing::write_timing;

/// Writes a trace: `TRACE_START` first, one call a line, `TRACE_END` with counts last.
///
/// It may be shared between threads. Several writers may share one descriptor, too, if the
/// system appends each call as a whole (a pipe up to its atomic size, a file opened for append);
/// each of them then counts its own events.
#[derive(Debug)]
pub struct Writer<W> {
    state: Mutex<State<W>>,
}

#[derive(Debug)]
struct State<W> {
    sink: W,
    line: Vec<u8>,
    /// Events written, by kind: as many as there are kinds, and one for [`EventKind::Other`].
    counts: [u64; EventKind::ALL.len() + 1],
}

impl<W: Write> Writer<W> {
    /// Begins a trace with its first line, at offset 0.
    ///
    /// # Errors
    /// What the sink says.
    pub fn start(sink: W, start: &TraceStart<'_>) -> io::Result<Self> {
        let state = State {
            sink,
            line: Vec::with_capacity(256),
            counts: [0; EventKind::ALL.len() + 1],
        };
        let writer = Self {
            state: Mutex::new(state),
        };
        writer.event(&Event {
            ms: 0,
            t_us: Some(0),
            job: "".into(),
            place: Place::default(),
            what: What::TraceStart(Box::new(start.clone())),
        })?;
        Ok(writer)
    }

    /// Writes one event, in one call to the sink. An event that could not be written whole is
    /// not counted.
    ///
    /// # Errors
    /// What the sink says.
    pub fn event(&self, event: &Event<'_>) -> io::Result<()> {
        let mut state = self.lock();
        state.put(|line| write_event(line, event))?;
        if let Some(count) = state.counts.get_mut(usize::from(event.what.kind() as u8)) {
            *count += 1;
        }
        Ok(())
    }

    /// Writes one timing line, in one call to the sink.
    ///
    /// # Errors
    /// What the sink says.
    pub fn timing(&self, timing: &Timing<'_>) -> io::Result<()> {
        self.lock().put(|line| write_timing(line, timing))
    }

    /// Ends the trace with the counts of the events written so far, and gives the sink back.
    ///
    /// # Errors
    /// What the sink says.
    pub fn finish(self, t_us: u64) -> io::Result<W> {
        let mut state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let kinds = EventKind::ALL.iter().copied().chain([EventKind::Other]);
        let counts = kinds
            .zip(state.counts)
            .filter(|(_, count)| *count > 0)
            .collect();
        let end = Event {
            ms: t_us / 1000,
            t_us: Some(t_us),
            job: "".into(),
            place: Place::default(),
            what: What::TraceEnd { counts },
        };
        state.put(|line| write_event(line, &end))?;
        state.sink.flush()?;
        Ok(state.sink)
    }

    /// A thread that panicked while it held the lock left no half line behind: the buffer is
    /// cleared before each use.
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> State<W> {
    fn put(&mut self, render: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.line.clear();
        render(&mut self.line);
        self.line.push(b'\n');
        // One call for a sink that takes all it is given, as files and pipes with room do.
        self.sink.write_all(&self.line)
    }
}

#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests;
