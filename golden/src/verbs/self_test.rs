//! `golden self-test`: does the gate cry wolf on these very runs, and does it see a slow-down?
//!
//! The runs are split in two halves at random, many times. Halves of the same runs have no true
//! difference, so every regression among them is a false alarm; then a known slow-down is planted
//! in one half, one phase after the other, and must be found.

use crate::evidence::Evidence;
use crate::gate::{Options, judge};
use crate::problem::Problem;
use crate::snapshot::Snapshot;
use crate::verdict::{Outcome, Verdict};

/// What is planted and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfTestOptions {
    /// Random splits into halves.
    pub splits: u32,
    /// Seed of the splits.
    pub seed: u64,
    /// Slow-downs planted to measure the power, e.g. 0.05.
    pub effects: Vec<f64>,
    /// The slow-down that must be caught.
    pub canary: f64,
}

impl Default for SelfTestOptions {
    fn default() -> Self {
        Self {
            splits: 200,
            seed: 1,
            effects: vec![0.03, 0.05, 0.10],
            canary: 0.10,
        }
    }
}

/// How often a planted slow-down was found.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Power {
    /// The slow-down.
    pub effect: f64,
    /// Trials: splits, the phases taken in turn.
    pub trials: u32,
    /// Trials in which the planted phase was called slower.
    pub found: u32,
    /// Trials that passed.
    pub passed: u32,
}

/// What the self-test measured.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SelfTest {
    /// Usable runs.
    pub runs: usize,
    /// Splits without a plant.
    pub splits: u32,
    /// Splits called a regression: false alarms.
    pub false_alarms: u32,
    /// Splits that passed.
    pub passed: u32,
    /// By slow-down.
    pub power: Vec<Power>,
    /// Phases in which the canary was planted and not caught.
    pub canary_missed: Vec<String>,
    /// Whether there were runs enough and nothing was wrong with them, the canary was caught
    /// everywhere, and false alarms are no more than the level explains.
    pub ok: bool,
    /// What was wrong with the runs.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

/// Fewest runs that can be split in two halves of two.
const RUNS_MIN: usize = 4;

/// Runs the self-test on evidence of one configuration and one state of the code.
#[must_use]
pub fn self_test(evidence: &Evidence, gate: &Options, options: &SelfTestOptions) -> SelfTest {
    let mut result = SelfTest {
        runs: evidence.runs.len(),
        splits: 0,
        false_alarms: 0,
        passed: 0,
        power: Vec::new(),
        canary_missed: Vec::new(),
        ok: false,
        problems: evidence.problems.clone(),
    };
    if evidence.runs.len() < RUNS_MIN || evidence.phases.is_empty() {
        return result;
    }
    let mut state = options.seed;
    let halves: Vec<(Evidence, Evidence)> = (0..options.splits)
        .map(|_| halves(evidence, &mut state))
        .collect();
    for (base, cand) in &halves {
        let verdict = verdict(base, cand, gate);
        result.splits += 1;
        result.false_alarms += u32::from(verdict.outcome == Outcome::Regression);
        result.passed += u32::from(verdict.outcome == Outcome::Pass);
    }
    result.power = options
        .effects
        .iter()
        .map(|effect| power(*effect, &halves, gate))
        .collect();
    result.canary_missed = canary_missed(evidence, gate, options.canary);
    result.ok = result.canary_missed.is_empty()
        && !judged(evidence, gate).is_empty()
        && result.false_alarms <= alarms_explained(gate.alpha, result.splits)
        && !evidence.blocked();
    result
}

fn power(effect: f64, halves: &[(Evidence, Evidence)], gate: &Options) -> Power {
    let mut power = Power {
        effect,
        trials: 0,
        found: 0,
        passed: 0,
    };
    for (at, (base, cand)) in halves.iter().enumerate() {
        let judged = judged(cand, gate);
        let Some(phase) = judged.get(at % judged.len().max(1)) else {
            continue;
        };
        let verdict = verdict(base, &planted(cand, phase, effect), gate);
        power.trials += 1;
        power.found += u32::from(called(&verdict, phase));
        power.passed += u32::from(verdict.outcome == Outcome::Pass);
    }
    power
}

/// Plants the canary in the later half, as a change would come, in one phase after the other.
fn canary_missed(evidence: &Evidence, gate: &Options, canary: f64) -> Vec<String> {
    let middle = evidence.runs.len() / 2;
    let (first, later): (Vec<usize>, Vec<usize>) =
        (0..evidence.runs.len()).partition(|run| *run < middle);
    let (base, cand) = (evidence.part(&first), evidence.part(&later));
    judged(&cand, gate)
        .into_iter()
        .filter(|phase| !called(&verdict(&base, &planted(&cand, phase, canary), gate), phase))
        .cloned()
        .collect()
}

/// The phases that may be called slower: neither controls nor left out on request.
fn judged<'e>(evidence: &'e Evidence, gate: &Options) -> Vec<&'e String> {
    let out = |phase: &String| gate.controls.contains(phase) || gate.ungated.contains(phase);
    let phases = evidence.phases.keys();
    phases.filter(|phase| !out(phase)).collect()
}

fn verdict(base: &Evidence, cand: &Evidence, gate: &Options) -> Verdict {
    judge(Some(&Snapshot::candidate(base)), cand, gate)
}

fn called(verdict: &Verdict, phase: &str) -> bool {
    verdict.regressions().any(|slow| slow.phase == phase)
}

/// False alarms that `splits` trials at `alpha` give by chance: mean plus three deviations.
fn alarms_explained(alpha: f64, splits: u32) -> u32 {
    let mean = alpha * f64::from(splits);
    let most = 3.0_f64.mul_add((mean * (1.0 - alpha)).sqrt(), mean).ceil();
    (0..=splits)
        .find(|count| f64::from(*count) >= most)
        .unwrap_or(splits)
}

fn planted(evidence: &Evidence, phase: &str, effect: f64) -> Evidence {
    let mut planted = evidence.clone();
    if let Some(column) = planted.phases.get_mut(phase) {
        for x in &mut column.ln_ms {
            *x += effect.ln_1p();
        }
    }
    planted
}

/// Two random halves (Fisher and Yates with `SplitMix64`).
fn halves(evidence: &Evidence, state: &mut u64) -> (Evidence, Evidence) {
    let mut runs: Vec<usize> = (0..evidence.runs.len()).collect();
    for at in (1..runs.len()).rev() {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bound = u64::try_from(at + 1).unwrap_or(u64::MAX);
        let to = usize::try_from((z ^ (z >> 31)) % bound).unwrap_or(0);
        runs.swap(at, to);
    }
    let (first, second) = runs.split_at(runs.len() / 2);
    (evidence.part(first), evidence.part(second))
}
