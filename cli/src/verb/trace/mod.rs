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
#[expect(
    missing_docs,
    reason = "words here would hide the help of the arguments' type"
)]
pub enum Trace {
    Stat(stat::Stat),
    Cat(cat::Cat),
    Convert(convert::Convert),
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
