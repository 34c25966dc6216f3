//! What keeps a verb from giving an answer. Bad lines in a log are never here: they are counted
//! and reported by the reader.

use std::io;
use std::path::PathBuf;

use crate::exit::Exit;

/// An error of the command line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// An input that cannot be opened or read.
    #[error("cannot read {path}: {reason}; expected {expected}")]
    Input {
        /// As the user named it.
        path: String,
        /// What the system says, or what was found.
        reason: String,
        /// What would have done.
        expected: &'static str,
    },
    /// An input that breaks off while it is read; the reader's own words.
    #[error("{0}")]
    Read(String),
    /// An output that cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Output {
        /// The file, or `standard output`.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A combination of flags that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A library function failed on data that it had accepted.
    #[error("internal error: {0}; this is a bug of cuzk, please report it with the input's shape")]
    Internal(String),
}

impl CliError {
    /// An input that cannot be read.
    pub fn input(path: &str, reason: &dyn ToString, expected: &'static str) -> Self {
        Self::Input {
            path: path.to_owned(),
            reason: reason.to_string(),
            expected,
        }
    }

    /// The exit code that this error means.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Input { .. } | Self::Read(_) | Self::Output { .. } | Self::Usage(_) => {
                Exit::Usage
            }
            Self::Internal(_) => Exit::Internal,
        }
    }

    /// Whether the reader of our output went away, which is no error of ours.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// The prover's own words about what it was given.
#[cfg(feature = "prove")]
impl From<prover::ProverError> for CliError {
    fn from(error: prover::ProverError) -> Self {
        Self::Read(error.to_string())
    }
}
