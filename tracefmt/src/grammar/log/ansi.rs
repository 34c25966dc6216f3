//! Tracing lines with their escapes, or with the brackets that are left where the ESC bytes
//! were lost.

use std::borrow::Cow;

use super::{bare, level, stamp, trim_start};
use crate::grammar::text;
use crate::record::LogLine;

/// Reads the line. Each part is between two escapes, so a value may hold anything but those.
pub(super) fn parse(line: &[u8]) -> Option<LogLine<'_>> {
    let rest = escape(line, b"2m")?;
    let (stamp, rest) = stamp(rest)?;
    let rest = escape(rest, b"0m")?.strip_prefix(b" ")?;
    let (_, rest) = any_escape(rest)?;
    let (level, rest) = level(trim_start(rest))?;
    let mut rest = escape(rest, b"0m")?.strip_prefix(b" ")?;
    let mut fields = Vec::new();
    while let Some(span) = escape(rest, b"1m") {
        rest = spans(span, &mut fields)?;
    }
    let rest = trim_start(rest);
    let Some(target) = escape(rest, b"2m") else {
        // Coloured head, plain rest: another formatter.
        return bare::body(Some(stamp), level, rest);
    };
    let (target, rest) = until_escape(target);
    let rest = colon(rest)?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let (message, rest) = until(rest, b"3m");
    fields_into(rest, &mut fields);
    Some(LogLine {
        stamp: Some(stamp),
        level,
        target: text::lossy(target),
        message: clean(message.trim_ascii_end()),
        fields,
    })
}

/// One span behind its first escape: `name ESC[0m [ESC[1m { ESC[0m fields ESC[1m }] :`.
fn spans<'a>(text: &'a [u8], fields: &mut Fields<'a>) -> Option<&'a [u8]> {
    let (_name, rest) = until_escape(text);
    let rest = escape(rest, b"0m")?;
    let Some(open) = escape(rest, b"1m").and_then(|rest| rest.strip_prefix(b"{")) else {
        return colon(rest);
    };
    let inner = escape(open, b"0m")?;
    let (list, rest) = until(inner, b"1m");
    fields_into(list, fields);
    let rest = escape(rest, b"1m")?.strip_prefix(b"}")?;
    colon(escape(rest, b"0m")?)
}

type Fields<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// `ESC[3m key ESC[0m ESC[2m = ESC[0m value`, separated by blanks; a cut last one is dropped.
fn fields_into<'a>(text: &'a [u8], fields: &mut Fields<'a>) {
    let mut rest = text;
    while let Some(field) = escape(rest, b"3m") {
        let (key, after) = until_escape(field);
        let (value, next) = until(after, b"3m");
        rest = next;
        if let Some(value) = equals(value) {
            fields.push((text::lossy(key), clean(value.trim_ascii_end())));
        }
    }
}

fn equals(text: &[u8]) -> Option<&[u8]> {
    let rest = escape(escape(text, b"0m")?, b"2m")?;
    escape(rest.strip_prefix(b"=")?, b"0m")
}

/// `[ESC[0m] ESC[2m : ESC[0m`
fn colon(text: &[u8]) -> Option<&[u8]> {
    let rest = escape(text, b"0m").unwrap_or(text);
    escape(escape(rest, b"2m")?.strip_prefix(b":")?, b"0m")
}

/// Takes `ESC[<code>`, the ESC optional.
fn escape<'a>(text: &'a [u8], code: &[u8]) -> Option<&'a [u8]> {
    let rest = text.strip_prefix(b"\x1b").unwrap_or(text);
    rest.strip_prefix(b"[")?.strip_prefix(code)
}

/// Takes any escape: its code and what follows it.
fn any_escape(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = text
        .strip_prefix(b"\x1b")
        .unwrap_or(text)
        .strip_prefix(b"[")?;
    let end = rest
        .iter()
        .position(|byte| !byte.is_ascii_digit() && *byte != b';')?;
    let (code, rest) = rest.split_at_checked(end)?;
    Some((code, rest.strip_prefix(b"m")?))
}

/// What precedes the next escape of any code, and the rest from it on.
fn until_escape(text: &[u8]) -> (&[u8], &[u8]) {
    split_where(text, |rest| any_escape(rest).is_some())
}

/// What precedes the next escape of this code, and the rest from it on.
fn until<'a>(text: &'a [u8], code: &[u8]) -> (&'a [u8], &'a [u8]) {
    split_where(text, |rest| escape(rest, code).is_some())
}

fn split_where(text: &[u8], found: impl Fn(&[u8]) -> bool) -> (&[u8], &[u8]) {
    let mut from = 0;
    loop {
        let rest = text.get(from..).unwrap_or_default();
        let Some(at) = memchr::memchr2(0x1b, b'[', rest) else {
            return (text, &[]);
        };
        let at = from + at;
        if text.get(at..).is_some_and(&found) {
            return text.split_at_checked(at).unwrap_or((text, &[]));
        }
        from = at + 1;
    }
}

/// The text without the escapes that are left in it.
fn clean(text: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text).is_none() {
        return text::lossy(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        rest = match any_escape(rest) {
            Some((_, after)) if *first == 0x1b => after,
            _ => {
                plain.push(*first);
                tail
            }
        };
    }
    Cow::Owned(text::lossy(&plain).into_owned())
}
