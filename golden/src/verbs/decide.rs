//! `golden review`, `accept` and `reject`: a person decides on the candidates.

use std::path::{Path, PathBuf};

use super::Place;
use crate::GoldenError;
use crate::evidence::Evidence;
use crate::gate::{Options, judge};
use crate::percent;
use crate::snapshot::store::{Store, read_if_there, remove, write};
use crate::snapshot::{Acceptance, Accepted, Anchor, Snapshot};
use crate::verdict::{Outcome, Verdict};

/// A candidate with all a person needs to decide.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewItem {
    /// The file of the candidate.
    pub candidate_path: PathBuf,
    /// The file that accepting would write.
    pub golden_path: PathBuf,
    /// The candidate.
    pub candidate: Snapshot,
    /// What it would replace.
    pub golden: Option<Snapshot>,
    /// The candidate judged by the golden; not comparable where there is none.
    pub verdict: Verdict,
    /// Why accepting needs a reason: what became slower or larger, with its change.
    pub slower: Vec<String>,
    /// What accepting would put over the drift budget, with its sum.
    pub over_budget: Vec<String>,
    /// The golden's runs are all in the candidate, beside this many new ones: the same baseline
    /// from more runs. The verdict is then about the new ones.
    pub grown_by: Option<usize>,
}

/// How a candidate is accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Who, when, at which commit and why.
    pub acceptance: Acceptance,
    /// Accept although the drift budget is spent.
    pub over_budget: bool,
    /// Measure drift from here on: a release, or a change that everybody knows of.
    pub move_anchor: bool,
}

/// All candidates, by path.
///
/// # Errors
/// A file that cannot be read.
pub fn review(store: &Store, options: &Options) -> Result<Vec<ReviewItem>, GoldenError> {
    store
        .candidates()?
        .into_iter()
        .map(|(path, candidate)| item(store, path, candidate, options))
        .collect()
}

/// One candidate by its file.
///
/// # Errors
/// Without such a file; when a file cannot be read.
pub fn review_one(
    store: &Store,
    candidate_path: &Path,
    options: &Options,
) -> Result<ReviewItem, GoldenError> {
    let candidate = read_if_there(candidate_path)?.ok_or_else(|| GoldenError::NoCandidate {
        path: candidate_path.to_owned(),
    })?;
    item(store, candidate_path.to_owned(), candidate, options)
}

/// Makes a candidate the golden of its key and removes the candidate. Returns the golden.
///
/// # Errors
/// Under CI; without a candidate; for a slow-down without a reason, or one over the budget, where
/// the decision does not allow it; when a file cannot be read or written.
pub fn accept(
    store: &Store,
    candidate_path: &Path,
    (decision, place): (&Decision, Place),
    options: &Options,
) -> Result<Snapshot, GoldenError> {
    place.may_write()?;
    let item = review_one(store, candidate_path, options)?;
    if !item.slower.is_empty() && decision.acceptance.reason.trim().is_empty() {
        return Err(GoldenError::ReasonNeeded {
            phases: item.slower,
        });
    }
    let excused = decision.over_budget || decision.move_anchor;
    if !item.over_budget.is_empty() && !excused {
        return Err(GoldenError::OverBudget {
            phases: item.over_budget,
        });
    }
    let golden = accepted(&item, decision, options);
    write(&item.golden_path, &golden)?;
    remove(candidate_path)?;
    Ok(golden)
}

/// Removes a candidate; the golden stays as it is.
///
/// # Errors
/// Under CI; without a candidate; when the file cannot be removed.
pub fn reject(candidate_path: &Path, place: Place) -> Result<(), GoldenError> {
    place.may_write()?;
    if read_if_there(candidate_path)?.is_none() {
        return Err(GoldenError::NoCandidate {
            path: candidate_path.to_owned(),
        });
    }
    remove(candidate_path)
}

fn item(
    store: &Store,
    candidate_path: PathBuf,
    candidate: Snapshot,
    options: &Options,
) -> Result<ReviewItem, GoldenError> {
    let golden = store.golden(&candidate.key)?;
    let (verdict, grown_by) = judged(golden.as_ref(), &candidate.evidence(), options);
    // More runs of one state of the code move every estimate a little: no change to excuse,
    // unless the new runs are proven slower than the old ones.
    let growth = grown_by.is_some() && verdict.outcome != Outcome::Regression;
    let (slower, over_budget) = if growth {
        (Vec::new(), Vec::new())
    } else {
        let over = over_budget(golden.as_ref(), &candidate, options);
        (slower(&verdict, options), over)
    };
    Ok(ReviewItem {
        golden_path: store.golden_path(&candidate.key),
        slower,
        over_budget,
        grown_by,
        candidate_path,
        candidate,
        golden,
        verdict,
    })
}

/// The verdict on a candidate, and its new runs where it is the golden with more runs. A golden is
/// not judged by itself: then the verdict is about the new runs alone.
pub(super) fn judged(
    golden: Option<&Snapshot>,
    candidate: &Evidence,
    options: &Options,
) -> (Verdict, Option<usize>) {
    let new = golden.and_then(|golden| golden.new_runs(candidate));
    match new {
        Some(new) if !new.is_empty() => {
            let mut part = candidate.part(&new);
            part.problems.clone_from(&candidate.problems);
            (judge(golden, &part, options), Some(new.len()))
        }
        _ => (judge(golden, candidate, options), None),
    }
}

/// Phases shown or seen to be slower by more than the smallest effect, and figures that grew.
fn slower(verdict: &Verdict, options: &Options) -> Vec<String> {
    let phases = verdict
        .phases
        .iter()
        .filter(|phase| {
            let shown = phase.low > 1.0 && phase.ratio > 1.0 + options.effect_min;
            let moved = phase.raw_ratio > 1.0 + options.effect_max;
            shown || moved || phase.verdict == Outcome::Regression
        })
        .map(|phase| moved(&phase.phase, phase.raw_ratio));
    let figures = verdict
        .exact
        .iter()
        .filter(|figure| figure.verdict == Outcome::Regression)
        .map(|figure| figure.name.clone());
    phases.chain(figures).collect()
}

fn moved(phase: &str, ratio: f64) -> String {
    let change = percent::change(ratio);
    format!(
        "{phase} {}",
        change.as_deref().unwrap_or("beyond all bounds")
    )
}

/// Phases that would stand further above the anchor than the budget allows.
fn over_budget(golden: Option<&Snapshot>, candidate: &Snapshot, options: &Options) -> Vec<String> {
    let Some(anchor) = golden.and_then(|golden| golden.anchor.as_ref()) else {
        return Vec::new();
    };
    candidate
        .phases
        .iter()
        .filter_map(|(name, column)| Some((name, column.ms().ln() - anchor.ln_ms.get(name)?)))
        .filter(|(_, sum)| *sum > options.drift_budget.ln_1p())
        .map(|(name, sum)| moved(name, sum.exp()))
        .collect()
}

/// The golden that a candidate becomes.
fn accepted(item: &ReviewItem, decision: &Decision, options: &Options) -> Snapshot {
    let mut golden = item.candidate.clone();
    golden.accepted = Some(decision.acceptance.clone());
    let changed = |ratio: f64| ratio.ln().abs() > options.effect_min.ln_1p();
    let ratios = item
        .verdict
        .phases
        .iter()
        .filter(|phase| changed(phase.raw_ratio))
        .map(|phase| (phase.phase.clone(), (phase.raw_ratio * 1e4).round() / 1e4))
        .collect();
    let before = item.golden.as_ref();
    golden.history = before
        .map(|before| before.history.clone())
        .unwrap_or_default();
    golden.history.push(Accepted {
        acceptance: decision.acceptance.clone(),
        ratios,
    });
    golden.anchor = match before.and_then(|before| before.anchor.clone()) {
        Some(anchor) if !decision.move_anchor && !grown_from(&anchor, item) => {
            Some(with_new_phases(anchor, &golden))
        }
        _ => Some(golden.anchor_here()),
    };
    golden
}

/// Whether the anchor is the golden that grew: the same code, now measured better.
fn grown_from(anchor: &Anchor, item: &ReviewItem) -> bool {
    let here = item
        .golden
        .as_ref()
        .map(|golden| golden.anchor_here().ln_ms);
    item.grown_by.is_some() && here.as_ref() == Some(&anchor.ln_ms)
}

/// A phase that the anchor does not know starts its drift here.
fn with_new_phases(mut anchor: Anchor, golden: &Snapshot) -> Anchor {
    for (name, ln_ms) in golden.anchor_here().ln_ms {
        anchor.ln_ms.entry(name).or_insert(ln_ms);
    }
    anchor
}
