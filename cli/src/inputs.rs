//! The inputs of a command: files as they are, standard input and pipes through a temporary file,
//! so that every input can be read twice (once for its events, once for the lines to quote).

use std::collections::BTreeSet;
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use tracefmt::pieces::Piece;

use crate::error::CliError;

/// One readable input.
#[derive(Debug)]
pub struct Source {
    /// As the user named it; `-` is standard input.
    pub name: String,
    /// Where its bytes are.
    pub path: PathBuf,
    /// Size on disk in bytes.
    pub bytes: u64,
    /// The files that it was joined from; empty when it is one file.
    pub pieces: Vec<Piece>,
    /// Keeps the copy of a pipe alive.
    _copy: Option<NamedTempFile>,
}

const EXPECTED: &str = "a log file (plain, .gz or .zst), or - for standard input";

/// Checks and opens all inputs, in the order given.
///
/// # Errors
///
/// A file named twice, a missing file, a directory, an empty file, a device, or one that may not
/// be read: each with what was found and what would have done.
pub fn open_all(names: &[String]) -> Result<Vec<Source>, CliError> {
    let stdin = names.iter().filter(|name| *name == "-").count();
    if stdin > 1 {
        return Err(CliError::Usage(
            "standard input (-) is named twice; it can be read once".into(),
        ));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
        return Err(CliError::Usage(format!(
            "{twice} is named twice; each of its runs would count twice: name it once"
        )));
    }
    names.iter().map(|name| open(name)).collect()
}

/// Checks and opens one input.
///
/// # Errors
///
/// As [`open_all`].
pub fn open(name: &str) -> Result<Source, CliError> {
    let source = if name == "-" {
        copied(name, io::stdin().lock())?
    } else {
        on_disk(name)?
    };
    if source.bytes == 0 {
        return Err(CliError::input(name, &"it is empty", EXPECTED));
    }
    Ok(source)
}

fn on_disk(name: &str) -> Result<Source, CliError> {
    let path = Path::new(name);
    let meta = fs::metadata(path).map_err(|error| CliError::input(name, &error, EXPECTED))?;
    if meta.is_dir() {
        let hint = "it is a directory (name the files in it)";
        return Err(CliError::input(name, &hint, EXPECTED));
    }
    let file = File::open(path).map_err(|error| CliError::input(name, &error, EXPECTED))?;
    if is_endless(meta.file_type()) {
        let hint = "it is a device and may never end (pipe a bounded part of it: head -c 1G)";
        return Err(CliError::input(name, &hint, EXPECTED));
    }
    if meta.is_file() {
        crate::output::reads(path);
        let (name, path) = (name.to_owned(), path.to_owned());
        return Ok(Source {
            name,
            path,
            bytes: meta.len(),
            pieces: Vec::new(),
            _copy: None,
        });
    }
    copied(name, file)
}

fn is_endless(kind: FileType) -> bool {
    kind.is_char_device() || kind.is_block_device()
}

impl Source {
    /// Several files joined in a copy.
    #[cfg(feature = "logs")]
    pub(crate) fn joined(name: String, copy: NamedTempFile, pieces: Vec<Piece>) -> Self {
        Self {
            name,
            path: copy.path().to_owned(),
            bytes: copy.as_file().metadata().map_or(0, |meta| meta.len()),
            pieces,
            _copy: Some(copy),
        }
    }
}

/// Copies a pipe to a temporary file.
fn copied(name: &str, mut from: impl Read) -> Result<Source, CliError> {
    let failed = |error: io::Error| CliError::input(name, &error, EXPECTED);
    let mut copy = NamedTempFile::new().map_err(failed)?;
    let bytes = io::copy(&mut from, &mut copy).map_err(failed)?;
    let path = copy.path().to_owned();
    Ok(Source {
        name: name.to_owned(),
        path,
        bytes,
        pieces: Vec::new(),
        _copy: Some(copy),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str) -> String {
        open(name).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_log_is_said_to_be_so() {
        let dir = tempfile::tempdir().unwrap();
        assert!(message(dir.path().to_str().unwrap()).contains("directory"));
        assert!(message("/no/such/file.log").contains("No such file"));
        assert!(message("/dev/zero").contains("device"));
        let empty = NamedTempFile::new().unwrap();
        assert!(message(empty.path().to_str().unwrap()).contains("empty"));
    }

    #[test]
    fn every_message_says_what_would_have_done() {
        assert!(message("/no/such/file.log").contains("expected a log file"));
    }

    #[test]
    fn a_copied_pipe_is_complete_and_goes_away() {
        let source = copied("-", &b"TIMELINE,1,GPU_START,j,worker=0\n"[..]).unwrap();
        assert_eq!(source.bytes, 32);
        assert_eq!(fs::read(&source.path).unwrap().len(), 32);
        let path = source.path.clone();
        drop(source);
        assert!(!path.exists());
    }

    #[test]
    fn standard_input_is_read_once() {
        let twice = open_all(&["-".to_owned(), "-".to_owned()]);
        assert!(twice.unwrap_err().to_string().contains("twice"));
    }
}
