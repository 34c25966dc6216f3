//! The gate: a golden, the evidence of a candidate, and what may be said about the two.
//!
//! A regression must be proven, and so must a pass; everything else is inconclusive. Nothing here
//! reads files or prints: [`judge`] makes a [`Verdict`] and stops.

mod common;
mod drift;
mod effect;
mod exact;
mod options;
mod say;
mod shape;
mod tail;

pub use self::common::{Sides, Split};
pub use self::effect::{Effect, Effects, Line, effects};
pub use self::options::{Margins, Options};

use tracefmt::finding::{Code, Finding};

use crate::evidence::{Column, Evidence};
use crate::problem::Problem;
use crate::snapshot::Snapshot;
use crate::stats::benjamini_hochberg;
use crate::verdict::{Grade, Machine, Outcome, PhaseVerdict, SCHEMA, Verdict};

/// Share of false discoveries allowed on the list to look at.
const SUSPECT_RATE: f64 = 0.10;

/// Judges a candidate by its golden; without one there is nothing to compare with.
#[must_use]
pub fn judge(golden: Option<&Snapshot>, candidate: &Evidence, options: &Options) -> Verdict {
    let mut verdict = blank(candidate, options);
    let mut problems = candidate.problems.clone();
    for problem in &mut problems {
        let phase = problem.phase.as_ref();
        problem.blocks &= !phase.is_some_and(|phase| options.ungated.contains(phase));
    }
    let Some(golden) = golden else {
        let what = format!("no golden for {}", candidate.key.location().1);
        problems.push(Problem::blocking(Code::GateNoBaseline, what));
        return not_comparable(verdict, &problems);
    };
    verdict.baseline_runs = golden.runs.len();
    verdict.differs = shape::differences(golden, candidate);
    if !verdict.differs.is_empty() {
        problems.push(shape::problem(&verdict.differs));
        return not_comparable(verdict, &problems);
    }
    verdict.unverified |= golden.unverified;
    problems.extend(shape::problems(golden, candidate, options));
    let pairs = shape::pairs(golden, candidate);
    let lines: Vec<Line> = pairs.iter().map(|pair| pair.line(options)).collect();
    if lines.is_empty() || golden.runs.is_empty() || candidate.runs.is_empty() {
        let what = "no phase was measured on both sides".to_owned();
        problems.push(Problem::blocking(Code::GateNothingMeasured, what));
    } else {
        let tested = effects(&lines, options);
        let enough = candidate.runs.len().min(golden.runs.len()) >= options.runs_min;
        verdict.evidence = if enough { Grade::Sound } else { Grade::Nothing };
        verdict.phases = phases(&pairs, &lines, &tested, options);
        let shift = tested.machine.as_ref();
        verdict.machine = shift.map(|effect| machine(effect, tested.split, options));
        verdict.drift = drift::check(golden, &pairs, &tested, options);
        problems.extend(say::gains(&verdict, &tested, options));
        problems.extend(say::beside_the_rest(&verdict));
        problems.extend(say::below_clock(&verdict.phases));
        problems.extend(tail::problems(&pairs, &verdict.phases));
        problems.extend(say::ungated(&verdict.phases));
    }
    verdict.exact = exact::compare(&golden.exact, &candidate.exact);
    problems.extend(verdict.machine.as_ref().and_then(say::machine_problem));
    problems.extend(exact::problems(&verdict.exact));
    conclude(verdict, &problems)
}

/// A phase on both sides.
#[derive(Debug)]
struct Pair<'e> {
    name: &'e str,
    base: &'e Column,
    cand: &'e Column,
}

impl Pair<'_> {
    fn line(&self, options: &Options) -> Line {
        let quantum_ms = self.base.quantum_ms.max(self.cand.quantum_ms);
        // A reading is off by up to half a tick, evenly: its variance is a twelfth of a tick².
        let floor = (quantum_ms / self.base.ms()).powi(2) / 12.0;
        Line {
            sides: Sides {
                base: self.base.ln_ms.clone(),
                cand: self.cand.ln_ms.clone(),
            },
            margins: options.margins(self.base.ms(), quantum_ms),
            floor,
            control: options.controls.iter().any(|name| name == self.name),
            ungated: options.ungated.iter().any(|name| name == self.name),
        }
    }
}

fn blank(candidate: &Evidence, options: &Options) -> Verdict {
    Verdict {
        schema: SCHEMA,
        outcome: Outcome::NotComparable,
        evidence: Grade::Nothing,
        unverified: candidate.unverified,
        key: candidate.key.clone(),
        differs: Vec::new(),
        baseline_runs: 0,
        candidate_runs: candidate.runs.len(),
        limit: options.effect_max,
        phases: Vec::new(),
        machine: None,
        exact: Vec::new(),
        drift: Vec::new(),
        findings: Vec::new(),
    }
}

fn phases(
    pairs: &[Pair<'_>],
    lines: &[Line],
    tested: &Effects,
    options: &Options,
) -> Vec<PhaseVerdict> {
    let p: Vec<f64> = tested.lines.iter().map(|effect| effect.p).collect();
    let found = benjamini_hochberg(&p);
    let rows = pairs.iter().zip(lines).zip(tested.lines.iter().zip(found));
    rows.map(|((pair, line), (effect, discovery))| {
        let raw_ratio = effect.raw.exp();
        let gain = raw_ratio < 1.0 - options.gain_max;
        PhaseVerdict {
            phase: pair.name.to_owned(),
            ratio: effect.shift.exp(),
            low: effect.interval.0.exp(),
            high: effect.interval.1.exp(),
            verdict: outcome(effect, gain),
            mde: effect.mde.exp_m1(),
            runs_needed: effect.runs_needed,
            limit: line.margins.most.exp_m1(),
            short: line.margins.short(),
            gated: !(line.ungated || options.ungate_short && line.margins.short()),
            raw_ratio,
            baseline_ms: pair.base.ms(),
            candidate_ms: pair.cand.ms(),
            p: effect.p_holm,
            suspect: discovery <= SUSPECT_RATE && !line.control && !line.ungated,
            control: line.control,
        }
    })
    .collect()
}

/// Proven slower, proven held and believable, or neither.
fn outcome(effect: &Effect, gain: bool) -> Outcome {
    if effect.slower {
        Outcome::Regression
    } else if effect.held && !gain {
        Outcome::Pass
    } else {
        Outcome::Inconclusive
    }
}

/// A proven common shift is a regression only where the machine cannot be its cause.
fn machine(effect: &Effect, split: Option<Split>, options: &Options) -> Machine {
    let control = !options.controls.is_empty();
    let verdict = match outcome(effect, false) {
        _ if split.is_some() => Outcome::Inconclusive,
        Outcome::Regression if control || !options.interleaved => Outcome::Inconclusive,
        other => other,
    };
    Machine {
        ratio: effect.shift.exp(),
        low: effect.interval.0.exp(),
        high: effect.interval.1.exp(),
        verdict,
        mde: effect.mde.exp_m1(),
        control,
        shifted: effect.slower && split.is_none(),
        split: split.map(|groups| (groups.moved, groups.still)),
    }
}

fn not_comparable(mut verdict: Verdict, problems: &[Problem]) -> Verdict {
    verdict.findings = numbered(problems.iter().map(Problem::finding).collect());
    verdict
}

/// The verdict of all, from its parts and problems.
fn conclude(mut verdict: Verdict, problems: &[Problem]) -> Verdict {
    if verdict.evidence == Grade::Sound && problems.iter().any(|problem| problem.blocks) {
        verdict.evidence = Grade::Flawed;
    }
    let mut parts: Vec<Outcome> = verdict
        .phases
        .iter()
        .filter(|phase| phase.counts())
        .map(|phase| phase.verdict)
        .collect();
    let machine = verdict.machine.iter().filter(|machine| machine.judged());
    parts.extend(machine.map(|machine| machine.verdict));
    parts.extend(verdict.exact.iter().map(|exact| exact.verdict));
    parts.extend(verdict.drift.iter().map(|drift| drift.verdict));
    let judged = verdict
        .phases
        .iter()
        .any(|phase| phase.gated && !phase.control);
    let all_pass = judged && parts.iter().all(|part| *part == Outcome::Pass);
    verdict.outcome = if parts.contains(&Outcome::Regression) {
        Outcome::Regression
    } else if all_pass && verdict.evidence == Grade::Sound {
        Outcome::Pass
    } else {
        Outcome::Inconclusive
    };
    let mut findings = say::findings(&verdict);
    findings.extend(problems.iter().map(Problem::finding));
    verdict.findings = numbered(findings);
    verdict
}

/// Sorts the worst first and numbers them.
fn numbered(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    for (at, finding) in findings.iter_mut().enumerate() {
        finding.id = format!("f{at}");
    }
    findings
}
