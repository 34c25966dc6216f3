//! Why the crate could not do what it was asked. A slow phase is not an error but a verdict.

use std::path::PathBuf;

/// What can go wrong outside of a measurement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// A file could not be read or written.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// `read`, `write`, `remove`, ...
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A stream of samples broke off.
    #[error("cannot read samples after line {line}: {source}")]
    Stream {
        /// Last line that was read, 1-based.
        line: u64,
        /// What the system said.
        source: std::io::Error,
    },
    /// A document is not what its format says.
    #[error("expected {expected}, found {found}")]
    Format {
        /// What should have been there.
        expected: &'static str,
        /// What was there, with its place.
        found: String,
    },
    /// A golden was written by a newer version, or is no golden.
    #[error("golden has schema {found}, this version reads {expected}: update the tool")]
    Schema {
        /// The schema this version knows.
        expected: u32,
        /// The schema in the file.
        found: u32,
    },
    /// A golden file does not parse.
    #[error("{path} is not a golden snapshot: {what}")]
    Snapshot {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        what: String,
    },
    /// A golden cannot be written as text.
    #[error("cannot write the golden as TOML: {what}")]
    Encode {
        /// What the writer said.
        what: String,
    },
    /// Nothing usable to record.
    #[error("no usable run to record: {what}")]
    NothingToRecord {
        /// Why the runs were left out.
        what: String,
    },
    /// Goldens are changed by people.
    #[error("goldens are not written under CI: record and accept on a workstation and commit them")]
    NotUnderCi,
    /// There is no candidate to decide on.
    #[error("no candidate at {path}: make one with `cuzk golden record`")]
    NoCandidate {
        /// Where it would be.
        path: PathBuf,
    },
    /// A slow-down is accepted only with a reason.
    #[error("{} became slower ({}): accept needs --reason", phases.len(), phases.join(", "))]
    ReasonNeeded {
        /// The phases with their ratios.
        phases: Vec<String>,
    },
    /// Accepting would exceed the budget of slow-downs against the anchor.
    #[error("by the estimate over the drift budget ({}): accept needs --over-budget, or move \
        the anchor", phases.join(", "))]
    OverBudget {
        /// The phases with their sums.
        phases: Vec<String>,
    },
}
