//! `env_logger` and its relatives: `STAMP [pid prio] LEVEL target > message`,
//! `[STAMP LEVEL target] message`, and the latter with its head cut off.

use super::{level, path, stamp, trim_start};
use crate::grammar::text;
use crate::record::{Level, LogLine, Stamp};

/// `STAMP LEVEL target > message`, other words allowed between stamp and level.
pub(super) fn arrow(stamp: Stamp, rest: &[u8]) -> Option<LogLine<'_>> {
    let mut rest = rest.strip_prefix(b" ")?;
    // `6150 high` in one old form; never more than that.
    for _ in 0..3 {
        rest = trim_start(rest);
        if let Some((level, after)) = level(rest) {
            let (target, rest) = path(trim_start(after))?;
            let message = rest.strip_prefix(b" > ")?;
            return Some(line(Some(stamp), level, target, message));
        }
        let word = memchr::memchr(b' ', rest)?;
        rest = rest.get(word..)?;
    }
    None
}

/// `[STAMP LEVEL  target] message`
pub(super) fn bracketed(text: &[u8]) -> Option<LogLine<'_>> {
    let (stamp, rest) = stamp(text.strip_prefix(b"[")?)?;
    tail(Some(stamp), trim_start(rest))
}

/// `LEVEL target] message`: the form above whose head a tool has cut off.
pub(super) fn headless(text: &[u8]) -> Option<LogLine<'_>> {
    tail(None, text)
}

fn tail(stamp: Option<Stamp>, rest: &[u8]) -> Option<LogLine<'_>> {
    let (level, rest) = level(rest)?;
    let (target, rest) = path(trim_start(rest))?;
    Some(line(stamp, level, target, rest.strip_prefix(b"] ")?))
}

fn line<'a>(
    stamp: Option<Stamp>,
    level: Level,
    target: &'a [u8],
    message: &'a [u8],
) -> LogLine<'a> {
    LogLine {
        stamp,
        level,
        target: text::lossy(target),
        message: text::lossy(message),
        fields: Vec::new(),
    }
}
