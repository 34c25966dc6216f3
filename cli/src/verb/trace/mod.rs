//! `cuzk trace`: look at a log itself.

mod cat;
mod convert;

mod lint;
mod stat;

use clap::Subcommand;

use crate::error::CliError;
use crate::exit::Exit;

/// The verbs below `cuzk trace`.
#[derive(Debug, Subcommand)]
pub enum Trace {
    /// What is in a log: every byte in exactly one class, events by kind, dialect, runs
    Stat(stat::Stat),
    /// Print lines of a log by kind, job, partition, worker, time; find trouble
    Cat(cat::Cat),
    /// Turn a log into JSON Lines, Chrome JSON, Perfetto, samples, CSV or Parquet
    Convert(convert::Convert),
    /// Anomalies of a log with their line numbers
    Lint(lint::Lint),
}

/// Runs one of them.
///
/// # Errors
///
/// As the verb says.
pub fn run(verb: &Trace) -> Result<Exit, CliError> {
    match verb {
        Trace::Stat(verb) => stat::run(verb),
        Trace::Cat(verb) => cat::run(verb),
        Trace::Convert(verb) => convert::run(verb),
        Trace::Lint(verb) => lint::run(verb),
    }
}
