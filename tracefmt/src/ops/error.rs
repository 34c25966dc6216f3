//! What can be wrong with a schedule's text, and where.

use std::io;

/// One line that is not an op: where, what was expected, and what stood there.
///
/// Never fatal: the reader counts it and goes on with the next line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {place}: expected {expected}, found {found}")]
pub struct LineError {
    /// 1-based line number in the file.
    pub line: u64,
    /// The key concerned, or `the line` when it is no JSON object at all.
    pub place: String,
    /// What the format asks for at this place.
    pub expected: String,
    /// What stood there, cut to a readable length.
    pub found: String,
}

/// Why a schedule cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    /// The input failed while it was read.
    #[error("reading the schedule failed after line {line}")]
    Io {
        /// The last line that was read whole.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// There was no line at all.
    #[error("expected a cuzk.ops/1 header on the first line, found an empty input")]
    Empty,
    /// The first line is not a usable header.
    #[error("the header is not usable: {0}")]
    Header(LineError),
    /// The header names a version that this reader does not know.
    #[error(
        "line {line}: expected schema \"cuzk.ops/1\", found \"{found}\"; \
             write the schedule with a matching version"
    )]
    Version {
        /// 1-based line number of the header.
        line: u64,
        /// The schema that was named.
        found: String,
    },
}
