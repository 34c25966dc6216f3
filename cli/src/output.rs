//! Text and JSON to standard output or a file; diagnostics to standard error.
//!
//! `-` as the name of an output is standard output. A verb that was given it prints its report to
//! standard error instead, so that a reader of the pipe gets the file and nothing else.

use std::fmt::{Arguments, Write as _};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Set when a file of the verb goes to standard output.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether an output's name is that of standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Looks, before any work, whether the outputs of a call can be written: `what` each is, and where.
/// Nothing is created or changed. One of them may be `-`.
///
/// # Errors
///
/// [`CliError::Output`] for the first that cannot, [`CliError::Usage`] when two are `-`.
pub fn ready(files: &[(&str, Option<&Path>)]) -> Result<(), CliError> {
    let named = files
        .iter()
        .filter_map(|(what, path)| Some((*what, (*path)?)));
    let mut piped: Option<&str> = None;
    for (what, path) in named {
        if is_stdout(path) {
            if let Some(other) = piped.replace(what) {
                return Err(CliError::Usage(format!(
                    "- is to be {other} and {what} at once; name a file for one of them"
                )));
            }
            TAKEN.store(true, Ordering::Relaxed);
        } else {
            writable(path).map_err(|source| CliError::Output {
                path: path.to_owned(),
                source,
            })?;
        }
    }
    Ok(())
}

/// Whether a file could be written: one that is there is opened, for one that is not a nameless
/// file is made in its folder.
fn writable(path: &Path) -> io::Result<()> {
    if path.exists() {
        return File::options().append(true).open(path).map(drop);
    }
    if path.file_name().is_none() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map(drop)
}

/// Empties a file for one writer: who opens it while another process writes it is refused, and what
/// the other has written stays.
fn alone(path: &Path) -> io::Result<File> {
    let file = File::options().append(true).create(true).open(path)?;
    // A file system without locks has nobody to ask.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another process is writing it; name another file or wait for its end",
        ));
    }
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Opens an output to be written piece by piece; every write is one of the system's. No other call
/// can open it the same way until it is closed.
///
/// # Errors
///
/// When it cannot be opened.
pub fn create(path: &Path) -> Result<File, CliError> {
    let opened = if is_stdout(path) {
        io::stdout().as_fd().try_clone_to_owned().map(File::from)
    } else {
        spared(path)?;
        alone(path)
    };
    opened.map_err(|source| CliError::Output {
        path: path.to_owned(),
        source,
    })
}

/// Says that a file which holds something will be written anew.
#[cfg(feature = "prove")]
pub fn replaces(path: &Path) {
    let holds = fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    if holds && !is_stdout(path) {
        note(&format!("replaces {}", path.display()));
    }
}

/// Runs `write` on a buffered standard output, or standard error where a file of the verb goes to
/// standard output.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    if TAKEN.load(Ordering::Relaxed) {
        return write(&mut io::stderr().lock()).map_err(stdout_error);
    }
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(stdout_error)
}

/// Prints a text. Control characters but tab and line end, which job ids and quoted lines may hold,
/// are replaced by U+FFFD: what a log says is not for the terminal to act on.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn text(text: &str) -> Result<(), CliError> {
    to_stdout(|out| out.write_all(printable(text).as_bytes()))
}

fn printable(text: &str) -> String {
    let is_unprintable = |c: char| c.is_control() && !matches!(c, '\t' | '\n');
    text.replace(is_unprintable, "\u{fffd}")
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

/// Writes a file in one go; `-` is standard output.
///
/// # Errors
///
/// When the file cannot be written.
pub fn file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let written = if is_stdout(path) {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush())
    } else {
        spared(path)?;
        fs::write(path, bytes)
    };
    written.map_err(|source| CliError::Output {
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
    apart(std::iter::empty::<&Path>(), files)
}

/// Refuses a call that would write over a file that it reads, or two outputs into one file;
/// whatever their names, the same file is the same. To be asked before anything is read.
///
/// # Errors
///
/// [`CliError::Usage`] naming the two that are the same.
pub fn apart<P: AsRef<Path>>(
    read: impl IntoIterator<Item = P>,
    written: &[(&str, Option<&Path>)],
) -> Result<(), CliError> {
    let read: Vec<P> = read.into_iter().collect();
    for path in &read {
        reads(path.as_ref());
    }
    let written = written
        .iter()
        .filter_map(|(what, path)| Some((*what, (*path)?)));
    let written: Vec<_> = written
        .filter_map(|(what, path)| Some((what, path, Identity::of(path)?)))
        .collect();
    if written.is_empty() {
        return Ok(());
    }
    for input in read {
        let input = input.as_ref();
        let place = Identity::of(input);
        let over = written
            .iter()
            .find(|(.., other)| Some(other) == place.as_ref());
        if let Some((what, path, _)) = over {
            return Err(CliError::Usage(format!(
                "{} is to be {what} and is read as {}; it would be lost: name another file",
                path.display(),
                input.display()
            )));
        }
    }
    for (at, (what, path, place)) in written.iter().enumerate() {
        let before = written.iter().take(at).find(|(.., other)| other == place);
        if let Some((other, ..)) = before {
            return Err(CliError::Usage(format!(
                "{} is to be {other} and {what} at once; name two files",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Which file a path means, whatever it is called.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and inode.
    There(u64, u64),
    /// Not there yet.
    New(PathBuf),
}

impl Identity {
    /// None for standard output, and for devices and pipes, which lose nothing by being written.
    fn of(path: &Path) -> Option<Self> {
        if is_stdout(path) {
            return None;
        }
        if let Ok(meta) = fs::metadata(path) {
            return meta.is_file().then(|| Self::There(meta.dev(), meta.ino()));
        }
        let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        Some(Self::New(folder.join(path.file_name()?)))
    }
}

/// The files that the call reads, by their identity.
static READ: Mutex<Vec<(Identity, PathBuf)>> = Mutex::new(Vec::new());

/// Takes note of a file that the call reads: nothing is written over it from now on, whatever name
/// a picture or a schedule gets.
pub fn reads(path: &Path) {
    if let Some(place) = Identity::of(path) {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        read.push((place, path.to_owned()));
    }
}

/// Refuses to write over a file that the call reads.
fn spared(path: &Path) -> Result<(), CliError> {
    let place = Identity::of(path);
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    match read.iter().find(|(other, _)| Some(other) == place.as_ref()) {
        None => Ok(()),
        Some((_, input)) => Err(CliError::Usage(format!(
            "{} is to be written and is read as {}; it would be lost: name another folder",
            path.display(),
            input.display()
        ))),
    }
}

/// Appends formatted text; writing to a string does not fail.
pub fn put(text: &mut String, what: Arguments<'_>) {
    let written = text.write_fmt(what);
    debug_assert!(written.is_ok(), "a Display in this program failed");
}

/// A line on standard error. Failing to write there is nobody's concern.
pub fn note(text: &str) {
    let text = printable(text);
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

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_a_terminal_would_act_on_is_replaced() {
        let text = printable("job \u{1b}]0;x\u{7} \u{9b}31m\r\u{8}\tend\n");
        assert_eq!(text.replace('\u{fffd}', "?"), "job ?]0;x? ?31m??\tend\n");
    }
}
