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

use crate::verdict::{Machine, Outcome, PhaseVerdict, Verdict};

/// The verdict as one JSON document, `cuzk.verdict/1`.
///
/// # Errors
/// None for a verdict of this crate; the serializer's, if it has any.
pub fn json(verdict: &Verdict) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(verdict)?;
    text.push('\n');
    Ok(text)
}

/// Workflow commands for errors and warnings, one a line, as GitHub Actions reads them.
#[must_use]
pub fn annotations(verdict: &Verdict) -> String {
    let mut out = String::new();
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
fn headline(verdict: &Verdict) -> String {
    let what = match verdict.outcome {
        Outcome::Pass => "PASS: no phase is slower than the limit",
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
    if ratio.is_finite() {
        format!("{:+.1} %", (ratio - 1.0) * 100.0)
    } else {
        "-".to_owned()
    }
}

/// An effect in per cent.
fn percent(effect: f64) -> String {
    if effect.is_finite() {
        format!("{:.1} %", effect * 100.0)
    } else {
        "-".to_owned()
    }
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
fn runs(needed: Option<u32>) -> String {
    needed.map_or_else(|| "more baseline".to_owned(), |runs| runs.to_string())
}

/// The word for a phase in tables.
fn word(phase: &PhaseVerdict) -> &'static str {
    match phase.verdict {
        _ if phase.control => "control",
        Outcome::Pass if phase.suspect => "pass, look",
        Outcome::Inconclusive if phase.suspect => "inconclusive, look",
        other => other.as_str(),
    }
}

/// What the machine's line says after its figures.
fn machine_word(machine: &Machine) -> &'static str {
    match machine.verdict {
        Outcome::Regression => "all code is slower",
        Outcome::Inconclusive if machine.shifted => "shifted: machine or all code",
        other => other.as_str(),
    }
}

#[cfg(test)]
mod tests;
