//! Lines of Go programs: stamp, level, logger, place, message, JSON, with tabs between them or
//! with the blanks that a terminal made of the tabs.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{level, trim_start};
use crate::grammar::text;
use crate::record::{LogLine, Stamp};

/// Whether what follows the stamp is this form: a tab, or several blanks.
pub(super) fn starts(rest: &[u8]) -> bool {
    rest.first() == Some(&b'\t') || rest.starts_with(b"    ")
}

/// Reads what follows the stamp.
pub(super) fn parse(stamp: Stamp, rest: &[u8]) -> Option<LogLine<'_>> {
    let (level, rest) = level(trim_start(rest))?;
    let (target, rest) = column(rest)?;
    let (caller, rest) = match column(rest) {
        Some((column, after)) if is_place(column) => (Some(column), after),
        _ => (None, rest),
    };
    let (message, json) = split_json(trim_start(rest));
    let mut fields = Vec::new();
    fields.extend(caller.map(|caller| (Cow::Borrowed("caller"), text::lossy(caller))));
    for (key, value) in json.unwrap_or_default() {
        let value = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        fields.push((Cow::Owned(key.trim().to_owned()), Cow::Owned(value)));
    }
    Some(LogLine {
        stamp: Some(stamp),
        level,
        target: text::lossy(target),
        message: text::lossy(message.trim_ascii_end()),
        fields,
    })
}

/// The next column and what follows it.
fn column(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = trim_start(rest);
    let end = memchr::memchr2(b'\t', b' ', rest)?;
    rest.split_at_checked(end)
        .filter(|(column, _)| !column.is_empty())
}

/// `dir/file.go:226`
fn is_place(column: &[u8]) -> bool {
    memchr::memmem::find(column, b".go:").is_some()
}

/// The message and the JSON object that ends the line, if it is whole.
fn split_json(text: &[u8]) -> (&[u8], Option<Map<String, Value>>) {
    let open = memchr::memchr(b'{', text);
    let parts = open.and_then(|open| text.split_at_checked(open));
    match parts.and_then(|(message, json)| Some((message, serde_json::from_slice(json).ok()?))) {
        Some((message, json)) => (message, Some(json)),
        None => (text, None),
    }
}
