//! `sched.never_started`, `sched.never_ended`, `sched.never_picked`: partitions lost on the way,
//! by the stage they were lost in.
//!
//! A partition of a failed job was given up with it, so it follows from that failure. One that
//! was open when a log is cut or its process dies was lost with the process. In a log that merely
//! ends, it may still be on its way: a warning, unless its worker went on to end several others
//! (then it is lost for certain). Partitions of completed jobs are never lost: old engines
//! leave lines out. Partitions that never printed an event cannot be seen.

use std::collections::BTreeMap;

use tracefmt::finding::{Code, Severity};
use tracefmt::run::{JobOutcome, LineRef, Outcome, RunEnd, Task};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

/// A worker that has ended this many calls behind an open one will not end it any more. Engines
/// with a split prove call overlap two calls of a worker, so one or two say nothing.
const LATER_CALLS_MIN: usize = 3;

/// The stage that a partition was lost in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Synthesis,
    Queue,
    Pickup,
    Gpu,
}

impl Stage {
    /// The code of a partition that was lost here, and what it did and did not.
    pub(super) const fn lost(self) -> (Code, &'static str) {
        match self {
            Self::Gpu => (Code::SchedNeverEnded, "started on a GPU and never ended"),
            Self::Pickup => (Code::SchedNeverStarted, "picked up and never started"),
            Self::Queue => (Code::SchedNeverPicked, "queued and never picked up"),
            Self::Synthesis => (Code::SchedNeverEnded, "began synthesis and never ended it"),
        }
    }
}

/// What became of the partition's job or process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    JobFailed,
    ProcessEnded,
    LogEnds,
    Overtaken,
}

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let ended = Ended::of(scene);
    let lost: Vec<(Stage, Fate, &Task)> = scene
        .run
        .tasks
        .iter()
        .filter_map(|task| Some((stage(task)?, fate(scene, &ended, task)?, task)))
        .collect();
    let mut drafts = Vec::new();
    for stage in [Stage::Gpu, Stage::Pickup, Stage::Queue, Stage::Synthesis] {
        for fate in [
            Fate::Overtaken,
            Fate::JobFailed,
            Fate::ProcessEnded,
            Fate::LogEnds,
        ] {
            let tasks: Vec<&Task> = lost
                .iter()
                .filter(|(at, became, _)| *at == stage && *became == fate)
                .map(|(_, _, task)| *task)
                .collect();
            if !tasks.is_empty() {
                let mut draft = draft(scene, stage, fate, &tasks);
                if fate == Fate::Overtaken {
                    // The failure lies between the partition's last line and its worker's next
                    // call: whatever stands between the two is the earlier one.
                    let shows = tasks.iter().filter_map(|task| ended.overtook(task)).min();
                    draft.at = shows.unwrap_or(draft.at);
                }
                drafts.push(draft);
            }
        }
    }
    drafts
}

/// Where the partition stopped; none when it ended.
pub(super) const fn stage(task: &Task) -> Option<Stage> {
    if task.gpu_end.is_some() || matches!(task.outcome, Outcome::Completed | Outcome::Discarded) {
        None
    } else if task.gpu_start.is_some() {
        Some(Stage::Gpu)
    } else if task.pickup.is_some() {
        Some(Stage::Pickup)
    } else if task.queued.is_some() || task.synth_end.is_some() {
        Some(Stage::Queue)
    } else if task.synth_start.is_some() {
        Some(Stage::Synthesis)
    } else {
        None
    }
}

fn fate(scene: &Scene<'_>, ended: &Ended, task: &Task) -> Option<Fate> {
    let own = matches!(task.outcome, Outcome::Failed | Outcome::Skipped);
    match scene.job_outcome(task) {
        JobOutcome::Completed | JobOutcome::Cancelled => None,
        JobOutcome::Failed => Some(Fate::JobFailed),
        JobOutcome::Open if own => Some(Fate::JobFailed),
        JobOutcome::Open if ended.overtook(task).is_some() => Some(Fate::Overtaken),
        JobOutcome::Open => Some(match scene.run.end {
            RunEnd::Cut | RunEnd::Restarted | RunEnd::Aborted => Fate::ProcessEnded,
            RunEnd::Complete | RunEnd::Open => Fate::LogEnds,
        }),
    }
}

/// Per worker the starts of the calls that ended, sorted by time.
struct Ended(BTreeMap<u32, Vec<(i64, LineRef)>>);

impl Ended {
    fn of(scene: &Scene<'_>) -> Self {
        let mut starts: BTreeMap<u32, Vec<(i64, LineRef)>> = BTreeMap::new();
        for task in scene.run.tasks.iter().filter(|task| task.gpu_end.is_some()) {
            if let (Some(worker), Some(start)) = (task.worker, task.gpu_start) {
                starts
                    .entry(worker)
                    .or_default()
                    .push((start.us, start.line));
            }
        }
        for starts in starts.values_mut() {
            starts.sort_unstable();
        }
        Self(starts)
    }

    /// Where the partition's worker went on, if it has since ended several others.
    fn overtook(&self, task: &Task) -> Option<LineRef> {
        let starts = self.0.get(&task.worker?)?;
        let at = task.gpu_start.or(task.pickup)?;
        let first = starts.partition_point(|(us, _)| *us <= at.us);
        let later = starts.get(first..).unwrap_or_default().iter();
        let mut behind = later.map(|(_, line)| *line).filter(|line| *line > at.line);
        let next = behind.next();
        next.filter(|_| behind.take(LATER_CALLS_MIN - 1).count() == LATER_CALLS_MIN - 1)
    }
}

fn draft(scene: &Scene<'_>, stage: Stage, fate: Fate, tasks: &[&Task]) -> Draft {
    let (code, what) = stage.lost();
    let (severity, role, why, fix) = match fate {
        Fate::JobFailed => (
            Severity::Error,
            Role::Follower,
            "Their jobs failed, or they died of a failure of their own.",
            "Mend the failure that came first, then submit the jobs again.",
        ),
        Fate::ProcessEnded => (
            Severity::Error,
            Role::LostAtEnd,
            "They were on their way when the process or the log ended.",
            "Submit their jobs again.",
        ),
        Fate::LogEnds => (
            Severity::Warning,
            Role::LostAtEnd,
            "They were on their way when the log ends; they may have ended since.",
            "Take the log again, or ask the daemon for its status.",
        ),
        Fate::Overtaken => (
            Severity::Error,
            Role::Primary,
            "Their worker went on and ended at least three others, so they will not end any \
             more, and their jobs wait for ever.",
            "Restart the daemon and submit the jobs again; look above for the task that died \
             without a word.",
        ),
    };
    let count = tasks.len() as u64;
    let last = tasks.iter().filter_map(|task| task.moments().next_back());
    Draft::new(
        code,
        severity,
        role,
        format!("{} {what}", many(count, "partition")),
    )
    .of_run(scene.run.index)
    .because(format!("{why} {}.", of_jobs(tasks)))
    .fix(fix)
    .counting(tasks.len())
    .about_tasks(scene, tasks)
    .quoting(last.map(|(_, at)| at.line))
}

/// "They belong to 3 jobs".
fn of_jobs(tasks: &[&Task]) -> String {
    let mut jobs: Vec<u32> = tasks.iter().map(|task| task.job).collect();
    jobs.sort_unstable();
    jobs.dedup();
    format!("They belong to {}", many(jobs.len() as u64, "job"))
}
