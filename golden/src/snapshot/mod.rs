//! A golden: the accepted evidence of one configuration key, as text in the repository.
//!
//! It holds the run medians of every phase, who accepted them and why, the earlier accepts, and
//! the pinned anchor that drift is measured from. [`store`] says where the files are.

pub mod store;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Key;
use crate::evidence::{Column, Evidence, RunInfo};

/// The schema number this version writes. 2 has `partition_workers` and `host_bytes` in the key;
/// what 1 holds means the same, so it is read too.
pub const SCHEMA: u32 = 2;

/// The oldest schema number that is read.
pub const SCHEMA_OLDEST: u32 = 1;

/// Log times nearer than this are the same: a golden rounds them to six decimals.
pub(crate) const SAME_LN: f64 = 2e-6;

/// Most runs a golden keeps; the latest ones stay.
pub const RUNS_MAX: usize = 30;

/// Who accepted a golden, when, why, and on which commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    /// Who.
    pub by: String,
    /// When, as the caller wrote it (RFC 3339).
    pub at: String,
    /// At which commit; empty if not told.
    #[serde(default)]
    pub commit: String,
    /// Why; required where a phase became slower.
    #[serde(default)]
    pub reason: String,
}

/// An accept of the past with the changes it let in, in per cent of the golden before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    /// Who, when, why.
    #[serde(flatten)]
    pub acceptance: Acceptance,
    /// Phases that changed by more than the smallest effect of interest, as ratios.
    #[serde(default)]
    pub ratios: BTreeMap<String, f64>,
}

/// The pinned golden that drift is measured from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// The commit or release it was pinned at.
    pub commit: String,
    /// When it was accepted.
    pub at: String,
    /// Runs behind it.
    pub runs: usize,
    /// Mean of the run medians of each phase, log ms.
    pub ln_ms: BTreeMap<String, f64>,
}

/// A golden or a candidate for one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Whether times of unverified proofs are in it.
    #[serde(default)]
    pub unverified: bool,
    /// What it was measured on.
    pub key: Key,
    /// Who accepted it; `None` for a candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Acceptance>,
    /// What drift is measured from; `None` for a candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// Exact figures.
    #[serde(default)]
    pub exact: BTreeMap<String, u64>,
    /// Phases by name.
    pub phases: BTreeMap<String, Column>,
    /// The runs, in the order of the columns.
    pub runs: Vec<RunInfo>,
    /// Earlier accepts, oldest first.
    #[serde(default)]
    pub history: Vec<Accepted>,
}

impl Snapshot {
    /// A candidate from evidence, cut to the latest [`RUNS_MAX`] runs. Its figures are those that
    /// its text will hold, so that both are judged alike.
    #[must_use]
    pub fn candidate(evidence: &Evidence) -> Self {
        let skip = evidence.runs.len().saturating_sub(RUNS_MAX);
        let phases = evidence
            .phases
            .iter()
            .map(|(name, column)| (name.clone(), column.latest(skip).rounded()))
            .collect();
        Self {
            schema: SCHEMA,
            unverified: evidence.unverified,
            key: evidence.key.clone(),
            accepted: None,
            anchor: None,
            exact: evidence.exact.clone(),
            phases,
            runs: evidence.runs[skip..].to_vec(),
            history: Vec::new(),
        }
    }

    /// The evidence a candidate was made from, to be judged again.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        Evidence {
            key: self.key.clone(),
            runs: self.runs.clone(),
            phases: self.phases.clone(),
            exact: self.exact.clone(),
            unverified: self.unverified,
            problems: Vec::new(),
        }
    }

    /// The runs of a candidate that are not the golden's own, if all of the golden's are among
    /// them, told by their times: the candidate is then the golden with more runs.
    #[must_use]
    pub fn new_runs(&self, candidate: &Evidence) -> Option<Vec<usize>> {
        if self.phases.is_empty() || !self.phases.keys().eq(candidate.phases.keys()) {
            return None;
        }
        let same = |base: usize, cand: usize| {
            let both = self.phases.values().zip(candidate.phases.values());
            let mut apart = both.map(|(a, b)| (a.ln_ms[base] - b.ln_ms[cand]).abs());
            apart.all(|apart| apart < SAME_LN)
        };
        let mut new: Vec<usize> = (0..candidate.runs.len()).collect();
        for base in 0..self.runs.len() {
            let found = new.iter().position(|cand| same(base, *cand))?;
            new.remove(found);
        }
        Some(new)
    }

    /// An anchor at this golden.
    #[must_use]
    pub fn anchor_here(&self) -> Anchor {
        let acceptance = self.accepted.clone().unwrap_or_default();
        Anchor {
            commit: acceptance.commit,
            at: acceptance.at,
            runs: self.runs.len(),
            ln_ms: self
                .phases
                .iter()
                .map(|(name, column)| (name.clone(), text::round(column.ms().ln())))
                .collect(),
        }
    }
}
