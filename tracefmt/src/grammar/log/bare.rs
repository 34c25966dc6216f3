//! Tracing lines without any escapes, where message and fields are told apart by a rule.

use std::borrow::Cow;

use super::{level, path, trim_start};
use crate::grammar::text;
use crate::record::{Level, LogLine, Stamp};

type Fields<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// Reads what follows the stamp: level, spans, target, message, fields.
pub(super) fn parse(stamp: Stamp, rest: &[u8]) -> Option<LogLine<'_>> {
    let (level, rest) = level(trim_start(rest.strip_prefix(b" ")?))?;
    body(Some(stamp), level, rest.strip_prefix(b" ")?)
}

/// Reads what follows the level.
pub(super) fn body(stamp: Option<Stamp>, level: Level, rest: &[u8]) -> Option<LogLine<'_>> {
    let mut fields = Vec::new();
    let mut rest = trim_start(rest);
    while let Some(next) = span(rest, &mut fields) {
        rest = next;
    }
    let (target, rest) = path(rest)?;
    let rest = rest.strip_prefix(b":")?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let message = split_fields(rest, &mut fields);
    Some(LogLine {
        stamp,
        level,
        target: text::lossy(target),
        message: text::lossy(message.trim_ascii_end()),
        fields,
    })
}

/// One span: `name{fields}:`, or a bare `name:` that a target with `::` follows.
fn span<'a>(text: &'a [u8], fields: &mut Fields<'a>) -> Option<&'a [u8]> {
    let (name, rest) = path(text)?;
    if let Some(inner) = rest.strip_prefix(b"{") {
        let end = closing(inner)?;
        let (list, rest) = inner.split_at_checked(end)?;
        split_fields(list, fields);
        return Some(trim_start(rest.strip_prefix(b"}:")?));
    }
    let rest = trim_start(rest.strip_prefix(b":")?);
    let (target, after) = path(rest)?;
    let bare = memchr::memchr(b':', name).is_none() && memchr::memchr(b':', target).is_some();
    (bare && matches!(after.first(), Some(b':' | b'{'))).then_some(rest)
}

/// Where the `}:` is that closes a span, outside quotes if the quotes are balanced.
fn closing(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at += quoted(text.get(at..)?),
            b'}' if text.get(at + 1) == Some(&b':') => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Puts the fields into the list and gives what precedes the first of them.
pub(super) fn split_fields<'a>(text: &'a [u8], fields: &mut Fields<'a>) -> &'a [u8] {
    let Some((message, mut rest)) = next_key(text, true) else {
        return text;
    };
    while let Some((key, after)) = key_at(rest) {
        let (value, next) = next_key(after, false).unwrap_or((after, &[]));
        fields.push((text::lossy(key), text::lossy(value.trim_ascii_end())));
        rest = next;
    }
    message
}

/// What precedes the next `key=` that stands behind a blank, and the rest from the key on.
fn next_key(text: &[u8], at_start: bool) -> Option<(&[u8], &[u8])> {
    if at_start && key_at(text).is_some() {
        return Some((&[], text));
    }
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at += quoted(text.get(at..)?),
            b' ' => {
                at += 1;
                if key_at(text.get(at..)?).is_some() {
                    return text.split_at_checked(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// A key and what follows its `=`.
fn key_at(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if !text.first()?.is_ascii_lowercase() {
        return None;
    }
    let word = |byte: &u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.')
    };
    let end = text.iter().position(|byte| !word(byte))?;
    let (key, rest) = text.split_at_checked(end)?;
    Some((key, rest.strip_prefix(b"=")?))
}

/// Length of the quoted text at the front; 1 if the quote is never closed.
fn quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    1
}
