//! The text of the lines that a diagnosis quotes. The trace holds line numbers only, so that a
//! log of many gigabytes is never in memory; after all findings are made, the few hundred lines
//! that they name are asked for at once, and a source can fetch them in one pass over the inputs.

use std::collections::BTreeMap;

use tracefmt::run::{LineRef, Trace};

/// Longest text kept of a line, in bytes; a log can hold a line of a gigabyte.
const TEXT_BYTES_MAX: usize = 600;

/// Where the text of lines comes from.
pub trait LineSource {
    /// The texts of the wanted lines, which come sorted and without repeats. Lines that the
    /// source does not have are left out; invalid UTF-8 is replaced; line ends are not included.
    fn fetch(&self, wanted: &[LineRef]) -> BTreeMap<LineRef, String>;
}

/// A source without any lines: evidence then quotes only what the trace itself keeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLines;

impl LineSource for NoLines {
    fn fetch(&self, _wanted: &[LineRef]) -> BTreeMap<LineRef, String> {
        BTreeMap::new()
    }
}

/// A source of lines that are in memory already.
impl LineSource for BTreeMap<LineRef, String> {
    fn fetch(&self, wanted: &[LineRef]) -> BTreeMap<LineRef, String> {
        wanted
            .iter()
            .filter_map(|line| Some((*line, self.get(line)?.clone())))
            .collect()
    }
}

/// Texts of the wanted lines: from the source, or from the trouble lines of the trace.
pub(crate) fn texts(
    trace: &Trace,
    source: &dyn LineSource,
    mut wanted: Vec<LineRef>,
) -> BTreeMap<LineRef, String> {
    wanted.sort_unstable();
    wanted.dedup();
    let mut texts = source.fetch(&wanted);
    for trouble in trace.runs.iter().flat_map(|run| &run.troubles) {
        if !trouble.text.is_empty() && wanted.binary_search(&trouble.line).is_ok() {
            texts
                .entry(trouble.line)
                .or_insert_with(|| trouble.text.clone());
        }
    }
    for text in texts.values_mut() {
        *text = tidy(text);
    }
    texts
}

/// A line fit to be shown: colour escapes and control characters gone, and not too long.
fn tidy(text: &str) -> String {
    let mut shown = String::new();
    let mut chars = text.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.peek() == Some(&'[') {
            // An escape ends at its first letter.
            for inner in chars.by_ref() {
                if inner.is_ascii_alphabetic() {
                    break;
                }
            }
            continue;
        }
        if shown.len() >= TEXT_BYTES_MAX {
            shown.push_str(" ...");
            break;
        }
        shown.push(if c.is_control() { ' ' } else { c });
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_go_and_long_lines_end() {
        assert_eq!(
            tidy("\u{1b}[31mERROR\u{1b}[0m bad\tthing\r"),
            "ERROR bad thing"
        );
        let long = tidy(&"x".repeat(5000));
        assert!(long.len() < 700 && long.ends_with(" ..."));
    }

    #[test]
    fn a_map_gives_what_it_has() {
        let line = |line| LineRef { input: 0, line };
        let map = BTreeMap::from([(line(3), "three".to_owned())]);
        let got = map.fetch(&[line(2), line(3)]);
        assert_eq!(
            got.into_iter().collect::<Vec<_>>(),
            [(line(3), "three".to_owned())]
        );
    }
}
