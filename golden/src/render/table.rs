//! The verdict as a plain table for a terminal.

use super::{change, drift_words, headline, interval, machine_word, percent, put};
use super::{relative_words, row};
use crate::verdict::Verdict;

/// The verdict as text: a headline, a table, exact figures, and what to do.
#[must_use]
pub fn text(verdict: &Verdict) -> String {
    let mut out = headline(verdict);
    out.push('\n');
    if !verdict.phases.is_empty() {
        out.push('\n');
        out.push_str(&columns(&rows(verdict)));
        if let Some(words) = relative_words(verdict) {
            line(&mut out, format_args!("({words})"));
        }
    }
    for figure in &verdict.exact {
        let value = |v: Option<u64>| v.map_or("none".to_owned(), |v| v.to_string());
        let (base, cand) = (value(figure.baseline), value(figure.candidate));
        let word = figure.verdict.as_str();
        line(
            &mut out,
            format_args!("{}: {base} -> {cand}  {word}", figure.name),
        );
    }
    for drift in &verdict.drift {
        let (phase, words) = (&drift.phase, drift_words(drift));
        line(&mut out, format_args!("{phase} since the anchor: {words}"));
    }
    if !verdict.findings.is_empty() {
        out.push('\n');
    }
    for finding in &verdict.findings {
        let severity = format!("{:?}", finding.severity).to_lowercase();
        line(
            &mut out,
            format_args!("{severity}[{}]: {}", finding.code, finding.title),
        );
        if let Some(fix) = &finding.fix {
            line(&mut out, format_args!("  -> {fix}"));
        }
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    put(out, text);
    out.push('\n');
}

fn rows(verdict: &Verdict) -> Vec<[String; 8]> {
    let mut rows = vec![
        [
            "phase",
            "golden ms",
            "now ms",
            "change",
            "95 % interval",
            "detects",
            "runs",
            "verdict",
        ]
        .map(str::to_owned),
    ];
    let phases = verdict.phases.iter();
    rows.extend(phases.map(|phase| row(phase, verdict.limit)));
    if let Some(machine) = &verdict.machine {
        rows.push([
            "(machine)".to_owned(),
            String::new(),
            String::new(),
            change(machine.ratio),
            interval(machine.low, machine.high),
            percent(machine.mde),
            String::new(),
            machine_word(machine).to_owned(),
        ]);
    }
    rows
}

/// Aligns columns: the first and last to the left, figures to the right.
fn columns(rows: &[[String; 8]]) -> String {
    let width = |at: usize| {
        rows.iter()
            .map(|row| row[at].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut out = String::new();
    for row in rows {
        let mut text = String::new();
        for (at, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[at].saturating_sub(cell.chars().count()));
            let (before, after) = if at == 0 || at == 7 {
                ("", &*pad)
            } else {
                (&*pad, "")
            };
            if at > 0 {
                text.push_str("  ");
            }
            text.push_str(before);
            text.push_str(cell);
            text.push_str(after);
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}
