//! `perf.out_of_order`: a partition waits while later ones of its job go before it.
//!
//! Workers that take a partition and then race for memory or a permit go on in no order: the
//! fifth partition of a job is synthesized before its first, jobs interleave, and every job ends
//! late, since it is done with its last partition only.
//!
//! A later partition went before when it was *over* before this one began; two of them make a
//! finding. That some begin earlier than their neighbours, as threads do, is none. Not caught:
//! jobs that overtake each other, a single partition that another one passed (a retry looks like
//! that), and what is more than [`NEIGHBOURS_MAX`] partitions away.

use tracefmt::finding::{Code, Confidence, Finding, Severity};
use tracefmt::run::{At, Task};

use super::Sight;

/// How many later partitions of the job are looked at.
const NEIGHBOURS_MAX: usize = 64;
/// How many of them have to go before.
const PASSED_MIN: usize = 2;

/// Where it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Synthesis,
    Gpu,
}

impl Stage {
    const ALL: [Self; 2] = [Self::Synthesis, Self::Gpu];

    /// When a partition could begin here (if that is known), began, and was over.
    fn times(self, task: &Task) -> (Option<At>, Option<At>, Option<At>) {
        match self {
            Self::Synthesis => (None, task.synth_start, task.synth_end),
            Self::Gpu => (task.queued, task.pickup, task.gpu_end),
        }
    }

    /// Whether `later` was over before `task` began, although it could not begin sooner.
    fn is_passed(self, task: &Task, later: &Task) -> bool {
        let ((ready, began, _), (after, _, over)) = (self.times(task), self.times(later));
        let fair = match (self, ready, after) {
            (Self::Synthesis, ..) => true,
            (Self::Gpu, Some(ready), Some(after)) => ready.us <= after.us,
            (Self::Gpu, ..) => false,
        };
        fair && began
            .zip(over)
            .is_some_and(|(began, over)| over.us <= began.us)
    }
}

/// A partition that others went before.
struct Left<'a> {
    task: &'a Task,
    passed: Vec<&'a Task>,
}

/// The finding about a run, if there is one.
pub fn out_of_order(sight: &Sight<'_>) -> Option<Finding> {
    let left = left(&sight.run.tasks, &by_job(&sight.run.tasks));
    let mut found = Stage::ALL.into_iter().zip(left);
    let (stage, left) = found.find(|(_, left)| !left.is_empty())?;
    Some(finding(sight, stage, &left))
}

/// The tasks with a partition, by job and partition.
fn by_job(tasks: &[Task]) -> Vec<u32> {
    let keyed = |(index, task): (u32, &Task)| Some((task.job, task.partition?, index));
    let mut list: Vec<(u32, u32, u32)> = Vec::with_capacity(tasks.len());
    list.extend((0..).zip(tasks).filter_map(keyed));
    if !list.is_sorted() {
        list.sort_unstable();
    }
    list.into_iter().map(|(.., index)| index).collect()
}

/// The partitions that were left behind at each stage.
fn left<'a>(tasks: &'a [Task], order: &[u32]) -> [Vec<Left<'a>>; 2] {
    let task = |at: &u32| tasks.get(*at as usize);
    let mut found = [Vec::new(), Vec::new()];
    // When the first of the partitions behind in the same job was over: most are never passed.
    let mut first_over: Option<(u32, [i64; 2])> = None;
    for (at, this) in order.iter().enumerate().rev() {
        let Some(this) = task(this) else { continue };
        let behind = first_over.filter(|(job, _)| *job == this.job);
        let mut least = behind.map_or([i64::MAX; 2], |(_, least)| least);
        for ((stage, found), least) in Stage::ALL.into_iter().zip(&mut found).zip(&mut least) {
            let (_, began, over) = stage.times(this);
            if began.is_some_and(|began| *least <= began.us) {
                let later = order.iter().skip(at + 1).take(NEIGHBOURS_MAX);
                let passed = passed(this, later.filter_map(task), stage);
                if passed.len() >= PASSED_MIN {
                    found.push(Left { task: this, passed });
                }
            }
            *least = over.map_or(*least, |over| over.us.min(*least));
        }
        first_over = Some((this.job, least));
    }
    for found in &mut found {
        found.reverse();
    }
    found
}

/// The partitions that went before one, out of those that stand behind it.
fn passed<'a>(this: &Task, later: impl Iterator<Item = &'a Task>, stage: Stage) -> Vec<&'a Task> {
    let of_job = later.take_while(|later| later.job == this.job);
    let passed = of_job.filter(|later| later.partition > this.partition);
    passed
        .filter(|later| stage.is_passed(this, later))
        .collect()
}

fn finding(sight: &Sight<'_>, stage: Stage, left: &[Left<'_>]) -> Finding {
    let worst = left.iter().max_by_key(|left| left.passed.len());
    let (did, took) = match stage {
        Stage::Synthesis => ("synthesized", "began"),
        Stage::Gpu => ("picked up", "was picked up by a GPU worker"),
    };
    let many = match left.len() {
        1 => "1 partition was".to_owned(),
        n => format!("{n} partitions were"),
    };
    let title = format!("{many} {did} after later ones of the same job");
    let (warning, certain) = (Severity::Warning, Confidence::Certain);
    let mut finding = Finding::new(Code::PerfOutOfOrder, warning, certain, title);
    finding.run = Some(sight.run.index);
    finding.count = left.len() as u64;
    finding.fix = Some(
        "Let one dispatcher hand out partitions in order of job and partition, and reserve the \
         memory of each before it is handed out; workers that take one first and then wait for \
         memory go on in no order."
            .to_owned(),
    );
    let Some(worst) = worst else { return finding };
    let job = sight.run.jobs.get(worst.task.job as usize);
    let job = job.map(|job| job.id.clone()).unwrap_or_default();
    let partition = worst.task.partition.unwrap_or_default();
    finding.explanation = format!(
        "Partition {partition} of job {job} {took} when {} later partitions of it were already \
         over{}. A job is done with its last partition: what is gained on the later ones waits \
         for it.",
        worst.passed.len(),
        between(sight, worst, stage),
    );
    finding.job = Some(job);
    finding.partition = worst.task.partition;
    let (_, began, _) = stage.times(worst.task);
    let over = worst.passed.iter().filter_map(|task| stage.times(task).2);
    let lines = began.into_iter().chain(over).take(4);
    finding.evidence = lines.filter_map(|at| sight.evidence(at.line)).collect();
    finding
}

/// How much of other jobs went between.
fn between(sight: &Sight<'_>, worst: &Left<'_>, stage: Stage) -> String {
    let began = |task: &Task| stage.times(task).1.map(|at| at.us);
    let first = worst.passed.iter().filter_map(|task| began(task)).min();
    let Some((first, last)) = first.zip(began(worst.task)) else {
        return String::new();
    };
    let tasks = sight.run.tasks.iter();
    let others = tasks
        .filter(|task| task.job != worst.task.job)
        .filter_map(began);
    match others.filter(|us| (first..last).contains(us)).count() {
        0 => String::new(),
        n => format!(", and {n} of other jobs had begun in between"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracefmt::run::LineRef;

    fn at(us: i64) -> At {
        let line = LineRef::new(0, 1);
        At { us, line }
    }

    /// A task of job 0 that is synthesized from `start` on for ten, and on the card for one from
    /// `pickup` on.
    fn task(partition: u32, start: i64, pickup: i64) -> Task {
        Task {
            partition: Some(partition),
            synth_start: Some(at(start)),
            synth_end: Some(at(start + 10)),
            queued: Some(at(start + 10)),
            pickup: Some(at(pickup)),
            gpu_end: Some(at(pickup + 1)),
            ..Task::default()
        }
    }

    fn numbers(tasks: &[Task], stage: Stage) -> Vec<(u32, usize)> {
        let [synthesis, gpu] = left(tasks, &by_job(tasks));
        let left = match stage {
            Stage::Synthesis => synthesis,
            Stage::Gpu => gpu,
        };
        let number = |left: &Left<'_>| (left.task.partition.unwrap(), left.passed.len());
        left.iter().map(number).collect()
    }

    #[test]
    fn a_partition_that_begins_when_two_later_ones_are_over_was_left_behind() {
        let tasks = [
            task(0, 20, 90),
            task(1, 0, 10),
            task(2, 5, 15),
            task(3, 12, 30),
        ];
        assert_eq!(numbers(&tasks, Stage::Synthesis), [(0, 2)]);
        assert_eq!(numbers(&tasks, Stage::Gpu), [], "it came to the queue last");
    }

    #[test]
    fn threads_that_begin_in_another_order_leave_nobody_behind() {
        let tasks = [
            task(0, 9, 19),
            task(1, 3, 20),
            task(2, 0, 21),
            task(3, 1, 22),
        ];
        assert_eq!(numbers(&tasks, Stage::Synthesis), []);
        let one = [task(0, 12, 40), task(1, 0, 10), task(2, 10, 20)];
        assert_eq!(numbers(&one, Stage::Synthesis), [], "a single one");
    }

    #[test]
    fn what_waits_in_the_queue_while_later_ones_go_was_left_behind() {
        let tasks = [
            task(0, 0, 50),
            task(1, 1, 12),
            task(2, 2, 14),
            task(3, 3, 60),
        ];
        assert_eq!(numbers(&tasks, Stage::Gpu), [(0, 2)]);
        let mut other = tasks;
        other[2].job = 1;
        assert_eq!(numbers(&other, Stage::Gpu), [], "jobs are looked at apart");
    }
}
