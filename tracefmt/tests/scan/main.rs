//! The scanner through its public face: classes, torn lines, prefixes, bad input, real inputs.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a test may fail loudly, say that it was skipped, and build its logs plainly"
)]

mod classes;
#[cfg(feature = "compressed")]
mod compressed;
mod hostile;
mod inputs;
mod props;
mod torn;
mod wrap;

use tracefmt::scan::{Class, Line, Scan, Scanner, Sink, scan_slice};

/// A delivered line that outlives the call.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    number: u64,
    offset: u64,
    raw: Vec<u8>,
    text: Vec<u8>,
    class: Class,
    repaired: bool,
    cut: bool,
    listed: Option<u64>,
}

impl Kept {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }
}

/// Keeps every line.
#[derive(Default)]
struct Keep(Vec<Kept>);

impl Sink for Keep {
    fn line(&mut self, line: &Line<'_>) {
        let Line {
            number,
            offset,
            raw,
            text,
            class,
            repaired,
            cut,
            listed,
            ..
        } = *line;
        let (raw, text) = (raw.to_vec(), text.to_vec());
        self.0.push(Kept {
            number,
            offset,
            raw,
            text,
            class,
            repaired,
            cut,
            listed,
        });
    }
}

fn scan(log: &[u8]) -> (Vec<Kept>, Scan) {
    let mut keep = Keep::default();
    let scan = scan_slice(log, &mut keep);
    (keep.0, scan)
}

/// Feeds the log in blocks whose lengths repeat.
fn scan_blocks(log: &[u8], lengths: &[usize]) -> (Vec<Kept>, Scan) {
    let mut keep = Keep::default();
    let mut scanner = Scanner::new();
    let mut rest = log;
    for length in lengths.iter().cycle() {
        let (block, after) = rest.split_at((*length).min(rest.len()));
        scanner.feed(block, &mut keep);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let scan = scanner.finish(&mut keep);
    (keep.0, scan)
}

fn of_class(lines: &[Kept], class: Class) -> Vec<String> {
    lines
        .iter()
        .filter(|l| l.class == class)
        .map(Kept::text)
        .collect()
}
