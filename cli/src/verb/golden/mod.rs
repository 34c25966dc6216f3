//! `cuzk golden`: golden timing snapshots and the gate that holds merges to them.

mod check;
mod decide;
mod drawn;
mod history;
mod limits;
mod measured;
mod past;
mod plot;
mod record;
mod review;
mod self_test;
mod who;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use golden::GoldenError;
use golden::snapshot::store::Store;

use crate::error::CliError;
use crate::exit::Exit;

/// The verbs below `cuzk golden`.
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "words here would hide the help of the arguments' type"
)]
pub enum Golden {
    Record(record::Record),
    Check(check::Check),
    Review(review::Review),
    Accept(decide::Accept),
    Reject(decide::Reject),
    History(history::History),
    Plot(plot::Plot),
    SelfTest(self_test::SelfTest),
}

/// Runs one of them.
///
/// # Errors
///
/// As the verb says.
pub fn run(verb: &Golden) -> Result<Exit, CliError> {
    match verb {
        Golden::Record(verb) => record::run(verb),
        Golden::Check(verb) => check::run(verb),
        Golden::Review(verb) => review::run(verb),
        Golden::Accept(verb) => decide::accept(verb),
        Golden::Reject(verb) => decide::reject(verb),
        Golden::History(verb) => history::run(verb),
        Golden::Plot(verb) => plot::run(verb),
        Golden::SelfTest(verb) => self_test::run(verb),
    }
}

/// The folder of the goldens.
#[derive(Args, Clone, Debug)]
struct Goldens {
    /// The folder of the goldens
    #[arg(long, value_name = "DIR", default_value = "golden/snapshots")]
    goldens: PathBuf,
}

impl Goldens {
    fn store(&self) -> Store {
        Store::new(&self.goldens)
    }

    /// The files of the folder, those of its groups too; none where it cannot be listed.
    fn files(&self) -> Vec<PathBuf> {
        let within = |dir: &Path| {
            let entries = std::fs::read_dir(dir).into_iter().flatten();
            entries.flatten().map(|entry| entry.path())
        };
        let (groups, mut files): (Vec<_>, Vec<_>) =
            within(&self.goldens).partition(|path| path.is_dir());
        files.extend(groups.iter().flat_map(|group| within(group)));
        files
    }
}

/// What an error of the library means to the command line: all of them are wrong usage, or files
/// that cannot be read or written.
fn told(error: GoldenError) -> CliError {
    match error {
        GoldenError::Encode { .. } => CliError::Internal(error.to_string()),
        other => CliError::Usage(other.to_string()),
    }
}
