//! `run.no_verification`: jobs ran, and not one proof was verified.
//!
//! A warning: a proof that nobody checked may be wrong, and its timing with it. Made only when no
//! proof of the run was checked at all, and not where all jobs were cancelled; verification of some
//! is told as n of m in the verdict and in the run's row. Whether a client verified proofs
//! elsewhere is not in the log.

use tracefmt::finding::{Code, Severity};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let jobs = scene.jobs;
    let none_made = jobs.completed == 0 && jobs.cancelled == jobs.total;
    let bad = jobs.invalid > 0 || !scene.run.bad_proofs.is_empty();
    if none_made || bad || jobs.verified > 0 || scene.partitions.verified > 0 {
        return Vec::new();
    }
    let ends = scene
        .run
        .jobs
        .iter()
        .filter_map(|job| Some(job.ended?.line));
    vec![
        Draft::new(
            Code::RunNoVerification,
            Severity::Warning,
            Role::Beside,
            "No proof was verified".to_owned(),
        )
        .of_run(scene.run.index)
        .because(format!(
            "The log has {} ({} completed) and no line that says that a proof was checked. A GPU \
             phase that fails unseen still gives a proof, only a wrong one, and does it faster; \
             the benchmark client does not verify either.",
            many(jobs.total, "job"),
            jobs.completed,
        ))
        .fix(
            "Verify a proof of this run before you trust its timings; engines from March 2026 on \
             check PoRep proofs themselves and log it.",
        )
        .quoting(ends.take(2)),
    ]
}
