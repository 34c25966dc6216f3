//! `golden record`: samples become a candidate beside the golden of their key.

use std::path::PathBuf;

use super::Place;
use super::decide::judged;
use crate::GoldenError;
use crate::evidence::Evidence;
use crate::gate::Options;
use crate::problem::Problem;
use crate::samples::Samples;
use crate::snapshot::Snapshot;
use crate::snapshot::store::{Store, write};
use crate::verdict::Verdict;

/// What a candidate is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// The new runs alone.
    Fresh,
    /// The golden's runs and the new ones, of the same code: a broader baseline.
    Append,
}

/// A candidate that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The file, `*.golden.new`.
    pub path: PathBuf,
    /// What is in it.
    pub candidate: Snapshot,
    /// What was wrong with the samples; a look before accepting is due.
    pub problems: Vec<Problem>,
    /// The new runs judged by the golden of the key, if there is one.
    pub verdict: Option<Verdict>,
    /// The golden's own runs are all among the samples, beside this many new ones.
    pub grown_by: Option<usize>,
}

/// Writes the candidate of some samples. The golden itself is not touched.
///
/// # Errors
/// Under CI; when no complete run with usable times is left; when a file cannot be read or
/// written.
pub fn record(
    store: &Store,
    samples: &Samples,
    (recording, place): (Recording, Place),
    options: &Options,
) -> Result<Recorded, GoldenError> {
    place.may_write()?;
    let evidence = Evidence::of(samples, options.rules);
    if evidence.runs.is_empty() || evidence.phases.is_empty() {
        let said: Vec<String> = evidence
            .problems
            .iter()
            .map(|p| p.finding().title)
            .collect();
        return Err(GoldenError::NothingToRecord {
            what: said.join("; "),
        });
    }
    let golden = store.golden(&samples.key)?;
    let against = golden.as_ref();
    let against = against.map(|golden| judged(Some(golden), &evidence, options));
    let grown_by = against.as_ref().and_then(|(_, grown)| *grown);
    let verdict = against.map(|(verdict, _)| verdict);
    let candidate = match (recording, &golden) {
        (Recording::Append, Some(golden)) => {
            Snapshot::candidate(&golden.evidence().joined(&evidence))
        }
        _ => Snapshot::candidate(&evidence),
    };
    let path = store.candidate_path(&samples.key);
    write(&path, &candidate)?;
    Ok(Recorded {
        path,
        candidate,
        problems: evidence.problems,
        verdict,
        grown_by,
    })
}
