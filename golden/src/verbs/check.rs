//! `golden check`: a candidate's samples against the golden of their key.

use crate::GoldenError;
use crate::evidence::{Evidence, Rules};
use crate::gate::{Options, judge};
use crate::samples::Samples;
use crate::snapshot::Snapshot;
use crate::snapshot::store::Store;
use crate::verdict::Verdict;

/// A verdict with both sides, as a picture of it shows them.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What the candidate was held to; the nearest golden where there is none of its key.
    pub golden: Option<Snapshot>,
    /// The candidate's runs.
    pub candidate: Snapshot,
    /// What the gate says.
    pub verdict: Verdict,
}

/// Judges samples by the golden of their key. Where there is none for the key, the verdict lists
/// the fields in which the nearest golden differs.
///
/// # Errors
/// A golden that cannot be read.
pub fn check(store: &Store, samples: &Samples, options: &Options) -> Result<Checked, GoldenError> {
    // Runs with injected faults are how a gate is tried out: judged, and never a pass.
    let rules = Rules {
        injected: true,
        ..options.rules
    };
    let evidence = Evidence::of(samples, rules);
    let golden = match store.golden(&samples.key)? {
        Some(golden) => Some(golden),
        None => store.nearest(&samples.key)?,
    };
    let verdict = judge(golden.as_ref(), &evidence, options);
    Ok(Checked {
        golden,
        candidate: Snapshot::candidate(&evidence),
        verdict,
    })
}
