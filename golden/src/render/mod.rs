//! A verdict as text: a table, JSON, Markdown, `JUnit` XML, or annotations of a CI job.
//!
//! All five are pure functions of one [`Verdict`], so they cannot disagree. Nothing is printed
//! here.

mod junit;
mod markdown;
mod table;

pub use junit::junit;
pub use markdown::markdown;
pub use table::text;

use std::fmt::Write as _;

use tracefmt::finding::Severity;

use crate::verdict::{Drift, Machine, Outcome, PhaseVerdict, Verdict};

/// The verdict as one JSON document, `cuzk.verdict/1`.
///
/// # Errors
/// None for a verdict of this crate; the serializer's, if it has any.
pub fn json(verdict: &Verdict) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(verdict)?;
    text.push('\n');
    Ok(text)
}

/// Workflow commands, one a line, as GitHub Actions reads them: the verdict as a notice, then the
/// findings.
#[must_use]
pub fn annotations(verdict: &Verdict) -> String {
    let mut out = format!("::notice title=golden::{}\n", data(&headline(verdict)));
    for finding in &verdict.findings {
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let title = property(&format!("golden: {}", finding.code));
        put(
            &mut out,
            format_args!("::{level} title={title}::{}", data(&finding.title)),
        );
        if let Some(fix) = &finding.fix {
            out.push_str(&data(&format!(" ({fix})")));
        }
        out.push('\n');
    }
    if verdict.outcome != Outcome::Pass && verdict.findings.is_empty() {
        put(
            &mut out,
            format_args!("::warning title=golden::{}\n", headline(verdict)),
        );
    }
    out
}

/// Appends formatted text.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "a String takes any text");
}

/// Escapes the text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The verdict in a line.
#[must_use]
pub fn headline(verdict: &Verdict) -> String {
    let what = match verdict.outcome {
        Outcome::Pass => "PASS: every gated phase is shown to hold its limit",
        Outcome::Regression => "REGRESSION: something became worse",
        Outcome::Inconclusive => "INCONCLUSIVE: neither slower nor held is proven",
        Outcome::NotComparable => "NOT COMPARABLE: nothing was judged",
    };
    let (base, cand) = (verdict.baseline_runs, verdict.candidate_runs);
    let mut line = format!("{what} ({cand} candidate runs against {base} of the golden)");
    if verdict.unverified {
        line.push_str("; times of unverified proofs are in it");
    }
    line
}

/// A ratio as a signed change in per cent; a dash where there is none.
fn change(ratio: f64) -> String {
    crate::percent::change(ratio).unwrap_or_else(|| "-".to_owned())
}

/// An effect in per cent; a dash where there is none.
fn percent(effect: f64) -> String {
    crate::percent::effect(effect).unwrap_or_else(|| "-".to_owned())
}

/// An interval of ratios.
fn interval(low: f64, high: f64) -> String {
    format!("{} .. {}", change(low), change(high))
}

/// Milliseconds with as many digits as say something.
fn ms(x: f64) -> String {
    if x >= 1000.0 {
        format!("{x:.0}")
    } else if x >= 10.0 {
        format!("{x:.1}")
    } else {
        format!("{x:.3}")
    }
}

/// Candidate runs needed, as text.
fn runs(phase: &PhaseVerdict) -> String {
    match phase.runs_needed {
        _ if phase.short => "finer clock".to_owned(),
        Some(runs) => runs.to_string(),
        None => "more baseline".to_owned(),
    }
}

/// A phase in tables: name, golden, now, change, interval, detects, runs, word.
fn row(phase: &PhaseVerdict, usual: f64) -> [String; 8] {
    [
        phase.phase.clone(),
        ms(phase.baseline_ms),
        ms(phase.candidate_ms),
        change(phase.ratio),
        interval(phase.low, phase.high),
        percent(phase.mde),
        runs(phase),
        word(phase, usual),
    ]
}

/// The word for a phase in tables; a limit that is not the usual one is said.
#[must_use]
pub fn word(phase: &PhaseVerdict, usual: f64) -> String {
    let word = phase.verdict.as_str();
    match phase.verdict {
        _ if phase.control => "control".to_owned(),
        Outcome::Pass | Outcome::Inconclusive if !phase.gated => "not gated".to_owned(),
        Outcome::Inconclusive if phase.short => "inconclusive, below the clock".to_owned(),
        Outcome::Pass | Outcome::Inconclusive if phase.suspect => format!("{word}, look"),
        Outcome::Pass if phase.limit > usual + 1e-9 => {
            format!("{word}, limit {}", change(1.0 + phase.limit))
        }
        _ => word.to_owned(),
    }
}

/// Where a phase stands against the anchor, in words.
fn drift_words(drift: &Drift) -> String {
    let (sum, budget) = (change(drift.ratio), change(drift.budget));
    let interval = interval(drift.low, drift.high);
    let word = match drift.verdict {
        Outcome::Regression => "beyond it",
        Outcome::Pass if drift.high <= drift.budget => "within it",
        _ => "not shown to be beyond it",
    };
    format!("{sum} ({interval}) of a budget of {budget}, {word}")
}

/// Says what the changes are relative to, where that is not what was measured.
fn relative_words(verdict: &Verdict) -> Option<String> {
    let machine = verdict.machine.as_ref()?;
    let shift = change(machine.taken_out()?);
    Some(format!(
        "changes and intervals are relative to the machine's {shift}; golden and now are as \
         measured"
    ))
}

/// What the machine's line says after its figures.
#[must_use]
pub fn machine_word(machine: &Machine) -> &'static str {
    match machine.verdict {
        _ if !machine.judged() => "not common, not taken out",
        Outcome::Regression => "all code is slower",
        Outcome::Inconclusive if machine.shifted => "shifted: machine or all code",
        other => other.as_str(),
    }
}

#[cfg(test)]
mod tests;
