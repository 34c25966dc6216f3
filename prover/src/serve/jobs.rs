//! The jobs of a daemon: names, what came of them, and who asked with which key of idempotency.
//!
//! The engine hands a report out once; here it is kept, so that any number of clients may wait for
//! it, also after it has come. Of the ended jobs the last [`KEPT`] are kept.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::wire::{AwaitProofResponse, ProofKind, await_proof_response::Status};
use crate::engine::{JobEnd, JobReport, Ticket};

/// Ended jobs that are remembered, the latest.
pub(super) const KEPT: usize = 4096;

/// What a waiter sees: nothing yet, or the answer.
pub(super) type Outcome = Option<Arc<AwaitProofResponse>>;

/// All jobs.
#[derive(Debug)]
pub(super) struct Jobs {
    table: Mutex<Table>,
    /// Tells jobs of this daemon from those of the one before it.
    prefix: String,
}

#[derive(Debug, Default)]
struct Table {
    made: u64,
    jobs: BTreeMap<String, Job>,
    requests: BTreeMap<String, String>,
    ended: VecDeque<String>,
}

/// What is known of a job beside its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of {
    pub(super) kind: ProofKind,
    /// How long its submission waited for parameters; 0 if they were there.
    pub(super) srs_load_ms: u64,
}

#[derive(Debug)]
struct Job {
    of: Of,
    request_id: String,
    ticket: Ticket,
    outcome: watch::Sender<Outcome>,
}

/// A job that was taken in, now or by an earlier call with the same key.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) id: String,
    /// Jobs before it that are still open.
    pub(super) position: usize,
    /// Whether this call made it.
    pub(super) is_new: bool,
}

impl Jobs {
    /// No jobs; `epoch_s` goes into their names.
    pub(super) fn new(epoch_s: u64) -> Self {
        Self {
            table: Mutex::default(),
            prefix: format!("{epoch_s:x}"),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job in by `submit`, which gets its name, unless its key was seen before.
    ///
    /// # Errors
    /// What `submit` says; nothing is remembered of the job then.
    pub(super) fn take<E>(
        &self,
        of: Of,
        request_id: &str,
        submit: impl FnOnce(&str) -> Result<Ticket, E>,
    ) -> Result<Taken, E> {
        let mut table = self.table();
        if let Some(id) = table.requests.get(request_id) {
            let id = id.clone();
            let position = table.before(&id);
            return Ok(Taken {
                id,
                position,
                is_new: false,
            });
        }
        // A job that is not accepted keeps its number: what the trace says of it stays its own.
        table.made += 1;
        let id = format!("{}-{}", self.prefix, table.made);
        let ticket = submit(&id)?;
        let job = Job {
            of,
            request_id: request_id.to_owned(),
            ticket,
            outcome: watch::channel(None).0,
        };
        table.jobs.insert(id.clone(), job);
        if !request_id.is_empty() {
            table.requests.insert(request_id.to_owned(), id.clone());
        }
        let position = table.before(&id);
        Ok(Taken {
            id,
            position,
            is_new: true,
        })
    }

    /// The job that an earlier call with this key made.
    pub(super) fn known(&self, request_id: &str) -> Option<Taken> {
        let table = self.table();
        let id = table.requests.get(request_id)?.clone();
        let position = table.before(&id);
        Some(Taken {
            id,
            position,
            is_new: false,
        })
    }

    /// A view of what comes of a job; none for a name that is not known, or no more.
    pub(super) fn watch(&self, id: &str) -> Option<watch::Receiver<Outcome>> {
        Some(self.table().jobs.get(id)?.outcome.subscribe())
    }

    /// The jobs without an outcome.
    pub(super) fn open(&self) -> Vec<(String, Ticket)> {
        let table = self.table();
        let open = table.jobs.iter().filter(|(_, job)| job.is_open());
        open.map(|(id, job)| (id.clone(), job.ticket)).collect()
    }

    /// What is known of a job.
    pub(super) fn of(&self, id: &str) -> Option<Of> {
        Some(self.table().jobs.get(id)?.of)
    }

    /// Remembers what came of a job, tells whoever waits, and forgets the oldest beyond [`KEPT`].
    pub(super) fn end(&self, id: &str, answer: AwaitProofResponse) {
        let mut table = self.table();
        if let Some(job) = table.jobs.get(id) {
            job.outcome.send_replace(Some(Arc::new(answer)));
            table.ended.push_back(id.to_owned());
        }
        while table.ended.len() > KEPT {
            let oldest = table.ended.pop_front();
            if let Some(job) = oldest.and_then(|id| table.jobs.remove(&id)) {
                table.requests.remove(&job.request_id);
            }
        }
    }
}

impl Job {
    fn is_open(&self) -> bool {
        self.outcome.borrow().is_none()
    }
}

impl Table {
    fn before(&self, id: &str) -> usize {
        let Some(ticket) = self.jobs.get(id).map(|job| job.ticket) else {
            return 0;
        };
        let open = self.jobs.values().filter(|job| job.is_open());
        open.filter(|job| job.ticket < ticket).count()
    }
}

/// A report as it goes over the wire; `proof` is the partitions' proofs one after the other. How
/// long parameters were loaded is not the engine's to know: who took the job in adds it.
pub(super) fn answer<P>(
    report: &JobReport<P>,
    bytes: impl Fn(&P) -> Vec<u8>,
) -> AwaitProofResponse {
    let (status, error) = match &report.end {
        JobEnd::Verified => (Status::Completed, String::new()),
        JobEnd::Failed(reason) => (Status::Failed, reason.clone()),
        JobEnd::Cancelled => (Status::Cancelled, "the job was cancelled".to_owned()),
    };
    AwaitProofResponse {
        job_id: report.id.to_string(),
        status: status.into(),
        proof: report.proofs.iter().flat_map(bytes).collect(),
        error_message: error,
        queue_wait_ms: report.queue_us / 1000,
        srs_load_ms: 0,
        synthesis_ms: report.synth_us / 1000,
        gpu_compute_ms: report.gpu_us / 1000,
        total_ms: report.total_us / 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINNING: Of = Of {
        kind: ProofKind::WinningPost,
        srs_load_ms: 0,
    };

    fn take(jobs: &Jobs, request_id: &str, ticket: u64) -> Taken {
        let taken = jobs.take::<()>(WINNING, request_id, |_| Ok(Ticket(ticket)));
        taken.expect("accepted")
    }

    fn end(jobs: &Jobs, id: &str) {
        let answer = AwaitProofResponse {
            job_id: id.to_owned(),
            ..AwaitProofResponse::default()
        };
        jobs.end(id, answer);
    }

    #[test]
    fn the_same_key_gives_the_same_job_and_no_key_a_new_one() {
        let jobs = Jobs::new(1);
        let first = take(&jobs, "key", 0);
        let again = take(&jobs, "key", 99);
        assert_eq!((first.is_new, again.is_new), (true, false));
        assert_eq!(first.id, again.id);
        assert_ne!(take(&jobs, "", 1).id, take(&jobs, "", 2).id);
        assert_eq!(jobs.open().len(), 3);
    }

    #[test]
    fn a_job_that_is_not_accepted_leaves_no_key_behind() {
        let jobs = Jobs::new(1);
        let refused = jobs.take(WINNING, "key", |_| Err("full"));
        assert_eq!(refused.err(), Some("full"));
        assert!(jobs.known("key").is_none());
        assert!(take(&jobs, "key", 0).is_new);
    }

    #[test]
    fn the_position_counts_open_jobs_before_it() {
        let jobs = Jobs::new(1);
        let ids: Vec<String> = (0..4).map(|n| take(&jobs, "", n).id).collect();
        end(&jobs, &ids[1]);
        assert_eq!(take(&jobs, "", 4).position, 3);
    }

    #[test]
    fn a_late_waiter_sees_the_outcome_until_it_is_forgotten() {
        let jobs = Jobs::new(1);
        let first = take(&jobs, "first", 0).id;
        let early = jobs.watch(&first).expect("known");
        end(&jobs, &first);
        assert!(early.borrow().is_some());
        assert!(jobs.watch(&first).expect("known").borrow().is_some());
        for n in 0..KEPT as u64 {
            let id = take(&jobs, "", n + 1).id;
            end(&jobs, &id);
        }
        assert!(jobs.watch(&first).is_none(), "beyond what is kept");
        assert!(jobs.known("first").is_none(), "its key goes with it");
    }
}
