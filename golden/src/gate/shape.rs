//! What has to agree before times are compared: key, partitions, phases, numbers of samples.

use tracefmt::finding::Code;

use super::Pair;
use super::options::Options;
use crate::evidence::{Column, Evidence};
use crate::key::Difference;
use crate::problem::Problem;
use crate::snapshot::Snapshot;

/// Fewer samples a run than this share of the golden's: a cut log looks so.
const SAMPLES_SHARE_MIN: f64 = 0.8;

/// Fewer phases than this may agree in their medians by chance.
const COPY_PHASES_MIN: usize = 4;

/// Log times nearer than this are the same: a golden rounds them to six decimals.
const COPY_LN: f64 = 2e-6;

/// Fields of the key that differ, and partitions as measured where the key does not tell.
pub(super) fn differences(golden: &Snapshot, candidate: &Evidence) -> Vec<Difference> {
    let mut found = golden.key.differences(&candidate.key);
    let most = |side: &mut dyn Iterator<Item = &Column>| side.map(|c| c.partitions).max();
    let base = most(&mut golden.phases.values()).unwrap_or(0);
    let cand = most(&mut candidate.phases.values()).unwrap_or(0);
    let told = found
        .iter()
        .any(|difference| difference.field == "partitions");
    if base != cand && base > 0 && cand > 0 && !told {
        found.insert(
            0,
            Difference {
                field: "partitions",
                shape: true,
                baseline: Some(base.to_string()),
                candidate: Some(cand.to_string()),
            },
        );
    }
    found
}

/// The one problem that names all differing fields, shape before the rest.
pub(super) fn problem(differs: &[Difference]) -> Problem {
    let unknown = || "unknown".to_owned();
    let fields: Vec<String> = differs
        .iter()
        .map(|difference| {
            let base = difference.baseline.clone().unwrap_or_else(unknown);
            let cand = difference.candidate.clone().unwrap_or_else(unknown);
            format!("{} ({base} -> {cand})", difference.field)
        })
        .collect();
    let kind = if differs.iter().any(|d| d.shape) {
        "other work"
    } else {
        "other conditions"
    };
    Problem::blocking(
        Code::GateNotComparable,
        format!("{kind}: {}", fields.join(", ")),
    )
}

/// The phases that both sides have.
pub(super) fn pairs<'e>(golden: &'e Snapshot, candidate: &'e Evidence) -> Vec<Pair<'e>> {
    golden
        .phases
        .iter()
        .filter_map(|(name, base)| {
            let cand = candidate.phases.get(name)?;
            Some(Pair { name, base, cand })
        })
        .collect()
}

/// Phases on one side only, other numbers of samples, copied runs, too few runs.
pub(super) fn problems(golden: &Snapshot, candidate: &Evidence, options: &Options) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut say = |code, phase: &str, what: String| {
        found.push(Problem::blocking(code, what).of_phase(phase));
    };
    for name in golden
        .phases
        .keys()
        .filter(|name| !candidate.phases.contains_key(*name))
    {
        say(
            Code::GatePhaseSet,
            name,
            "not measured, but in the golden".to_owned(),
        );
    }
    for name in candidate
        .phases
        .keys()
        .filter(|name| !golden.phases.contains_key(*name))
    {
        say(
            Code::GatePhaseSet,
            name,
            "new, not in the golden".to_owned(),
        );
    }
    for pair in pairs(golden, candidate) {
        let (base, cand) = (usual(&pair.base.n), usual(&pair.cand.n));
        let counted = pair.base.partitions > 0 && pair.cand.partitions > 0;
        let fewer = (cand as f64) < SAMPLES_SHARE_MIN * base as f64;
        if fewer || (base != cand && !counted) {
            let what = format!("{cand} samples a run, {base} in the golden");
            say(Code::GateSampleCount, pair.name, what);
        }
    }
    for name in &options.controls {
        if !golden.phases.contains_key(name) {
            say(
                Code::GatePhaseSet,
                name,
                "named as control, but not in the golden".to_owned(),
            );
        }
    }
    found.extend(copies(golden, candidate));
    for (side, runs) in [
        ("golden", golden.runs.len()),
        ("candidate", candidate.runs.len()),
    ] {
        if runs > 0 && runs < options.runs_min {
            let least = options.runs_min;
            let what = format!("the {side} has {runs} usable run, {least} are the least");
            found.push(Problem::note(Code::GateInconclusive, what));
        }
    }
    found
}

/// Candidate runs that are runs of the golden: a comparison with itself proves nothing.
fn copies(golden: &Snapshot, candidate: &Evidence) -> Vec<Problem> {
    let pairs = pairs(golden, candidate);
    if pairs.len() < COPY_PHASES_MIN {
        return Vec::new();
    }
    let same = |base: usize, cand: usize| {
        pairs
            .iter()
            .all(|pair| (pair.base.ln_ms[base] - pair.cand.ln_ms[cand]).abs() < COPY_LN)
    };
    let mut found = Vec::new();
    for (cand, run) in candidate.runs.iter().enumerate() {
        if let Some(base) = (0..golden.runs.len()).find(|base| same(*base, cand)) {
            let what = format!(
                "has the times of the golden's own run {}",
                golden.runs[base].id
            );
            found.push(Problem::blocking(Code::GateCopiedRun, what).of_run(&run.id));
        }
    }
    found
}

/// The middle of the counts.
fn usual(counts: &[usize]) -> usize {
    let mut counts = counts.to_vec();
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().unwrap_or(0)
}
