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
/// be kept for another thread. Plain numbers only: the compiler moves them one by one, where it
/// would write an optional one in two pieces and read it back at once, which stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainEvent {
    /// Milliseconds since the epoch.
    pub(crate) ms: u64,
    /// How long it took, milliseconds; 0 where no such thing is said.
    spent_ms: u32,
    worker: u32,
    partition: u32,
    step: legacy::Step,
    /// [`PlainEvent::WORKER`], [`PlainEvent::PARTITION`]
    has: u8,
}

impl PlainEvent {
    const WORKER: u8 = 1;
    const PARTITION: u8 = 2;

    /// The event of a job.
    #[inline]
    pub(crate) fn of_job<'a>(&self, job: &'a str) -> Event<'a> {
        Event {
            ms: self.ms,
            t_us: None,
            job: std::borrow::Cow::Borrowed(job),
            place: self.place(),
            what: self.step.what(u64::from(self.spent_ms)),
        }
    }

    /// Where it happened.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        let known = |flag, number| (self.has & flag != 0).then_some(number);
        Place {
            gpu: None,
            worker: known(Self::WORKER, self.worker),
            partition: known(Self::PARTITION, self.partition),
        }
    }

    /// What kind it is.
    #[inline]
    pub(crate) const fn kind(&self) -> EventKind {
        self.step.kind()
    }
}

/// Reads a `TIMELINE` line of the old dialects whose job id is plain, and gives that too: letters
/// of a UUID, of a miner's task name, of a key word. A line that passes holds no other line, since
/// none can stand in its numbers or its job. None for all others, which [`parse_event`] may still
/// read.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a call gives an event back through memory; it is read in other pieces than written"
)]
pub(crate) fn parse_plain_event(text: &[u8]) -> Option<(PlainEvent, &[u8])> {
    let (ms, rest) = number::front(text.strip_prefix(b"TIMELINE,")?)?;
    let split = legacy::split(rest.strip_prefix(b",")?)?;
    let (step, spent_ms) = split.plain()?;
    if !is_plain_job(split.job) {
        return None;
    }
    let worker = split.worker.map_or(0, |_| PlainEvent::WORKER);
    let partition = split.partition.map_or(0, |_| PlainEvent::PARTITION);
    let event = PlainEvent {
        ms,
        spent_ms,
        worker: split.worker.unwrap_or(0),
        partition: split.partition.unwrap_or(0),
        step,
        has: worker | partition,
    };
    Some((event, split.job))
}

/// Whether a job id is made of `-`, `_`, digits and letters up to `z` but `L`, and nothing that
/// another line or another field would bring.
#[inline]
fn is_plain_job(job: &[u8]) -> bool {
    // Sixteen bytes at a time; the last sixteen may overlap the ones before.
    match job.last_chunk::<16>() {
        Some(last) => {
            let (chunks, _) = job.as_chunks::<16>();
            let bad = chunks.iter().chain([last]).map(strange);
            bad.fold(0, |bad, chunk| bad | chunk) == 0
        }
        None => job.iter().all(|byte| !is_strange(*byte)),
    }
}

/// Not 0 if one of the bytes is strange to a job id.
#[inline]
fn strange(bytes: &[u8; 16]) -> u8 {
    bytes
        .iter()
        .fold(0, |bad, byte| bad | u8::from(is_strange(*byte)))
}

#[inline]
const fn is_strange(byte: u8) -> bool {
    // From `-` to `z` without `:` and `L`; a comma and all blanks lie below.
    byte.wrapping_sub(b'-') > b'z' - b'-' || byte == b':' || byte == b'L'
}

#[inline]
fn old<'a>(ms: u64, split: &legacy::Split<'a>) -> Event<'a> {
    Event {
        ms,
        t_us: None,
        job: text::lossy(split.job),
        place: split.place(),
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
