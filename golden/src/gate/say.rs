//! The words of a verdict: its findings, from its figures.

use tracefmt::finding::{Code, Confidence, Finding, Severity};

use super::effect::Effects;
use super::options::Options;
use crate::problem::Problem;
use crate::verdict::{Machine, Outcome, Verdict};

/// Gains too large to be believed, and gains worth saying.
pub(super) fn gains(verdict: &Verdict, tested: &Effects, options: &Options) -> Vec<Problem> {
    let mut found = Vec::new();
    for (phase, effect) in verdict.phases.iter().zip(&tested.lines) {
        let gain = percent(phase.raw_ratio);
        if phase.raw_ratio < 1.0 - options.gain_max {
            let what = format!("{gain}: too good to pass unseen, work may be missing");
            found.push(Problem::blocking(Code::PerfImprovement, what).of_phase(&phase.phase));
        } else if effect.interval.1 < -options.effect_min {
            let what = format!("{gain}: faster");
            found.push(Problem::note(Code::PerfImprovement, what).of_phase(&phase.phase));
        }
    }
    found
}

/// A proven common shift that is not a regression still forbids a pass.
pub(super) fn machine_problem(machine: &Machine) -> Option<Problem> {
    if !machine.shifted || machine.verdict == Outcome::Regression {
        return None;
    }
    let whose = if machine.control {
        "the control phases moved, so the machine did"
    } else {
        "all phases moved together: the machine, or all of the code"
    };
    let what = format!("{} ({whose})", percent(machine.ratio));
    Some(Problem::blocking(Code::PerfMachineShift, what))
}

/// The findings that the figures make, beside the problems of the measurements.
pub(super) fn findings(verdict: &Verdict) -> Vec<Finding> {
    let mut found: Vec<Finding> = verdict
        .regressions()
        .map(|phase| {
            let title = format!(
                "{} is slower by {} (95 % interval {} to {})",
                phase.phase,
                percent(phase.ratio),
                percent(phase.low),
                percent(phase.high),
            );
            error(Code::PerfPhaseRegression, title)
        })
        .collect();
    if let Some(machine) = verdict
        .machine
        .as_ref()
        .filter(|m| m.verdict == Outcome::Regression)
    {
        let title = format!("all phases are slower by {}", percent(machine.ratio));
        found.push(error(Code::PerfMachineShift, title));
    }
    for figure in verdict
        .exact
        .iter()
        .filter(|figure| figure.verdict == Outcome::Regression)
    {
        let (base, now) = (figure.baseline.unwrap_or(0), figure.candidate.unwrap_or(0));
        let title = format!("{} grew from {base} to {now}", figure.name);
        found.push(error(Code::PerfExact, title));
    }
    for drift in verdict
        .drift
        .iter()
        .filter(|drift| drift.verdict == Outcome::Regression)
    {
        let (sum, budget) = (percent(drift.ratio), percent(drift.budget));
        let title = format!(
            "{} has drifted by {sum} from the anchor, over {budget}",
            drift.phase
        );
        found.push(error(Code::PerfDrift, title));
    }
    found.extend(undecided(verdict));
    found
}

/// What is missing where neither a regression nor a pass is proven.
fn undecided(verdict: &Verdict) -> Option<Finding> {
    let open: Vec<_> = verdict
        .phases
        .iter()
        .filter(|phase| phase.verdict == Outcome::Inconclusive && !phase.control)
        .collect();
    let worst = open.iter().max_by(|a, b| a.mde.total_cmp(&b.mde))?;
    let (count, have) = (open.len(), verdict.candidate_runs);
    let title = format!(
        "{count} phases undecided; in {} a slow-down under {} could hide",
        worst.phase,
        percent(1.0 + worst.mde),
    );
    let confidence = Confidence::Certain;
    let mut finding = Finding::new(Code::GateInconclusive, Severity::Warning, confidence, title);
    let needed = open.iter().map(|phase| phase.runs_needed).max().flatten();
    finding.fix = Some(match needed {
        _ if open.iter().any(|phase| phase.runs_needed.is_none()) => {
            "record more runs of the baseline: no number of candidate runs decides".to_owned()
        }
        Some(runs) if usize::try_from(runs).is_ok_and(|runs| runs > have) => {
            format!(
                "{} more candidate runs",
                usize::try_from(runs).unwrap_or(have) - have
            )
        }
        _ => "a few more runs of both sides".to_owned(),
    });
    Some(finding)
}

fn error(code: Code, title: String) -> Finding {
    let mut finding = Finding::new(code, Severity::Error, Confidence::Certain, title);
    code.meaning().clone_into(&mut finding.explanation);
    finding
}

/// A ratio as a signed change, e.g. `+6.1 %`.
fn percent(ratio: f64) -> String {
    if ratio.is_finite() {
        format!("{:+.1} %", (ratio - 1.0) * 100.0)
    } else {
        "any".to_owned()
    }
}
