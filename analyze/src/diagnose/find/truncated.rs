//! `run.truncated`: the log is cut, the process was killed, or a new daemon starts while jobs of
//! the old one are open.
//!
//! A log cut inside a line, and one that ends or is taken over while jobs of a dead process are
//! open, are visible failures, so they are errors. Where all jobs seen had ended, a last line that
//! only lacks its line end, or a trace of ours without `TRACE_END`, is a warning: what came after
//! is not known, and nothing seen is affected. So is a log that merely ends while jobs are open,
//! which shows no sign of death (the verdict is inconclusive), and a cut line in an input without
//! any job (an excerpt). Where the archive of the log is damaged, that is said in its place. It
//! does not see a log cut exactly at a line end after its last job, and cannot tell a killed
//! process from a copy that broke off.

use tracefmt::finding::{Code, Severity};
use tracefmt::input::{Damage, Fault};
use tracefmt::run::{LineRef, Outcome, Run, RunEnd};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(crate) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let run = scene.run;
    if let Some(damage) = &run.damage {
        return vec![damaged(scene, damage)];
    }
    let open = scene.jobs.open;
    let (severity, title) = match run.end {
        RunEnd::Complete | RunEnd::Aborted => return Vec::new(),
        RunEnd::Cut | RunEnd::Restarted if open == 0 => ended(scene),
        RunEnd::Cut => (
            Severity::Error,
            format!("The log is cut while {} open", are_open(open)),
        ),
        RunEnd::Restarted => (
            Severity::Error,
            format!("Another daemon starts while {} open", are_open(open)),
        ),
        RunEnd::Open => (
            Severity::Warning,
            format!("The log ends while {} open", are_open(open)),
        ),
    };
    let role = if severity == Severity::Error {
        Role::Primary
    } else {
        Role::Beside
    };
    let mut draft = Draft::new(Code::RunTruncated, severity, role, title)
        .of_run(run.index)
        .because(explanation(scene))
        .fix(fix(scene))
        .quoting([run.last].into_iter().chain(next_first(scene)));
    // It happens at the run's last line, whatever else is quoted.
    draft.at = run.last;
    vec![draft]
}

/// The archive of the log is damaged, so that nothing can be said of the process: a log that is
/// whole but for its archive is a warning.
fn damaged(scene: &Scene<'_>, damage: &Damage) -> Draft {
    let run = scene.run;
    let is_corrupt = damage.fault == Fault::Corrupt;
    let is_whole = run.end == RunEnd::Complete && scene.jobs.open == 0;
    let (severity, role) = if is_whole && !is_corrupt {
        (Severity::Warning, Role::Beside)
    } else {
        (Severity::Error, Role::Primary)
    };
    let what = match damage.fault {
        Fault::Cut => "is cut",
        Fault::Corrupt => "is damaged",
        Fault::Behind => "is followed by something else",
    };
    let ended = match scene.jobs.open {
        0 => ", after all jobs seen had ended".to_owned(),
        open => format!(" while {} open", are_open(open)),
    };
    let trust = if is_corrupt {
        "What was read before may be wrong, and what follows from it is no certain sign."
    } else {
        "What was read before it is used as it is; what comes behind it is not known."
    };
    let why = format!(
        "At byte {} of what is in it, {} says: {}. {trust} Nothing says that the process died. {}",
        damage.at,
        damage.compression,
        damage.reason,
        state(scene)
    );
    let mut draft = Draft::new(
        Code::RunTruncated,
        severity,
        role,
        format!("The archive of the log {what}{ended}"),
    )
    .of_run(run.index)
    .because(why)
    .fix("Take the archive again from where it was made (gzip -t or zstd -t tells a whole one).")
    .quoting([run.last]);
    // Of a corrupt one no line is sure, so that nothing comes before it.
    draft.at = if is_corrupt { run.first } else { run.last };
    draft
}

/// How a log stops of which no job is open.
fn ended(scene: &Scene<'_>) -> (Severity, String) {
    let (severity, what) = if scene.run.ends_in_a_piece() {
        (Severity::Error, "The last line is cut")
    } else if scene.run.lacks_end {
        (Severity::Warning, "The log has no TRACE_END")
    } else {
        (Severity::Warning, "The last line has no line end")
    };
    if scene.jobs.total == 0 {
        return (Severity::Warning, what.to_owned());
    }
    (severity, format!("{what}, after all jobs seen had ended"))
}

fn are_open(jobs: u64) -> String {
    if jobs == 1 {
        "1 job is".to_owned()
    } else {
        format!("{jobs} jobs are")
    }
}

/// The first line of the next run, which shows the restart.
fn next_first(scene: &Scene<'_>) -> Option<LineRef> {
    let next = scene.trace.runs.get(scene.run.index as usize + 1)?;
    (scene.run.end == RunEnd::Restarted).then_some(next.first)
}

fn explanation(scene: &Scene<'_>) -> String {
    let run = scene.run;
    let at = scene.spot(run.last);
    let first = match run.end {
        RunEnd::Cut if run.lacks_end => format!(
            "The writer of this log ends it with TRACE_END, and none stands up to {at}: the \
             process died, the log was taken while it ran, or the copy ends here."
        ),
        RunEnd::Cut if scene.jobs.open == 0 && !run.ends_in_a_piece() => format!(
            "The last line, {at}, has no line end: the log was taken while it was written, or it \
             ends later than this."
        ),
        RunEnd::Cut => format!(
            "The log breaks off in the middle of {at}: the process was killed, or the copy of the \
             log ends here."
        ),
        RunEnd::Restarted => format!(
            "From {at} on a new daemon writes to the same log; the old one never said that it was \
             done."
        ),
        _ => format!(
            "The log ends with {at}. No panic, no error and no cut line says that the process \
             died, so it may have been running still when the log was taken."
        ),
    };
    format!("{first} {}", state(scene))
}

/// What was going on at the end.
fn state(scene: &Scene<'_>) -> String {
    let (jobs, partitions) = (scene.jobs, scene.partitions);
    if jobs.total == 0 {
        return "No job can be seen in it.".to_owned();
    }
    if jobs.open == 0 {
        return format!(
            "All {} of {} had ended by then; what came after it cannot be known.",
            many(partitions.total, "partition"),
            many(jobs.total, "job"),
        );
    }
    let stages = stages(scene.run);
    let stages = if stages.is_empty() {
        String::new()
    } else {
        format!(" ({stages})")
    };
    format!(
        "{} of {} had completed; {} had ended and {} were on their way{stages}.",
        jobs.completed,
        many(jobs.total, "job"),
        many(partitions.completed, "partition"),
        partitions.open,
    )
}

/// How many partitions were in which stage.
fn stages(run: &Run) -> String {
    let rows = [
        (Outcome::Proving, "on a GPU"),
        (Outcome::PickedUp, "picked up"),
        (Outcome::Queued, "queued"),
        (Outcome::Synthesized, "synthesized"),
        (Outcome::Synthesizing, "in synthesis"),
    ];
    let count = |stage| {
        run.tasks
            .iter()
            .filter(|task| task.outcome == stage)
            .count()
    };
    let parts: Vec<String> = rows
        .into_iter()
        .map(|(stage, words)| (count(stage), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    parts.join(", ")
}

fn fix(scene: &Scene<'_>) -> &'static str {
    match scene.run.end {
        RunEnd::Open => {
            "Take the log again when the daemon is done, or ask the daemon for its status. If the \
             process is gone, look for its end in the journal and in dmesg."
        }
        _ if scene.jobs.open == 0 => {
            "Take the whole log again if you need what came after; the jobs seen here are not \
             affected."
        }
        _ => {
            "Look in the journal and in dmesg for who ended the process (out-of-memory killer, \
             kill -9, power), then submit the open jobs again. Complete jobs keep their proofs."
        }
    }
}
