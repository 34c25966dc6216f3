//! The verdict as Markdown for a comment on a pull request.

use super::{change, drift_words, headline, interval, machine_word, put, relative_words, row};
use crate::verdict::{Outcome, PhaseVerdict, Verdict};

/// Phases shown before the fold; the rest stands under it.
const SHOWN_MAX: usize = 20;

/// The verdict as Markdown: what is not a pass first, the whole table folded below it.
#[must_use]
pub fn markdown(verdict: &Verdict) -> String {
    let (word, line) = (verdict.outcome.as_str(), headline(verdict));
    let mut out = format!("### Golden timings: {word}\n\n{line}\n");
    phases(&mut out, &verdict.phases, verdict.limit);
    if let Some(machine) = &verdict.machine {
        let (shift, word) = (change(machine.ratio), machine_word(machine));
        let interval = interval(machine.low, machine.high);
        put(
            &mut out,
            format_args!("\nMachine: {shift} ({interval}), {word}.\n"),
        );
        if let Some(words) = relative_words(verdict) {
            put(&mut out, format_args!("\nThe {words}.\n"));
        }
    }
    for figure in &verdict.exact {
        let value = |v: Option<u64>| v.map_or("none".to_owned(), |v| v.to_string());
        let (base, cand) = (value(figure.baseline), value(figure.candidate));
        let (name, word) = (&figure.name, figure.verdict.as_str());
        put(
            &mut out,
            format_args!("\n`{name}`: {base} → {cand}, {word}.\n"),
        );
    }
    for drift in &verdict.drift {
        let (phase, words) = (cell(&drift.phase), drift_words(drift));
        put(
            &mut out,
            format_args!("\n{phase} since the anchor: {words}.\n"),
        );
    }
    if !verdict.findings.is_empty() {
        out.push('\n');
    }
    for finding in &verdict.findings {
        let (code, title) = (finding.code, cell(&finding.title));
        let fix = finding
            .fix
            .as_ref()
            .map_or(String::new(), |fix| format!(" *{}*", cell(fix)));
        put(&mut out, format_args!("- **{code}** {title}{fix}\n"));
    }
    out
}

fn phases(out: &mut String, phases: &[PhaseVerdict], usual: f64) {
    let (open, passed): (Vec<_>, Vec<_>) = phases
        .iter()
        .partition(|phase| phase.verdict != Outcome::Pass && phase.counts());
    if !open.is_empty() {
        let rows: String = open
            .iter()
            .take(SHOWN_MAX)
            .map(|phase| line(phase, usual))
            .collect();
        put(out, format_args!("\n{HEAD}{rows}"));
    }
    let hidden = open.len().saturating_sub(SHOWN_MAX) + passed.len();
    if hidden > 0 {
        let rest = open.iter().skip(SHOWN_MAX).chain(&passed);
        let rows: String = rest.map(|phase| line(phase, usual)).collect();
        let summary = format!("<details><summary>{hidden} more phases</summary>");
        put(
            out,
            format_args!("\n{summary}\n\n{HEAD}{rows}\n</details>\n"),
        );
    }
}

fn line(phase: &PhaseVerdict, usual: f64) -> String {
    let [name, figures @ ..] = row(phase, usual);
    format!("| {} | {} |\n", cell(&name), figures.join(" | "))
}

const HEAD: &str = "\
| phase | golden ms | now ms | change | 95 % interval | detects | runs needed | verdict |
|---|--:|--:|--:|--:|--:|--:|---|
";

/// Text that stays in its cell and starts no markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' | '@' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}
