//! `cuzk completions`: a completion script for a shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cuzk completions bash > /etc/bash_completion.d/cuzk")]
pub struct Completions {
    /// Which shell
    shell: Shell,
}

/// Prints the script.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn run(verb: &Completions) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    let mut command = crate::args::Args::command();
    clap_complete::generate(verb.shell, &mut command, "cuzk", &mut script);
    output::to_stdout(|out| out.write_all(&script))?;
    Ok(Exit::Clean)
}
