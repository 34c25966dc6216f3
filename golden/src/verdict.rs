//! The verdict of a check as one value, from which every output is rendered: `cuzk.verdict/1`.

use serde::{Serialize, Serializer};
use tracefmt::finding::Finding;

use crate::Key;
use crate::key::Difference;

/// Name and version of the JSON form.
pub const SCHEMA: &str = "cuzk.verdict/1";

/// What the gate says, of a phase or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Proven not slower than the limit.
    Pass,
    /// Neither proven.
    Inconclusive,
    /// Proven slower.
    Regression,
    /// Other work or another machine, or nothing to compare with.
    NotComparable,
}

impl Outcome {
    /// The exit code of the command line.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Regression => 1,
            Self::Inconclusive => 3,
            Self::NotComparable => 4,
        }
    }

    /// The name in JSON and text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Regression => "regression",
            Self::NotComparable => "not_comparable",
        }
    }
}

/// What to make of a verdict that proves nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inconclusive {
    /// Exit with its own code.
    #[default]
    Fail,
    /// Exit with 0 if only runs were lacking; what was not measured still fails.
    Warn,
}

/// How far the measurements behind a verdict can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Nothing was measured that could be judged.
    Nothing,
    /// Something in it forbids a pass, whatever the times say.
    Flawed,
    /// Nothing is wrong with it; there may be too little.
    Sound,
}

/// One phase of a verdict. Effects are relative: 0.05 is 5 % slower.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of the JSON form"
)]
pub struct PhaseVerdict {
    /// The phase.
    pub phase: String,
    /// Candidate over baseline, without the machine's common shift.
    pub ratio: f64,
    /// Lower end of its 95 % interval, of this phase alone.
    #[serde(serialize_with = "finite")]
    pub low: f64,
    /// Upper end.
    #[serde(serialize_with = "finite")]
    pub high: f64,
    /// What the gate says of it.
    pub verdict: Outcome,
    /// Smallest slow-down found with a chance of 80 %; null if none.
    #[serde(serialize_with = "finite")]
    pub mde: f64,
    /// Candidate runs with which the check decides; null if the baseline has too few.
    pub runs_needed: Option<u32>,
    /// Slow-down that a pass excludes.
    pub limit: f64,
    /// Too short for the clock: a tick can hide more than the limit, whatever the runs.
    pub short: bool,
    /// Whether it has to pass; the others are shown.
    pub gated: bool,
    /// Candidate over baseline as measured.
    pub raw_ratio: f64,
    /// Geometric mean of the baseline's run medians.
    pub baseline_ms: f64,
    /// Geometric mean of the candidate's run medians.
    pub candidate_ms: f64,
    /// p value of "not slower than the smallest effect of interest", adjusted for all phases.
    pub p: f64,
    /// On the list to look at: false discoveries kept at 10 %.
    pub suspect: bool,
    /// A phase that the code cannot change.
    pub control: bool,
}

impl PhaseVerdict {
    /// Whether the verdict of all hangs on it.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.control && (self.gated || self.verdict == Outcome::Regression)
    }
}

/// The machine's common shift.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Candidate over baseline, common to the phases.
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    #[serde(serialize_with = "finite")]
    pub low: f64,
    /// Upper end.
    #[serde(serialize_with = "finite")]
    pub high: f64,
    /// What the gate says of it.
    pub verdict: Outcome,
    /// Smallest common slow-down found with a chance of 80 %.
    #[serde(serialize_with = "finite")]
    pub mde: f64,
    /// Whether it was taken from control phases.
    pub control: bool,
    /// Proven slower, whatever the cause.
    pub shifted: bool,
    /// Phases that moved and phases that stood still, where they fall into such groups: the shift
    /// is then not taken out of any phase, and not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<(usize, usize)>,
}

impl Machine {
    /// Whether the verdict of all hangs on it.
    #[must_use]
    pub const fn judged(&self) -> bool {
        self.split.is_none()
    }

    /// The shift that the changes of the phases are relative to, where it is worth a word.
    #[must_use]
    pub fn taken_out(&self) -> Option<f64> {
        let seen = (self.ratio - 1.0).abs() >= 0.0005;
        (self.judged() && seen).then_some(self.ratio)
    }
}

/// An exact figure on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exact {
    /// Its name, e.g. `vram_peak_bytes`.
    pub name: String,
    /// The golden's value.
    pub baseline: Option<u64>,
    /// The candidate's value.
    pub candidate: Option<u64>,
    /// Pass if equal, regression if more, inconclusive if less or on one side only.
    pub verdict: Outcome,
}

/// A phase against the pinned anchor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// The phase.
    pub phase: String,
    /// Candidate over anchor.
    pub ratio: f64,
    /// Lower end of its 95 % interval, of this phase alone.
    #[serde(serialize_with = "finite")]
    pub low: f64,
    /// Upper end.
    #[serde(serialize_with = "finite")]
    pub high: f64,
    /// Ratio that may not be passed.
    pub budget: f64,
    /// Regression if it is proven beyond the budget, inconclusive if it lies beyond it and that
    /// is not proven.
    pub verdict: Outcome,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The verdict of all.
    #[serde(rename = "verdict")]
    pub outcome: Outcome,
    /// How far the measurements can be trusted.
    pub evidence: Grade,
    /// Times of unverified proofs are in it.
    pub unverified: bool,
    /// What the candidate was measured on.
    pub key: Key,
    /// Fields in which it differs from the golden.
    pub differs: Vec<Difference>,
    /// Runs of the golden.
    pub baseline_runs: usize,
    /// Usable runs of the candidate.
    pub candidate_runs: usize,
    /// Slow-down that a pass excludes in a phase that is not very short.
    pub limit: f64,
    /// By name.
    pub phases: Vec<PhaseVerdict>,
    /// The common shift; null with too few phases and no control.
    pub machine: Option<Machine>,
    /// Exact figures, by name.
    pub exact: Vec<Exact>,
    /// Phases that are beyond or near the budget against the anchor.
    pub drift: Vec<Drift>,
    /// What to read, the worst first.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// The exit code of the command line.
    #[must_use]
    pub fn exit_code(&self, inconclusive: Inconclusive) -> u8 {
        let only_runs = self.evidence == Grade::Sound && self.outcome == Outcome::Inconclusive;
        if only_runs && inconclusive == Inconclusive::Warn {
            return 0;
        }
        self.outcome.exit_code()
    }

    /// The phases proven slower.
    pub fn regressions(&self) -> impl Iterator<Item = &PhaseVerdict> {
        self.phases
            .iter()
            .filter(|phase| phase.verdict == Outcome::Regression)
    }
}

/// Infinite and NaN as null, as JSON has neither.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn finite<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if x.is_finite() {
        serializer.serialize_f64(*x)
    } else {
        serializer.serialize_none()
    }
}
