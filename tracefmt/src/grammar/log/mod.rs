//! Lines of the logging libraries: tracing-subscriber with its escapes, without the ESC bytes, or
//! plain; `env_logger` and its relatives; the tab-separated lines of Go programs.
//!
//! With its escapes a tracing line says itself where spans, target, message and fields are.
//! Without them the border between message and fields is a guess, and the rule is: fields begin
//! at the first blank (or at the start) that is followed by a key of lower-case letters, digits,
//! `_` and `.`, and by `=`, outside double quotes. A value runs to the next such place.

use crate::record::{Level, LogLine};

mod ansi;
mod bare;
mod envlog;
mod golog;
mod stamp;

use stamp::stamp;

/// Reads a line of a logging library; none if it has none of their forms.
pub fn parse_log(text: &[u8]) -> Option<LogLine<'_>> {
    match text {
        [0x1b, b'[', ..] | [b'[', b'2', b'm', ..] => ansi::parse(text),
        [b'[', ..] => envlog::bracketed(text),
        [b'0'..=b'9', ..] => stamped(text),
        _ => envlog::headless(text),
    }
}

/// A line that begins with its stamp; what follows the stamp tells who wrote it.
fn stamped(text: &[u8]) -> Option<LogLine<'_>> {
    let (stamp, rest) = stamp(text)?;
    if golog::starts(rest) {
        return golog::parse(stamp, rest);
    }
    envlog::arrow(stamp, rest).or_else(|| bare::parse(stamp, rest))
}

/// The level word and what follows it.
fn level(text: &[u8]) -> Option<(Level, &[u8])> {
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_uppercase())
        .unwrap_or(text.len());
    let (word, rest) = text.split_at_checked(end)?;
    let level = match word {
        b"TRACE" => Level::Trace,
        b"DEBUG" => Level::Debug,
        b"INFO" => Level::Info,
        b"WARN" => Level::Warn,
        b"ERROR" | b"FATAL" | b"PANIC" | b"DPANIC" => Level::Error,
        _ => return None,
    };
    Some((level, rest))
}

/// A module path such as `cuzk_core::engine`, and what follows it.
fn path(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let mut end = 0;
    loop {
        let rest = text.get(end..)?;
        let length = rest
            .iter()
            .position(|byte| !word(byte))
            .unwrap_or(rest.len());
        if length == 0 {
            return None;
        }
        end += length;
        match text.get(end..end + 2) {
            Some(b"::") => end += 2,
            _ => return text.split_at_checked(end),
        }
    }
}

/// Without leading blanks.
fn trim_start(text: &[u8]) -> &[u8] {
    text.trim_ascii_start()
}

#[cfg(test)]
mod tests;
