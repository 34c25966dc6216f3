//! `run.truncated` of a log with a hole: its own numbers say that there was more than it holds.
//!
//! Two numbers are held against what was read: the counts of `TRACE_END`, and the partitions that
//! a job's `JOB_SUBMIT` announces (in old logs the length of its proof, 192 bytes a partition).
//! Only of jobs that ended well: what is missing of a failed or an open one is lost, not unlogged.
//! A log with torn lines or unreadable events says so already. Where a trace holds what its
//! `TRACE_END` counts, no line is lost, and a job that ended well without all its partitions is
//! `sched.never_started`. It does not see a hole that takes the numbers with it; a trace of ours
//! that begins without `TRACE_START` and ends without counts is a warning.

use tracefmt::finding::{Code, Severity};
use tracefmt::run::{Job, JobOutcome, LineRef, Outcome, Task};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

/// Bytes of the proof of one partition: two points of G1 and one of G2, compressed.
const PROOF_BYTES: u64 = 192;

/// Reasons that are told; the rest is counted.
const TOLD_MAX: usize = 4;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let run = scene.run;
    let mut lines: Vec<LineRef> = Vec::new();
    let mut said: Vec<String> = Vec::new();
    if let Some(miscount) = &run.miscount {
        lines.push(miscount.line);
        said.extend(miscount.kinds.iter().map(|(kind, written, here)| {
            format!("{}: {written} written, {here} here", kind.as_str())
        }));
    }
    if run.torn.lost.is_empty() && run.unread.count == 0 {
        for job in &run.jobs {
            if let Some(hole) = hole(scene, job) {
                lines.extend(job.ended.map(|end| end.line));
                said.push(hole);
            }
        }
    }
    if said.is_empty() {
        return headless(scene);
    }
    let told = told(&said);
    if run.is_counted() {
        return vec![lost_by_the_engine(scene, &told, &lines, said.len())];
    }
    let mut title = if run.lacks_start {
        "The beginning of the log is missing".to_owned()
    } else {
        "The log holds other events than it says itself".to_owned()
    };
    if scene.jobs.open == 0 {
        title.push_str(", after all jobs seen had ended");
    }
    let why = format!(
        "Lines were filtered out, lost, doubled or changed after they were written: {told}."
    );
    let mut fix = "Take the whole log as it was written".to_owned();
    fix.push_str(match run.miscount {
        Some(_) => "; cuzk trace lint names what differs.",
        None => ".",
    });
    let mut draft = Draft::new(Code::RunTruncated, Severity::Error, Role::Primary, title)
        .of_run(run.index)
        .because(why)
        .fix(fix)
        .counting(said.len())
        .quoting(lines);
    if let Some(miscount) = &run.miscount {
        // Nobody knows where the hole is: what the lines before show was there first.
        draft.at = miscount.line;
    }
    vec![draft]
}

/// The first reasons, and how many more there are.
fn told(said: &[String]) -> String {
    let more = match said.len().saturating_sub(TOLD_MAX) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let told: Vec<&str> = said.iter().take(TOLD_MAX).map(String::as_str).collect();
    format!("{}{more}", told.join("; "))
}

/// No line is missing: the job was called done without these partitions.
fn lost_by_the_engine(scene: &Scene<'_>, told: &str, lines: &[LineRef], count: usize) -> Draft {
    let title = format!(
        "{} ended well without all partitions",
        many(count as u64, "job")
    );
    Draft::new(
        Code::SchedNeverStarted,
        Severity::Error,
        Role::Primary,
        title,
    )
    .of_run(scene.run.index)
    .because(format!(
        "The trace holds all events that its TRACE_END counts, so no line is missing: {told}. \
             The engine called the job done too early."
    ))
    .fix("Do not use the proof; look at what counts the partitions of a job as done.")
    .counting(count)
    .quoting(lines.iter().copied())
}

/// A trace of ours without `TRACE_START`, and without counts that would say what is missing.
fn headless(scene: &Scene<'_>) -> Vec<Draft> {
    let run = scene.run;
    if !run.lacks_start {
        return Vec::new();
    }
    let draft = Draft::new(
        Code::RunTruncated,
        Severity::Warning,
        Role::Beside,
        "The beginning of the log is missing".to_owned(),
    )
    .of_run(run.index)
    .because(
        "A trace of this writer begins with TRACE_START, and this one does not: what happened \
         before cannot be known."
            .to_owned(),
    )
    .fix("Take the whole log.")
    .quoting([run.first]);
    vec![draft]
}

/// What a completed job lacks.
fn hole(scene: &Scene<'_>, job: &Job) -> Option<String> {
    let tasks = || {
        job.tasks
            .iter()
            .filter_map(|at| scene.run.tasks.get(*at as usize))
    };
    if job.outcome != JobOutcome::Completed || tasks().any(|task| task.partition.is_none()) {
        return None;
    }
    let done = |task: &&Task| task.outcome == Outcome::Completed;
    let ended = tasks().filter(done).count() as u64;
    let by_length = || {
        let whole = job
            .proof_len
            .filter(|bytes| ended > 0 && bytes % PROOF_BYTES == 0);
        whole.map(|bytes| bytes / PROOF_BYTES)
    };
    let announced = job.partitions.map(u64::from).or_else(by_length);
    // A retry under the same id may end more than the length tells.
    let differs = |all: &u64| *all > ended || (job.partitions.is_some() && *all != ended);
    announced.filter(differs).map(|announced| {
        format!(
            "job {} has {}, of which {ended} ended",
            job.id,
            many(announced, "partition")
        )
    })
}
