//! Reading schedules: streaming, one line at a time, in memory bounded by the longest line.

use std::io::{self, BufRead};

use super::fields::{FieldError, Fields};
use super::{Header, LineError, OpsError, Step, decode};

/// The longest line that is read; a longer one is a counted error.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// How many errors a [`Schedule`] keeps; all are counted.
const ERRORS_KEPT_MAX: usize = 100;

/// One line after the header: its number, and the step or what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// 1-based line number.
    pub line: u64,
    /// What the line says.
    pub step: Result<Step, LineError>,
}

/// Reads one op from the bytes of its line.
///
/// # Errors
/// A [`LineError`] that says which key is wrong and why.
pub fn read_step(line: u64, bytes: &[u8]) -> Result<Step, LineError> {
    let mut fields = Fields::default();
    step_from(&mut fields, bytes).map_err(|error| error.at(line))
}

fn step_from(fields: &mut Fields, bytes: &[u8]) -> Result<Step, FieldError> {
    fields.parse(bytes)?;
    decode::step(fields)
}

/// Streams the ops of a schedule.
///
/// Blank lines are passed over; CRLF, a byte order mark and a missing last line end do no harm.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    header: Header,
    line: u64,
    bytes: Vec<u8>,
    fields: Fields,
    failed: bool,
}

/// How a line came in.
enum Line {
    Whole,
    TooLong(u64),
    End,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`OpsError`] when there is no usable header, or the input fails: without a card
    /// nothing can be replayed.
    pub fn open(input: R) -> Result<Self, OpsError> {
        let mut reader = Self {
            input,
            header: Header::one_gpu(0, 0),
            line: 0,
            bytes: Vec::new(),
            fields: Fields::default(),
            failed: false,
        };
        let line = reader.next_line();
        let io_error = |source| OpsError::Io { line: 0, source };
        match line.map_err(io_error)? {
            Line::End => return Err(OpsError::Empty),
            Line::TooLong(length) => {
                return Err(OpsError::Header(too_long(length).at(reader.line)));
            }
            Line::Whole => {}
        }
        let bom: &[u8] = b"\xef\xbb\xbf";
        let bytes = reader.bytes.strip_prefix(bom).unwrap_or(&reader.bytes);
        reader.header = Header::parse(reader.line, bytes)?;
        Ok(reader)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Puts the next line that is not blank into `self.bytes`.
    fn next_line(&mut self) -> io::Result<Line> {
        loop {
            self.bytes.clear();
            let mut length = 0_u64;
            let ended = self.fill_line(&mut length)?;
            if length == 0 && !ended {
                return Ok(Line::End);
            }
            self.line += 1;
            if length > LINE_BYTES_MAX as u64 {
                return Ok(Line::TooLong(length));
            }
            if !self.bytes.trim_ascii().is_empty() {
                return Ok(Line::Whole);
            }
            if !ended {
                return Ok(Line::End);
            }
        }
    }

    /// Reads up to a line end; `true` if there was one. Bytes past the limit are only counted.
    fn fill_line(&mut self, length: &mut u64) -> io::Result<bool> {
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok(false);
            }
            let end = memchr::memchr(b'\n', chunk);
            let (piece, used) = match end {
                Some(at) => (chunk.get(..at).unwrap_or(chunk), at + 1),
                None => (chunk, chunk.len()),
            };
            *length += piece.len() as u64;
            if *length <= LINE_BYTES_MAX as u64 {
                self.bytes.extend_from_slice(piece);
            }
            self.input.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

fn too_long(length: u64) -> FieldError {
    FieldError::new(
        "the line",
        &format!("at most {LINE_BYTES_MAX} bytes"),
        format!("{length} bytes"),
    )
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Entry, OpsError>;

    /// The next line; after an input failure there is no next one.
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let step = match self.next_line() {
            Ok(Line::End) => return None,
            Ok(Line::TooLong(length)) => Err(too_long(length)),
            Ok(Line::Whole) => step_from(&mut self.fields, &self.bytes),
            Err(source) => {
                self.failed = true;
                let line = self.line;
                return Some(Err(OpsError::Io { line, source }));
            }
        };
        let line = self.line;
        let step = step.map_err(|error| error.at(line));
        Some(Ok(Entry { line, step }))
    }
}

/// A whole schedule in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The cards, the driver, the workers.
    pub header: Header,
    /// The ops in recorded order.
    pub steps: Vec<Step>,
    /// The 1-based line of each step; empty for a schedule that was never text.
    pub lines: Vec<u64>,
    /// The first lines that were no ops.
    pub errors: Vec<LineError>,
    /// How many lines were no ops.
    pub errors_total: u64,
}

impl Schedule {
    /// A schedule that was never text.
    pub fn new(header: Header, steps: Vec<Step>) -> Self {
        Self {
            header,
            steps,
            lines: Vec::new(),
            errors: Vec::new(),
            errors_total: 0,
        }
    }

    /// Reads a whole schedule; bad lines are in [`Schedule::errors`].
    ///
    /// # Errors
    /// [`OpsError`] when there is no usable header, or the input fails.
    pub fn read(input: impl BufRead) -> Result<Self, OpsError> {
        let mut reader = Reader::open(input)?;
        let mut schedule = Self::new(reader.header().clone(), Vec::new());
        for entry in &mut reader {
            let Entry { line, step } = entry?;
            match step {
                Ok(step) => {
                    schedule.steps.push(step);
                    schedule.lines.push(line);
                }
                Err(error) => {
                    schedule.errors_total += 1;
                    if schedule.errors.len() < ERRORS_KEPT_MAX {
                        schedule.errors.push(error);
                    }
                }
            }
        }
        Ok(schedule)
    }

    /// The line of a step, if the schedule was text.
    pub fn line_of(&self, step: usize) -> Option<u64> {
        self.lines.get(step).copied()
    }
}
