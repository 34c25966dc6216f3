//! Backwards from the last proof, always to the constraint that ended last.

use tracefmt::run::{Job, Run, Task};

use super::CriticalPath;
use super::late::{Late, TOGETHER_US};
use crate::interval::{Hold, Reconstruction, end_of_job, is_exact, sane};
use crate::model::PathStep;

/// Where times of the lock are estimated, a hold taken this soon after the one before was waiting
/// for it.
const HANDOVER_US_MAX: i64 = 10_000;

/// Step of the clock of the old dialects, which print milliseconds.
const TICK_US: i64 = 1_000;

/// How coarse the times of a run are, microseconds; 0 where they are exact.
pub(super) fn tick_us(run: &Run) -> i64 {
    if is_exact(run) { 0 } else { TICK_US }
}

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

/// Steps from the last proof back to a submission, the last one first.
pub(super) fn walk(run: &Run, all: &Reconstruction, late: &Late, max: usize) -> CriticalPath {
    let mut path = Path {
        run,
        all,
        late,
        tick: tick_us(run),
        max,
        cursor: i64::MAX,
        limit: i64::MAX,
        found: CriticalPath::default(),
    };
    let mut next = path.last();
    // Every stop is visited once: times that contradict each other must not lead in a circle.
    let stops = 2 * all.holds.len() + run.tasks.len();
    for _ in 0..=stops {
        next = match next {
            Next::Call(hold) => path.call(hold),
            Next::Release(hold) => path.release(hold),
            Next::Synthesis(task) => path.synthesis(task),
            Next::Stop => break,
        };
    }
    path.found
}

struct Path<'a> {
    run: &'a Run,
    all: &'a Reconstruction,
    late: &'a Late,
    /// How coarse the times are; with 0 they are taken at their word.
    tick: i64,
    max: usize,
    /// Start of the step found last: none that is still to be found ends behind it.
    cursor: i64,
    /// When that step would have to begin at the latest.
    limit: i64,
    found: CriticalPath,
}

impl<'a> Path<'a> {
    const fn is_exact(&self) -> bool {
        self.tick == 0
    }

    /// The call of the job that ended last, or the call that did; in a run without any, the
    /// synthesis.
    fn last(&mut self) -> Next {
        if let Some(next) = self.last_of_job() {
            return next;
        }
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

    /// Adds what follows the last call of the job that ended last, if no call ends behind that.
    fn last_of_job(&mut self) -> Option<Next> {
        let ended = |job: &Job| end_of_job(self.run, job);
        let jobs = (0_u32..).zip(&self.run.jobs);
        let last = jobs.filter_map(|(at, job)| Some((ended(job)?, at)));
        let (end, at) = last.max()?;
        let calls = (0_u32..).zip(&self.all.holds);
        let over = |task: &Task| task.gpu_end.map(|at| sane(at.us));
        let calls = calls.filter_map(|(at, hold)| {
            let (_, task) = self.task(hold)?;
            Some((over(task)?, at, task.job))
        });
        let (mut of_job, mut of_all) = (None, i64::MIN);
        for (over, hold, job) in calls {
            of_all = of_all.max(over);
            if job == at {
                of_job = of_job.max(Some((over, hold)));
            }
        }
        let (_, hold) = of_job.filter(|_| of_all < end)?;
        let hold_at = self.all.holds.get(hold as usize)?;
        let (_, task) = self.task(hold_at)?;
        let latest = self.all.span.map_or(end, |span| span.end);
        self.step("finish", task, (hold_at.released, end), latest);
        Some(Next::Release(hold))
    }

    fn task(&self, hold: &Hold) -> Option<(u32, &'a Task)> {
        let task = self.run.calls.get(hold.call as usize)?.task;
        Some((task, self.run.tasks.get(task as usize)?))
    }

    fn job(&self, task: &Task) -> Option<&Job> {
        self.run.jobs.get(task.job as usize)
    }

    /// Adds a step that takes its time, unless it is empty. `latest` is its latest end.
    fn step(&mut self, kind: &str, task: &Task, (start, end): (i64, i64), latest: i64) {
        if let Some(us) = self.add(kind, task, (start, end), latest) {
            self.limit = self.limit.saturating_sub(us);
        }
    }

    /// Adds a wait, unless it is empty: it would be shorter if what it waits for came later.
    fn wait(&mut self, kind: &str, task: &Task, (start, end): (i64, i64), latest: i64) {
        self.add(kind, task, (start, end), latest);
    }

    /// Adds what of a step lies before those that are there already; its length, if there is any.
    fn add(
        &mut self,
        kind: &str,
        task: &Task,
        (start, end): (i64, i64),
        latest: i64,
    ) -> Option<i64> {
        let end = end.min(self.cursor);
        if start >= end {
            return None;
        }
        self.cursor = start;
        self.limit = self.limit.min(latest);
        let slack = self.limit.saturating_sub(end).max(0);
        if self.found.steps.len() >= self.max {
            self.found.left_out += 1;
            return Some(end - start);
        }
        let ms = |us: i64| us as f64 / 1000.0;
        let job = self.job(task).map(|job| job.id.clone());
        self.found.steps.push(PathStep {
            run: self.run.index,
            kind: kind.to_owned(),
            job: job.unwrap_or_default(),
            partition: task.partition,
            start_ms: ms(start),
            end_ms: ms(end),
            slack_ms: ms(slack),
        });
        Some(end - start)
    }

    fn call(&mut self, at: u32) -> Next {
        let Some(hold) = self.all.holds.get(at as usize) else {
            return Next::Stop;
        };
        let Some((_, task)) = self.task(hold) else {
            return Next::Stop;
        };
        if let Some(end) = task.gpu_end {
            let latest = end_of(&self.late.finish, at);
            self.step("finish", task, (hold.released, sane(end.us)), latest);
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
        let latest = end_of(&self.late.hold, at);
        self.step("gpu", task, (hold.acquired, hold.released), latest);
        let latest = end_of(&self.late.before, at);
        if let Some((at, other)) = self.holder_before(at, hold) {
            let handover = (other.released, hold.acquired);
            self.wait("mutex_wait", task, handover, latest);
            return Next::Release(at);
        }
        self.wait("mutex_wait", task, (hold.request, hold.acquired), latest);
        self.step("pre_lock_cpu", task, (hold.ready, hold.request), latest);
        self.before_pickup(at, hold, index, task)
    }

    /// The holder that a call waited for: the one before it, if that left after the call asked.
    fn holder_before(&self, at: u32, hold: &Hold) -> Option<(u32, &Hold)> {
        let before = at.checked_sub(1)?;
        let other = self.all.holds.get(before as usize)?;
        let waited = if self.is_exact() {
            hold.request < other.released && other.released <= hold.acquired
        } else {
            hold.request < hold.acquired && hold.acquired - other.released <= HANDOVER_US_MAX
        };
        let follows = other.gpu == hold.gpu && other.locked() && waited;
        follows.then_some((before, other))
    }

    /// A worker took the partition as soon as it was there, or as soon as the worker was free.
    fn before_pickup(&mut self, at: u32, hold: &Hold, index: u32, task: &Task) -> Next {
        let made = task.synth_end.or(task.queued).map(|at| sane(at.us));
        let before = self.late.worker_before.get(at as usize);
        let freed = before.and_then(|before| {
            let other = self.all.holds.get(before as usize)?;
            Some((before, sane(self.task(other)?.1.gpu_end?.us)))
        });
        let latest = end_of(&self.late.before, at).saturating_sub(hold.request - hold.ready);
        if let Some((before, freed)) = freed {
            let late = self.is_exact() || hold.ready - freed <= TOGETHER_US;
            if late && made.is_none_or(|made| made < freed) {
                self.wait("queue", task, (freed, hold.ready), latest);
                return Next::Call(before);
            }
        }
        let Some(made) = made else {
            return self.submitted(task, hold.ready, latest);
        };
        self.wait("queue", task, (made, hold.ready), latest);
        Next::Synthesis(index)
    }

    fn synthesis(&mut self, at: u32) -> Next {
        let Some(task) = self.run.tasks.get(at as usize) else {
            return Next::Stop;
        };
        let latest = end_of(&self.late.synthesis, at);
        let Some((start, end)) = task.synth_start.zip(task.synth_end) else {
            return self.submitted(task, self.cursor, latest);
        };
        let (start, end) = (sane(start.us), sane(end.us));
        self.step("synthesis", task, (start, end), latest);
        let latest = latest.saturating_sub(end.saturating_sub(start).max(0));
        match self.before_synthesis(at, start, task) {
            Some((ended, next)) => {
                self.wait("slot", task, (ended, start), latest);
                next
            }
            None => self.submitted(task, start, latest),
        }
    }

    /// What ended last before a synthesis began, if that began right behind it and was submitted
    /// by then: the synthesis whose slot it took, or a call whose end made room.
    fn before_synthesis(&self, at: u32, start: i64, task: &Task) -> Option<(i64, Next)> {
        let slot = self.late.slot_before.get(at as usize).and_then(|before| {
            let end = self.run.tasks.get(before as usize)?.synth_end?;
            Some((sane(end.us), Next::Synthesis(before)))
        });
        let call = self.late.call_ended_by(start);
        let call = call.filter(|(over, _)| start - over <= TOGETHER_US);
        let slot_end = slot.as_ref().map(|(end, _)| *end);
        // Of one moment, the slot.
        let call = call.filter(|(over, _)| slot_end.is_none_or(|end| end + self.tick < *over));
        let last = match call {
            Some((over, hold)) => (over, Next::Call(hold)),
            None => slot?,
        };
        let submitted = self.job(task).and_then(|job| job.submitted);
        let waited = submitted.is_none_or(|at| sane(at.us) <= last.0 + self.tick);
        waited.then_some(last)
    }

    /// The first step: from the submission of the job.
    fn submitted(&mut self, task: &Task, until: i64, latest: i64) -> Next {
        if let Some(submitted) = self.job(task).and_then(|job| job.submitted) {
            self.wait("submit", task, (sane(submitted.us), until), latest);
        }
        Next::Stop
    }
}

fn end_of(list: &[i64], at: u32) -> i64 {
    list.get(at as usize).copied().unwrap_or(0)
}
