//! Putting torn `TIMELINE` lines together again.
//!
//! A fragment stays open until a line without a head continues it: the pieces joined must end
//! where a write ended, and the whole must be a valid event. Nothing is invented: whatever does
//! not fit is left to be counted as lost.

use super::shape;

/// Longest line that is put together, bytes.
const JOINED_MAX: usize = 64 << 10;
/// Lines after which an open fragment is given up.
const AGE_MAX: u32 = 4096;
/// Lines after a later part without a first one, within which its end may come.
const ORPHAN_MAX: u8 = 8;

/// What was read so far of a torn line.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// The fragments joined.
    pub(super) text: Vec<u8>,
    /// Their bytes as they stood, with prefixes and line ends.
    pub(super) raw: Vec<u8>,
    /// Physical line of the first fragment.
    pub(super) number: u64,
    /// Offset of the first fragment.
    pub(super) offset: u64,
    /// Number that a prefix gave the first fragment.
    pub(super) listed: Option<u64>,
    age: u32,
    /// It ended inside the job id: a line feed of the id, if the next line bears it out.
    pub(super) inside_id: bool,
}

/// The state of repair.
#[derive(Debug, Default)]
pub(super) struct Torn {
    open: Option<Open>,
    orphan_left: u8,
}

/// Where a fragment stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) number: u64,
    pub(super) offset: u64,
    pub(super) listed: Option<u64>,
}

impl Torn {
    /// Whether lines need a look for continuations.
    pub(super) fn is_busy(&self) -> bool {
        self.open.is_some() || self.orphan_left > 0
    }

    /// Whether a fragment waits for its rest.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Opens a line with its first fragment, if it can be one.
    pub(super) fn open(&mut self, text: &[u8], raw: &[u8], at: Place) -> bool {
        if text.len() > JOINED_MAX || !shape::is_first_part(text) {
            return false;
        }
        let Place {
            number,
            offset,
            listed,
        } = at;
        let (text, raw) = (text.to_vec(), raw.to_vec());
        self.open = Some(Open {
            text,
            raw,
            number,
            offset,
            listed,
            age: 0,
            inside_id: false,
        });
        true
    }

    /// Opens a line that a line feed inside its job id may have broken. Not while other fragments
    /// are about: then the line feed is more likely that of another line.
    pub(super) fn open_id(&mut self, text: &[u8], raw: &[u8], at: Place) -> bool {
        let opens = !self.is_busy() && shape::ends_in_id(text) && self.open(text, raw, at);
        if let Some(open) = self.open.as_mut().filter(|_| opens) {
            open.inside_id = true;
        }
        opens
    }

    /// Whether the line before ended inside its job id.
    pub(super) fn is_inside_id(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.inside_id)
    }

    /// Takes the whole line, if this one is the rest of the job id and the detail of the event.
    pub(super) fn complete_id(&mut self, text: &[u8], raw: &[u8]) -> Option<Open> {
        let open = self.open.as_mut()?;
        let length = open.text.len();
        open.text.push(b'\n');
        open.text.extend_from_slice(text);
        if !shape::is_valid_with_id(&open.text, length) {
            open.text.truncate(length);
            return None;
        }
        open.raw.extend_from_slice(raw);
        self.open.take()
    }

    /// Adds a fragment behind which another line was written, if the pieces fit.
    pub(super) fn push(&mut self, text: &[u8], raw: &[u8]) -> bool {
        let Some(open) = &mut self.open else {
            return false;
        };
        let length = open.text.len();
        open.text.extend_from_slice(text);
        let fits = open.text.len() <= JOINED_MAX && shape::is_first_part(&open.text);
        if fits {
            open.raw.extend_from_slice(raw);
        } else {
            open.text.truncate(length);
        }
        fits
    }

    /// Takes the whole line, if this last fragment makes it one.
    pub(super) fn complete(&mut self, text: &[u8], raw: &[u8]) -> Option<Open> {
        let open = self.open.as_mut()?;
        let length = open.text.len();
        open.text.extend_from_slice(text);
        if open.text.len() > JOINED_MAX || !shape::is_valid(&open.text) {
            open.text.truncate(length);
            return None;
        }
        open.raw.extend_from_slice(raw);
        self.open.take()
    }

    /// Gives the open line up.
    pub(super) fn give_up(&mut self) -> Option<Open> {
        self.open.take()
    }

    /// Counts a line that did not continue the open one; gives the open line up when it is too old.
    pub(super) fn grow_older(&mut self) -> Option<Open> {
        self.orphan_left = self.orphan_left.saturating_sub(1);
        let open = self.open.as_mut()?;
        open.age += 1;
        if open.age > AGE_MAX {
            self.open.take()
        } else {
            None
        }
    }

    /// Notes a later part without a first one. True if it is the first of its line.
    pub(super) fn orphan(&mut self) -> bool {
        let first = self.orphan_left == 0;
        self.orphan_left = ORPHAN_MAX;
        first
    }

    /// Whether this line is the end of a line whose first part is missing.
    pub(super) fn ends_orphan(&mut self, text: &[u8]) -> bool {
        let ends = self.orphan_left > 0 && (text.is_empty() || shape::is_later_part(text));
        if ends {
            self.orphan_left = 0;
        }
        ends
    }
}
