//! The careful path: lines that may hold a second line, belong to a report, or are not known.

use super::head::{self, Head};
use super::needle::{self, Found};
use super::scanner::Core;
use super::torn::{Open, Place};
use super::{Class, Line, Sink, shape, wrap};

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
        let body = without_nuls(body, &mut scratch);
        let (lead, listed) = self.prefix(body);
        let at = Place {
            number: self.number,
            offset: self.offset + skipped,
            listed,
        };
        let class = self.judge(
            View {
                raw,
                lead,
                text: &body[lead..],
                at,
                terminated,
            },
            sink,
        );
        self.ledger.long_bytes(class, skipped);
        self.busy = self.torn.is_busy() || self.context.is_busy();
        scratch.clear();
        scratch.shrink_to(1 << 16);
        self.scratch = scratch;
    }

    /// Length of byte order mark and wrapping prefixes, and the number that they give.
    fn prefix(&mut self, body: &[u8]) -> (usize, Option<u64>) {
        let mark = if body.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        let text = &body[mark..];
        if text.is_empty() {
            return (mark, None);
        }
        let bare = head::of(text);
        if let Some(layers) = self.layers {
            let prefix = wrap::strip(layers, text);
            let inner = head::of(&text[prefix.length..]);
            if prefix.length > 0 && (inner.begins_line() || !bare.begins_line()) {
                return (mark + prefix.length, prefix.listed);
            }
        }
        if bare.begins_line() {
            return (mark, None);
        }
        let Some(layers) = wrap::detect(text) else {
            return (mark, None);
        };
        for wrapping in layers.iter().flatten() {
            if !self.wrappings.contains(wrapping) {
                self.wrappings.push(*wrapping);
            }
        }
        self.layers = Some(layers);
        let prefix = wrap::strip(layers, text);
        (mark + prefix.length, prefix.listed)
    }

    /// Takes fragments off the front until one whole line, or the last fragment, is left.
    /// Returns the class that the physical line counts for.
    fn judge<S: Sink + ?Sized>(&mut self, mut view: View<'_>, sink: &mut S) -> Class {
        loop {
            let head = head::of(view.text);
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
        let class = self.class_of(head, view);
        self.ledger.line(class, view.raw.len());
        self.deliver(class, view, sink);
        match class {
            Class::Panic if head == Head::Panic => self.context.panic(view.text),
            Class::Bench if head == Head::Bench => self.context.bench(),
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
            sink.line(&Line {
                cut: true,
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
    }
}

/// Where a second line begins inside a line with this head.
fn second_line(head: Head, text: &[u8]) -> Option<usize> {
    match head {
        Head::Timeline if shape::is_plainly_whole(text) => None,
        Head::Timeline | Head::Timing => head::inside(text).map(|(at, _)| at),
        Head::Tracing | Head::Engine | Head::Other => second_tracing(text),
        Head::Unknown => match needle::find(text) {
            Some(Found::Line(at, Head::Timeline)) if !shape::has_five_fields(&text[at..]) => None,
            Some(Found::Line(at, _)) => Some(at),
            _ => None,
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
