//! A batch of jobs through an engine: so many jobs, so many at a time, every proof verified.
//!
//! [`run`] does it, [`Batch`] says what came of it, [`summary`] prints it in the shape that the
//! predecessor's client prints (so that its readers go on working). What a job proves, and how the
//! engine is set up, is the caller's business ([`Setup`] has the usual stand); so is the interval
//! of the throughput, which the times between completions give ([`Batch::gaps_us`]).

mod stand;
mod text;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::clock::Clock;
use crate::device::Work;
use crate::engine::{Engine, JobEnd, JobSpec};

pub use stand::{Jobs, Outcome, Setup};
pub use text::{header, summary};

/// What a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Jobs in all.
    pub count: usize,
    /// Jobs that are open at a time.
    pub concurrency: usize,
}

/// What came of one job. Times are microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Position in the batch, from 0.
    pub index: usize,
    /// The reason of a failure; none if every proof of the job was verified.
    pub failure: Option<String>,
    /// From submission to the end, as the client sees it.
    pub wall_us: u64,
    /// On devices, summed over partitions, which run side by side: more than the wall time where
    /// there are several workers. 0 for a failed job.
    pub prove_us: u64,
    /// Wait for the first synthesis; 0 for a failed job.
    pub queue_us: u64,
    /// When it ended, on the clock of the batch.
    pub end_us: u64,
}

/// What came of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    /// One row a job, in order of submission.
    pub rows: Vec<Row>,
    /// The whole batch, microseconds.
    pub total_us: u64,
}

impl Batch {
    /// Jobs whose proofs were all verified.
    pub fn completed(&self) -> usize {
        let good = self.rows.iter().filter(|row| row.failure.is_none());
        good.count()
    }

    /// Jobs that failed.
    pub fn failed(&self) -> usize {
        self.rows.len() - self.completed()
    }

    /// Verified jobs a minute, each with all its partitions; none when there are none. The
    /// predecessor calls such a job a proof, and so does [`summary`].
    pub fn throughput(&self) -> Option<f64> {
        let completed = self.completed();
        let minutes = self.total_us as f64 / 60e6;
        (completed > 0 && minutes > 0.0).then(|| completed as f64 / minutes)
    }

    /// Times between one completion and the next, microseconds.
    pub fn gaps_us(&self) -> Vec<u64> {
        let good = self.rows.iter().filter(|row| row.failure.is_none());
        let mut ends: Vec<u64> = good.map(|row| row.end_us).collect();
        ends.sort_unstable();
        ends.windows(2)
            .filter_map(|pair| Some(pair.last()? - pair.first()?))
            .collect()
    }
}

/// Runs a batch; `job` makes the n-th job, `done` hears of each row as it comes.
pub fn run<W: Work>(
    engine: &Engine<W>,
    clock: &dyn Clock,
    request: Request,
    job: impl Fn(usize) -> JobSpec<W::Circuit> + Sync,
    done: impl Fn(&Row) + Sync,
) -> Batch {
    let start = clock.now_us();
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<Row>> = Mutex::default();
    let client = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= request.count {
                return;
            }
            let row = one(engine, clock, index, job(index));
            done(&row);
            let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            rows.push(row);
        }
    };
    thread::scope(|scope| {
        for _ in 0..request.concurrency.clamp(1, request.count.max(1)) {
            scope.spawn(client);
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|row| row.index);
    Batch {
        rows,
        total_us: clock.now_us().saturating_sub(start),
    }
}

/// Submits a job and waits for it.
fn one<W: Work>(
    engine: &Engine<W>,
    clock: &dyn Clock,
    index: usize,
    spec: JobSpec<W::Circuit>,
) -> Row {
    let start = clock.now_us();
    let report = engine
        .submit(spec)
        .map(|ticket| engine.wait(ticket))
        .map_err(|error| error.to_string());
    let end_us = clock.now_us();
    let (failure, prove_us, queue_us) = match report {
        Ok(Some(report)) => match report.end {
            JobEnd::Verified => (None, report.gpu_us, report.queue_us),
            JobEnd::Failed(why) => (Some(why), 0, 0),
            JobEnd::Cancelled => (Some("cancelled".to_owned()), 0, 0),
        },
        Ok(None) => (Some("its report was kept no longer".to_owned()), 0, 0),
        Err(why) => (Some(why), 0, 0),
    };
    Row {
        index,
        failure,
        wall_us: end_us.saturating_sub(start),
        prove_us,
        queue_us,
        end_us,
    }
}
