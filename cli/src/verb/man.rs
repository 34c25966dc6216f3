//! `cuzk man`: the manual page, roff on standard output or a page per verb into a folder.

use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Print the manual page, or write one page per verb into a folder.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cuzk man | man -l -\n  cuzk man --dir /usr/share/man/man1")]
pub struct Man {
    /// Write `cuzk.1`, `cuzk-diagnose.1`, ... into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints or writes the pages.
///
/// # Errors
///
/// When the output cannot be written.
pub fn run(verb: &Man) -> Result<Exit, CliError> {
    let command = crate::args::Args::command();
    match &verb.dir {
        None => {
            let page = page(command)?;
            output::to_stdout(|out| out.write_all(&page))?;
        }
        Some(dir) => {
            for (name, command) in pages("cuzk".to_owned(), command) {
                output::file(&dir.join(format!("{name}.1")), &page(command)?)?;
            }
        }
    }
    Ok(Exit::Clean)
}

fn page(command: Command) -> Result<Vec<u8>, CliError> {
    let mut page = Vec::new();
    let made = clap_mangen::Man::new(command).render(&mut page);
    made.map_err(|error| CliError::Internal(format!("cannot render the manual page: {error}")))?;
    Ok(page)
}

/// The command and all below it, with the names of their pages.
fn pages(name: String, command: Command) -> Vec<(String, Command)> {
    let below: Vec<_> = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .flat_map(|verb| pages(format!("{name}-{}", verb.get_name()), verb.clone()))
        .collect();
    let mut all = vec![(name, command)];
    all.extend(below);
    all
}
