//! A classified line, and who receives it.

use super::{Class, Classes};
use crate::event::EventKind;
use crate::grammar::{self, PlainEvent};
use crate::record::Record;
use crate::run::{MarkKind, PlainMark};

/// A line of the commonest shapes, typed: reading it whole is the cheapest proof that no other
/// line stands in it, so the scanner does, and a sink need not do it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain<'a> {
    /// An event of the old dialects with its job id, which is ASCII.
    Event(PlainEvent, &'a [u8]),
    /// A timing line without text.
    Timing(PlainMark),
}

/// One line as the scanner delivers it. Borrowed: it lives until the sink returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Physical line of the (decompressed) input on which it begins, from 1.
    pub number: u64,
    /// Offset of its first byte in the decompressed input.
    pub offset: u64,
    /// The bytes as they stand, with prefix and line end. Of a repaired line: its fragments' bytes
    /// one after the other; of a line longer than [`super::LINE_MAX`]: empty.
    pub raw: &'a [u8],
    /// What was written: without wrapping prefix, byte order mark, line end and NUL bytes.
    /// Colour codes stay. Of a repaired line: the line as it was before it was torn.
    pub text: &'a [u8],
    /// Its class.
    pub class: Class,
    /// Put together from the fragments of several physical lines.
    pub repaired: bool,
    /// Bytes are missing: the input ends before the line does, or begins inside it.
    pub cut: bool,
    /// The number that a wrapping prefix gives (`grep -n`); `number` stays the physical line.
    pub listed: Option<u64>,
    /// The line typed, if it is of one of the commonest shapes.
    pub(crate) plain: Option<Plain<'a>>,
}

impl<'a> Line<'a> {
    /// What the line says.
    #[inline]
    pub fn record(&self) -> Record<'a> {
        match self.plain {
            Some(Plain::Event(event, job)) => {
                // ASCII, so that this is always text.
                let job = std::str::from_utf8(job).unwrap_or_default();
                Record::Event(event.of_job(job))
            }
            _ => grammar::parse(self.class, self.text),
        }
    }

    /// The kind of an event or timing line that was typed on the way; others take a
    /// [`Line::record`].
    #[inline]
    pub fn plain_kind(&self) -> Option<PlainKind> {
        Some(match self.plain? {
            Plain::Event(event, _) => PlainKind::Event(event.kind()),
            Plain::Timing(mark) => PlainKind::Timing(mark.kind),
        })
    }
}

/// What kind of line it is, where the scanner has typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainKind {
    /// An event of the old dialects.
    Event(EventKind),
    /// A timing line without a tag.
    Timing(MarkKind),
}

/// Receives lines in the order in which they become whole: a repaired line comes after the
/// line that was written into it, so that `number` may step back.
pub trait Sink {
    /// Which classes to deliver; the others are only counted. Asked once a block.
    fn wants(&self) -> Classes {
        Classes::ALL
    }

    /// Takes one line.
    fn line(&mut self, line: &Line<'_>);
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn wants(&self) -> Classes {
        (**self).wants()
    }

    fn line(&mut self, line: &Line<'_>) {
        (**self).line(line);
    }
}

/// A sink that wants nothing: for the ledger alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountOnly;

impl Sink for CountOnly {
    fn wants(&self) -> Classes {
        Classes::NONE
    }

    fn line(&mut self, _: &Line<'_>) {}
}
