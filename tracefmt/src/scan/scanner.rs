//! The scanner: blocks of any size in, classified lines out.
//!
//! Most lines are judged by their head alone ([`Core::line`]); the few that may hold a second line,
//! belong to a report or are not known at all take the careful path (`careful`).

use std::io::{self, Read};

use super::context::Context;
use super::ends::{Ends, WINDOW};
use super::glued;
use super::head::{self, Head};
use super::parted::Parted;
use super::torn::Torn;
use super::wrap::{self, Layers};
use super::{Class, Classes, Ledger, Line, Places, Plain, Scan, Sink, Wrapping, shape};
use crate::grammar;

/// Longest line that is kept, bytes. A longer one is counted as [`Class::Foreign`] and delivered
/// empty, so that memory stays bounded.
pub const LINE_MAX: usize = 1 << 20;

/// Bytes asked of a reader at once: fits the second-level cache.
const BLOCK: usize = 64 << 10;

/// Reads lines out of blocks of bytes; [`Scanner::feed`] as often as needed, then
/// [`Scanner::finish`]. Where the blocks are cut does not change the result.
#[derive(Debug, Default)]
pub struct Scanner {
    pub(super) core: Core,
    /// The beginning of a line whose end has not been fed.
    carry: Vec<u8>,
    ends: Ends,
    /// Leading NUL bytes of that line that were dropped from `carry`.
    skipped: u64,
    /// The line is longer than [`LINE_MAX`]; so many of its bytes are dropped.
    dropped: u64,
}

/// The state that a line meets, apart from bytes carried over.
#[derive(Debug, Default)]
pub(super) struct Core {
    pub(super) ledger: Ledger,
    /// Physical lines so far, the present one included.
    pub(super) number: u64,
    /// Offset of the present line.
    pub(super) offset: u64,
    pub(super) wants: Classes,
    /// Some state needs every line on the careful path.
    pub(super) busy: bool,
    pub(super) layers: Option<Layers>,
    /// Lines of the bench client were read: more may be glued behind others.
    pub(super) benches: bool,
    pub(super) parted: Parted,
    pub(super) torn: Torn,
    pub(super) context: Context,
    pub(super) scratch: Vec<u8>,
    pub(super) repaired: Places,
    pub(super) lost: Places,
    pub(super) overlong: Places,
    pub(super) wrappings: Vec<Wrapping>,
}

impl Scanner {
    /// A scanner at the beginning of an input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a block. Lines that end in it are delivered before the call returns.
    pub fn feed<S: Sink + ?Sized>(&mut self, block: &[u8], sink: &mut S) {
        self.core.wants = sink.wants();
        let mut start = 0;
        if self.is_inside_line() {
            let Some(end) = memchr::memchr(b'\n', block) else {
                self.keep(block);
                return;
            };
            self.keep(&block[..=end]);
            self.end_line(true, sink);
            start = end + 1;
        }
        let rest = &block[start..];
        let (mut start, mut base, mut mark) = (0, 0, 0);
        for window in rest.chunks(WINDOW) {
            for found in self.ends.search(window) {
                let end = base + found.at as usize;
                if found.mark > 0 {
                    mark = base + found.mark as usize;
                }
                self.core
                    .line(&rest[start..=end], mark.saturating_sub(start), sink);
                start = end + 1;
            }
            if self.ends.last_mark() > 0 {
                mark = base + self.ends.last_mark() as usize;
            }
            base += window.len();
        }
        self.keep(&rest[start..]);
    }

    /// Ends the input: a last line without line end is delivered as cut, an open fragment as lost.
    pub fn finish<S: Sink + ?Sized>(mut self, sink: &mut S) -> Scan {
        self.core.wants = sink.wants();
        let inside = self.is_inside_line();
        // A file system that was not synced leaves NUL bytes behind the last line: no line of them
        // is cut.
        let padding = self.dropped == 0 && leading_nuls(&self.carry) == self.carry.len();
        let cut = inside && !padding;
        if inside {
            self.end_line(false, sink);
        }
        let parted = self.core.end_parted(sink);
        self.core.lose_open(sink);
        let Core {
            ledger,
            repaired,
            lost,
            overlong,
            wrappings,
            ..
        } = self.core;
        Scan {
            ledger,
            repaired,
            lost,
            overlong,
            wrappings,
            cut_end: cut || parted,
            damage: None,
        }
    }

    fn is_inside_line(&self) -> bool {
        !self.carry.is_empty() || self.skipped > 0 || self.dropped > 0
    }

    fn keep(&mut self, part: &[u8]) {
        if self.dropped > 0 {
            self.dropped += part.len() as u64;
            return;
        }
        for chunk in part.chunks(LINE_MAX) {
            self.carry.extend_from_slice(chunk);
            if self.carry.len() <= LINE_MAX {
                continue;
            }
            let nuls = leading_nuls(&self.carry);
            self.carry.drain(..nuls);
            self.skipped += nuls as u64;
        }
        if self.carry.len() > LINE_MAX {
            self.dropped = self.carry.len() as u64;
            self.carry.clear();
        }
    }

    fn end_line<S: Sink + ?Sized>(&mut self, terminated: bool, sink: &mut S) {
        let carry = std::mem::take(&mut self.carry);
        let (skipped, dropped) = (self.skipped, self.dropped);
        (self.skipped, self.dropped) = (0, 0);
        let core = &mut self.core;
        if dropped > 0 {
            core.overlong(skipped + dropped, terminated, sink);
        } else if skipped == 0 && terminated {
            let mark = memchr::memrchr2(b'Z', 0, &carry).map_or(0, |at| at + 1);
            core.line(&carry, mark, sink);
        } else {
            core.number += 1;
            core.careful(&carry, skipped, terminated, sink);
            core.offset += skipped + carry.len() as u64;
        }
        self.carry = carry;
        self.carry.clear();
        self.carry.shrink_to(BLOCK);
    }
}

fn leading_nuls(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|&&b| b == 0).count()
}

impl Core {
    /// One line with its line end. `mark`: length up to the last mark of [`super::ends`].
    #[inline]
    fn line<S: Sink + ?Sized>(&mut self, raw: &[u8], mark: usize, sink: &mut S) {
        if raw.len() > LINE_MAX {
            self.long_line(raw, sink);
            return;
        }
        self.number += 1;
        let body = &raw[..raw.len() - 1];
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let (text, listed, whole) = match self.layers {
            Some(layers) if !self.busy => {
                let prefix = wrap::strip(layers, body);
                let whole = prefix.part.is_none_or(|part| part.last);
                (&body[prefix.length..], prefix.listed, whole)
            }
            _ => (body, None, !self.busy),
        };
        let marked = mark > body.len() - text.len() + STAMP_END;
        let quick = if whole {
            quick_class(text, marked)
        } else {
            None
        };
        // A line of the bench client has no mark.
        let hidden = || self.benches && glued::bench(text).is_some();
        match quick {
            Some((class, plain)) if plain.is_some() || !hidden() => {
                self.ledger.line(class, raw.len());
                if self.wants.has(class) {
                    sink.line(&Line {
                        number: self.number,
                        offset: self.offset,
                        raw,
                        text,
                        class,
                        repaired: false,
                        cut: false,
                        listed,
                        plain,
                    });
                }
            }
            _ => self.careful(raw, 0, true, sink),
        }
        self.offset += raw.len() as u64;
    }

    /// A line of a block that is longer than [`LINE_MAX`]; leading NUL bytes do not count.
    #[cold]
    fn long_line<S: Sink + ?Sized>(&mut self, raw: &[u8], sink: &mut S) {
        let nuls = leading_nuls(raw);
        let rest = &raw[nuls..];
        if rest.len() > LINE_MAX {
            self.overlong(raw.len() as u64, true, sink);
            return;
        }
        self.number += 1;
        self.careful(rest, nuls as u64, true, sink);
        self.offset += raw.len() as u64;
    }

    /// Counts a line that is too long to be kept.
    #[cold]
    fn overlong<S: Sink + ?Sized>(&mut self, bytes: u64, terminated: bool, sink: &mut S) {
        self.number += 1;
        self.overlong.push(self.number);
        self.ledger.long_line(Class::Foreign, bytes);
        if self.wants.has(Class::Foreign) {
            sink.line(&Line {
                number: self.number,
                offset: self.offset,
                raw: &[],
                text: &[],
                class: Class::Foreign,
                repaired: false,
                cut: !terminated,
                listed: None,
                plain: None,
            });
        }
        self.offset += bytes;
    }
}

/// Where the stamp of a stamped line is over for certain, so that a later `Z` is a second stamp.
const STAMP_END: usize = 34;

/// The class of a line that its head settles: nothing in it hints at a second line. `marked`: a
/// byte that may end a second stamp stands behind the place of the first, as when a restarted
/// daemon's line is glued to the cut last line of the old one.
#[inline(always)]
fn quick_class(text: &[u8], marked: bool) -> Option<(Class, Option<Plain<'_>>)> {
    const SETTLED: [Class; 3] = [Class::Tracing, Class::EngineOther, Class::Foreign];
    let head = head::of(text);
    if let Some(class) = SETTLED.get(head as usize) {
        return (!marked).then_some((*class, None));
    }
    match head {
        Head::Timeline => {
            if let Some((event, job)) = grammar::parse_plain_event(text) {
                return Some((Class::Timeline, Some(Plain::Event(event, job))));
            }
            shape::is_plainly_whole(text).then_some((Class::Timeline, None))
        }
        Head::Timing => {
            if let Some(mark) = grammar::parse_plain_timing(text) {
                return Some((Class::Timing, Some(Plain::Timing(mark))));
            }
            shape::is_plain_timing(text).then_some((Class::Timing, None))
        }
        _ => None,
    }
}

/// Scans all that a reader gives.
///
/// # Errors
/// What the reader returns, apart from interruptions, which are tried again.
pub fn scan_reader<R: Read, S: Sink + ?Sized>(mut input: R, sink: &mut S) -> io::Result<Scan> {
    let mut scanner = Scanner::new();
    let mut block = vec![0; BLOCK];
    loop {
        match input.read(&mut block) {
            Ok(0) => return Ok(scanner.finish(sink)),
            Ok(n) => scanner.feed(&block[..n], sink),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Scans bytes in memory.
pub fn scan_slice<S: Sink + ?Sized>(bytes: &[u8], sink: &mut S) -> Scan {
    let mut scanner = Scanner::new();
    scanner.feed(bytes, sink);
    scanner.finish(sink)
}
