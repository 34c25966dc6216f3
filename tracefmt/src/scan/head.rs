//! What a line is, from its first bytes alone. Leaf functions: no state, no allocation.

/// What the first bytes of a line say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// Tracing-subscriber's stamp and level.
    Tracing,
    /// A proof library's line, a lotus miner's line, a memory budget line.
    Engine,
    /// A whole line of another program.
    Other,
    /// `TIMELINE,`.
    Timeline,
    /// `CUZK_TIMING: ` or `CUZK_NTT_H: `.
    Timing,
    /// A panic header, or the runtime's last words.
    Panic,
    /// A bench line that cannot be anything else.
    Bench,
    /// A `cuzk.ops/1` line.
    Ops,
    /// Nothing known.
    Unknown,
}

impl Head {
    /// Whether it marks the beginning of a line for certain.
    pub(super) const fn begins_line(self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// Whether it is a line that this language is about.
    pub(super) const fn is_ours(self) -> bool {
        !matches!(self, Self::Unknown | Self::Other)
    }
}

/// Length of `ESC[2m`.
const DIM: usize = 4;
/// Length of `2026-02-19T04:24:22`.
pub(super) const STAMP: usize = 19;

/// The head of a line whose prefix and line end are off.
#[inline]
pub(super) fn of(text: &[u8]) -> Head {
    match text.first() {
        Some(0x1b) if text.starts_with(b"\x1b[2m") && is_stamp(&text[DIM..]) => Head::Tracing,
        Some(b'0'..=b'9') => digits(text),
        Some(b'T') if text.starts_with(b"TIMELINE,") => Head::Timeline,
        Some(b'C') if text.starts_with(b"CUZK_TIMING: ") => Head::Timing,
        Some(b'C') if text.starts_with(b"CUZK_NTT_H: ") => Head::Timing,
        None => Head::Unknown,
        _ => rare(text),
    }
}

/// Heads that are not worth the fast path.
#[cold]
#[inline(never)]
fn rare(text: &[u8]) -> Head {
    match text.first() {
        Some(b'[') if text.starts_with(b"[2m") && is_stamp(&text[DIM - 1..]) => Head::Tracing,
        Some(b'[') => bracketed(text),
        Some(b't' | b'f') if is_panic(text) => Head::Panic,
        Some(b' ') if is_bench_proof(text) => Head::Bench,
        Some(b'=') if BENCH_TITLES.iter().any(|t| text.starts_with(t)) => Head::Bench,
        Some(b'{') if is_op(text) => Head::Ops,
        Some(b'm' | b'S' | b'P' | b'p' | b'e') if is_budget(text) => Head::Engine,
        _ => Head::Unknown,
    }
}

const fn le(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

/// Whether the bytes begin with `dddd-dd-ddTdd:dd:dd`. The six characters after `9` pass as digits.
#[inline]
pub(super) fn is_stamp(text: &[u8]) -> bool {
    const D: u8 = 0xf0;
    const ALL: u8 = 0xff;
    const DATE_MASK: u64 = le([D, D, D, D, ALL, D, D, ALL]);
    const TIME_MASK: u64 = le([D, D, ALL, D, D, ALL, D, D]);
    let Some((date, rest)) = text.split_first_chunk::<8>() else {
        return false;
    };
    let Some((time, rest)) = rest.split_first_chunk::<8>() else {
        return false;
    };
    let Some(second) = rest.first_chunk::<3>() else {
        return false;
    };
    le(*date) & DATE_MASK == le(*b"0000-00-")
        && le(*time) & TIME_MASK == le(*b"00T00:00")
        && second[0] == b':'
        && second[1] & D == 0x30
        && second[2] & D == 0x30
}

/// Lines that begin with a digit: stamped ones, and HTTP access lines.
#[inline]
fn digits(text: &[u8]) -> Head {
    if is_stamp(text) {
        return stamped(&text[STAMP..]);
    }
    if is_access_line(text) {
        Head::Other
    } else {
        Head::Unknown
    }
}

/// After the seconds: `.mmm LEVEL target > ` (proof libraries), `.mmmZ<TAB>LEVEL` (Go),
/// `.uuuuuuZ LEVEL target: ` (tracing without colour).
#[inline]
fn stamped(rest: &[u8]) -> Head {
    match rest.first_chunk::<8>() {
        Some([b'.', _, _, _, b' ', ..]) => log_style(&rest[5..]),
        Some([b'.', _, _, _, b'Z', b'\t', ..]) => go_style(&rest[5..]),
        _ => stamped_otherwise(rest),
    }
}

/// Fractions of any length, and zones.
#[cold]
#[inline(never)]
fn stamped_otherwise(rest: &[u8]) -> Head {
    let fraction = match rest.strip_prefix(b".") {
        Some(digits) => 1 + digits.iter().take_while(|b| b.is_ascii_digit()).count(),
        None => 0,
    };
    let rest = &rest[fraction..];
    match rest.first() {
        Some(b' ') => log_style(&rest[1..]),
        Some(b'Z') => match rest.get(1) {
            Some(b' ') if level(&rest[2..]) == Some(6) => Head::Tracing,
            Some(b'\t' | b' ') => go_style(&rest[1..]),
            _ => Head::Unknown,
        },
        Some(b'+' | b'-') if rest.len() > 5 => go_style(&rest[5..]),
        _ => Head::Unknown,
    }
}

/// The first eight bytes as a number, zeros behind a short text.
#[inline]
fn eight(text: &[u8]) -> u64 {
    match text.first_chunk::<8>() {
        Some(bytes) => le(*bytes),
        None => fewer_than_eight(text),
    }
}

#[cold]
#[inline(never)]
fn fewer_than_eight(text: &[u8]) -> u64 {
    (0..)
        .zip(text)
        .fold(0, |n, (i, b)| n | u64::from(*b) << (8 * i))
}

/// A word as the low bytes of [`eight`].
const fn low(word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let mut i = 0;
    while i < word.len() {
        bytes[i] = word[i];
        i += 1;
    }
    le(bytes)
}

/// The low five bytes of a word.
const FIVE_BYTES: u64 = (1 << 40) - 1;
/// The low six bytes of a word.
const SIX_BYTES: u64 = (1 << 48) - 1;

/// How often a word is among others: 0 or 1. All are compared, so that the answer costs no branch.
#[inline]
fn among<const N: usize>(word: u64, words: &[u64; N]) -> usize {
    words.iter().map(|other| usize::from(*other == word)).sum()
}

/// Length of a level with the blank behind it, and the one before it if it is right-aligned.
///
/// Levels come in no order that a processor could foresee, hence [`among`].
#[inline]
fn level(text: &[u8]) -> Option<usize> {
    const FIVE: [u64; 2] = [low(b"INFO "), low(b"WARN ")];
    const SIX: [u64; 5] = [
        low(b" INFO "),
        low(b" WARN "),
        low(b"DEBUG "),
        low(b"TRACE "),
        low(b"ERROR "),
    ];
    let word = eight(text);
    let (five, six) = (word & FIVE_BYTES, word & SIX_BYTES);
    let length = among(five, &FIVE) * 5 + among(six, &SIX) * 6;
    (length > 0).then_some(length)
}

/// `INFO bellperson::groth16 > ...`, with `6150 high` before the level in old versions.
#[inline]
fn log_style(text: &[u8]) -> Head {
    match level(text) {
        Some(n) => engine_or_other(&text[n..]),
        None => old_log_style(text),
    }
}

#[cold]
#[inline(never)]
fn old_log_style(text: &[u8]) -> Head {
    let mut words = text.splitn(3, |&b| b == b' ');
    let (Some(pid), Some(priority), Some(rest)) = (words.next(), words.next(), words.next()) else {
        return Head::Unknown;
    };
    let old = pid.iter().all(u8::is_ascii_digit) && !priority.is_empty();
    match level(rest) {
        Some(n) if old => engine_or_other(&rest[n..]),
        _ => Head::Unknown,
    }
}

/// `[2021-09-21T04:48:55Z INFO  bellperson::domain] ...`; criterion and timing trees look the same.
fn bracketed(text: &[u8]) -> Head {
    let inner = &text[1..];
    if !is_stamp(inner) {
        return Head::Unknown;
    }
    match inner[STAMP..].strip_prefix(b"Z ") {
        Some(rest) => match level(rest) {
            Some(n) => engine_or_other(rest[n..].trim_ascii_start()),
            None => Head::Unknown,
        },
        None => Head::Unknown,
    }
}

#[inline]
fn engine_or_other(target: &[u8]) -> Head {
    if is_engine_target(target) {
        Head::Engine
    } else {
        Head::Other
    }
}

/// Whether a log target belongs to the proof libraries. Compared without a branch, as [`level`].
#[inline]
fn is_engine_target(target: &[u8]) -> bool {
    const EIGHT: [u64; 11] = [
        low(b"bellpers"),
        low(b"filecoin"),
        low(b"storage_"),
        low(b"filcrypt"),
        low(b"suprasea"),
        low(b"ec_gpu_g"),
        low(b"rust_gpu"),
        low(b"merkletr"),
        low(b"neptune:"),
        low(b"cuzk_cor"),
        low(b"cuzk_dae"),
    ];
    const SIX: [u64; 4] = [
        low(b"ec_gpu"),
        low(b"fr32::"),
        low(b"sppark"),
        low(b"neptun"),
    ];
    let eight = eight(target);
    among(eight, &EIGHT) + among(eight & SIX_BYTES, &SIX) > 0
}

/// A Go line after its stamp: blank, LEVEL, blank, logger. Lotus miner loggers count as engine.
#[inline]
fn go_style(rest: &[u8]) -> Head {
    const FIVE: [u64; 2] = [low(b"INFO\t"), low(b"WARN\t")];
    const SIX: [u64; 2] = [low(b"DEBUG\t"), low(b"ERROR\t")];
    let Some(b'\t') = rest.first() else {
        return loose_go_style(rest);
    };
    let word = eight(&rest[1..]);
    let (five, six) = (word & FIVE_BYTES, word & SIX_BYTES);
    let (five, six) = (among(five, &FIVE), among(six, &SIX));
    if five + six == 0 {
        return loose_go_style(rest);
    }
    let logger = eight(&rest[6 + six..]);
    let miner = (logger == low(b"storagem")) | (logger & SIX_BYTES == low(b"miner\t"));
    if miner { Head::Engine } else { Head::Other }
}

/// A Go line whose tabs became blanks, or of a rare level.
#[cold]
#[inline(never)]
fn loose_go_style(rest: &[u8]) -> Head {
    let rest = rest.trim_ascii_start();
    let level = match rest.first_chunk::<4>() {
        Some(b"INFO" | b"WARN") => 4,
        Some(b"DEBU" | b"ERRO" | b"FATA" | b"PANI") => 5,
        _ => return Head::Unknown,
    };
    let Some(b'\t' | b' ') = rest.get(level) else {
        return Head::Unknown;
    };
    let logger = rest[level..].trim_ascii_start();
    let miner = [&b"storageminer"[..], b"miner"].iter().any(|name| {
        logger
            .strip_prefix(*name)
            .is_some_and(|r| matches!(r.first(), Some(b'\t' | b' ')))
    });
    if miner { Head::Engine } else { Head::Other }
}

/// `10.4.0.17 - - [`: the common log format of HTTP servers. The first blank of the first sixteen
/// bytes is found without a loop.
#[inline]
fn is_access_line(text: &[u8]) -> bool {
    const ONES: u128 = u128::MAX / 0xff;
    let Some(head) = text.first_chunk::<16>() else {
        return false;
    };
    let blanks = u128::from_le_bytes(*head) ^ (ONES * 0x20);
    let first = blanks.wrapping_sub(ONES) & !blanks & (ONES << 7);
    let address = (first.trailing_zeros() / 8) as usize;
    let dotted = head[1] == b'.' || head[2] == b'.' || head[3] == b'.';
    dotted && text.get(address..address + 3) == Some(b" - ")
}

fn is_panic(text: &[u8]) -> bool {
    if let Some(rest) = text.strip_prefix(b"thread '") {
        return memchr::memchr(b'\'', rest).is_some_and(|end| {
            let after = &rest[end + 1..];
            memchr::memmem::find(&after[..after.len().min(40)], b" panicked").is_some()
        });
    }
    [&b"terminate called "[..], b"fatal runtime error: "]
        .iter()
        .any(|t| text.starts_with(t))
}

const BENCH_TITLES: [&[u8]; 3] = [
    b"=== Batch Benchmark ===",
    b"=== Batch Summary ===",
    b"=== Proof Result ===",
];

/// `  [1/5] COMPLETED ...`.
fn is_bench_proof(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"  [") else {
        return false;
    };
    let digits = |t: &[u8]| t.iter().take_while(|b| b.is_ascii_digit()).count();
    let first = digits(rest);
    let Some(rest) = rest[first..].strip_prefix(b"/") else {
        return false;
    };
    let second = digits(rest);
    let Some(rest) = rest[second..].strip_prefix(b"] ") else {
        return false;
    };
    first > 0
        && second > 0
        && [
            &b"COMPLETED"[..],
            b"FAILED",
            b"CANCELLED",
            b"TIMEOUT",
            b"UNKNOWN",
        ]
        .iter()
        .any(|status| rest.starts_with(status))
}

/// A line of `cuzk.ops/1`: its schema line, or an object with an `op` of the language.
fn is_op(text: &[u8]) -> bool {
    let value = |key: &[u8]| {
        let at = memchr::memmem::find(text, key)? + key.len();
        let rest = text[at..].trim_ascii_start().strip_prefix(b":")?;
        rest.trim_ascii_start().strip_prefix(b"\"")
    };
    if value(b"\"schema\"").is_some_and(|v| v.starts_with(b"cuzk.ops/")) {
        return true;
    }
    let Some(op) = value(b"\"op\"") else {
        return false;
    };
    let name = &op[..memchr::memchr(b'"', op).unwrap_or(0)];
    OPS.contains(&name)
}

const OPS: [&[u8]; 26] = [
    b"malloc",
    b"mallocAsync",
    b"free",
    b"freeAsync",
    b"streamSync",
    b"ctxSync",
    b"eventRecord",
    b"streamWait",
    b"eventSync",
    b"trim",
    b"setThreshold",
    b"memGetInfo",
    b"getLastError",
    b"peekLastError",
    b"hostMap",
    b"hostUnmap",
    b"hostRegister",
    b"hostUnregister",
    b"launch",
    b"copyHtoD",
    b"copyDtoH",
    b"lock",
    b"unlock",
    b"barrier",
    b"label",
    b"panic",
];

/// Host memory budget lines: `partition[3] acquired 14 GiB, budget 167/251 GiB remaining`.
fn is_budget(text: &[u8]) -> bool {
    [
        &b"memory budget: "[..],
        b"SRS ",
        b"PCE ",
        b"partition[",
        b"evicting ",
    ]
    .iter()
    .any(|t| text.starts_with(t))
        && memchr::memmem::find(text, b" GiB").is_some()
        && memchr::memmem::find(text, b"budget").is_some()
}

/// Where in a line another whole line begins, and what it is: the first place after column 0.
///
/// A tracing line counts only with colour or at full stamp and level, a `TIMELINE,` always.
pub(super) fn inside(text: &[u8]) -> Option<(usize, Head)> {
    (1..text.len()).find_map(|i| {
        let rest = &text[i..];
        let head = match rest[0] {
            b'C' | b'T' | 0x1b | b'2' | b't' | b'f' => of(rest),
            b'[' if rest.starts_with(b"[2m") => of(rest),
            _ => return None,
        };
        head.begins_line().then_some((i, head))
    })
}
