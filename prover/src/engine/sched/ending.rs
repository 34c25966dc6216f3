//! How partitions and jobs end other than well, and when a job is over.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Failure, Job, Leftovers, Sched};
use crate::engine::job::{JobEnd, JobReport, Key, PartState};

impl<C, S, P> Sched<C, S, P> {
    /// A partition of a job that is given up.
    pub(super) fn skip(&mut self, key: Key, state: Option<S>, now_us: u64) -> Leftovers<C, S> {
        self.set(key, PartState::Skipped, now_us);
        self.settle(key.job, now_us);
        Leftovers {
            circuits: Vec::new(),
            states: state.into_iter().collect(),
        }
    }

    pub(super) fn fail(&mut self, key: Key, failure: Failure, now_us: u64) -> Leftovers<C, S> {
        let Failure::Own(why) = failure else {
            return self.skip(key, None, now_us);
        };
        self.set(key, PartState::Failed, now_us);
        if self.is_open(key.job) {
            return self.give_up(key.job, JobEnd::Failed(why), now_us);
        }
        self.settle(key.job, now_us);
        Leftovers::default()
    }

    /// Takes a job's partitions out of every line, and tells those in flight.
    pub(super) fn give_up(&mut self, number: u64, end: JobEnd, now_us: u64) -> Leftovers<C, S> {
        let mut left = Leftovers::default();
        let mut skipped = Vec::new();
        if let Some(job) = self.jobs.get_mut(&number) {
            job.given_up = Some(end);
            job.stop.store(true, Ordering::Relaxed);
        }
        let of_job = |key: &Key| key.job == number;
        for (key, waiting) in self.waiting.extract_if(.., |key, _| of_job(key)) {
            skipped.push(key);
            left.circuits.push(waiting.circuit);
        }
        for (key, state) in self.queued.extract_if(.., |key, _| of_job(key)) {
            skipped.push(key);
            left.states.push(state);
        }
        let finishing = std::mem::take(&mut self.finishing);
        for (key, state) in finishing {
            if of_job(&key) {
                skipped.push(key);
                left.states.push(state);
            } else {
                self.finishing.push_back((key, state));
            }
        }
        for key in skipped {
            self.set(key, PartState::Skipped, now_us);
        }
        self.settle(number, now_us);
        left
    }

    /// Ends a job when no partition of it is left anywhere.
    pub(super) fn settle(&mut self, number: u64, now_us: u64) {
        let over = |job: &Job<P>| job.parts.iter().all(|part| part.state.is_final());
        if !self.jobs.get(&number).is_some_and(over) {
            return;
        }
        let Some(job) = self.jobs.remove(&number) else {
            return;
        };
        let end = job.given_up.unwrap_or(JobEnd::Verified);
        match end {
            JobEnd::Verified => self.ended.verified += 1,
            JobEnd::Failed(_) => self.ended.failed += 1,
            JobEnd::Cancelled => self.ended.cancelled += 1,
        }
        let proofs = match end {
            JobEnd::Verified => job
                .parts
                .into_iter()
                .filter_map(|part| part.proof)
                .collect(),
            JobEnd::Failed(_) | JobEnd::Cancelled => Vec::new(),
        };
        let report = JobReport {
            id: job.id,
            end,
            proofs,
            queue_us: job.first_us.unwrap_or(now_us) - job.submitted_us.min(now_us),
            synth_us: job.synth_us,
            gpu_us: job.gpu_us,
            total_us: now_us.saturating_sub(job.submitted_us),
        };
        self.news.push((Arc::clone(&report.id), report.end.clone()));
        self.reports.insert(number, report);
        while self.reports.len() > self.limits.reports.max(1) {
            self.reports.pop_first();
        }
    }
}
