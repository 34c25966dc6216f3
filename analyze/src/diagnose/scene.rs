//! What a finder looks at: one run with its trouble lines sorted by topic, and the counts that
//! several finders need. Nothing is judged here.

use tracefmt::finding::PartitionRef;
use tracefmt::run::{JobOutcome, LineRef, Outcome, Run, Task, Trace, Trouble, TroubleClass};

use super::classify::{Topic, topic};
use super::draft::Draft;
use super::model::{JobCounts, PartitionCounts};

/// One run, ready to be searched.
pub(crate) struct Scene<'a> {
    /// All inputs.
    pub(crate) trace: &'a Trace,
    /// The run.
    pub(crate) run: &'a Run,
    /// Its trouble lines with what they are about, in file order.
    pub(crate) troubles: Vec<(Topic, &'a Trouble)>,
    /// Its jobs in numbers.
    pub(crate) jobs: JobCounts,
    /// Its partitions in numbers.
    pub(crate) partitions: PartitionCounts,
}

impl<'a> Scene<'a> {
    /// `calls` are the failed device calls of the run, which are trouble as well.
    pub(crate) fn new(trace: &'a Trace, run: &'a Run, calls: &'a [Trouble]) -> Self {
        let mut troubles: Vec<&Trouble> = run.troubles.iter().chain(calls).collect();
        if !calls.is_empty() {
            troubles.sort_by_key(|trouble| trouble.line);
        }
        Self {
            trace,
            run,
            troubles: topics(&troubles),
            jobs: count_jobs(run),
            partitions: count_partitions(run),
        }
    }

    /// The trouble lines of one topic.
    pub(crate) fn about(&self, wanted: Topic) -> impl Iterator<Item = &'a Trouble> {
        self.troubles
            .iter()
            .filter(move |(topic, _)| *topic == wanted)
            .map(|(_, trouble)| *trouble)
    }

    /// Id of a job.
    pub(crate) fn job_id(&self, job: u32) -> &'a str {
        self.run.jobs.get(job as usize).map_or("?", |job| &job.id)
    }

    /// Outcome of the job of a task.
    pub(crate) fn job_outcome(&self, task: &Task) -> JobOutcome {
        let job = self.run.jobs.get(task.job as usize);
        job.map_or(JobOutcome::Open, |job| job.outcome)
    }

    /// A task as findings name it.
    pub(crate) fn name(&self, task: &Task) -> PartitionRef {
        PartitionRef {
            job: self.job_id(task.job).to_owned(),
            partition: task.partition,
        }
    }

    /// The task of a trouble line.
    pub(crate) fn task_of(&self, trouble: &Trouble) -> Option<&'a Task> {
        self.run.tasks.get(trouble.task? as usize)
    }

    /// Fills job, partition, worker and GPU of a draft from a trouble line.
    pub(crate) fn place(&self, mut draft: Draft, trouble: &Trouble) -> Draft {
        let task = self.task_of(trouble);
        let job = trouble.job.or(task.map(|task| task.job));
        draft.finding.job = job.map(|job| self.job_id(job).to_owned());
        if let Some(task) = task {
            draft.finding.partition = task.partition;
            draft.finding.worker = task.worker;
            draft.finding.gpu = task.gpu;
        }
        draft
    }

    /// Whether a job or a partition of the run failed by the log's own words.
    pub(crate) fn failed(&self) -> bool {
        self.jobs.failed > 0 || self.partitions.failed > 0
    }

    /// Where a line stands, in words.
    pub(crate) fn spot(&self, line: LineRef) -> String {
        spot(self.trace, line)
    }
}

/// The message of a panic stands at most so many lines below its header.
const MESSAGE_LINES_MAX: u32 = 3;

/// What each trouble line is about. A panic's header names only a place; when the message below
/// it is a failed CUDA call, the panic is about that.
fn topics<'a>(troubles: &[&'a Trouble]) -> Vec<(Topic, &'a Trouble)> {
    let mut topics: Vec<(Topic, &Trouble)> = troubles.iter().map(|t| (topic(t), *t)).collect();
    for at in (1..topics.len()).rev() {
        let Some((message, below)) = topics.get(at).copied() else {
            continue;
        };
        let Some((header, above)) = topics.get_mut(at - 1) else {
            continue;
        };
        let reach = above.line.line.saturating_add(MESSAGE_LINES_MAX);
        let near = above.line.input() == below.line.input() && below.line.line <= reach;
        if *header == Topic::Panic && below.kind == TroubleClass::Cuda && near {
            *header = message;
        }
    }
    topics
}

/// Where a line stands: `line 7`, or `path:7` when there are several inputs.
pub(crate) fn spot(trace: &Trace, line: LineRef) -> String {
    match trace.place(line) {
        Some((path, number)) if trace.has_several_files() => format!("{path}:{number}"),
        _ => format!("line {}", line.line),
    }
}

/// `1 partition`, `2 partitions`.
pub(crate) fn many(count: u64, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

fn count_jobs(run: &Run) -> JobCounts {
    let mut counts = JobCounts::default();
    for job in &run.jobs {
        counts.total += 1;
        match job.outcome {
            JobOutcome::Open => counts.open += 1,
            JobOutcome::Completed => counts.completed += 1,
            JobOutcome::Failed => counts.failed += 1,
            JobOutcome::Cancelled => counts.cancelled += 1,
        }
        let mut tasks = job.tasks.iter().map(|task| run.tasks.get(*task as usize));
        let by_parts = !job.tasks.is_empty()
            && job
                .partitions
                .is_none_or(|all| all as usize == job.tasks.len())
            && tasks.all(|task| task.is_some_and(|task| task.verified == Some(true)));
        match job.verified {
            Some((true, _)) => counts.verified += 1,
            Some((false, _)) => counts.invalid += 1,
            None if by_parts => counts.verified += 1,
            None => {}
        }
    }
    counts
}

fn count_partitions(run: &Run) -> PartitionCounts {
    let mut counts = PartitionCounts::default();
    for task in &run.tasks {
        counts.total += 1;
        let job = run.jobs.get(task.job as usize);
        let cancelled = job.is_some_and(|job| job.outcome == JobOutcome::Cancelled);
        match task.outcome {
            Outcome::Completed => counts.completed += 1,
            Outcome::Failed | Outcome::Skipped | Outcome::Discarded => counts.failed += 1,
            _ if cancelled => counts.cancelled += 1,
            Outcome::Synthesizing
            | Outcome::Synthesized
            | Outcome::Queued
            | Outcome::PickedUp
            | Outcome::Proving => counts.open += 1,
        }
        let with_job = job.is_some_and(|job| matches!(job.verified, Some((true, _))));
        if task.verified == Some(true) || (with_job && task.verified.is_none()) {
            counts.verified += 1;
        }
    }
    // Announced, and never begun.
    for job in &run.jobs {
        let missing = u64::from(job.partitions.unwrap_or(0)).saturating_sub(job.tasks.len() as u64);
        counts.total += missing;
        match job.outcome {
            JobOutcome::Failed => counts.failed += missing,
            JobOutcome::Cancelled => counts.cancelled += missing,
            JobOutcome::Open | JobOutcome::Completed => counts.open += missing,
        }
    }
    counts
}
