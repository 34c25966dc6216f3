//! `TIMELINE` lines: the head is read here, the detail by the dialect that wrote it.
//!
//! The old writer escapes nothing, so a job id may hold commas, spaces and `=`. Fields 1 to 3
//! are taken from the left; then the detail is the longest suffix that the event can have, and
//! the job id is what lies between ([`legacy`]). Lines of our own writer are told by their
//! `t_us=`, or by an event that only we have ([`own`]).

use super::{number, text};
use crate::event::{Event, EventKind, Place, What};

mod legacy;
mod own;

/// Reads a `TIMELINE` line; none if it is not one, or not a whole one.
///
/// A known event whose detail has none of the shapes of that event counts as not whole: torn
/// writers leave such lines, and half a line must not become an event. Only an unknown name
/// gives [`What::Other`]. Nothing is allocated unless the job id or another text needs
/// unescaping or is not UTF-8, or the event carries a list.
#[inline]
pub fn parse_event(text: &[u8]) -> Option<Event<'_>> {
    let (ms, rest) = number::front(text.strip_prefix(b"TIMELINE,")?)?;
    let rest = rest.strip_prefix(b",")?;
    match legacy::split(rest) {
        Some(split) if !has_comma(split.job) => Some(old(ms, &split)),
        // A comma in what would be the job id: ours, if its own grammar holds.
        Some(split) => any(ms, rest).or_else(|| Some(old(ms, &split))),
        None => any(ms, rest),
    }
}

/// An event of the old dialects without its job id: what most lines of a log say, small enough to
/// be kept for another thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainEvent {
    ms: u64,
    place: legacy::PlainPlace,
    step: legacy::Step,
}

impl PlainEvent {
    /// The event of a job.
    #[inline]
    pub(crate) fn of_job<'a>(&self, job: &'a str) -> Event<'a> {
        Event {
            ms: self.ms,
            t_us: None,
            job: std::borrow::Cow::Borrowed(job),
            place: self.place.place(),
            what: self.step.what(),
        }
    }
}

/// Reads a `TIMELINE` line of the old dialects whose only text is its job id, and gives that too;
/// none for all others, which [`parse_event`] may still read.
#[inline]
pub(crate) fn parse_plain_event(text: &[u8]) -> Option<(PlainEvent, &str)> {
    let (ms, rest) = number::front(text.strip_prefix(b"TIMELINE,")?)?;
    let split = legacy::split(rest.strip_prefix(b",")?)?;
    let step = split.step()?;
    if has_comma(split.job) {
        return None;
    }
    let place = split.plain_place();
    Some((
        PlainEvent { ms, place, step },
        std::str::from_utf8(split.job).ok()?,
    ))
}

#[inline]
fn old<'a>(ms: u64, split: &legacy::Split<'a>) -> Event<'a> {
    Event {
        ms,
        t_us: None,
        job: text::lossy(split.job),
        place: split.plain_place().place(),
        what: split.what(),
    }
}

/// Looks at every byte without a branch, which is the faster way over the few bytes of an id.
#[inline]
fn has_comma(job: &[u8]) -> bool {
    job.iter()
        .fold(0, |found, byte| found | u8::from(*byte == b','))
        > 0
}

/// A line of our own writer, or one whose event nobody knows.
#[inline(never)]
fn any(ms: u64, rest: &[u8]) -> Option<Event<'_>> {
    let comma = memchr::memchr(b',', rest)?;
    let (name, rest) = rest.split_at_checked(comma)?;
    let rest = rest.get(1..)?;
    match EventKind::from_name(name) {
        Some(kind) => own::parse(kind, ms, rest),
        None => unknown(name, ms, rest),
    }
}

/// An event that this version does not know: its detail is kept as written.
#[cold]
fn unknown<'a>(name: &'a [u8], ms: u64, rest: &'a [u8]) -> Option<Event<'a>> {
    let well_formed = name.first()?.is_ascii_uppercase()
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    if !well_formed {
        return None;
    }
    if let Some(event) = own::unknown(name, ms, rest) {
        return Some(event);
    }
    let comma = memchr::memchr(b',', rest)?;
    let (job, detail) = rest.split_at_checked(comma)?;
    let what = What::Other {
        name: text::lossy(name),
        detail: text::lossy(detail.get(1..)?),
    };
    let job = text::lossy(job);
    Some(Event {
        ms,
        t_us: None,
        job,
        place: Place::default(),
        what,
    })
}

#[cfg(test)]
mod tests;
