//! The careful path: lines that may hold a second line, belong to a report, or are not known.

use super::head::{self, Head};
use super::needle::{self, Found};
use super::parted::{Part, Parts};
use super::scanner::Core;
use super::torn::{Open, Place};
use super::wrap::Prefix;
use super::{Class, Line, Sink, Wrapping, container, glued, shape, wrap};

/// A line, or what is left of one after a fragment was taken off its front.
#[derive(Clone, Copy)]
struct View<'a> {
    /// Bytes as they stand.
    raw: &'a [u8],
    /// How many bytes of `raw` stand before `text`.
    lead: usize,
    /// What was written.
    text: &'a [u8],
    /// Where it stands.
    at: Place,
    /// The line end is there.
    terminated: bool,
}

impl View<'_> {
    /// Splits before a byte of the text: the fragment, and the rest.
    fn split(self, at: usize) -> (Self, Self) {
        let (front, text) = self.text.split_at(at);
        let (front_raw, raw) = self.raw.split_at((self.lead + at).min(self.raw.len()));
        let offset = self.at.offset + front_raw.len() as u64;
        (
            Self {
                raw: front_raw,
                text: front,
                ..self
            },
            Self {
                raw,
                lead: 0,
                text,
                at: Place { offset, ..self.at },
                ..self
            },
        )
    }
}

impl Core {
    /// Judges one line. `skipped`: NUL bytes that stood before `raw` and are not kept.
    #[cold]
    #[inline(never)]
    pub(super) fn careful<S: Sink + ?Sized>(
        &mut self,
        raw: &[u8],
        skipped: u64,
        terminated: bool,
        sink: &mut S,
    ) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let body = raw.strip_suffix(b"\n").unwrap_or(raw);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let record = container::unwrap(body, &mut scratch);
        let body = if record.is_some() {
            self.found(Wrapping::Json);
            scratch.as_slice()
        } else {
            without_nuls(body, &mut scratch)
        };
        let prefix = if record.is_some() {
            Prefix {
                length: 0,
                listed: None,
                part: record,
            }
        } else {
            self.prefix(body)
        };
        let lead = prefix.length;
        let at = Place {
            number: self.number,
            offset: self.offset + skipped,
            listed: prefix.listed,
        };
        let view = View {
            raw,
            lead,
            text: &body[lead..],
            at,
            terminated,
        };
        match prefix.part {
            Some(part) if !part.last || self.parted.is_open(part.stream) => {
                self.part(part, view, skipped, sink);
            }
            _ => {
                let class = self.judge(view, sink);
                self.ledger.long_bytes(class, skipped);
            }
        }
        self.busy = self.torn.is_busy() || self.context.is_busy() || self.parted.is_busy();
        scratch.clear();
        scratch.shrink_to(1 << 16);
        self.scratch = scratch;
    }

    /// A part of a line that a container runtime parted.
    fn part<S: Sink + ?Sized>(&mut self, part: Part, view: View<'_>, skipped: u64, sink: &mut S) {
        let stream = part.stream;
        if self.parted.overflows(stream, view.raw.len())
            && let Some(parts) = self.parted.take(stream)
        {
            self.join(&parts, false, sink);
        }
        self.parted
            .push(stream, (view.text, view.raw), view.at, skipped);
        if part.last
            && let Some(parts) = self.parted.take(stream)
        {
            self.join(&parts, view.terminated, sink);
        }
    }

    /// Judges a line that was put together from its parts.
    fn join<S: Sink + ?Sized>(&mut self, parts: &Parts, terminated: bool, sink: &mut S) {
        let view = View {
            raw: &parts.raw,
            lead: 0,
            text: &parts.text,
            at: parts.at,
            terminated,
        };
        let class = self.judge(view, sink);
        for _ in 1..parts.lines {
            self.ledger.line(class, 0);
        }
        self.ledger.long_bytes(class, parts.skipped);
    }

    /// Judges the lines whose last part never came; true if there were any.
    pub(super) fn end_parted<S: Sink + ?Sized>(&mut self, sink: &mut S) -> bool {
        let any = self.parted.is_busy();
        while let Some(parts) = self.parted.take_any() {
            self.join(&parts, false, sink);
        }
        any
    }

    fn found(&mut self, wrapping: Wrapping) {
        if !self.wrappings.contains(&wrapping) {
            self.wrappings.push(wrapping);
        }
    }

    /// Byte order mark and wrapping prefixes, and what they say.
    fn prefix(&mut self, body: &[u8]) -> Prefix {
        let mark = if body.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        let text = &body[mark..];
        let none = Prefix {
            length: mark,
            listed: None,
            part: None,
        };
        let behind_mark = |prefix: Prefix| Prefix {
            length: mark + prefix.length,
            ..prefix
        };
        if text.is_empty() {
            return none;
        }
        let bare = head::of(text);
        if let Some(layers) = self.layers {
            let prefix = wrap::strip(layers, text);
            let inner = head::of(&text[prefix.length..]);
            if prefix.length > 0 && (inner.begins_line() || !bare.begins_line()) {
                return behind_mark(prefix);
            }
        }
        if bare.begins_line() {
            return none;
        }
        let Some(layers) = wrap::detect(text) else {
            return none;
        };
        for wrapping in layers.iter().flatten() {
            self.found(*wrapping);
        }
        self.layers = Some(layers);
        behind_mark(wrap::strip(layers, text))
    }

    /// Takes fragments off the front until one whole line, or the last fragment, is left.
    /// Returns the class that the physical line counts for.
    fn judge<S: Sink + ?Sized>(&mut self, mut view: View<'_>, sink: &mut S) -> Class {
        loop {
            let head = head::of(view.text);
            if self.torn.is_inside_id() {
                if head == Head::Unknown
                    && let Some(open) = self.torn.complete_id(view.text, view.raw)
                {
                    return self.repaired(&open, view, sink);
                }
                self.lose_open(sink);
            }
            if self.torn.is_open() {
                match head {
                    Head::Timeline => self.lose_open(sink),
                    Head::Unknown => {
                        let inner = head::inside(view.text);
                        if inner.is_none()
                            && let Some(open) = self.torn.complete(view.text, view.raw)
                        {
                            return self.repaired(&open, view, sink);
                        }
                        if let Some((at, _)) = inner {
                            let (front, rest) = view.split(at);
                            if self.torn.push(front.text, front.raw) {
                                self.ledger.bytes_only(Class::Torn, front.raw.len());
                                view = rest;
                                continue;
                            }
                        }
                    }
                    _ => {}
                }
            }
            let Some(at) = second_line(head, view.text) else {
                return self.whole(head, view, sink);
            };
            let (front, rest) = view.split(at);
            self.fragment(head, front, sink);
            view = rest;
        }
    }

    /// A fragment behind which a whole line stands: the first part of a torn line, or lost.
    fn fragment<S: Sink + ?Sized>(&mut self, head: Head, front: View<'_>, sink: &mut S) {
        self.ledger.bytes_only(Class::Torn, front.raw.len());
        if head == Head::Timeline && self.torn.open(front.text, front.raw, front.at) {
            return;
        }
        let later = head == Head::Unknown && shape::is_later_part(front.text);
        if !later || self.torn.orphan() {
            self.lost.push(front.at.number);
        }
        self.deliver(
            Class::Torn,
            View {
                terminated: false,
                ..front
            },
            sink,
        );
    }

    /// One line with nothing behind it.
    fn whole<S: Sink + ?Sized>(&mut self, head: Head, view: View<'_>, sink: &mut S) -> Class {
        if head == Head::Timeline
            && view.terminated
            && self.torn.open_id(view.text, view.raw, view.at)
        {
            self.ledger.line(Class::Torn, view.raw.len());
            self.context.pass();
            return Class::Torn;
        }
        let class = self.class_of(head, view);
        self.ledger.line(class, view.raw.len());
        self.deliver(class, view, sink);
        match class {
            Class::Panic if head == Head::Panic => self.context.panic(view.text),
            Class::Bench if head == Head::Bench => {
                self.benches = true;
                self.context.bench();
            }
            Class::Panic | Class::Bench => {}
            _ => self.context.pass(),
        }
        if let Some(open) = self.torn.grow_older() {
            self.lose(&open, sink);
        }
        class
    }

    fn class_of(&mut self, head: Head, view: View<'_>) -> Class {
        let text = view.text;
        let class = match head {
            Head::Timeline if shape::has_five_fields(text) => Class::Timeline,
            Head::Timing if view.terminated || ends_in_value(text) => Class::Timing,
            Head::Timeline | Head::Timing => Class::Torn,
            Head::Tracing => Class::Tracing,
            Head::Panic => Class::Panic,
            Head::Engine => Class::EngineOther,
            Head::Bench => Class::Bench,
            Head::Ops => Class::Ops,
            Head::Other => Class::Foreign,
            Head::Unknown if self.torn.ends_orphan(text) => return Class::Torn,
            Head::Unknown if glued::is_cut_head(text, view.terminated) => Class::Torn,
            Head::Unknown => self
                .context
                .claim(text)
                .unwrap_or_else(|| without_head(text)),
        };
        if class == Class::Torn {
            self.lost.push(view.at.number);
        }
        class
    }

    /// Delivers a line that was put together, and counts its last fragment.
    fn repaired<S: Sink + ?Sized>(&mut self, open: &Open, last: View<'_>, sink: &mut S) -> Class {
        self.ledger.line(Class::Torn, last.raw.len());
        self.repaired.push(open.number);
        if self.wants.has(Class::Timeline) {
            let line = of_open(open, Class::Timeline);
            sink.line(&Line {
                repaired: true,
                cut: !last.terminated,
                ..line
            });
        }
        Class::Torn
    }

    /// Gives the open fragment up, if there is one.
    pub(super) fn lose_open<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if let Some(open) = self.torn.give_up() {
            self.lose(&open, sink);
        }
    }

    fn lose<S: Sink + ?Sized>(&mut self, open: &Open, sink: &mut S) {
        self.lost.push(open.number);
        if self.wants.has(Class::Torn) {
            // One that ended inside its id has its line end.
            sink.line(&Line {
                cut: !open.inside_id,
                ..of_open(open, Class::Torn)
            });
        }
    }

    fn deliver<S: Sink + ?Sized>(&self, class: Class, view: View<'_>, sink: &mut S) {
        if !self.wants.has(class) {
            return;
        }
        let View {
            raw,
            text,
            at:
                Place {
                    number,
                    offset,
                    listed,
                },
            terminated,
            ..
        } = view;
        let cut = !terminated;
        sink.line(&Line {
            number,
            offset,
            raw,
            text,
            class,
            repaired: false,
            cut,
            listed,
            plain: None,
        });
    }
}

fn of_open(open: &Open, class: Class) -> Line<'_> {
    Line {
        number: open.number,
        offset: open.offset,
        raw: &open.raw,
        text: &open.text,
        class,
        repaired: false,
        cut: false,
        listed: open.listed,
        plain: None,
    }
}

/// Where a second line begins inside a line with this head.
fn second_line(head: Head, text: &[u8]) -> Option<usize> {
    match head {
        Head::Timeline if shape::is_plainly_whole(text) => None,
        Head::Timeline | Head::Timing => head::inside(text)
            .map(|(at, _)| at)
            .or_else(|| glued::bench(text)),
        Head::Tracing | Head::Engine | Head::Other => second_tracing(text)
            .or_else(|| glued::tracing(text))
            .or_else(|| glued::bench(text)),
        Head::Unknown => match needle::find(text) {
            Some(Found::Line(at, Head::Timeline)) if !shape::has_five_fields(&text[at..]) => None,
            Some(Found::Line(at, _)) => Some(at),
            _ => glued::tracing(text).or_else(|| glued::bench(text)),
        },
        Head::Panic | Head::Bench | Head::Ops => None,
    }
}

/// A coloured tracing line behind the cut last line of a killed daemon.
fn second_tracing(text: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(text, b"[2m20").find_map(|at| {
        let at = if at > 0 && text[at - 1] == 0x1b {
            at - 1
        } else {
            at
        };
        (at > 0 && head::of(&text[at..]) == Head::Tracing).then_some(at)
    })
}

/// The class of a line that neither head nor context explains.
fn without_head(text: &[u8]) -> Class {
    match needle::find(text) {
        Some(Found::Cuda) => Class::CudaError,
        Some(Found::Killed) => Class::Panic,
        _ if text.trim_ascii_start().starts_with(b"what():  ") => Class::Panic,
        _ => Class::Foreign,
    }
}

/// Whether a timing line that has no line end at least ends in `key=value`.
fn ends_in_value(text: &[u8]) -> bool {
    let last = text.rsplit(|&b| b == b' ').next().unwrap_or_default();
    memchr::memchr(b'=', last).is_some_and(|at| at + 1 < last.len())
}

/// The text without NUL bytes, in `scratch` if there are any.
fn without_nuls<'a>(body: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if memchr::memchr(0, body).is_none() {
        return body;
    }
    scratch.clear();
    scratch.extend(body.iter().filter(|&&b| b != 0));
    scratch
}
