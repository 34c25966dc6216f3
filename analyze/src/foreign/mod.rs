//! Timings of other programs, for logs that hold no run of the engine: rows for JSON, and the
//! longest of them in words. They are told as what they are and count in no other figure.

use serde::{Deserialize, Serialize};
use tracefmt::run::{LineRef, Trace};

/// Most timings that the text tells.
const SHOWN_MAX: usize = 16;

/// Longest words of a timing in the text, characters.
const WORDS_MAX: usize = 64;

/// A timing of another program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignRow {
    /// The file.
    pub path: String,
    /// The line of the largest, 1-based.
    pub line: u64,
    /// The program or library; empty where its lines do not say.
    pub who: String,
    /// What took so long, in its own words.
    pub what: String,
    /// How many lines say so.
    pub n: u64,
    /// Sum, milliseconds.
    pub total_ms: f64,
    /// Largest, milliseconds.
    pub max_ms: f64,
    /// The distance of two stamps, and not a duration that a line states.
    pub between: bool,
}

/// The rows of all inputs, in the order of the log.
pub fn rows(trace: &Trace) -> Vec<ForeignRow> {
    let mut rows = Vec::new();
    for (input, file) in (0_u32..).zip(&trace.inputs) {
        for timing in &file.foreign {
            let line = u32::try_from(timing.line).unwrap_or(0);
            let place = trace.place(LineRef::new(input, line));
            let (path, line) = place.unwrap_or((&file.path, line));
            rows.push(ForeignRow {
                path: path.to_owned(),
                line: u64::from(line),
                who: timing.who.clone(),
                what: timing.what.clone(),
                n: timing.n,
                total_ms: timing.total_ms,
                max_ms: timing.max_ms,
                between: timing.between,
            });
        }
    }
    rows
}

/// A section of the text with the longest of them, in the order of the log; empty if there are
/// none.
pub fn section(rows: &[ForeignRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| {
        let ms = |at: &usize| rows.get(*at).map_or(0.0, |row| row.total_ms);
        ms(b).total_cmp(&ms(a))
    });
    order.truncate(SHOWN_MAX);
    order.sort_unstable();
    let mut text =
        "\nTimings of other programs, as their lines state them (* between two stamps); \
                    they count in no figure of the engine:\n"
            .to_owned();
    for row in order.into_iter().filter_map(|at| rows.get(at)) {
        text.push_str(&words(row));
    }
    if rows.len() > SHOWN_MAX {
        let rest = rows.len() - SHOWN_MAX;
        let more = format!("  ... and {rest} shorter ones; --format json has all\n");
        text.push_str(&more);
    }
    text
}

fn words(row: &ForeignRow) -> String {
    let mark = if row.between { "*" } else { " " };
    let what = row.what.chars().take(WORDS_MAX);
    let what: String = what.filter(|c| !c.is_control()).collect();
    let who = if row.who.is_empty() {
        String::new()
    } else {
        format!("{}: ", row.who)
    };
    let often = if row.n > 1 {
        format!(", {} times, {} together", row.n, seconds(row.total_ms))
    } else {
        String::new()
    };
    let line = format!("line {}", row.line);
    format!(
        "  {line:<10}{mark}{:>12}  {who}{what}{often}\n",
        seconds(row.max_ms)
    )
}

/// Three digits or more, in the unit that suits.
fn seconds(ms: f64) -> String {
    if ms < 1.0 {
        format!("{:.1} \u{b5}s", ms * 1000.0)
    } else if ms < 1000.0 {
        format!("{ms:.3} ms")
    } else {
        format!("{:.3} s", ms / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracefmt::foreign::ForeignTiming;
    use tracefmt::run::Input;

    fn trace(count: u64) -> Trace {
        let timing = |line: u64| ForeignTiming {
            who: if line == 1 {
                "bellperson".to_owned()
            } else {
                String::new()
            },
            what: format!("phase {line}"),
            n: line,
            total_ms: (line * line) as f64 * 1500.0,
            max_ms: line as f64 * 1500.0,
            line,
            between: line == 2,
        };
        let input = Input {
            path: "x.log".to_owned(),
            foreign: (1..=count).map(timing).collect(),
            ..Input::default()
        };
        Trace {
            inputs: vec![input],
            ..Trace::default()
        }
    }

    #[test]
    fn a_row_says_who_what_and_how_often() {
        let rows = rows(&trace(2));
        assert_eq!(rows[0].path, "x.log");
        let text = section(&rows);
        assert!(
            text.contains("line 1          1.500 s  bellperson: phase 1\n"),
            "{text}"
        );
        assert!(
            text.contains("*     3.000 s  phase 2, 2 times, 6.000 s together\n"),
            "{text}"
        );
    }

    #[test]
    fn the_longest_are_told_and_the_rest_is_counted() {
        let text = section(&rows(&trace(20)));
        assert_eq!(text.lines().count(), 1 + 1 + SHOWN_MAX + 1);
        assert!(
            text.contains("line 20 ") && !text.contains("line 4 "),
            "{text}"
        );
        assert!(text.contains("... and 4 shorter ones"));
        assert_eq!(section(&[]), "");
    }
}
