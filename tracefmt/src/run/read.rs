//! From inputs to a [`Trace`]: each input is scanned, typed and put together by itself
//! ([`read_input`], which callers may run side by side), then all are joined ([`join`]).

use std::io;
use std::path::PathBuf;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Builder, Input, Part, Place, Trace, ahead};
use crate::input::Opened;
use crate::record::Record;
use crate::scan::{Class, Classes, Line, Scan, Sink, scan_reader};

/// Inputs from this size on are scanned in a thread of their own; the result is the same.
const AHEAD_BYTES: u64 = 4 << 20;

/// Why an input could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be opened.
    #[error("cannot open {path}: {source}; give the path of a readable file, or - for stdin")]
    Open {
        /// As the user named it.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Reading broke off.
    #[error("cannot read {path} to its end: {source}")]
    Read {
        /// As the user named it.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Line numbers are kept in 32 bits.
    #[error("{path} has {lines} lines, more than 4294967294; split it")]
    TooLong {
        /// As the user named it.
        path: String,
        /// How many it has.
        lines: u64,
    },
}

/// Where an input comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// The standard input.
    Stdin,
    /// Bytes in memory under a name.
    Bytes(String, Vec<u8>),
}

impl Source {
    /// As the user named it.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.to_string_lossy().into_owned(),
            Self::Stdin => "-".to_owned(),
            Self::Bytes(name, _) => name.clone(),
        }
    }

    fn open(&self) -> io::Result<Opened<'_>> {
        match self {
            Self::Path(path) => Opened::open(path),
            Self::Stdin => Opened::new(io::stdin()),
            Self::Bytes(_, bytes) => Opened::new(bytes.as_slice()),
        }
    }
}

/// One input, read by itself.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Name and sizes.
    pub input: Input,
    /// Its runs, with line references to the index it was read under.
    pub part: Part,
    /// Its byte ledger.
    pub scan: Scan,
}

/// Reads inputs one after the other and joins them.
///
/// # Errors
/// The first input that cannot be read. What stands in an input is never an error.
pub fn read(sources: &[Source]) -> Result<(Trace, Vec<Scan>), ReadError> {
    let readings = (0_u32..).zip(sources);
    let readings: Result<Vec<_>, _> = readings
        .map(|(index, source)| read_input(index, source))
        .collect();
    Ok(join(readings?))
}

/// Reads one input; `index` is its place among all inputs.
///
/// # Errors
/// As [`read`].
pub fn read_input(index: u32, source: &Source) -> Result<Reading, ReadError> {
    let path = source.name();
    match source.open() {
        Ok(opened) => read_opened(index, path, opened),
        Err(source) => Err(ReadError::Open { path, source }),
    }
}

/// Reads one opened input under the name that the user gave it.
///
/// # Errors
/// When reading breaks off, or the input has more lines than can be numbered.
pub fn read_opened(index: u32, path: String, mut opened: Opened<'_>) -> Result<Reading, ReadError> {
    let mut typist = Typist::new(index);
    let scanned = if opened.file_bytes() < AHEAD_BYTES {
        scan_reader(&mut opened, &mut typist)
    } else {
        ahead::scan_into(&mut opened, &mut typist.builder)
    };
    let mut scan = match scanned {
        Ok(scan) => scan,
        Err(source) => return Err(ReadError::Read { path, source }),
    };
    scan.damage = opened.damage().cloned();
    scan.cut_end |= scan.damage.is_some();
    let (lines, bytes) = (scan.ledger.lines(), scan.ledger.bytes());
    let Ok(last) = u32::try_from(lines) else {
        return Err(ReadError::TooLong { path, lines });
    };
    let mut part = typist.builder.finish(last, scan.cut_end);
    part.lost(index, scan.lost.lines());
    // Nobody knows what came behind the damage; and whoever puts prefixes before lines ends every
    // line, so that one without an end is a piece.
    let piece = opened.damage().is_some() || (scan.cut_end && !scan.wrappings.is_empty());
    if piece && scan.lost.lines().last() != Some(&lines) {
        part.lost(index, &[lines]);
    }
    if let Some(damage) = &scan.damage {
        part.damaged(damage);
    }
    let input = Input {
        path,
        file_bytes: opened.file_bytes(),
        bytes,
        lines,
        pieces: Vec::new(),
        foreign: Vec::new(),
    };
    Ok(Reading { input, part, scan })
}

/// Puts readings together; they must have been read under indices from 0 on, in this order.
pub fn join(readings: Vec<Reading>) -> (Trace, Vec<Scan>) {
    let mut trace = Trace::default();
    let mut scans = Vec::with_capacity(readings.len());
    let mut benches = Vec::new();
    for reading in readings {
        let first = trace.runs.len();
        let part = reading.part;
        for (bench, run) in part.benches {
            benches.push((bench, run.map(|run| run + first)));
        }
        trace.runs.extend(part.runs);
        trace.inputs.push(reading.input);
        scans.push(reading.scan);
    }
    for (index, run) in (0_u32..).zip(&mut trace.runs) {
        run.index = index;
    }
    super::benches::give(&mut trace.runs, benches);
    (trace, scans)
}

/// Types the lines of a scan and hands them to a builder.
#[derive(Debug)]
pub struct Typist {
    builder: Builder,
}

impl Typist {
    /// For the input with this index.
    pub fn new(index: u32) -> Self {
        Self {
            builder: Builder::new(index),
        }
    }

    /// What was built so far.
    pub fn into_builder(self) -> Builder {
        self.builder
    }
}

impl Sink for Typist {
    fn wants(&self) -> Classes {
        ahead::WANTED
    }

    fn line(&mut self, line: &Line<'_>) {
        let Ok(number) = u32::try_from(line.number) else {
            return;
        };
        let place = Place {
            line: number,
            repaired: line.repaired,
        };
        match line.class {
            Class::Torn => self.builder.fragment(number),
            Class::Tracing | Class::EngineOther if !is_ours(line.text) => {}
            _ => {
                let record = line.record();
                match record {
                    Record::Foreign if line.class == Class::Timeline => {
                        self.builder.unread_event(number);
                    }
                    Record::Foreign => {}
                    _ => self.builder.feed(place, &record),
                }
            }
        }
    }
}

/// Log lines of other programs are counted, not typed: most of a big log is theirs.
pub(crate) fn is_ours(text: &[u8]) -> bool {
    static CUZK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("cuzk"));
    static BELLPERSON: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("bellperson"));
    CUZK.find(text).is_some() || BELLPERSON.find(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_line_end_is_a_piece_only_behind_a_prefix() {
        let pieces = |text: &str| {
            let source = Source::Bytes("a.log".to_owned(), text.as_bytes().to_vec());
            let trace = read(&[source]).unwrap().0;
            trace.runs[0].ends_in_a_piece()
        };
        let start = "TIMELINE,1,SYNTH_START,j,partition=0\n";
        let end = "TIMELINE,2,SYNTH_END,j,partition=0,synth_ms=1";
        assert!(!pieces(&format!("{start}{end}")));
        assert!(!pieces(&format!("7:{start}8:{end}\n")));
        assert!(pieces(&format!("7:{start}8:{end}")));
        assert!(pieces(&format!("{start}TIMELINE,2,SYNT")));
    }
}
