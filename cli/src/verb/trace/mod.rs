//! `cuzk trace`: look at a log itself.

use clap::Subcommand;

use crate::error::CliError;
use crate::exit::Exit;

/// The verbs below `cuzk trace`.
#[derive(Debug, Subcommand)]
pub enum Trace {}

/// Runs one of them.
///
/// # Errors
///
/// As the verb says.
pub fn run(verb: &Trace) -> Result<Exit, CliError> {
    match *verb {}
}
