//! What a line of the engine's log changes: jobs, workers, failures, durations of calls.

use super::clock::When;
use super::features::Sign;
use super::life::{Life, Link, LinkKind};
use crate::record::{Level, LogLine};
use crate::run::{JobOutcome, LineRef, Outcome, TroubleClass};

/// The first line of a daemon.
pub(super) fn starts_daemon(log: &LogLine<'_>) -> bool {
    log.message.starts_with("cuzk-daemon starting")
}

impl Life {
    pub(super) fn log(&mut self, line: LineRef, log: &LogLine<'_>) {
        if !log.target.starts_with("cuzk") {
            self.foreign_log(log);
            return;
        }
        self.features.sign(Sign::EngineLog);
        let when = log.stamp.filter(|stamp| stamp.utc);
        let when = when.map_or(When::Unknown, |stamp| When::Unix(stamp.unix_us));
        if let Some(stamp) = log.stamp {
            if log.target == "cuzk_daemon" && !self.has_events() {
                self.clock.starts(stamp);
            }
            self.clock.log(stamp, &mut self.run.marks);
        }
        let number = |key| log.field(key).and_then(|value| value.parse::<u32>().ok());
        self.worker_runs_on(number("worker_id"), number("gpu"));
        self.message(line, log, when);
        if matches!(log.level, Level::Warn | Level::Error) {
            self.trouble_of_log(line, log, when);
        }
    }

    /// Libraries inside the engine write into its log too; their stamps are as good.
    fn foreign_log(&mut self, log: &LogLine<'_>) {
        if let Some(stamp) = log.stamp
            && log.target.starts_with("bellperson")
        {
            self.clock.log(stamp, &mut self.run.marks);
        }
    }

    fn message(&mut self, line: LineRef, log: &LogLine<'_>, when: When) {
        let message = log.message.as_ref();
        if starts_daemon(log) {
            self.features.sign(Sign::DaemonStart);
            self.remember(log, &["listen"]);
        } else if message.starts_with("GPU threads configured") {
            self.remember(log, &["gpu_threads"]);
        } else if message.starts_with("memory budget initialized") {
            self.remember(log, &["total_budget_gib"]);
        } else if message.starts_with("job enqueued") || message.starts_with("job dequeued") {
            self.job_seen(line, log, when, message.starts_with("job enqueued"));
        } else if message.starts_with("GPU worker picked up") {
            self.kind_of_job(log);
        } else if message.starts_with("GPU_TIMING") || message.starts_with("FIN_TIMING") {
            self.features.sign(Sign::GpuTiming);
            self.gpu_timing(line, log);
        } else if message.starts_with("buffer flight counters") {
            self.features.sign(Sign::FlightCounters);
        } else if message.contains("proof assembled") {
            self.features.sign(Sign::Assembled);
            self.job_completed(line, log, when);
        } else if message.contains("self-check") {
            self.features.sign(Sign::SelfCheck);
            self.self_check(line, log);
        }
    }

    fn remember(&mut self, log: &LogLine<'_>, keys: &[&str]) {
        for key in keys {
            if let Some(value) = log.field(key) {
                let pair = ((*key).to_owned(), value.to_owned());
                self.run.config.more.push(pair);
            }
        }
    }

    fn job_seen(&mut self, line: LineRef, log: &LogLine<'_>, when: When, enqueued: bool) {
        let Some(id) = log.field("job_id") else {
            return;
        };
        let job = if enqueued {
            self.jobs.submit(id)
        } else {
            self.jobs.intern(id)
        };
        if let Some(times) = self.jobs.times_mut(job) {
            times.submitted.get_or_insert((when, line));
        }
        self.kind_of_job(log);
    }

    fn kind_of_job(&mut self, log: &LogLine<'_>) {
        let Some((id, kind)) = log.field("job_id").zip(log.field("proof_kind")) else {
            return;
        };
        self.features.sign(Sign::JobLog);
        let job = self.jobs.intern(id);
        if let Some(job) = self.jobs.get_mut(job)
            && job.kind.is_none()
        {
            job.kind = Some(kind.to_owned());
        }
    }

    /// `GPU_TIMING .. prove_start` names worker and partition of the start function that has just
    /// come back, and how long it took.
    fn gpu_timing(&mut self, line: LineRef, log: &LogLine<'_>) {
        let number = |key| log.field(key).and_then(|value| value.parse::<u32>().ok());
        let Some((worker, ms)) = number("worker_id").zip(number("prove_start_ms")) else {
            return;
        };
        let partition = number("partition");
        let call = self.workers.get(worker as usize).and_then(|w| w.call);
        let task = call.and_then(|call| self.run.calls.get(call as usize));
        let task = task.and_then(|call| self.run.tasks.get(call.task as usize));
        if let Some(call) = call
            && task.is_some_and(|task| task.partition == partition)
        {
            let (line, what) = (line.line, LinkKind::Started(ms));
            self.links.push(Link { line, call, what });
        }
    }

    fn job_completed(&mut self, line: LineRef, log: &LogLine<'_>, when: When) {
        let Some(id) = log.field("job_id") else {
            return;
        };
        let job = self.jobs.intern(id);
        if let Some(times) = self.jobs.times_mut(job) {
            times.ended.get_or_insert((when, line));
        }
        if let Some(job) = self.jobs.get_mut(job) {
            job.proof_len = log.field("proof_len").and_then(|len| len.parse().ok());
            if job.outcome == JobOutcome::Open {
                job.outcome = JobOutcome::Completed;
            }
        }
    }

    fn self_check(&mut self, line: LineRef, log: &LogLine<'_>) {
        let good = log.message.contains("PASSED");
        if let Some(id) = log.field("job_id")
            && (good || log.message.contains("FAILED"))
        {
            let job = self.jobs.intern(id);
            if let Some(job) = self.jobs.get_mut(job) {
                job.verified = Some((good, line));
            }
        }
    }

    /// The job and task that a log line names.
    pub(super) fn named(&mut self, log: &LogLine<'_>) -> (Option<u32>, Option<u32>) {
        let Some(id) = log.field("job_id") else {
            return (None, None);
        };
        let job = self.jobs.intern(id);
        let partition = log.field("partition").and_then(|value| value.parse().ok());
        if partition.is_some() {
            return (Some(job), Some(self.task_or_new(job, partition)));
        }
        (Some(job), self.task(job, None))
    }

    /// Marks the task of a line about a consequence.
    pub(super) fn consequence(&mut self, log: &LogLine<'_>, task: Option<u32>) -> TroubleClass {
        let outcome = if log.message.starts_with("discarding") {
            Outcome::Discarded
        } else {
            Outcome::Skipped
        };
        if let Some(task) = task.and_then(|task| self.task_mut(task)) {
            task.outcome = outcome;
        }
        TroubleClass::Consequence
    }
}
