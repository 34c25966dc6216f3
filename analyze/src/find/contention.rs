//! `perf.contention`: a CPU phase that gets slower the more of its kind run at once.
//!
//! Made only when it is convincing: enough samples, a spread of concurrency to learn from, a
//! clear rank correlation of duration with concurrency, and a difference that matters.

use tracefmt::finding::{Code, Confidence, Finding, Severity};

use super::{Sight, length, median};
use crate::interval::sane;

/// Syntheses looked at, the first ones; more would not make it surer.
const TASKS_MAX: usize = 20_000;
/// Samples that a statement needs.
const SAMPLES_MIN: usize = 16;
/// Concurrency of the busiest third over that of the calmest.
const SPREAD_MIN: f64 = 1.3;
/// Duration of the busiest third over that of the calmest.
const RATIO_MIN: f64 = 1.15;
/// Rank correlation that the samples must show at least.
const RHO_MIN: f64 = 0.5;
/// Standard errors that it must lie above zero.
const SIGMAS_MIN: f64 = 4.0;

/// How long one synthesis took, and how many ran at once meanwhile on average.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    us: f64,
    peers: f64,
    task: usize,
}

/// The finding about synthesis, if there is one.
pub fn contention(sight: &Sight<'_>) -> Option<Finding> {
    let mut samples = samples(sight);
    if samples.len() < SAMPLES_MIN {
        return None;
    }
    samples.sort_by(|a, b| a.peers.total_cmp(&b.peers));
    let third = samples.len() / 3;
    let (calm, busy) = (samples.get(..third)?, samples.get(samples.len() - third..)?);
    let of = |part: &[Sample], get: fn(&Sample) -> f64| {
        median(&mut part.iter().map(get).collect::<Vec<_>>())
    };
    let (few, many) = (of(calm, |s| s.peers)?, of(busy, |s| s.peers)?);
    let (fast, slow) = (of(calm, |s| s.us)?, of(busy, |s| s.us)?);
    let rho = rank_correlation(&samples);
    let error = 1.0 / ((samples.len() - 1) as f64).sqrt();
    let convincing = many >= SPREAD_MIN * few
        && slow >= RATIO_MIN * fast
        && rho >= RHO_MIN.max(SIGMAS_MIN * error);
    if !convincing {
        return None;
    }
    let title = format!(
        "Synthesis slows down {:.2}x when {many:.0} run at once instead of {few:.0}",
        slow / fast
    );
    let mut finding = Finding::new(
        Code::PerfContention,
        Severity::Warning,
        Confidence::Inferred,
        title,
    );
    finding.run = Some(sight.run.index);
    finding.explanation = format!(
        "The third of the syntheses with the fewest others beside them took {} (median), the \
         third with the most {}; the rank correlation of duration with the number at once is \
         {rho:.2} over {} syntheses. They compete for memory bandwidth or cores.",
        length(fast),
        length(slow),
        samples.len(),
    );
    finding.fix = Some(format!(
        "{many:.0} at once finish {:.2}x as many partitions an hour as {few:.0} at once; try \
         fewer, or give them separate cores and memory, and compare the throughput.",
        (many / slow) / (few / fast)
    ));
    let worst = busy.iter().max_by(|a, b| a.us.total_cmp(&b.us))?;
    let task = sight.run.tasks.get(worst.task)?;
    let lines = [task.synth_start, task.synth_end].into_iter().flatten();
    finding.evidence = lines.filter_map(|at| sight.evidence(at.line)).collect();
    finding.count = busy.len() as u64;
    Some(finding)
}

/// Every complete synthesis with the mean number of syntheses under way during it.
fn samples(sight: &Sight<'_>) -> Vec<Sample> {
    let tasks = || sight.run.tasks.iter().enumerate().take(TASKS_MAX);
    let mut steps: Vec<(i64, i128)> = Vec::new();
    for (_, task) in tasks() {
        let (Some(start), Some(end)) = (task.synth_start, task.synth_end) else {
            continue;
        };
        steps.push((sane(start.us), 1));
        steps.push((sane(end.us), -1));
    }
    steps.sort_unstable();
    // Integral of the number under way, at each step.
    let (mut area, mut level, mut last) = (0_i128, 0_i128, 0_i64);
    let mut areas: Vec<(i64, i128)> = Vec::with_capacity(steps.len());
    for (us, step) in steps {
        area += level * i128::from(us.saturating_sub(last));
        (level, last) = (level + step, us);
        areas.push((us, area));
    }
    let area_at = |us: i64| {
        let at = areas.partition_point(|(t, _)| *t < us);
        areas.get(at).map_or(0, |(_, area)| *area)
    };
    tasks()
        .filter_map(|(index, task)| {
            let (start, end) = (sane(task.synth_start?.us), sane(task.synth_end?.us));
            let us = (end - start) as f64;
            (end > start).then(|| Sample {
                us,
                peers: (area_at(end) - area_at(start)) as f64 / us,
                task: index,
            })
        })
        .collect()
}

/// Spearman's rank correlation of duration with concurrency; `samples` are sorted by the latter.
fn rank_correlation(samples: &[Sample]) -> f64 {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    let us = |at: &usize| samples.get(*at).map_or(0.0, |sample| sample.us);
    order.sort_by(|a, b| us(a).total_cmp(&us(b)));
    let n = samples.len() as f64;
    let squares: f64 = order
        .iter()
        .enumerate()
        .map(|(rank, at)| (rank as f64 - *at as f64).powi(2))
        .sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}
