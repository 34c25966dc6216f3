//! The verdict as `JUnit` XML, which CI systems show as a list of tests.
//!
//! A phase is a test case: a regression is a failure, an inconclusive phase an error, so that
//! neither counts as passed. What forbids a pass without belonging to a phase is a case too.

use tracefmt::finding::Severity;

use super::{change, drift_words, headline, interval};
use crate::verdict::{Outcome, Verdict};

/// The verdict as a `JUnit` document.
#[must_use]
pub fn junit(verdict: &Verdict) -> String {
    let mut cases = vec![case("verdict", verdict.outcome, &headline(verdict))];
    for phase in verdict.phases.iter().filter(|phase| phase.counts()) {
        let what = format!(
            "{} ({})",
            change(phase.ratio),
            interval(phase.low, phase.high)
        );
        cases.push(case(
            &format!("phase {}", phase.phase),
            phase.verdict,
            &what,
        ));
    }
    if let Some(machine) = verdict.machine.as_ref().filter(|machine| machine.judged()) {
        let what = format!(
            "{} ({})",
            change(machine.ratio),
            interval(machine.low, machine.high)
        );
        cases.push(case("machine", machine.verdict, &what));
    }
    for figure in &verdict.exact {
        let what = format!("{:?} -> {:?}", figure.baseline, figure.candidate);
        cases.push(case(&figure.name, figure.verdict, &what));
    }
    for drift in &verdict.drift {
        let name = format!("drift {}", drift.phase);
        cases.push(case(&name, drift.verdict, &drift_words(drift)));
    }
    for finding in verdict
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Warning)
    {
        let name = format!("{} {}", finding.id, finding.code);
        cases.push(case(&name, Outcome::Inconclusive, &finding.title));
    }
    let count = |word: &str| cases.iter().filter(|case| case.contains(word)).count();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites>\n<testsuite name=\"golden\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n\
         {}</testsuite>\n</testsuites>\n",
        cases.len(),
        count("<failure"),
        count("<error"),
        cases.concat(),
    )
}

fn case(name: &str, outcome: Outcome, what: &str) -> String {
    let (name, what) = (escape(name), escape(what));
    let body = match outcome {
        Outcome::Pass => return format!("  <testcase classname=\"golden\" name=\"{name}\"/>\n"),
        Outcome::Regression => format!("<failure message=\"{what}\"/>"),
        other => format!("<error type=\"{}\" message=\"{what}\"/>", other.as_str()),
    };
    format!("  <testcase classname=\"golden\" name=\"{name}\">{body}</testcase>\n")
}

/// Text for an attribute; characters that XML forbids become spaces.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}
