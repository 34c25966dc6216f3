//! Text and JSON to standard output or a file; diagnostics to standard error.

use std::fmt::{Arguments, Write as _};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use crate::error::CliError;
use crate::exit::Exit;

/// Form of the answer on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs; the schema name stands in the first field.
    Json,
}

fn stdout_error(source: io::Error) -> CliError {
    CliError::Output {
        path: PathBuf::from("standard output"),
        source,
    }
}

/// Runs `write` on a buffered standard output.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(stdout_error)
}

/// Prints a text as it is.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn text(text: &str) -> Result<(), CliError> {
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// Prints a value as indented JSON with a final line end.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn json<T: Serialize>(value: &T) -> Result<(), CliError> {
    to_stdout(|out| {
        serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
        out.write_all(b"\n")
    })
}

/// Writes a file in one go.
///
/// # Errors
///
/// When the file cannot be written.
pub fn file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    fs::write(path, bytes).map_err(|source| CliError::Output {
        path: path.to_owned(),
        source,
    })
}

/// Refuses a call that would write over one of its own files: `what` each is, and where.
///
/// # Errors
///
/// [`CliError::Usage`] naming the two that are the same.
#[cfg(feature = "prove")]
pub fn distinct(files: &[(&str, Option<&Path>)]) -> Result<(), CliError> {
    let named = files
        .iter()
        .filter_map(|(what, path)| Some((what, (*path)?)));
    let named: Vec<_> = named
        .map(|(what, path)| {
            (
                what,
                path,
                fs::canonicalize(path).unwrap_or(path.to_owned()),
            )
        })
        .collect();
    for (at, (what, path, place)) in named.iter().enumerate() {
        let before = named.iter().take(at).find(|(_, _, other)| other == place);
        if let Some((other, ..)) = before {
            return Err(CliError::Usage(format!(
                "{} is to be {other} and {what} at once; name two files",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Appends formatted text; writing to a string does not fail.
pub fn put(text: &mut String, what: Arguments<'_>) {
    let written = text.write_fmt(what);
    debug_assert!(written.is_ok(), "a Display in this program failed");
}

/// A line on standard error. Failing to write there is nobody's concern.
pub fn note(text: &str) {
    drop(writeln!(io::stderr().lock(), "cuzk: {text}"));
}

/// Says on standard error what went wrong and gives the exit code.
pub fn report_error(error: &CliError) -> Exit {
    if error.is_broken_pipe() {
        return Exit::Clean;
    }
    note(&error.to_string());
    error.exit()
}
