//! How long each phase takes: count, median, 10 % and 90 % quantile, median absolute deviation;
//! over all, per GPU, per worker.
//!
//! Durations are those that the log prints, in milliseconds as printed. Phases nest, see
//! [`names`]; nothing here adds two phases up.

mod durations;
pub mod names;

pub use durations::{Durations, Sample, each_of, residual_ms};

use golden::stats::Summary;
use tracefmt::run::Trace;

use crate::model::PhaseRow;

/// Rows of all phases: totals first, then per GPU, then per worker; each part sorted by phase.
pub fn rows(trace: &Trace) -> Vec<PhaseRow> {
    let mut durations = Durations::default();
    for run in &trace.runs {
        durations.add_run(run);
    }
    let phases = durations.into_sorted();
    let (mut totals, mut per_gpu, mut per_worker) = (Vec::new(), Vec::new(), Vec::new());
    let mut scratch = Vec::new();
    for (name, mut samples) in phases.iter().map(|(name, all)| (name, all.clone())) {
        let nested_in = names::nearest_parent(name, |whole| phases.contains_key(whole));
        let mut row = |part: &[Sample], gpu: Option<u16>, worker: Option<u16>| {
            scratch.clear();
            scratch.extend(part.iter().map(|sample| f64::from(sample.ms)));
            let summary = Summary::of(&mut scratch)?;
            Some(PhaseRow {
                phase: name.clone(),
                gpu: gpu.map(u32::from),
                worker: worker.map(u32::from),
                n: summary.n as u64,
                median_ms: summary.median,
                p10_ms: summary.p10,
                p90_ms: summary.p90,
                mad_ms: summary.mad,
                nested_in: nested_in.map(str::to_owned),
            })
        };
        totals.extend(row(&samples, None, None));
        samples.sort_by_key(|sample| sample.gpu);
        for part in samples.chunk_by(|a, b| a.gpu == b.gpu) {
            let gpu = part.first().and_then(|sample| sample.gpu);
            per_gpu.extend(gpu.and_then(|gpu| row(part, Some(gpu), None)));
        }
        samples.sort_by_key(|sample| sample.worker);
        for part in samples.chunk_by(|a, b| a.worker == b.worker) {
            let Some(first) = part.first().copied() else {
                continue;
            };
            let worker = first.worker;
            per_worker.extend(worker.and_then(|worker| row(part, first.gpu, Some(worker))));
        }
    }
    totals.extend(per_gpu);
    totals.extend(per_worker);
    totals
}
