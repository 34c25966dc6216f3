//! The end of a run: what became of each partition and job, and how the log stops.

use super::dialect;
use super::features::Sign;
use super::life::Life;
use crate::event::EventKind;
use crate::run::both::{self, both};
use crate::run::{
    At, Call, Job, JobOutcome, LineRef, Outcome, Run, RunEnd, Task, TroubleClass, attribute,
};

/// What follows a run in its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    cut: bool,
    restarted: bool,
}

impl Ending {
    pub(super) fn of_input(cut: bool) -> Self {
        Self {
            cut,
            restarted: false,
        }
    }

    /// Another daemon follows; its first line may be glued to a cut one.
    pub(super) fn restarted(cut: bool) -> Self {
        Self {
            cut,
            restarted: true,
        }
    }
}

impl Life {
    /// Closes the run.
    pub(super) fn finish(mut self, last: LineRef, ending: Ending) -> Run {
        self.clock.finish(&mut self.run.marks);
        self.settle_suspects();
        self.name_the_rest();
        self.settle_copies();
        self.run.last = last;
        self.run.epoch_unix_us = self.clock.epoch();
        self.settle_times();
        self.settle_copied_troubles();
        self.settle_tasks();
        self.settle_jobs();
        let mut run = self.run;
        let unshared = !self.features.has(Sign::SharedGpu);
        let mut links = self.links;
        let (shared, starts) = both(
            run.calls.len() >= both::MANY,
            || unshared && calls_overlap(&run),
            || attribute::in_file_order(&run, &mut links),
        );
        run.jobs = self.jobs.list;
        if shared {
            self.features.sign(Sign::SharedGpu);
        }
        attribute::attribute(&mut run, &links, &starts, &self.features);
        run.dialect = dialect::tell(&self.features);
        let wrote = |kind| self.features.events(kind) > 0;
        let frame = match (wrote(EventKind::TraceStart), wrote(EventKind::TraceEnd)) {
            (_, true) => Frame::Closed,
            (true, false) => Frame::Open,
            (false, false) => Frame::Absent,
        };
        let own = self.features.has(Sign::Own);
        run.lacks_start = own && !wrote(EventKind::TraceStart);
        run.lacks_end = own && !wrote(EventKind::TraceEnd);
        run.end = end_of(&run, ending, frame);
        run
    }

    fn settle_times(&mut self) {
        for (trouble, when) in self.run.troubles.iter_mut().zip(&self.trouble_times) {
            trouble.us = self.clock.resolve(*when);
        }
        for (job, times) in self.jobs.list.iter_mut().zip(&self.jobs.times) {
            let at = |(when, line)| self.clock.resolve(when).map(|us| At { us, line });
            job.submitted = times.submitted.and_then(at);
            job.ended = times.ended.and_then(at);
        }
    }

    /// What became of each task, and where: the log says on which GPU a worker runs, or the others'
    /// numbers do (they are given out GPU by GPU), or there is one GPU only.
    fn settle_tasks(&mut self) {
        let config = &mut self.run.config;
        config.gpu_of_worker = self.workers.iter().map(|worker| worker.gpu).collect();
        config.workers = u32::try_from(self.workers.len()).unwrap_or(u32::MAX);
        let mut gpus: Vec<_> = self
            .workers
            .iter()
            .filter_map(|worker| worker.gpu)
            .collect();
        gpus.sort_unstable();
        let first = gpus.first().copied();
        let per_gpu = gpus
            .iter()
            .filter(|gpu| Some(**gpu) == first)
            .count()
            .max(1);
        gpus.dedup();
        let guess = |worker: usize| gpus.get(worker / per_gpu).or(gpus.last()).copied();
        let known = |worker: Option<u32>| {
            let worker = worker? as usize;
            let said = self.workers.get(worker).and_then(|worker| worker.gpu);
            said.or_else(|| guess(worker)).or(Some(0))
        };
        // One pass over all tasks for both: a long run has a quarter of a gigabyte of them.
        both::each(&mut self.run.tasks, |_, task| {
            task.gpu = known(task.worker);
            task.outcome = outcome_of(task);
        });
        for call in &mut self.run.calls {
            call.gpu = call.gpu.or_else(|| known(call.worker));
        }
        config.gpus = gpus;
        if config.gpus.is_empty() && !self.run.calls.is_empty() {
            config.gpus.push(0);
        }
        config.more.sort();
        config.more.dedup();
    }

    fn settle_jobs(&mut self) {
        let assembled = self.features.has(Sign::Assembled);
        let ended = self.features.events(EventKind::JobEnd) > 0;
        let told = assembled || ended || self.features.has(Sign::JobLog);
        let (tasks, times) = (&self.run.tasks, &self.jobs.times);
        both::each(&mut self.jobs.list, |index, job| {
            let ends = times.get(index).is_some_and(|times| times.ended.is_some());
            if job.outcome == JobOutcome::Open && !ends && all_completed(job, tasks, told) {
                job.outcome = JobOutcome::Completed;
                job.ended = last_end(job, tasks);
            }
        });
    }
}

/// Whether the partitions seen tell that the job is done: all ended, and no line that would say
/// so for the whole job is to be expected, or all the announced ones are there.
fn all_completed(job: &Job, tasks: &[Task], told: bool) -> bool {
    let mut count = 0;
    let mut monolithic = true;
    for task in job
        .tasks
        .iter()
        .filter_map(|task| tasks.get(*task as usize))
    {
        if task.outcome != Outcome::Completed {
            return false;
        }
        monolithic &= task.partition.is_none();
        count += 1;
    }
    let whole = job.partitions.is_none_or(|n| n == count);
    count > 0 && whole && (monolithic || !told)
}

fn last_end(job: &Job, tasks: &[Task]) -> Option<At> {
    let own = job
        .tasks
        .iter()
        .filter_map(|task| tasks.get(*task as usize));
    own.filter_map(|task| task.gpu_end).max()
}

/// The furthest step, unless a line said what happened.
fn outcome_of(task: &Task) -> Outcome {
    match task.outcome {
        Outcome::Failed | Outcome::Skipped => return task.outcome,
        Outcome::Discarded if task.gpu_end.is_some() => return Outcome::Discarded,
        _ => {}
    }
    if task.gpu_end.is_some() {
        Outcome::Completed
    } else if task.gpu_start.is_some() {
        Outcome::Proving
    } else if task.pickup.is_some() {
        Outcome::PickedUp
    } else if task.queued.is_some() {
        Outcome::Queued
    } else if task.synth_end.is_some() {
        Outcome::Synthesized
    } else {
        Outcome::Synthesizing
    }
}

/// What our own writer puts around a run: `TRACE_START` and `TRACE_END`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    Absent,
    Open,
    Closed,
}

/// How the log of a run stops. Who writes `TRACE_START` writes `TRACE_END` too: without it the
/// log was cut, also at a line end, or its writer died.
fn end_of(run: &Run, ending: Ending, frame: Frame) -> RunEnd {
    let open = run.jobs.iter().any(|job| job.outcome == JobOutcome::Open);
    let aborted = run.troubles.iter().any(|t| t.kind == TroubleClass::Abort);
    if frame == Frame::Closed {
        RunEnd::Complete
    } else if ending.restarted && (open || ending.cut || frame == Frame::Open) {
        RunEnd::Restarted
    } else if ending.cut {
        RunEnd::Cut
    } else if aborted && (open || run.jobs.is_empty()) {
        RunEnd::Aborted
    } else if frame == Frame::Open {
        RunEnd::Cut
    } else if open {
        RunEnd::Open
    } else {
        RunEnd::Complete
    }
}

/// Whether two workers shared a GPU: their calls overlap.
fn calls_overlap(run: &Run) -> bool {
    let mut latest: Vec<(u32, i64, Option<u32>)> = Vec::new();
    let end = |call: &Call| {
        let task = run.tasks.get(call.task as usize);
        task.and_then(|task| task.gpu_end).map(|at| at.us)
    };
    for call in &run.calls {
        let Some((gpu, end)) = call.gpu.zip(end(call)) else {
            continue;
        };
        let slot = latest.iter_mut().find(|(known, ..)| *known == gpu);
        match slot {
            Some((_, until, worker)) => {
                if *worker != call.worker && call.start.us < *until {
                    return true;
                }
                (*until, *worker) = (end, call.worker);
            }
            None => latest.push((gpu, end, call.worker)),
        }
    }
    false
}
