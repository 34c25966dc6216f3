//! What has to agree before times are compared: key, partitions, phases, numbers of samples.

use std::collections::BTreeSet;

use tracefmt::finding::Code;

use super::Pair;
use super::options::Options;
use crate::evidence::{Column, Evidence};
use crate::key::Difference;
use crate::problem::Problem;
use crate::snapshot::{SAME_LN, Snapshot};

/// Fewer samples a run than this share of the golden's: a cut log looks so.
const SAMPLES_SHARE_MIN: f64 = 0.8;

/// Fewer medians than this may agree by chance.
const COPY_MEDIANS_MIN: usize = 4;

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
    let mut found = phase_sets(golden, candidate, options);
    let asked_out = |name: &str| options.ungated.iter().any(|other| other == name);
    for pair in pairs(golden, candidate) {
        let (base, cand) = (usual(&pair.base.n), usual(&pair.cand.n));
        let counted = pair.base.partitions > 0 && pair.cand.partitions > 0;
        let fewer = (cand as f64) < SAMPLES_SHARE_MIN * base as f64;
        if !asked_out(pair.name) && (fewer || (base != cand && !counted)) {
            let what = format!("{cand} samples a run, {base} in the golden");
            found.push(Problem::blocking(Code::GateSampleCount, what).of_phase(pair.name));
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

/// Phases on one side only. What is not gated is said and forbids nothing; a name that nothing has
/// is a slip of the pen.
fn phase_sets(golden: &Snapshot, candidate: &Evidence, options: &Options) -> Vec<Problem> {
    // Where nothing was measured, that is said once and not for each phase.
    let measured = !candidate.phases.is_empty();
    let (base, cand) = (&golden.phases, &candidate.phases);
    let gone = base
        .keys()
        .filter(|name| measured && !cand.contains_key(*name));
    let gone = gone.map(|name| (name, "not measured, but in the golden"));
    let new = cand.keys().filter(|name| !base.contains_key(*name));
    let new = new.map(|name| (name, "new, not in the golden"));
    let one_side = gone.chain(new).map(|(name, what)| {
        if options.ungated.contains(name) {
            Problem::note(Code::GateUngated, format!("{what}; not gated, as asked")).of_phase(name)
        } else {
            Problem::blocking(Code::GatePhaseSet, what.to_owned()).of_phase(name)
        }
    });
    let known = |name: &&String| base.contains_key(*name) || cand.contains_key(*name);
    let nobody = options.ungated.iter().filter(|name| !known(name));
    let nobody = nobody.map(|name| {
        let what = "named as ungated, but neither the golden nor the runs have it".to_owned();
        Problem::blocking(Code::GatePhaseSet, what).of_phase(name)
    });
    let controls = options.controls.iter();
    let controls = controls
        .filter(|name| !base.contains_key(*name))
        .map(|name| {
            let what = "named as control, but not in the golden".to_owned();
            Problem::blocking(Code::GatePhaseSet, what).of_phase(name)
        });
    one_side.chain(controls).chain(nobody).collect()
}

/// Candidate runs that are runs of the golden: a comparison with itself proves nothing.
///
/// With few phases a single run may agree by chance: there all runs have to be runs of the golden,
/// each of another one.
fn copies(golden: &Snapshot, candidate: &Evidence) -> Vec<Problem> {
    let pairs = pairs(golden, candidate);
    // The factor between two runs of medians, if it is one.
    let factor = |base: usize, cand: usize| {
        let apart = |pair: &Pair<'_>| pair.cand.ln_ms[cand] - pair.base.ln_ms[base];
        let first = apart(pairs.first()?);
        let same = |pair: &Pair<'_>| (apart(pair) - first).abs() < SAME_LN;
        pairs.iter().all(same).then_some(first)
    };
    let is_few = pairs.len() < COPY_MEDIANS_MIN;
    let counts = |ln: f64| !is_few || ln.abs() < SAME_LN;
    let mut copied = Vec::new();
    for cand in 0..candidate.runs.len() {
        let all = (0..golden.runs.len()).filter_map(|base| Some((base, factor(base, cand)?)));
        let of: Vec<(usize, f64)> = all.filter(|(_, ln)| counts(*ln)).collect();
        if let Some((base, ln)) = of.first() {
            copied.push((cand, *base, *ln, of.len()));
        }
    }
    if is_few {
        let bases: BTreeSet<usize> = copied.iter().map(|(_, base, ..)| *base).collect();
        let all = copied.len() == candidate.runs.len();
        let each = bases.len() == copied.len() && copied.iter().all(|(.., of)| *of == 1);
        if !(all && each && copied.len() * pairs.len() >= COPY_MEDIANS_MIN) {
            return Vec::new();
        }
    }
    let problem = |&(cand, base, ln, _): &(usize, usize, f64, usize)| {
        let of = &golden.runs[base].id;
        let what = if ln.abs() < SAME_LN {
            format!("has the times of the golden's own run {of}")
        } else {
            let by = ln.exp();
            format!("is a near copy of the golden's own run {of}: its times by {by:.6}")
        };
        Problem::blocking(Code::GateCopiedRun, what).of_run(&candidate.runs[cand].id)
    };
    copied.iter().map(problem).collect()
}

/// The middle of the counts.
fn usual(counts: &[usize]) -> usize {
    let mut counts = counts.to_vec();
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().unwrap_or(0)
}
