//! The eight calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tonic::{Request, Response, Status};

use super::jobs::{Jobs, Of, Outcome, Taken, answer};
use super::kinds::{Kinds, Refusal, kind_of, word};
use super::metrics::Metrics;
use super::view;
use super::wire::await_proof_response::Status as Ended;
use super::wire::proving_engine_server::ProvingEngine;
use super::wire::{
    AwaitProofRequest, AwaitProofResponse, CancelProofRequest, CancelProofResponse,
    EvictSrsRequest, EvictSrsResponse, GetMetricsRequest, GetMetricsResponse, GetStatusRequest,
    GetStatusResponse, PreloadSrsRequest, PreloadSrsResponse, Priority, ProveRequest,
    ProveResponse, SubmitProofRequest, SubmitProofResponse,
};
use crate::clock::Clock;
use crate::device::Work;
use crate::engine::{self, Engine, JobSpec, SubmitError};

/// What the calls share with the pages.
pub(super) struct Shared<W: Work> {
    pub(super) engine: Arc<Engine<W>>,
    pub(super) kinds: Arc<dyn Kinds<W>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) jobs: Jobs,
    pub(super) metrics: Metrics,
    /// Set when the daemon is to end: no more jobs.
    pub(super) closing: AtomicBool,
    /// Set when no job is open any more.
    pub(super) ended: AtomicBool,
}

impl<W: Work> Shared<W> {
    /// Fetches the reports of jobs that have ended, and says how many are open still.
    pub(super) fn collect(&self) -> usize {
        let mut open = 0;
        for (id, ticket) in self.jobs.open() {
            match self.engine.poll(ticket) {
                Some(report) => {
                    let mut answer = answer(&report, |proof| self.kinds.bytes(proof));
                    if let Some(of) = self.jobs.of(&id) {
                        self.metrics.ended(word(of.kind), &report);
                        answer.srs_load_ms = of.srs_load_ms;
                    }
                    self.jobs.end(&id, answer);
                }
                None => open += 1,
            }
        }
        open
    }

    async fn submit(self: &Arc<Self>, request: SubmitProofRequest) -> Result<Taken, Status> {
        if self.closing.load(Ordering::Acquire) {
            return Err(Status::unavailable(
                "the daemon shuts down; try another one",
            ));
        }
        if let Some(taken) = self.jobs.known(&request.request_id) {
            return Ok(taken);
        }
        let kind = kind_of(&request).map_err(|refusal| refused(&refusal))?;
        let priority = priority(&request)?;
        let shared = Arc::clone(self);
        let made = tokio::task::spawn_blocking(move || {
            let since_us = shared.clock.now_us();
            let was_there = shared.kinds.load(&request);
            let was_there = was_there.map_err(|refusal| refused(&refusal))?;
            let waited_us = shared.clock.now_us().saturating_sub(since_us);
            let srs_load_ms = if was_there { 0 } else { waited_us / 1000 };
            let circuits = shared.kinds.circuits(&request);
            let circuits = circuits.map_err(|refusal| refused(&refusal))?;
            let of = Of { kind, srs_load_ms };
            shared.jobs.take(of, &request.request_id, |id| {
                let spec = JobSpec {
                    id: id.to_owned(),
                    kind: word(kind).to_owned(),
                    priority,
                    circuits,
                };
                shared
                    .engine
                    .submit(spec)
                    .map_err(|error| not_taken(&error))
            })
        });
        made.await
            .unwrap_or_else(|panic| Err(Status::internal(format!("the request broke: {panic}"))))
    }

    async fn wait(&self, id: &str, timeout_ms: u64) -> AwaitProofResponse {
        let without = |status: Ended, error: String| AwaitProofResponse {
            job_id: id.to_owned(),
            status: status.into(),
            error_message: error,
            ..AwaitProofResponse::default()
        };
        let Some(mut outcome) = self.jobs.watch(id) else {
            return without(
                Ended::Unknown,
                format!("no job is named {id:?}, or no more"),
            );
        };
        let ended = outcome.wait_for(Option::is_some);
        let ended = match timeout_ms {
            0 => ended.await,
            _ => match tokio::time::timeout(Duration::from_millis(timeout_ms), ended).await {
                Ok(ended) => ended,
                Err(_late) => {
                    let error = format!("not done after {timeout_ms} ms; the job goes on");
                    return without(Ended::Timeout, error);
                }
            },
        };
        let outcome: Outcome = ended.ok().and_then(|outcome| outcome.clone());
        match outcome {
            Some(answer) => (*answer).clone(),
            None => without(Ended::Unknown, "the job was forgotten".to_owned()),
        }
    }
}

fn priority(request: &SubmitProofRequest) -> Result<engine::Priority, Status> {
    match Priority::try_from(request.priority) {
        Ok(Priority::Low) => Ok(engine::Priority::Low),
        Ok(Priority::Unspecified | Priority::Normal) => Ok(engine::Priority::Normal),
        Ok(Priority::High) => Ok(engine::Priority::High),
        Ok(Priority::Critical) => Ok(engine::Priority::Critical),
        Err(_unknown) => Err(Status::invalid_argument(format!(
            "priority is {}; expected 0 to 4",
            request.priority
        ))),
    }
}

fn refused(refusal: &Refusal) -> Status {
    let text = refusal.to_string();
    match refusal {
        Refusal::Invalid(_) => Status::invalid_argument(text),
        Refusal::NotBuilt { .. } | Refusal::NotServed { .. } => Status::unimplemented(text),
        Refusal::NotReady(_) => Status::failed_precondition(text),
        Refusal::UnknownCircuit { .. } => Status::not_found(text),
    }
}

fn not_taken(error: &SubmitError) -> Status {
    let text = error.to_string();
    match error {
        SubmitError::Full { .. } => Status::resource_exhausted(text),
        SubmitError::ShuttingDown { .. } => Status::unavailable(text),
        SubmitError::Duplicate { .. } => Status::already_exists(text),
        SubmitError::Empty { .. } => Status::invalid_argument(text),
        SubmitError::TooLarge { .. } | SubmitError::Unplannable { .. } => {
            Status::failed_precondition(text)
        }
    }
}

/// Cancels its job unless told that the job has ended.
struct Owner<W: Work> {
    shared: Arc<Shared<W>>,
    job: Option<String>,
}

impl<W: Work> Drop for Owner<W> {
    fn drop(&mut self) {
        if let Some(id) = self.job.take() {
            self.shared.engine.cancel(&id);
        }
    }
}

/// The service over what it shares.
pub(super) struct Service<W: Work>(pub(super) Arc<Shared<W>>);

#[tonic::async_trait]
impl<W: Work> ProvingEngine for Service<W> {
    async fn submit_proof(
        &self,
        request: Request<SubmitProofRequest>,
    ) -> Result<Response<SubmitProofResponse>, Status> {
        let taken = self.0.submit(request.into_inner()).await?;
        Ok(Response::new(SubmitProofResponse {
            job_id: taken.id,
            queue_position: u32::try_from(taken.position).unwrap_or(u32::MAX),
            // Which device takes it is decided when a worker is free.
            assigned_gpu: String::new(),
        }))
    }

    async fn await_proof(
        &self,
        request: Request<AwaitProofRequest>,
    ) -> Result<Response<AwaitProofResponse>, Status> {
        let request = request.into_inner();
        Ok(Response::new(
            self.0.wait(&request.job_id, request.timeout_ms).await,
        ))
    }

    async fn prove(
        &self,
        request: Request<ProveRequest>,
    ) -> Result<Response<ProveResponse>, Status> {
        let submit = request.into_inner().submit;
        let submit = submit.ok_or_else(|| Status::invalid_argument("submit is not set"))?;
        let taken = self.0.submit(submit).await?;
        let mut owner = Owner {
            shared: Arc::clone(&self.0),
            job: taken.is_new.then(|| taken.id.clone()),
        };
        let result = self.0.wait(&taken.id, 0).await;
        owner.job = None;
        Ok(Response::new(ProveResponse {
            result: Some(result),
        }))
    }

    async fn cancel_proof(
        &self,
        request: Request<CancelProofRequest>,
    ) -> Result<Response<CancelProofResponse>, Status> {
        let was_running = self.0.engine.cancel(&request.into_inner().job_id);
        Ok(Response::new(CancelProofResponse { was_running }))
    }

    async fn get_status(
        &self,
        _request: Request<GetStatusRequest>,
    ) -> Result<Response<GetStatusResponse>, Status> {
        let status = self.0.engine.status();
        Ok(Response::new(view::on_the_wire(
            &status,
            &self.0.kinds.loaded(),
        )))
    }

    async fn get_metrics(
        &self,
        _request: Request<GetMetricsRequest>,
    ) -> Result<Response<GetMetricsResponse>, Status> {
        let prometheus_text = self.0.metrics.text(&self.0.engine.status());
        Ok(Response::new(GetMetricsResponse { prometheus_text }))
    }

    async fn preload_srs(
        &self,
        request: Request<PreloadSrsRequest>,
    ) -> Result<Response<PreloadSrsResponse>, Status> {
        let shared = Arc::clone(&self.0);
        let loaded = tokio::task::spawn_blocking(move || {
            let started = shared.clock.now_us();
            let was_there = shared.kinds.preload(&request.into_inner().circuit_id);
            was_there.map(|was_there| (was_there, shared.clock.now_us() - started))
        });
        let (already_loaded, us) = loaded
            .await
            .map_err(|panic| Status::internal(format!("loading broke: {panic}")))?
            .map_err(|refusal| refused(&refusal))?;
        Ok(Response::new(PreloadSrsResponse {
            already_loaded,
            load_time_ms: us / 1000,
        }))
    }

    async fn evict_srs(
        &self,
        request: Request<EvictSrsRequest>,
    ) -> Result<Response<EvictSrsResponse>, Status> {
        let freed = self.0.kinds.evict(&request.into_inner().circuit_id);
        let freed = freed.map_err(|refusal| refused(&refusal))?;
        Ok(Response::new(EvictSrsResponse {
            was_loaded: freed.is_some(),
            freed_bytes: freed.unwrap_or(0),
        }))
    }
}
