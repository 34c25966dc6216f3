//! What a benchmark prints: the predecessor's lines, and behind them what it never said.

use std::path::Path;

use prover::bench::{Jobs, Outcome, Request, Row, header, summary as rows};
use prover::engine::FaultCount;
use prover::groth16::Mix;
use serde_json::{Value, json};

use crate::output::put;

const MIB: f64 = (1 << 20) as f64;
/// How sure the interval of the throughput is.
const LEVEL: f64 = 0.95;

/// A word on standard error as each job ends.
pub(super) fn progress(row: &Row, request: Request) -> String {
    let (at, wall_s) = (row.index + 1, row.wall_us as f64 / 1e6);
    let said = row.failure.as_deref().unwrap_or("verified");
    format!("job {at} of {}: {said} after {wall_s:.1} s", request.count)
}

/// Rows, summary, and below them interval, memory, the cost of the trace, faults that never struck.
pub(super) fn summary(outcome: &Outcome, jobs: &Jobs, trace: Option<&Path>) -> String {
    let mut text = rows(&outcome.batch);
    if let Some((low, high)) = interval(&outcome.batch.gaps_us()) {
        let gaps = outcome.batch.gaps_us().len();
        put(
            &mut text,
            format_args!(
                "             {low:.3} to {high:.3} proofs/min at 95 %, from {gaps} gaps\n"
            ),
        );
    }
    let partitions = jobs.partitions;
    if let Some(rate) = outcome.batch.throughput() {
        let each = rate * partitions as f64;
        put(
            &mut text,
            format_args!(
                "             a proof here is a job of {partitions} partitions: {each:.3} \
                 partition proofs/min\n             prove time is the sum over the \
                 partitions of a job, some of them side by side\n"
            ),
        );
    }
    let mib = |bytes: u64| bytes as f64 / MIB;
    let (host, vram) = (mib(outcome.status.host_peak), mib(outcome.vram_peak));
    put(
        &mut text,
        format_args!(
            "memory:      peak {host:.0} MiB reserved on the host, {vram:.0} MiB on the device"
        ),
    );
    if let Some(resident) = resident_bytes() {
        put(
            &mut text,
            format_args!(", {:.0} MiB resident", mib(resident)),
        );
    }
    text.push('\n');
    if let Some(trace) = trace {
        let share = 100.0 * trace_share(outcome);
        put(
            &mut text,
            format_args!(
                "trace:       {} ({share:.3} % of proving time)\n",
                trace.display()
            ),
        );
    }
    for said in unstruck(outcome).map(never).chain(roomy(outcome)) {
        put(&mut text, format_args!("fault:       {said}\n"));
    }
    text
}

/// The faults that were asked for and never struck.
pub(super) fn unstruck(outcome: &Outcome) -> impl Iterator<Item = &FaultCount> {
    let faults = outcome.status.faults.iter();
    faults.filter(|count| count.struck == 0)
}

/// What is said of late frees that struck where no job failed: the card had room for them, or had
/// it by a smaller plan.
pub(super) fn roomy(outcome: &Outcome) -> Option<String> {
    let mut faults = outcome.status.faults.iter();
    let late = faults.find(|count| count.struck > 0 && count.fault.starts_with("late-free"))?;
    if outcome.batch.failed() > 0 {
        return None;
    }
    let card = outcome.late_free_bytes?.div_ceil(1 << 20);
    let why = match outcome.status.totals.fallbacks {
        0 => "the card had room for it".to_owned(),
        n => format!("{n} allocations did, and a smaller plan was taken after each"),
    };
    let what = match late.turn {
        None => "has no room, whatever the plan",
        Some(_) => "has no room, whatever the plan, for late-free in every partition",
    };
    Some(format!(
        "{} struck {} times and no job failed: {why}; --vram {card}MiB (--vram-limit with a \
         real card) {what}",
        late.fault, late.struck
    ))
}

/// What is said of a fault that never struck.
pub(super) fn never(count: &FaultCount) -> String {
    let FaultCount {
        fault, occasions, ..
    } = count;
    let turn = count
        .turn
        .map(|turn| format!("; its turn was number {turn}"))
        .unwrap_or_default();
    format!("{fault} never struck: there were {occasions} occasions{turn}")
}

/// What the client printed, for the report.
pub(super) fn plain(jobs: &Jobs, request: Request, outcome: &Outcome) -> String {
    header(jobs.family.name(), request) + &rows(&outcome.batch)
}

/// `cuzk.bench/1`.
pub(super) fn json(
    outcome: &Outcome,
    jobs: &Jobs,
    request: Request,
    witness: Option<&Mix>,
) -> Value {
    let batch = &outcome.batch;
    let ms = |us: u64| us as f64 / 1000.0;
    let row = |row: &Row| {
        json!({
            "index": row.index,
            "verified": row.failure.is_none(),
            "error": row.failure,
            "wall_ms": ms(row.wall_us),
            "device_sum_ms": ms(row.prove_us),
            "queue_ms": ms(row.queue_us),
        })
    };
    let fault = |count: &FaultCount| {
        json!({
            "fault": count.fault,
            "occasions": count.occasions,
            "struck": count.struck,
            "turn": count.turn,
        })
    };
    let (low, high) = interval(&batch.gaps_us()).unzip();
    let partitions = batch.throughput().map(|rate| rate * jobs.partitions as f64);
    json!({
        "schema": "cuzk.bench/1",
        "circuit": jobs.family.name(),
        "log2": jobs.family.log2(),
        "partitions": jobs.partitions,
        "count": request.count,
        "concurrency": request.concurrency,
        "completed": batch.completed(),
        "failed": batch.failed(),
        "total_ms": ms(batch.total_us),
        "throughput": {
            "jobs_per_min": batch.throughput(),
            "low": low,
            "high": high,
            "partition_proofs_per_min": partitions,
        },
        "host_peak_bytes": outcome.status.host_peak,
        "vram_peak_bytes": outcome.vram_peak,
        "resident_peak_bytes": resident_bytes(),
        "trace_share": trace_share(outcome),
        "witness": witness,
        "faults": outcome.status.faults.iter().map(fault).collect::<Vec<_>>(),
        "jobs": batch.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

/// Time spent on the trace against the time of the batch.
fn trace_share(outcome: &Outcome) -> f64 {
    outcome.trace_us as f64 / outcome.batch.total_us.max(1) as f64
}

/// The interval of the throughput from the times between completions: Student's t on their mean.
fn interval(gaps_us: &[u64]) -> Option<(f64, f64)> {
    let gaps: Vec<f64> = gaps_us.iter().map(|us| *us as f64 / 60e6).collect();
    let (mean, variance) = golden::stats::mean_variance(&gaps)?;
    let count = gaps.len() as f64;
    if count < 2.0 {
        return None;
    }
    let t = golden::stats::t_quantile(f64::midpoint(1.0, LEVEL), count - 1.0);
    let half = t * (variance / count).sqrt();
    let rate = |gap: f64| 1.0 / gap;
    // A gap that may be zero bounds nothing from above.
    (mean > half).then(|| (rate(mean + half), rate(mean - half)))
}

/// The most memory that the process had resident, where the system says so.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_mean_and_shrinks_with_more_gaps() {
        let few = interval(&[10_000_000, 12_000_000, 11_000_000]).expect("three gaps");
        let many = interval(&[10_000_000, 12_000_000, 11_000_000].repeat(10)).expect("thirty");
        let rate = 60.0 / 11.0;
        assert!(few.0 < many.0 && many.0 < rate && rate < many.1 && many.1 < few.1);
        assert_eq!(interval(&[10_000_000]), None);
        assert_eq!(interval(&[1, 60_000_000]), None);
    }

    #[test]
    fn linux_says_how_much_is_resident() {
        assert!(resident_bytes().is_none_or(|bytes| bytes > 1 << 20));
    }
}
