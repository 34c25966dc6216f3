//! `cuzk man`: the manual page, roff on standard output or a page per verb into a folder.

use std::fs;
use std::path::PathBuf;

use clap::builder::Resettable;
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
    let mut command = crate::args::Args::command().disable_help_subcommand(true);
    // Names below become those of their pages: `cuzk-trace-cat`.
    command.build();
    match &verb.dir {
        None => {
            let page = page(command)?;
            output::to_stdout(|out| out.write_all(&page))?;
        }
        Some(dir) => {
            fs::create_dir_all(dir).map_err(|source| CliError::Output {
                path: dir.clone(),
                source,
            })?;
            for command in pages(command) {
                let name = command.get_display_name().unwrap_or("cuzk").to_owned();
                output::file(&dir.join(format!("{name}.1")), &page(command)?)?;
            }
        }
    }
    Ok(Exit::Clean)
}

fn page(command: Command) -> Result<Vec<u8>, CliError> {
    let examples = command.get_after_help().map(ToString::to_string);
    let name = command.get_display_name().unwrap_or("cuzk").to_owned();
    let command = command.after_help(Resettable::Reset);
    let mut page = Vec::new();
    let manual = clap_mangen::Man::new(command)
        .title(name)
        .source(concat!("cuzk ", env!("CARGO_PKG_VERSION")));
    let made = manual.render(&mut page);
    made.map_err(|error| CliError::Internal(format!("cannot render the manual page: {error}")))?;
    if let Some(examples) = examples {
        page.extend_from_slice(literal("EXAMPLES", &examples).as_bytes());
    }
    Ok(page)
}

/// A section whose lines stay as they are, without its own first line "Examples:".
fn literal(heading: &str, text: &str) -> String {
    let mut section = format!(".SH {heading}\n.nf\n");
    for line in text.lines().filter(|line| !line.starts_with("Example")) {
        // A dot or a quote at the beginning would be a request; `-` would be a hyphen.
        let escaped = line.replace('\\', "\\e").replace('-', "\\-");
        section.push_str("\\&");
        section.push_str(&escaped.replace('\'', "\\(aq"));
        section.push('\n');
    }
    section.push_str(".fi\n");
    section
}

/// The command and all below it.
fn pages(command: Command) -> Vec<Command> {
    let below: Vec<Command> = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .flat_map(|verb| pages(verb.clone()))
        .collect();
    let mut all = vec![command];
    all.extend(below);
    all
}
