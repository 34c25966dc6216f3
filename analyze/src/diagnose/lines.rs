//! The text of the lines that a diagnosis quotes. The trace holds line numbers only, so that a
//! log of many gigabytes is never in memory; after all findings are made, the few hundred lines
//! that they name are asked for at once, and a source can fetch them in one pass over the inputs.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

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

/// Lines out of files: each input is opened again and read once, up to its last wanted line.
///
/// `open` gives the decompressed bytes of an input by its index; `None` where they cannot be read
/// a second time (a pipe), and evidence then quotes what the trace keeps.
#[derive(Debug)]
pub struct ReadAgain<F>(pub F);

impl<F> LineSource for ReadAgain<F>
where
    F: Fn(u32) -> Option<Box<dyn Read>>,
{
    fn fetch(&self, wanted: &[LineRef]) -> BTreeMap<LineRef, String> {
        let mut texts = BTreeMap::new();
        for lines in wanted.chunk_by(|a, b| a.input() == b.input()) {
            let input = lines.first().map_or(0, |line| line.input());
            if let Some(reader) = (self.0)(input) {
                // A file that breaks off while it is read has given what it had.
                let _partial = pick(BufReader::with_capacity(1 << 18, reader), lines, &mut texts);
            }
        }
        texts
    }
}

/// Takes the wanted lines of one input, which come sorted.
fn pick(
    mut reader: impl BufRead,
    wanted: &[LineRef],
    texts: &mut BTreeMap<LineRef, String>,
) -> std::io::Result<()> {
    let mut number = 1;
    for want in wanted {
        while number < want.line {
            if skip_line(&mut reader)? == 0 {
                return Ok(());
            }
            number += 1;
        }
        let mut bytes = Vec::new();
        // Escapes are taken out later, so keep some more than is shown.
        let limit = TEXT_BYTES_MAX as u64 * 4;
        let taken = reader.by_ref().take(limit).read_until(b'\n', &mut bytes)?;
        if taken == 0 {
            return Ok(());
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else {
            skip_line(&mut reader)?;
        }
        number += 1;
        texts.insert(*want, String::from_utf8_lossy(&bytes).into_owned());
    }
    Ok(())
}

/// Skips to behind the next line end without keeping the line, however long it is.
fn skip_line(reader: &mut impl BufRead) -> std::io::Result<usize> {
    let mut skipped = 0;
    loop {
        let block = reader.fill_buf()?;
        let (used, done) = match memchr::memchr(b'\n', block) {
            Some(at) => (at + 1, true),
            None => (block.len(), block.is_empty()),
        };
        reader.consume(used);
        skipped += used;
        if done {
            return Ok(skipped);
        }
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
    let mut rest = text.trim_end();
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = behind_colour(rest) {
            rest = behind;
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if shown.len() >= TEXT_BYTES_MAX {
            shown.push_str(" ...");
            break;
        }
        shown.push(if c.is_control() { ' ' } else { c });
    }
    shown
}

/// What follows a colour code, if the text begins with one. Logs that went through a mail or a
/// web page have lost the escape in front of it: `[2m`, `[31m`.
fn behind_colour(text: &str) -> Option<&str> {
    let code = text
        .strip_prefix('\u{1b}')
        .unwrap_or(text)
        .strip_prefix('[')?;
    let digits = code
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ';')
        .count();
    let behind = code.get(digits..)?.strip_prefix('m')?;
    let bare = !text.starts_with('\u{1b}');
    (!bare || (1..=2).contains(&digits)).then_some(behind)
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
        assert_eq!(
            tidy("[2m2026[0m [32m INFO[0m a[1] [5 m] [123m"),
            "2026  INFO a[1] [5 m] [123m"
        );
        let long = tidy(&"x".repeat(5000));
        assert!(long.len() < 700 && long.ends_with(" ..."));
    }

    #[test]
    fn a_file_is_read_once_up_to_the_last_wanted_line() {
        let long = "y".repeat(10_000);
        let file = format!("one\n{long}\r\nthree\n\nfive \u{e9}");
        let source = ReadAgain(|input| {
            let bytes = std::io::Cursor::new(file.clone().into_bytes());
            (input == 1).then(|| Box::new(bytes) as Box<dyn Read>)
        });
        let line = |input, line| LineRef::new(input, line);
        let wanted = [
            line(0, 1),
            line(1, 1),
            line(1, 2),
            line(1, 3),
            line(1, 5),
            line(1, 9),
        ];
        let texts = source.fetch(&wanted);
        let lengths: Vec<(u32, usize)> = texts.iter().map(|(at, t)| (at.line, t.len())).collect();
        assert_eq!(lengths, [(1, 3), (2, 2400), (3, 5), (5, 7)]);
        assert_eq!(texts[&line(1, 5)], "five \u{e9}");
    }

    #[test]
    fn a_map_gives_what_it_has() {
        let line = |line| LineRef::new(0, line);
        let map = BTreeMap::from([(line(3), "three".to_owned())]);
        let got = map.fetch(&[line(2), line(3)]);
        assert_eq!(
            got.into_iter().collect::<Vec<_>>(),
            [(line(3), "three".to_owned())]
        );
    }
}
