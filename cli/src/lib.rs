//! The one binary, `cuzk`: each verb parses its arguments, calls one library function of the
//! crates below, and prints. What a log means is decided there, never here.

pub mod args;
pub mod error;
pub mod exit;
pub mod inputs;
#[cfg(feature = "logs")]
pub mod joining;
pub mod left_out;
pub mod output;
#[cfg(feature = "logs")]
pub mod progress;
#[cfg(feature = "logs")]
pub mod reading;
pub mod reference;
pub mod verb;

use args::{Args, Verb};
use error::CliError;
use exit::Exit;

/// Runs one verb.
///
/// # Errors
///
/// Whatever keeps the verb from giving an answer: unreadable inputs, a wrong combination of
/// flags, an output that cannot be written. The error says which exit code it means.
pub fn run(args: &Args) -> Result<Exit, CliError> {
    match &args.verb {
        #[cfg(feature = "logs")]
        Verb::Diagnose(verb) => verb::diagnose::run(verb),
        #[cfg(feature = "logs")]
        Verb::Analyze(verb) => verb::analyze::run(verb),
        #[cfg(feature = "logs")]
        Verb::Replay(verb) => verb::replay::run(verb),
        #[cfg(feature = "logs")]
        Verb::Compare(verb) => verb::compare::run(verb),
        #[cfg(feature = "logs")]
        Verb::Trace(verb) => verb::trace::run(verb),
        #[cfg(feature = "gate")]
        Verb::Golden(verb) => verb::golden::run(verb),
        #[cfg(feature = "prove")]
        Verb::Setup(verb) => verb::setup::run(verb),
        #[cfg(feature = "prove")]
        Verb::Prove(verb) => verb::prove::run(verb),
        #[cfg(feature = "prove")]
        Verb::Verify(verb) => verb::verify::run(verb),
        #[cfg(feature = "prove")]
        Verb::Preflight(verb) => verb::preflight::run(verb),
        #[cfg(feature = "prove")]
        Verb::Bench(verb) => verb::bench::run(verb),
        #[cfg(feature = "serve")]
        Verb::Serve(verb) => verb::serve::run(verb),
        Verb::Completions(verb) => verb::completions::run(verb),
        Verb::Man(verb) => verb::man::run(verb),
    }
}
