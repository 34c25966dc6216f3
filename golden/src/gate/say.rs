//! The words of a verdict: its findings, from its figures.

use tracefmt::finding::{Code, Confidence, Finding, Severity};

use super::effect::Effects;
use super::options::Options;
use crate::problem::Problem;
use crate::verdict::{Drift, Machine, Outcome, PhaseVerdict, Verdict};

/// Gains too large to be believed where they would pass, and gains worth saying.
pub(super) fn gains(verdict: &Verdict, tested: &Effects, options: &Options) -> Vec<Problem> {
    let mut found = Vec::new();
    for (phase, effect) in verdict.phases.iter().zip(&tested.lines) {
        let gain = percent(phase.raw_ratio);
        if phase.gated && phase.raw_ratio < 1.0 - options.gain_max {
            let what = format!("{gain}: too good to pass unseen, work may be missing");
            found.push(Problem::blocking(Code::PerfImprovement, what).of_phase(&phase.phase));
        } else if effect.interval.1 < -options.effect_min {
            let (low, high) = (percent(phase.low), percent(phase.high));
            let ratio = percent(phase.ratio);
            let what = format!("{ratio}: faster (95 % interval {low} to {high})");
            found.push(Problem::note(Code::PerfImprovement, what).of_phase(&phase.phase));
        }
    }
    found
}

/// Gated phases in which a tick of the clock can hide more than a pass excludes.
pub(super) fn below_clock(phases: &[PhaseVerdict]) -> Option<Problem> {
    let names = names(phases, |phase| phase.short && phase.gated && !phase.control)?;
    let what = format!("too short for the clock to prove a pass: {names}");
    Some(Problem::blocking(Code::GateBelowClock, what))
}

/// Phases that were left out on request: said in every verdict.
pub(super) fn ungated(phases: &[PhaseVerdict]) -> Option<Problem> {
    let names = names(phases, |phase| !phase.gated)?;
    let what = format!("not gated, as asked: {names}");
    Some(Problem::note(Code::GateUngated, what))
}

fn names(phases: &[PhaseVerdict], which: impl Fn(&PhaseVerdict) -> bool) -> Option<String> {
    let named = phases.iter().filter(|phase| which(phase));
    let names: Vec<&str> = named.map(|phase| phase.phase.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Phases that are slower than the rest and not slower as measured: named, and no regression.
pub(super) fn beside_the_rest(verdict: &Verdict) -> Vec<Problem> {
    let Some(machine) = verdict.machine.as_ref().filter(|machine| machine.judged()) else {
        return Vec::new();
    };
    let only_beside = verdict.phases.iter().filter(|phase| {
        let open = phase.verdict == Outcome::Inconclusive && phase.counts();
        open && machine.ratio < 1.0 && phase.low > 1.0 && phase.raw_ratio < phase.ratio
    });
    let said = only_beside.map(|phase| {
        let what = format!(
            "{} beside the machine's {}, {} as measured: not shown to be slower",
            percent(phase.ratio),
            percent(machine.ratio),
            percent(phase.raw_ratio),
        );
        Problem::note(Code::PerfMachineShift, what).of_phase(&phase.phase)
    });
    said.collect()
}

/// What the machine's line wants a reader to know: groups of phases are no common shift, and a
/// proven common shift that is not a regression still forbids a pass.
pub(super) fn machine_problem(machine: &Machine) -> Option<Problem> {
    if let Some((moved, still)) = machine.split {
        let what = format!(
            "{moved} phases moved and {still} stood still, so their middle, {}, is not the \
             machine's: every change is as measured",
            percent(machine.ratio)
        );
        return Some(Problem::note(Code::PerfMachineShift, what));
    }
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
    found.extend(verdict.drift.iter().filter_map(drifted));
    found.extend(undecided(verdict));
    found
}

/// A phase beyond the budget against the anchor, proven or not.
fn drifted(drift: &Drift) -> Option<Finding> {
    let (sum, budget) = (percent(drift.ratio), percent(drift.budget));
    let (low, high) = (percent(drift.low), percent(drift.high));
    let title = format!(
        "{} stands {sum} off the anchor (95 % interval {low} to {high}), budget {budget}",
        drift.phase
    );
    match drift.verdict {
        Outcome::Regression => Some(error(Code::PerfDrift, format!("{title}: beyond it"))),
        Outcome::Inconclusive => {
            let title = format!("{title}: not shown to be beyond it, nor within it");
            let mut finding = error(Code::PerfDrift, title);
            finding.severity = Severity::Warning;
            finding.fix = Some("a few more candidate runs, or move the anchor".to_owned());
            Some(finding)
        }
        _ => None,
    }
}

/// What is missing where neither a regression nor a pass is proven.
fn undecided(verdict: &Verdict) -> Option<Finding> {
    let open: Vec<_> = verdict
        .phases
        .iter()
        .filter(|phase| phase.verdict == Outcome::Inconclusive && phase.counts() && !phase.short)
        .collect();
    let worst = open.iter().max_by(|a, b| a.mde.total_cmp(&b.mde))?;
    let (count, have) = (open.len(), verdict.candidate_runs);
    let title = format!(
        "{count} {} undecided; in {} a slow-down under {} could hide",
        if count == 1 { "phase" } else { "phases" },
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

/// A ratio as a signed change; one without bound may be any.
fn percent(ratio: f64) -> String {
    crate::percent::change(ratio).unwrap_or_else(|| "any".to_owned())
}
