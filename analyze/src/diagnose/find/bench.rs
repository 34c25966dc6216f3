//! What the benchmark client says against what the daemon's log says: `sched.failed` when the
//! client saw failures of which the log has nothing, `run.bench_mismatch` when the counts differ.
//!
//! `prove=0 ms` on a FAILED proof means only that it did not complete: the server answers every
//! failure with zeros. It is never read as "the GPU was not used". The client numbers its proofs
//! and gives no job ids, so only counts are compared.

use tracefmt::finding::{Code, Severity};
use tracefmt::run::{Bench, BenchProof, RunEnd};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let Some(bench) = &scene.run.bench else {
        return Vec::new();
    };
    [failures(scene, bench), mismatch(scene, bench)]
        .into_iter()
        .flatten()
        .collect()
}

fn is_complete(proof: &BenchProof) -> bool {
    proof.status == "COMPLETED"
}

/// Completed and failed proofs: the summary's counts, or those of the proof lines.
fn counts(bench: &Bench) -> (u64, u64) {
    let completed = bench
        .proofs
        .iter()
        .filter(|proof| is_complete(proof))
        .count() as u64;
    let failed = bench.proofs.len() as u64 - completed;
    (
        bench.completed.unwrap_or(completed),
        bench.failed.unwrap_or(failed),
    )
}

fn failures(scene: &Scene<'_>, bench: &Bench) -> Option<Draft> {
    let (completed, failed) = counts(bench);
    if failed == 0 || scene.failed() {
        return None;
    }
    let bad: Vec<&BenchProof> = bench
        .proofs
        .iter()
        .filter(|proof| !is_complete(proof))
        .collect();
    let zeros = if bad.iter().any(|proof| proof.prove_ms == 0) {
        " prove=0 ms on them means only that they did not complete, not that the GPU was idle."
    } else {
        ""
    };
    // Without jobs in the log the client's word is all there is.
    let role = if scene.jobs.total == 0 {
        Role::Primary
    } else {
        Role::Follower
    };
    Some(
        Draft::new(
            Code::SchedFailed,
            Severity::Error,
            role,
            format!(
                "The benchmark client saw {failed} of {} fail",
                many(completed.saturating_add(failed), "proof")
            ),
        )
        .of_run(scene.run.index)
        .because(format!(
            "The client reports {failed} failed and {completed} completed.{zeros} The reason is in \
             the daemon's log of the same time."
        ))
        .fix("Give the daemon's log together with the client's output: cuzk diagnose LOG BENCH.")
        .counting(usize::try_from(failed).unwrap_or(usize::MAX))
        .quoting(bad.iter().map(|proof| proof.line).chain([bench.line])),
    )
}

fn mismatch(scene: &Scene<'_>, bench: &Bench) -> Option<Draft> {
    let jobs = scene.jobs;
    let (completed, failed) = counts(bench);
    let told = completed.saturating_add(failed);
    // A client that died with the daemon has no summary to compare with.
    let whole =
        scene.run.end == RunEnd::Complete && scene.run.index as usize + 1 == scene.trace.runs.len();
    if jobs.total == 0 || told == 0 || !whole {
        return None;
    }
    if completed == jobs.completed && failed == jobs.failed + jobs.cancelled {
        return None;
    }
    Some(
        Draft::new(
            Code::RunBenchMismatch,
            Severity::Warning,
            Role::Beside,
            "The benchmark client and the daemon's log disagree".to_owned(),
        )
        .of_run(scene.run.index)
        .because(format!(
            "The client counts {completed} completed and {failed} failed; the daemon's log has {} \
             completed and {} failed. The two may not be of the same time, or the log lacks part \
             of the run.",
            jobs.completed, jobs.failed,
        ))
        .fix("Check that both files are of one benchmark.")
        .quoting([bench.line]),
    )
}
