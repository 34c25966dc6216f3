//! Panics of Rust threads: the header in its forms since 2015, and the message behind it.

use super::{cuda, plain};
use crate::grammar::text;
use crate::record::{TroubleKind, TroubleLine};

/// `thread '<name>' [(<id>)] panicked at <place>:`, or the form before Rust 1.73 that holds the
/// message: `thread '<name>' panicked at '<message>', <place>`.
pub(super) fn header(line: &[u8]) -> Option<TroubleLine<'_>> {
    let rest = line.strip_prefix(b"thread '")?;
    let at = memchr::memmem::find(rest, b" panicked")?;
    let rest = rest.get(at + b" panicked".len()..)?;
    let Some(rest) = rest.strip_prefix(b" at ") else {
        // `panicked:` without a place.
        return rest
            .starts_with(b":")
            .then(|| plain(TroubleKind::Panic, line));
    };
    if let Some(quoted) = rest.strip_prefix(b"'") {
        return Some(old(quoted));
    }
    let place = rest.strip_suffix(b":").unwrap_or(rest);
    Some(TroubleLine {
        kind: TroubleKind::Panic,
        code: None,
        text: text::lossy(place),
        site: Some(text::lossy(place)),
    })
}

/// What follows the quote of the old form. The message may hold quotes itself.
fn old(quoted: &[u8]) -> TroubleLine<'_> {
    let end = memchr::memmem::rfind(quoted, b"', ");
    let (message, place) = match end.and_then(|end| quoted.split_at_checked(end)) {
        Some((message, place)) => (message, place.get(3..)),
        None => (quoted, None),
    };
    let mut line = match cuda::cuda_failure(message) {
        Some(failure) => failure.into_line(message),
        None => plain(TroubleKind::Panic, message),
    };
    line.kind = TroubleKind::Panic;
    line.site = place.map(text::lossy).or(line.site);
    line
}

/// Reads a line that is known to stand behind a panic's header. None for what a panic prints
/// beside its message: notes, the backtrace, blank lines.
pub fn parse_panic_message(text: &[u8]) -> Option<TroubleLine<'_>> {
    let line = text.trim_ascii();
    if line.is_empty() || line.starts_with(b"note: ") || is_backtrace(text) {
        return None;
    }
    super::parse_trouble(line).or_else(|| Some(plain(TroubleKind::PanicMessage, line)))
}

/// `stack backtrace:`, `  12: symbol` and `   at file:line`.
fn is_backtrace(text: &[u8]) -> bool {
    let line = text.trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    line.starts_with(b"stack backtrace:")
        || line.len() < text.len() && line.starts_with(b"at ")
        || digits > 0
            && line
                .get(digits..)
                .is_some_and(|rest| rest.starts_with(b": "))
}
