//! Prefixes that other tools put before every line: grep, journald, docker-compose, kubectl.
//!
//! A prefix is believed only where a known line follows it; once one was believed, it is taken off
//! every later line that carries it, and a line without it is still read.

use super::head::{self, Head, STAMP};
use super::parted::{self, Part};

/// What put a prefix before the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrapping {
    /// `95:` or `95-`: `grep -n`.
    GrepNumber,
    /// `run.log:95:`, `run.log-95-` or `run.log:`: grep over several files.
    GrepFile,
    /// `   95<TAB>`: `cat -n`, `nl`.
    Listing,
    /// `Feb 19 04:24:22 host unit[123]: ` or with an ISO stamp: journald, syslog.
    Journal,
    /// `cuzk-1  | `: docker-compose, with or without colour.
    Compose,
    /// `2026-02-19T04:24:22.996374Z `, perhaps with `stderr F `: kubectl, docker, CRI files.
    Stamp,
    /// `[pod/name/container] `: `kubectl logs --prefix`.
    Pod,
    /// `{"log":"...\n","stream":"stderr","time":"..."}`: the log files of a container runtime.
    Json,
}

/// A prefix that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// Its bytes.
    pub(super) length: usize,
    /// The line number in it.
    pub(super) listed: Option<u64>,
    /// What a container runtime says in it.
    pub(super) part: Option<Part>,
}

/// At most this many prefixes one in another.
pub(super) const LAYERS: usize = 3;

/// The prefixes of a file, outermost first.
pub(super) type Layers = [Option<Wrapping>; LAYERS];

impl Wrapping {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::GrepNumber,
        Self::GrepFile,
        Self::Listing,
        Self::Journal,
        Self::Compose,
        Self::Stamp,
        Self::Pod,
        Self::Json,
    ];

    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GrepNumber => "grep_number",
            Self::GrepFile => "grep_file",
            Self::Listing => "listing",
            Self::Journal => "journal",
            Self::Compose => "compose",
            Self::Stamp => "stamp",
            Self::Pod => "pod",
            Self::Json => "json",
        }
    }

    /// Its prefix on this line, if the line carries one.
    fn prefix(self, text: &[u8]) -> Option<Prefix> {
        let plain = |length| Prefix {
            length,
            listed: None,
            part: None,
        };
        match self {
            Self::GrepNumber => grep_number(text),
            Self::GrepFile => grep_file(text),
            Self::Listing => listing(text),
            Self::Journal => journal(text).map(plain),
            Self::Compose => compose(text).map(plain),
            Self::Stamp => stamp(text),
            Self::Pod => pod(text).map(plain),
            // No prefix: the whole line is taken apart in `container`.
            Self::Json => None,
        }
    }
}

/// Takes the known prefixes off, as far as the line carries them.
pub(super) fn strip(layers: Layers, text: &[u8]) -> Prefix {
    let mut found = Prefix {
        length: 0,
        listed: None,
        part: None,
    };
    for wrapping in layers.iter().flatten() {
        let Some(prefix) = wrapping.prefix(&text[found.length..]) else {
            break;
        };
        found.length += prefix.length;
        found.listed = prefix.listed.or(found.listed);
        found.part = prefix.part.or(found.part);
    }
    found
}

/// Finds prefixes behind which a line of ours begins.
pub(super) fn detect(text: &[u8]) -> Option<Layers> {
    let mut layers = [None; LAYERS];
    detect_from(text, &mut layers, 0).then_some(layers)
}

fn detect_from(text: &[u8], layers: &mut Layers, depth: usize) -> bool {
    if depth == LAYERS {
        return false;
    }
    Wrapping::ALL.into_iter().any(|wrapping| {
        let Some(prefix) = wrapping.prefix(text) else {
            return false;
        };
        let rest = &text[prefix.length..];
        layers[depth] = Some(wrapping);
        let head = head::of(rest);
        if head.is_ours() || head == Head::Unknown && detect_from(rest, layers, depth + 1) {
            return true;
        }
        layers[depth] = None;
        false
    })
}

fn count_digits(text: &[u8]) -> usize {
    text.iter()
        .take(20)
        .take_while(|b| b.is_ascii_digit())
        .count()
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn grep_number(text: &[u8]) -> Option<Prefix> {
    let digits = count_digits(text);
    let listed = number(&text[..digits])?;
    matches!(text.get(digits), Some(b':' | b'-')).then_some(Prefix {
        length: digits + 1,
        listed: Some(listed),
        part: None,
    })
}

/// `path-95-` before a known line first, since the line may hold marks of its own; then `path:95:`
/// and `path:`; then `path-95-` before anything.
fn grep_file(text: &[u8]) -> Option<Prefix> {
    let window = &text[..text.len().min(256)];
    let is_path = |b: &u8| b.is_ascii_graphic() && !matches!(b, b':' | b',' | b'=');
    let path = window.iter().take_while(|&b| is_path(b)).count();
    if path == 0 || path == window.len() {
        return None;
    }
    let context = || {
        memchr::memchr_iter(b'-', &window[..path]).filter_map(|dash| {
            let n = grep_number(&text[dash + 1..])?;
            let length = dash + 1 + n.length;
            (dash > 0 && text[length - 1] == b'-').then_some(Prefix { length, ..n })
        })
    };
    if let Some(found) = context().find(|found| head::of(&text[found.length..]).is_ours()) {
        return Some(found);
    }
    if window[path] != b':' {
        return context().next_back();
    }
    let length = path + 1;
    Some(match grep_number(&text[length..]) {
        Some(n) if text[length + n.length - 1] == b':' => Prefix {
            length: length + n.length,
            ..n
        },
        _ => Prefix {
            length,
            listed: None,
            part: None,
        },
    })
}

fn listing(text: &[u8]) -> Option<Prefix> {
    let blanks = text.iter().take(12).take_while(|&&b| b == b' ').count();
    let digits = count_digits(&text[blanks..]);
    let listed = number(&text[blanks..blanks + digits])?;
    let length = blanks + digits + 1;
    (text.get(length - 1) == Some(&b'\t')).then_some(Prefix {
        length,
        listed: Some(listed),
        part: None,
    })
}

/// Length of the first word with its blank.
fn word(text: &[u8]) -> Option<usize> {
    let window = &text[..text.len().min(128)];
    memchr::memchr(b' ', window)
        .filter(|&n| n > 0)
        .map(|n| n + 1)
}

/// Journal and syslog: stamp, host, `unit[pid]: ` or `unit: `.
fn journal(text: &[u8]) -> Option<usize> {
    let mut length = if head::is_stamp(text) {
        word(text)?
    } else {
        month_stamp(text)?
    };
    length += word(&text[length..])?;
    let unit = word(&text[length..])?;
    (text[length + unit - 2] == b':' && unit > 2).then_some(length + unit)
}

/// `Feb 19 04:24:22 ` or with microseconds.
fn month_stamp(text: &[u8]) -> Option<usize> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let head = text.first_chunk::<16>()?;
    let month = MONTHS.chunks_exact(3).any(|m| m == &head[..3]);
    let marks = head[3] == b' ' && head[6] == b' ' && head[9] == b':' && head[12] == b':';
    if !month || !marks {
        return None;
    }
    word(&text[7..]).map(|n| n + 7)
}

/// `name  | `, the name coloured by compose itself.
fn compose(text: &[u8]) -> Option<usize> {
    let colour = sgr(text);
    let name = text[colour..]
        .iter()
        .take(80)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        .count();
    let at = colour + name;
    let blanks = text[at..]
        .iter()
        .take(80)
        .take_while(|&&b| b == b' ')
        .count();
    let rest = text[at + blanks..].strip_prefix(b"|")?;
    if name == 0 || blanks == 0 {
        return None;
    }
    let mut length = text.len() - rest.len();
    let before = sgr(&text[length..]);
    length += before + usize::from(text.get(length + before) == Some(&b' '));
    // The colour is switched off before the line; a colour that begins the line is its own.
    if colour > 0 && before == 0 && text[length..].starts_with(b"\x1b[0m") {
        length += 4;
    }
    Some(length)
}

/// Length of the colour code at the beginning: `ESC[36m`.
fn sgr(text: &[u8]) -> usize {
    let Some(rest) = text.strip_prefix(b"\x1b[") else {
        return 0;
    };
    let inner = rest
        .iter()
        .take(12)
        .take_while(|b| b.is_ascii_digit() || **b == b';')
        .count();
    if rest.get(inner) == Some(&b'm') {
        inner + 3
    } else {
        0
    }
}

/// RFC 3339 stamp and blank; files of the container runtime add stream and tag.
fn stamp(text: &[u8]) -> Option<Prefix> {
    if !head::is_stamp(text) {
        return None;
    }
    let length = word(text)?;
    let zone = &text[STAMP..length - 1];
    if !(zone.ends_with(b"Z") || zone.contains(&b'+') || zone.contains(&b'-')) {
        return None;
    }
    let rest = &text[length..];
    let part = Part::of_tag(rest);
    Some(Prefix {
        length: length + part.map_or(0, |_| parted::TAG),
        listed: None,
        part,
    })
}

fn pod(text: &[u8]) -> Option<usize> {
    text.strip_prefix(b"[pod/")?;
    let window = &text[..text.len().min(256)];
    memchr::memmem::find(window, b"] ").map(|at| at + 2)
}
