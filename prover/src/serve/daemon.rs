//! The daemon as a whole: one address for gRPC, pages and metrics; a collector of ended jobs; and
//! an end that loses nothing it accepted.
//!
//! When the end is asked for, no more jobs are taken (`UNAVAILABLE`), open ones are done for as
//! long as [`Settings::finish`] allows, the rest are cancelled and answered as such; only then are
//! connections closed. A second request for the end skips the wait. Work that a device does not
//! give back within [`Settings::cancel`] is answered as failed and named in [`Ended::left`]; the
//! engine is then not to be waited for either.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use tokio_rustls::TlsAcceptor;
use tonic::service::Routes;

use super::jobs::Jobs;
use super::kinds::Kinds;
use super::listen::{self, Limits, Listener};
use super::metrics::Metrics;
use super::page;
use super::service::{Service, Shared};
use super::wire::await_proof_response::Status;
use super::wire::proving_engine_server::ProvingEngineServer;
use super::wire::{AwaitProofResponse, DESCRIPTORS};
use crate::clock::Clock;
use crate::device::Work;
use crate::engine::Engine;

/// How a daemon behaves.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The largest message, bytes.
    pub message_bytes: usize,
    /// Of connections.
    pub limits: Limits,
    /// How long open jobs may take once the end was asked for.
    pub finish: Duration,
    /// How long cancelled jobs may take to let go of what they hold.
    pub cancel: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            message_bytes: 128 << 20,
            limits: Limits::default(),
            finish: Duration::from_mins(10),
            cancel: Duration::from_secs(30),
        }
    }
}

/// An engine behind an address.
pub struct Daemon<W: Work> {
    shared: Arc<Shared<W>>,
    settings: Settings,
}

/// What was left when a daemon ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Jobs that were cancelled, since the time to finish them was up.
    pub cancelled: usize,
    /// Those of them that never let go of their worker.
    pub left: Vec<String>,
    /// Whether every open request got its answer before its connection was closed.
    pub answered: bool,
}

impl<W: Work> fmt::Debug for Daemon<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Daemon")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<W: Work> Daemon<W> {
    /// A daemon over an engine that runs.
    pub fn new(
        engine: Arc<Engine<W>>,
        kinds: Arc<dyn Kinds<W>>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Self {
        let epoch_s = clock.epoch_unix_us() / 1_000_000;
        let shared = Shared {
            engine,
            kinds,
            clock,
            jobs: Jobs::new(epoch_s),
            metrics: Metrics::new(),
            closing: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        };
        Self {
            shared: Arc::new(shared),
            settings,
        }
    }

    /// Everything at the daemon's address.
    pub(super) fn router(&self) -> Result<Router, tonic_reflection::server::Error> {
        let service = ProvingEngineServer::new(Service(Arc::clone(&self.shared)))
            .max_decoding_message_size(self.settings.message_bytes)
            .max_encoding_message_size(self.settings.message_bytes);
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        // A new reporter says SERVING for the server as a whole.
        let (_reporter, health) = tonic_health::server::health_reporter();
        let routes = Routes::new(service)
            .add_service(health)
            .add_service(reflection().build_v1()?)
            .add_service(reflection().build_v1alpha()?);
        let pages = page::router(&self.shared);
        Ok(routes
            .into_axum_router()
            .merge(pages)
            .fallback(page::nothing_here))
    }

    /// Serves until `end` gives a first word, then ends as the module's head says; a second word
    /// skips the wait for open jobs.
    ///
    /// # Errors
    /// [`tonic_reflection::server::Error`] if the interface's own description cannot be read.
    pub async fn run(
        &self,
        listener: Listener,
        tls: Option<TlsAcceptor>,
        mut end: tokio::sync::mpsc::Receiver<()>,
    ) -> Result<Ended, tonic_reflection::server::Error> {
        let app = self.router()?;
        let collector = tokio::spawn(collect(Arc::clone(&self.shared)));
        let (close, closed) = tokio::sync::oneshot::channel::<()>();
        let served = tokio::spawn(listen::serve(
            listener,
            app,
            tls,
            self.settings.limits,
            async {
                drop(closed.await);
            },
        ));
        let _word: Option<()> = end.recv().await;
        let (cancelled, left) = self.finish_jobs(&mut end).await;
        // Nobody listens any more only if the listener itself has ended.
        let _heard: Result<(), ()> = close.send(());
        let answered = served.await.unwrap_or(false);
        self.shared.ended.store(true, Ordering::Release);
        // It only reads; a collector that broke has nothing left to do either.
        drop(collector.await);
        Ok(Ended {
            cancelled,
            left,
            answered,
        })
    }

    /// Takes no more jobs, waits for the open ones, cancels what is left: how many that were, and
    /// which of them did not even then come to an end. Those are answered as failed.
    async fn finish_jobs(&self, end: &mut tokio::sync::mpsc::Receiver<()>) -> (usize, Vec<String>) {
        let Shared { jobs, closing, .. } = &*self.shared;
        closing.store(true, Ordering::Release);
        let all_done = async || {
            while !jobs.open().is_empty() {
                tokio::time::sleep(POLL).await;
            }
        };
        tokio::select! {
            () = all_done() => return (0, Vec::new()),
            () = tokio::time::sleep(self.settings.finish) => {}
            _ = end.recv() => {}
        }
        let open = jobs.open();
        for (id, _) in &open {
            self.shared.engine.cancel(id);
        }
        let in_time = tokio::time::timeout(self.settings.cancel, all_done()).await;
        let mut left = Vec::new();
        if in_time.is_err() {
            for (id, _) in jobs.open() {
                jobs.end(&id, given_up(&id, self.settings.cancel));
                left.push(id);
            }
        }
        (open.len(), left)
    }
}

/// The answer for a job that a worker does not give back.
fn given_up(id: &str, waited: Duration) -> AwaitProofResponse {
    AwaitProofResponse {
        job_id: id.to_owned(),
        status: Status::Failed.into(),
        error_message: format!(
            "the daemon ends, and {} s after the job was cancelled its worker still had it",
            waited.as_secs()
        ),
        ..AwaitProofResponse::default()
    }
}

/// How often ended jobs are looked for.
const POLL: Duration = Duration::from_millis(5);

async fn collect<W: Work>(shared: Arc<Shared<W>>) {
    while !shared.ended.load(Ordering::Acquire) {
        let idle = shared.collect() == 0;
        tokio::time::sleep(if idle { POLL * 4 } else { POLL }).await;
    }
}
