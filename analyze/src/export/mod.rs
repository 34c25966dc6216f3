//! A trace for other tools: Chrome's trace JSON, Perfetto's protobuf, JSON Lines, and the
//! samples that the timing gate reads. All are streams; nothing is held twice in memory.
//!
//! Times stay those of the log: microseconds since each run's own start. Runs are processes of
//! their own, so they lie over one another and are never put on one clock.

mod chrome;
mod fields;
mod jsonl;
mod moments;
mod perfetto;

use std::io::Write;

pub use golden::samples::{key_of_trace as key, of_trace as samples};

use crate::error::AnalyzeError;
use crate::model::Analysis;
use tracefmt::run::Trace;

/// A format to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Chrome's trace-event JSON; `chrome://tracing` and the Perfetto viewer open it.
    Chrome,
    /// Perfetto's protobuf; the Perfetto viewer opens it.
    Perfetto,
    /// One JSON object a line: runs, jobs, tasks, calls, marks, events, troubles.
    JsonLines,
    /// `cuzk.samples/1`, the input of the timing gate.
    Samples,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Chrome, Self::Perfetto, Self::JsonLines, Self::Samples];

    /// Name in options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chrome => "chrome",
            Self::Perfetto => "perfetto",
            Self::JsonLines => "jsonl",
            Self::Samples => "samples",
        }
    }
}

/// Writes a trace and its analysis.
///
/// # Errors
/// [`AnalyzeError::Write`] with what the writer says.
pub fn write(
    format: Format,
    trace: &Trace,
    analysis: &Analysis,
    mut out: impl Write,
) -> Result<(), AnalyzeError> {
    let out: &mut dyn Write = &mut out;
    let written = match format {
        Format::Chrome => chrome::write(trace, analysis, out),
        Format::Perfetto => perfetto::write(trace, analysis, out),
        Format::JsonLines => jsonl::write(trace, analysis, out),
        Format::Samples => golden::samples::write_trace(trace, out),
    };
    written
        .and_then(|()| out.flush())
        .map_err(|source| AnalyzeError::Write {
            what: format.as_str(),
            source,
        })
}
