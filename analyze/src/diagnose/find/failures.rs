//! `sched.failed`: partitions and jobs that failed with a reason of their own, one that names
//! neither a CUDA error nor a panic that another finder reports.
//!
//! A failure line that quotes a panic or a CUDA error belongs to that error's finding. Error
//! lines without a job are only gathered here (`run.error_line`, a warning), since a line alone
//! does not show that anything failed. The benchmark client's FAILED lines count when the
//! daemon's log says nothing of the failure.

use tracefmt::finding::{Code, PartitionRef, Severity};
use tracefmt::run::{JobOutcome, LineRef, Trouble};

use super::super::classify::Topic;
use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    [failed(scene), error_lines(scene)]
        .into_iter()
        .flatten()
        .collect()
}

/// Topics that explain a failed job by themselves.
const fn explains(topic: Topic) -> bool {
    matches!(
        topic,
        Topic::DeviceMemory
            | Topic::Sticky(_)
            | Topic::Cuda(_)
            | Topic::Panic
            | Topic::Abort
            | Topic::BadProof
            | Topic::HostKill
    )
}

fn failed(scene: &Scene<'_>) -> Option<Draft> {
    let own: Vec<&Trouble> = scene
        .about(Topic::Failure)
        .filter(|t| !echoes(scene, t))
        .collect();
    let mut lines: Vec<LineRef> = own.iter().map(|trouble| trouble.line).collect();
    let mut names: Vec<PartitionRef> = own
        .iter()
        .filter_map(|trouble| Some(scene.name(scene.task_of(trouble)?)))
        .collect();
    let mut words: Vec<String> = own.iter().map(|trouble| trouble.text.clone()).collect();
    let explained = scene.troubles.iter().any(|(topic, _)| explains(*topic)) || !own.is_empty();
    for job in scene
        .run
        .jobs
        .iter()
        .filter(|job| job.outcome == JobOutcome::Failed)
    {
        if explained {
            continue;
        }
        lines.extend(job.ended.map(|end| end.line));
        names.push(PartitionRef {
            job: job.id.clone(),
            partition: None,
        });
        words.extend(job.error.clone());
    }
    if lines.is_empty() && names.is_empty() {
        return None;
    }
    names.dedup();
    let count = names.len().max(own.len()).max(1);
    let reason = words.first().map_or_else(
        || "The log gives no reason.".to_owned(),
        |words| format!("The first reason given: {}.", clip(words)),
    );
    let what = if names.iter().all(|name| name.partition.is_none()) {
        "job"
    } else {
        "partition"
    };
    let draft = Draft::new(
        Code::SchedFailed,
        Severity::Error,
        Role::Primary,
        format!(
            "{} failed with a reason of {} own",
            many(count as u64, what),
            its(count)
        ),
    )
    .of_run(scene.run.index)
    .because(reason)
    .fix("Act on the reason given, then submit the job again.")
    .counting(count)
    .about(names)
    .quoting(lines);
    Some(match own.first() {
        Some(first) if count == 1 => scene.place(draft, first),
        _ => draft,
    })
}

const fn its(count: usize) -> &'static str {
    if count == 1 { "its" } else { "their" }
}

fn clip(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Whether a failure line only repeats what a panic or a CUDA error of the same run, shortly
/// before it, said: same task or same job, or no more than three lines behind it.
fn echoes(scene: &Scene<'_>, failure: &Trouble) -> bool {
    scene.troubles.iter().any(|(topic, earlier)| {
        explains(*topic)
            && earlier.line <= failure.line
            && (near(earlier.line, failure.line)
                || (failure.task.is_some() && earlier.task == failure.task)
                || (failure.task.is_none() && failure.job.is_some() && earlier.job == failure.job))
    })
}

const fn near(earlier: LineRef, later: LineRef) -> bool {
    earlier.input == later.input && later.line.saturating_sub(earlier.line) <= 3
}

fn error_lines(scene: &Scene<'_>) -> Option<Draft> {
    let troubles: Vec<&Trouble> = scene.about(Topic::ErrorLine).collect();
    let first = *troubles.first()?;
    let draft = Draft::new(
        Code::RunErrorLine,
        Severity::Warning,
        Role::Beside,
        format!("{} of level ERROR", many(troubles.len() as u64, "line")),
    )
    .of_run(scene.run.index)
    .because(format!(
        "The first is {}: {}.",
        scene.spot(first.line),
        clip(&first.text)
    ))
    .fix("Read them; no job or partition can be seen to fail of them.")
    .counting(troubles.len())
    .quoting(troubles.iter().map(|trouble| trouble.line));
    Some(scene.place(draft, first))
}
