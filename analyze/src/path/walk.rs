//! Backwards from the last proof, always to the constraint that ended last.

use tracefmt::run::{Job, Run, Task};

use super::late::{Late, TOGETHER_US};
use crate::interval::{Hold, Reconstruction, sane};
use crate::model::PathStep;

/// A hold taken this soon after the one before was waiting for it.
const HANDOVER_US_MAX: i64 = 10_000;

/// Where the walk goes on.
enum Next {
    /// At the end of a call.
    Call(u32),
    /// At the release of a lock.
    Release(u32),
    /// At the end of a synthesis.
    Synthesis(u32),
    /// The path is complete.
    Stop,
}

/// Steps from the last proof back to a submission.
pub(super) fn walk(run: &Run, all: &Reconstruction, late: &Late, max: usize) -> Vec<PathStep> {
    let mut path = Path {
        run,
        all,
        late,
        steps: Vec::new(),
    };
    let mut next = path.last();
    // Every stop is visited once: times that contradict each other must not lead in a circle.
    let stops = 2 * all.holds.len() + run.tasks.len();
    for _ in 0..=stops {
        if path.steps.len() >= max {
            break;
        }
        next = match next {
            Next::Call(hold) => path.call(hold),
            Next::Release(hold) => path.release(hold),
            Next::Synthesis(task) => path.synthesis(task),
            Next::Stop => break,
        };
    }
    path.steps
}

struct Path<'a> {
    run: &'a Run,
    all: &'a Reconstruction,
    late: &'a Late,
    steps: Vec<PathStep>,
}

impl Path<'_> {
    /// The call that ended last; in a run without any, the synthesis that did.
    fn last(&self) -> Next {
        let calls = (0_u32..).zip(&self.all.holds);
        let ended = calls.filter_map(|(at, hold)| Some((self.task(hold)?.1.gpu_end?.us, at)));
        if let Some((_, hold)) = ended.max() {
            return Next::Call(hold);
        }
        let tasks = (0_u32..).zip(&self.run.tasks);
        let ended = tasks.filter_map(|(at, task)| Some((task.synth_end?.us, at)));
        ended
            .max()
            .map_or(Next::Stop, |(_, task)| Next::Synthesis(task))
    }

    fn task(&self, hold: &Hold) -> Option<(u32, &Task)> {
        let task = self.run.calls.get(hold.call as usize)?.task;
        Some((task, self.run.tasks.get(task as usize)?))
    }

    fn job(&self, task: &Task) -> Option<&Job> {
        self.run.jobs.get(task.job as usize)
    }

    /// Adds a step unless it is empty. `latest` is its latest end.
    fn step(&mut self, kind: &str, task: &Task, (start, end): (i64, i64), latest: i64) {
        if start >= end {
            return;
        }
        let ms = |us: i64| us as f64 / 1000.0;
        let job = self.job(task).map(|job| job.id.clone());
        self.steps.push(PathStep {
            kind: kind.to_owned(),
            job: job.unwrap_or_default(),
            partition: task.partition,
            start_ms: ms(start),
            end_ms: ms(end),
            slack_ms: ms(latest.saturating_sub(end).max(0)),
        });
    }

    fn call(&mut self, at: u32) -> Next {
        let Some(hold) = self.all.holds.get(at as usize) else {
            return Next::Stop;
        };
        let Some((_, task)) = self.task(hold) else {
            return Next::Stop;
        };
        let task = task.clone();
        if let Some(end) = task.gpu_end {
            let latest = end_of(&self.late.finish, at);
            self.step("finish", &task, (hold.released, sane(end.us)), latest);
        }
        Next::Release(at)
    }

    fn release(&mut self, at: u32) -> Next {
        let Some(hold) = self.all.holds.get(at as usize) else {
            return Next::Stop;
        };
        let Some((index, task)) = self.task(hold) else {
            return Next::Stop;
        };
        let (task, index) = (task.clone(), index);
        let latest = end_of(&self.late.hold, at);
        self.step("gpu", &task, (hold.acquired, hold.released), latest);
        let before = at.checked_sub(1);
        let holder = before.and_then(|at| Some((at, self.all.holds.get(at as usize)?)));
        let holder = holder.filter(|(_, other)| other.gpu == hold.gpu && other.locked());
        if let Some((at, other)) = holder {
            let waited = hold.request < hold.acquired;
            if waited && hold.acquired - other.released <= HANDOVER_US_MAX {
                return Next::Release(at);
            }
        }
        let latest = end_of(&self.late.before, at);
        self.step("mutex_wait", &task, (hold.request, hold.acquired), latest);
        self.step("pre_lock_cpu", &task, (hold.ready, hold.request), latest);
        self.before_pickup(at, hold, index, &task)
    }

    /// A worker took the partition as soon as it was there, or as soon as the worker was free.
    fn before_pickup(&mut self, at: u32, hold: &Hold, index: u32, task: &Task) -> Next {
        let made = task.synth_end.or(task.queued).map(|at| sane(at.us));
        let before = self.late.worker_before.get(at as usize);
        let freed = before.and_then(|before| {
            let other = self.all.holds.get(before as usize)?;
            Some((before, sane(self.task(other)?.1.gpu_end?.us)))
        });
        if let Some((before, freed)) = freed {
            let late = hold.ready - freed <= TOGETHER_US;
            if late && made.is_none_or(|made| made < freed) {
                return Next::Call(before);
            }
        }
        let Some(made) = made else { return Next::Stop };
        let latest = end_of(&self.late.before, at).saturating_sub(hold.request - hold.ready);
        self.step("queue", task, (made, hold.ready), latest);
        Next::Synthesis(index)
    }

    fn synthesis(&mut self, at: u32) -> Next {
        let Some(task) = self.run.tasks.get(at as usize).cloned() else {
            return Next::Stop;
        };
        let Some((start, end)) = task.synth_start.zip(task.synth_end) else {
            return Next::Stop;
        };
        let latest = end_of(&self.late.synthesis, at);
        self.step("synthesis", &task, (sane(start.us), sane(end.us)), latest);
        if let Some(before) = self.late.slot_before.get(at as usize) {
            return Next::Synthesis(before);
        }
        if let Some(submitted) = self.job(&task).and_then(|job| job.submitted) {
            let latest = latest.saturating_sub(sane(end.us) - sane(start.us));
            self.step(
                "submit",
                &task,
                (sane(submitted.us), sane(start.us)),
                latest,
            );
        }
        Next::Stop
    }
}

fn end_of(list: &[i64], at: u32) -> i64 {
    list.get(at as usize).copied().unwrap_or(0)
}
