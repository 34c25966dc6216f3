//! `run.truncated` of a log with a hole: its own numbers say that there was more than it holds.
//!
//! Two numbers are held against what was read: the counts of `TRACE_END`, and the partitions that
//! a job's `JOB_SUBMIT` announces (in old logs the length of its proof, 192 bytes a partition).
//! Only of jobs that ended well: what is missing of a failed or an open one is lost, not unlogged.
//! A log with torn lines or unreadable events says so already. Where a trace holds what its
//! `TRACE_END` counts, no line is lost, and a job that ended well without all its partitions is
//! `sched.never_started`, or, where those partitions are seen to stop on their way, what says where
//! (`sched.never_ended`, `sched.never_picked`). It does not see a hole that takes the numbers with
//! it; a trace of ours that begins without `TRACE_START` and ends without counts is a warning.

use tracefmt::finding::{Code, Severity};
use tracefmt::run::{Job, JobOutcome, LineRef, Outcome, Task};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};
use super::lost::{Stage, stage};

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
            if let Some(announced) = announced(scene, job) {
                lines.extend(job.ended.map(|end| end.line));
                said.push(hole(scene, job, announced));
            }
        }
    }
    if said.is_empty() {
        return headless(scene);
    }
    if run.is_counted() {
        return lost_by_the_engine(scene);
    }
    let told = told(&said);
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

/// No line is missing: jobs were called done without these partitions. Those of which nothing ended
/// are told of by where they stopped, the others by their number.
fn lost_by_the_engine(scene: &Scene<'_>) -> Vec<Draft> {
    let jobs = scene.run.jobs.iter();
    let jobs = jobs.filter_map(|job| Some((job, announced(scene, job)?)));
    let mut stopped: Vec<&Task> = Vec::new();
    let mut unseen: Vec<(&Job, u64)> = Vec::new();
    for (job, announced) in jobs {
        let open: Vec<&Task> = tasks(scene, job)
            .filter(|task| stage(task).is_some())
            .collect();
        if ended(scene, job) + open.len() as u64 != announced {
            unseen.push((job, announced));
        }
        stopped.extend(open);
    }
    let mut drafts = Vec::new();
    for at in [Stage::Gpu, Stage::Pickup, Stage::Queue, Stage::Synthesis] {
        let here = stopped.iter().copied();
        let here: Vec<&Task> = here.filter(|task| stage(task) == Some(at)).collect();
        if !here.is_empty() {
            drafts.push(stopped_on_its_way(scene, at, &here));
        }
    }
    if !unseen.is_empty() {
        drafts.push(never_seen(scene, &unseen));
    }
    drafts
}

/// Partitions of jobs that ended well that are seen to stop at one stage.
fn stopped_on_its_way(scene: &Scene<'_>, at: Stage, tasks: &[&Task]) -> Draft {
    let (code, what) = at.lost();
    let count = tasks.len();
    let proven = tasks.iter().filter(|task| task.verified == Some(true));
    let proven = proven.count();
    let (proof, fix) = if proven == count {
        let proof = match count {
            1 => "Its proof was checked and holds (PROOF_OK).".to_owned(),
            n => format!("The proofs of all {n} were checked and hold (PROOF_OK)."),
        };
        let fix = "The proofs are good; look at what ends a partition without saying so.";
        (proof, fix)
    } else {
        let proof = match (proven, count) {
            (0, 1) => "No check of its proof is recorded.".to_owned(),
            (0, _) => "No checks of their proofs are recorded.".to_owned(),
            (n, all) => format!("{n} of {all} proofs were checked and hold (PROOF_OK)."),
        };
        let fix = "Do not use a proof that was not checked; look at what counts the partitions of \
                   a job as done.";
        (proof, fix)
    };
    let last = tasks.iter().filter_map(|task| task.moments().next_back());
    Draft::new(
        code,
        Severity::Error,
        Role::Primary,
        format!("{} {what}, though the job ended well", name(tasks)),
    )
    .of_run(scene.run.index)
    .because(format!(
        "The trace holds all events that its TRACE_END counts, so no line is missing: the engine \
         called the job done without the end of this stage. {proof}"
    ))
    .fix(fix)
    .counting(count)
    .about_tasks(scene, tasks)
    .quoting(last.map(|(_, at)| at.line))
}

/// "Partition 1 of job j", or how many.
fn name(tasks: &[&Task]) -> String {
    match tasks {
        [
            Task {
                partition: Some(partition),
                ..
            },
        ] => format!("Partition {partition}"),
        _ => many(tasks.len() as u64, "partition"),
    }
}

/// Jobs that ended well although partitions of them were never heard of.
fn never_seen(scene: &Scene<'_>, jobs: &[(&Job, u64)]) -> Draft {
    let said = jobs.iter();
    let said: Vec<String> = said
        .map(|(job, announced)| hole(scene, job, *announced))
        .collect();
    let told = told(&said);
    let title = format!(
        "{} ended well without all partitions",
        many(jobs.len() as u64, "job")
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
    .counting(jobs.len())
    .quoting(
        jobs.iter()
            .filter_map(|(job, _)| job.ended)
            .map(|end| end.line),
    )
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

fn tasks<'a>(scene: &Scene<'a>, job: &'a Job) -> impl Iterator<Item = &'a Task> {
    let run = scene.run;
    let tasks = job.tasks.iter();
    tasks.filter_map(|at| run.tasks.get(*at as usize))
}

/// How many partitions of a job ended.
fn ended(scene: &Scene<'_>, job: &Job) -> u64 {
    let done = |task: &&Task| task.outcome == Outcome::Completed;
    tasks(scene, job).filter(done).count() as u64
}

/// How many partitions a completed job has, where other numbers of them ended.
fn announced(scene: &Scene<'_>, job: &Job) -> Option<u64> {
    let monolithic = || tasks(scene, job).any(|task| task.partition.is_none());
    if job.outcome != JobOutcome::Completed || monolithic() {
        return None;
    }
    let ended = ended(scene, job);
    let by_length = || {
        let whole = job
            .proof_len
            .filter(|bytes| ended > 0 && bytes % PROOF_BYTES == 0);
        whole.map(|bytes| bytes / PROOF_BYTES)
    };
    let announced = job.partitions.map(u64::from).or_else(by_length);
    // A retry under the same id may end more than the length tells.
    let differs = |all: &u64| *all > ended || (job.partitions.is_some() && *all != ended);
    announced.filter(differs)
}

/// What a completed job lacks.
fn hole(scene: &Scene<'_>, job: &Job, announced: u64) -> String {
    format!(
        "job {} has {}, of which {} ended",
        job.id,
        many(announced, "partition"),
        ended(scene, job)
    )
}
