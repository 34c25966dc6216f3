//! Two runs side by side: phase by phase, with intervals, after their shapes have been compared.
//!
//! The statistics are those of the gate (`golden::stats`), so that table and gate cannot
//! disagree. With one run a side the partitions are the evidence, with several the runs. Whether
//! a ratio is acceptable is not decided here.

mod model;
mod settings;

pub use model::{Comparison, PhaseComparison, SCHEMA, Setting, Throughput};

use std::collections::BTreeMap;

use golden::stats::{PhaseRuns, compare_phases, median};
use tracefmt::run::{JobOutcome, Trace};

use crate::interval::span_of_events;
use crate::phase::{durations, names};

/// Compares trace `b` with trace `a`.
///
/// Refuses (`comparable` is false, `reasons` say why) where the kinds of proof, the partitions of
/// a proof, the domain, or the number or model of the GPUs differ, or where a side has no timing.
pub fn compare(a: &Trace, b: &Trace) -> Comparison {
    let settings = settings::settings(a, b);
    let mut reasons: Vec<String> = settings
        .iter()
        .filter(|setting| setting.shape && setting.conflicts())
        .map(|setting| {
            let value = |side: &Option<String>| side.clone().unwrap_or_default();
            let (a, b) = (value(&setting.a), value(&setting.b));
            let name = &setting.name;
            let verb = if name.ends_with('s') {
                "differ"
            } else {
                "differs"
            };
            format!("{name} {verb}: {a} in A, {b} in B")
        })
        .collect();
    let sides = [samples(a), samples(b)];
    for (side, name) in sides.iter().zip(["A", "B"]) {
        if side.is_empty() {
            reasons.push(format!("{name} holds no durations"));
        }
    }
    let comparable = reasons.is_empty();
    let differs = settings.iter().filter(|setting| setting.conflicts());
    Comparison {
        schema: SCHEMA.to_owned(),
        inputs: [a, b].map(|side| side.inputs.iter().map(|input| input.path.clone()).collect()),
        comparable,
        differs: differs.map(|setting| setting.name.clone()).collect(),
        phases: if comparable {
            phases(&sides)
        } else {
            Vec::new()
        },
        throughput: throughput(a, b),
        reasons,
        settings,
    }
}

/// Durations in milliseconds: phase -> one list a run.
type Samples = BTreeMap<String, Vec<Vec<f64>>>;

fn samples(trace: &Trace) -> Samples {
    let mut all = Samples::new();
    for run in &trace.runs {
        for (phase, times) in durations(run) {
            all.entry(phase).or_default().push(times);
        }
    }
    all
}

fn phases(sides: &[Samples; 2]) -> Vec<PhaseComparison> {
    let [a, b] = sides;
    let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
    names.sort();
    names.dedup();
    let runs: Vec<PhaseRuns<'_>> = names
        .iter()
        .map(|name| PhaseRuns {
            a: slices(a, name),
            b: slices(b, name),
        })
        .collect();
    let ratios = compare_phases(&runs);
    let present = |name: &str| a.contains_key(name) || b.contains_key(name);
    names
        .into_iter()
        .zip(runs.iter().zip(ratios))
        .map(|(name, (runs, ratio))| {
            let (mut left, mut right) = (runs.a.concat(), runs.b.concat());
            let (a_ms, b_ms) = (median(&mut left), median(&mut right));
            // Ratios are of times above zero; where most are zero they would say nothing of the
            // phase, or the opposite of its medians.
            let told = a_ms > Some(0.0) && b_ms > Some(0.0);
            let ratio = ratio.filter(|_| told);
            PhaseComparison {
                phase: name.clone(),
                nested_in: names::nearest_parent(name, present).map(str::to_owned),
                a_n: left.len() as u64,
                b_n: right.len() as u64,
                a_ms,
                b_ms,
                ratio: ratio.map(|ratio| ratio.ratio),
                low: ratio.map(|ratio| ratio.low).filter(|low| *low > 0.0),
                high: ratio
                    .map(|ratio| ratio.high)
                    .filter(|high| high.is_finite()),
            }
        })
        .collect()
}

fn slices<'a>(side: &'a Samples, name: &str) -> Vec<&'a [f64]> {
    let runs = side.get(name).map(Vec::as_slice).unwrap_or_default();
    runs.iter().map(Vec::as_slice).collect()
}

fn throughput(a: &Trace, b: &Trace) -> Throughput {
    let (a_proofs, a_per_minute) = rate(a);
    let (b_proofs, b_per_minute) = rate(b);
    let positive = |rate: Option<f64>| rate.filter(|rate| *rate > 0.0);
    let both = positive(a_per_minute).zip(positive(b_per_minute));
    Throughput {
        a_proofs,
        b_proofs,
        a_per_minute,
        b_per_minute,
        ratio: both.map(|(a, b)| b / a),
    }
}

/// Completed proofs, and how many a minute over the time of all runs.
fn rate(trace: &Trace) -> (u64, Option<f64>) {
    let (mut proofs, mut us) = (0, 0_i64);
    for run in &trace.runs {
        let Some(span) = span_of_events(run) else {
            continue;
        };
        let done = run
            .jobs
            .iter()
            .filter(|job| job.outcome == JobOutcome::Completed);
        proofs += done.count() as u64;
        us = span.us().saturating_add(us);
    }
    let per_minute = (us > 0).then(|| proofs as f64 * 60e6 / us as f64);
    (proofs, per_minute)
}
