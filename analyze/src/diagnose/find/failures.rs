//! `sched.failed`: partitions and jobs that failed with a reason of their own, one that names
//! neither a CUDA error nor a panic that another finder reports.
//!
//! A failure line that quotes a panic or a CUDA error belongs to that error's finding. Error
//! lines without a job are only gathered here (`run.error_line`, a warning), since a line alone
//! does not show that anything failed. The benchmark client's FAILED lines count when the
//! daemon's log says nothing of the failure.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::finding::{Code, PartitionRef, Severity};
use tracefmt::run::{JobOutcome, LineRef, Trouble};

use super::super::classify::Topic;
use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let mut drafts = failed(scene);
    drafts.extend(error_lines(scene));
    drafts
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

/// Failures for one reason.
#[derive(Default)]
struct Group<'a> {
    first: Option<&'a Trouble>,
    told: usize,
    lines: Vec<LineRef>,
    names: Vec<PartitionRef>,
    words: Option<String>,
}

/// The text with its numbers taken out, so that two failures of one kind look the same.
fn kind(words: &str) -> String {
    words.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn failed(scene: &Scene<'_>) -> Vec<Draft> {
    let explained = Explained::of(scene);
    let failures = scene.about(Topic::Failure);
    let own: Vec<&Trouble> = failures.filter(|t| !explained.covers(t)).collect();
    let mut groups: BTreeMap<String, Group<'_>> = BTreeMap::new();
    for trouble in &own {
        let group = groups.entry(kind(&trouble.text)).or_default();
        group.first.get_or_insert(trouble);
        group.told += 1;
        group.lines.push(trouble.line);
        let name = scene.task_of(trouble).map(|task| scene.name(task));
        group.names.extend(name);
        group.words.get_or_insert_with(|| trouble.text.clone());
    }
    let told: BTreeSet<u32> = own.iter().filter_map(|trouble| trouble.job).collect();
    for (index, job) in (0_u32..).zip(&scene.run.jobs) {
        let known = explained.nameless || explained.jobs.contains_key(&index);
        if job.outcome != JobOutcome::Failed || known || told.contains(&index) {
            continue;
        }
        let words = job.error.as_deref().unwrap_or_default();
        let group = groups.entry(kind(words)).or_default();
        group.lines.extend(job.ended.map(|end| end.line));
        group.names.push(PartitionRef {
            job: job.id.clone(),
            partition: None,
        });
        if group.words.is_none() {
            group.words.clone_from(&job.error);
        }
    }
    let groups = groups.into_values();
    groups.map(|group| draft(scene, group)).collect()
}

fn draft(scene: &Scene<'_>, mut group: Group<'_>) -> Draft {
    group.names.dedup();
    let count = group.names.len().max(group.told).max(1);
    let reason = group.words.as_deref().map_or_else(
        || "The log gives no reason.".to_owned(),
        |words| format!("The first reason given: {}.", clip(words)),
    );
    let what = if group.names.iter().all(|name| name.partition.is_none()) {
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
    .about(group.names)
    .quoting(group.lines);
    match group.first {
        Some(first) if count == 1 => scene.place(draft, first),
        _ => draft,
    }
}

const fn its(count: usize) -> &'static str {
    if count == 1 { "its" } else { "their" }
}

fn clip(text: &str) -> String {
    text.chars().take(200).collect()
}

/// What panics and CUDA errors explain: nearby lines, and tasks and jobs from their line on.
#[derive(Default)]
struct Explained {
    lines: Vec<LineRef>,
    tasks: BTreeMap<u32, LineRef>,
    jobs: BTreeMap<u32, LineRef>,
    /// One of them belongs to nobody, and may be behind any failure.
    nameless: bool,
}

impl Explained {
    fn of(scene: &Scene<'_>) -> Self {
        let mut explained = Self::default();
        for (_, trouble) in scene.troubles.iter().filter(|(topic, _)| explains(*topic)) {
            explained.lines.push(trouble.line);
            explained.nameless |= trouble.job.is_none();
            if let Some(task) = trouble.task {
                explained.tasks.entry(task).or_insert(trouble.line);
            }
            if let Some(job) = trouble.job {
                explained.jobs.entry(job).or_insert(trouble.line);
            }
        }
        explained.lines.sort_unstable();
        explained
    }

    /// Whether a failure line only repeats what a panic or a CUDA error said before it: of the
    /// same task, of the same job if the line names no task, or a few lines above.
    fn covers(&self, failure: &Trouble) -> bool {
        let before = |line: Option<&LineRef>| line.is_some_and(|line| *line <= failure.line);
        let behind = self.lines.partition_point(|line| *line <= failure.line);
        let last = behind.checked_sub(1).and_then(|at| self.lines.get(at));
        last.is_some_and(|last| near(*last, failure.line))
            || failure
                .task
                .is_some_and(|task| before(self.tasks.get(&task)))
            || (failure.task.is_none()
                && failure.job.is_some_and(|job| before(self.jobs.get(&job))))
    }
}

const fn near(earlier: LineRef, later: LineRef) -> bool {
    earlier.input() == later.input() && later.line.saturating_sub(earlier.line) <= 3
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
