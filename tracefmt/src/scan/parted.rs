//! Lines that a container runtime parted: it writes at most 16 KiB of a line at once and says of
//! each part whether the line goes on (`P` for `F` in the files of the CRI, no line feed at the end
//! of `log` in records). The parts of each stream are put together; nothing is guessed.

use super::LINE_MAX;
use super::torn::Place;

/// Where the daemon wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// What a runtime says of a line of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) stream: Stream,
    /// The daemon's line ends with it.
    pub(super) last: bool,
}

impl Part {
    /// Of the tag in a file of the CRI: stream, blank, `P` or `F`, blank.
    pub(super) fn of_tag(tag: &[u8]) -> Option<Self> {
        let (stream, tag) = if let Some(tag) = tag.strip_prefix(b"stdout ") {
            (Stream::Out, tag)
        } else {
            (Stream::Err, tag.strip_prefix(b"stderr ")?)
        };
        match tag {
            [b'F', b' ', ..] => Some(Self { stream, last: true }),
            [b'P', b' ', ..] => Some(Self {
                stream,
                last: false,
            }),
            _ => None,
        }
    }
}

/// Length of a tag.
pub(super) const TAG: usize = "stdout F ".len();

/// The parts of a line so far.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) text: Vec<u8>,
    /// As they stood, with all that the runtime put around them.
    pub(super) raw: Vec<u8>,
    /// Of the first part.
    pub(super) at: Place,
    /// Physical lines.
    pub(super) lines: u64,
    /// NUL bytes that are not in `raw`.
    pub(super) skipped: u64,
}

/// The open lines of both streams.
#[derive(Debug, Default)]
pub(super) struct Parted {
    open: [Option<Parts>; 2],
}

impl Parted {
    /// Whether a line waits for its rest.
    pub(super) fn is_busy(&self) -> bool {
        self.open.iter().any(Option::is_some)
    }

    /// Whether a line of this stream does.
    pub(super) fn is_open(&self, stream: Stream) -> bool {
        self.open[stream as usize].is_some()
    }

    /// Whether the open line of a stream and so many bytes are more than a line may have.
    pub(super) fn overflows(&self, stream: Stream, more: usize) -> bool {
        let open = self.open[stream as usize].as_ref();
        open.is_some_and(|open| open.text.len().max(open.raw.len()) + more > LINE_MAX)
    }

    /// Adds a part.
    pub(super) fn push(
        &mut self,
        stream: Stream,
        (text, raw): (&[u8], &[u8]),
        at: Place,
        skipped: u64,
    ) {
        let open = self.open[stream as usize].get_or_insert_with(|| Parts {
            text: Vec::new(),
            raw: Vec::new(),
            at,
            lines: 0,
            skipped: 0,
        });
        open.text.extend_from_slice(text);
        open.raw.extend_from_slice(raw);
        open.lines += 1;
        open.skipped += skipped;
    }

    /// Takes the line of a stream.
    pub(super) fn take(&mut self, stream: Stream) -> Option<Parts> {
        self.open[stream as usize].take()
    }

    /// Takes a line that never came to its end, the earlier one first.
    pub(super) fn take_any(&mut self) -> Option<Parts> {
        let number = |open: &Option<Parts>| open.as_ref().map_or(u64::MAX, |open| open.at.number);
        self.open.iter_mut().min_by_key(|open| number(open))?.take()
    }
}
