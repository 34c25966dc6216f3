//! A daemon over work that does nothing but take its time, break, or lie, as its request asks.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tonic::transport::{Channel, Endpoint};

use super::listen::{Limits, Listener};
use super::wire::proving_engine_client::ProvingEngineClient;
use super::wire::{ProofKind, SubmitProofRequest};
use super::{Daemon, Ended, Kinds, Loaded, Refusal, Rehearsal, Settings};
use crate::clock::{Clock, SystemClock};
use crate::device::groth16::Groth16;
use crate::device::{CpuDevice, Work};
use crate::engine::{self, Config, Engine, Injection};
use crate::plan::{Kernel, Sizes};
use crate::trace::Tracer;

/// What a partition does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    /// Proves after so many ms.
    Sleep(u64),
    /// Panics on the device.
    Panic,
    /// Makes a proof that does not hold.
    Lie,
}

#[derive(Debug)]
pub(super) struct Sleepy;

pub(super) struct State {
    deed: Deed,
    slept: bool,
}

impl Work for Sleepy {
    type Circuit = Deed;
    type State = State;
    type Proof = Vec<u8>;

    fn sizes(&self, _circuit: &Deed) -> Sizes {
        Sizes::like_a_sector(1 << 16)
    }

    fn host_bytes(&self, _circuit: &Deed) -> u64 {
        1 << 20
    }

    fn synthesize(&self, deed: Deed) -> Result<State, String> {
        Ok(State { deed, slept: false })
    }

    fn kernel(&self, _kernel: Kernel, state: &mut State) -> Result<(), String> {
        match state.deed {
            Deed::Sleep(ms) if !state.slept => {
                std::thread::sleep(Duration::from_millis(ms));
                state.slept = true;
            }
            Deed::Panic => panic!("told to"),
            Deed::Sleep(_) | Deed::Lie => {}
        }
        Ok(())
    }

    fn again(&self, _state: &mut State) {}

    fn assemble(&self, state: &mut State) -> Result<Vec<u8>, String> {
        Ok(vec![u8::from(!matches!(state.deed, Deed::Lie)); 192])
    }

    fn verify(&self, _state: &State, proof: &Vec<u8>) -> Result<bool, String> {
        Ok(proof.iter().all(|byte| *byte == 1))
    }

    fn spoil(&self, proof: &Vec<u8>) -> Vec<u8> {
        vec![0; proof.len()]
    }
}

/// Reads deeds from `vanilla_proofs`: `sleep MS`, `panic`, `lie`.
#[derive(Debug, Default)]
pub(super) struct Deeds {
    loaded: Mutex<BTreeMap<String, u64>>,
}

impl Kinds<Sleepy> for Deeds {
    fn circuits(&self, request: &SubmitProofRequest) -> Result<Vec<Deed>, Refusal> {
        if request.proof_kind == i32::from(ProofKind::SnapDealsUpdate) {
            return Err(Refusal::NotBuilt {
                kind: "snap-deals",
                feature: "filecoin",
            });
        }
        let deed = |bytes: &Vec<u8>| match std::str::from_utf8(bytes) {
            Ok("panic") => Ok(Deed::Panic),
            Ok("lie") => Ok(Deed::Lie),
            Ok(text) => match text.strip_prefix("sleep ").map(str::parse) {
                Some(Ok(ms)) => Ok(Deed::Sleep(ms)),
                _ => Err(Refusal::Invalid(format!("no deed: {text}"))),
            },
            Err(error) => Err(Refusal::Invalid(error.to_string())),
        };
        request.vanilla_proofs.iter().map(deed).collect()
    }

    fn bytes(&self, proof: &Vec<u8>) -> Vec<u8> {
        proof.clone()
    }

    fn preload(&self, circuit_id: &str) -> Result<bool, Refusal> {
        if circuit_id != "deeds" {
            return Err(Refusal::UnknownCircuit {
                found: circuit_id.to_owned(),
                known: "deeds".to_owned(),
            });
        }
        let mut loaded = self.loaded.lock().expect("not poisoned");
        Ok(loaded.insert(circuit_id.to_owned(), 77).is_some())
    }

    fn evict(&self, circuit_id: &str) -> Result<Option<u64>, Refusal> {
        Ok(self.loaded.lock().expect("not poisoned").remove(circuit_id))
    }

    fn loaded(&self) -> Vec<Loaded> {
        let loaded = self.loaded.lock().expect("not poisoned");
        let each = loaded.iter().map(|(name, bytes)| Loaded {
            circuit_id: name.clone(),
            bytes: *bytes,
            users: 0,
        });
        each.collect()
    }
}

/// A daemon that runs, and the ways to reach and to end it.
pub(super) struct Running {
    pub(super) address: String,
    pub(super) end: mpsc::Sender<()>,
    pub(super) done: JoinHandle<Ended>,
}

impl Running {
    pub(super) async fn client(&self) -> ProvingEngineClient<Channel> {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address));
        let channel = endpoint.expect("an address").connect().await;
        ProvingEngineClient::new(channel.expect("it listens"))
            .max_decoding_message_size(256 << 20)
            .max_encoding_message_size(256 << 20)
    }

    pub(super) async fn ended(self) -> Ended {
        self.end.send(()).await.expect("runs");
        let done = tokio::time::timeout(Duration::from_secs(20), self.done).await;
        done.expect("ends in time").expect("does not break")
    }
}

/// An engine with one test card.
fn engine<W: Work>(work: W, waiting: usize, tracer: Tracer) -> Arc<Engine<W>> {
    let config = Config {
        synth_workers: 1,
        device_workers: 2,
        finishers: 1,
        expected: 0,
        limits: engine::Limits {
            host_bytes: 64 << 20,
            waiting,
            reports: 1000,
        },
        injection: Injection::default(),
    };
    let work = Arc::new(work);
    let device = CpuDevice::new(Arc::clone(&work), 16 << 30, 0);
    let engine = Engine::start(work, vec![Arc::new(device)], Arc::new(tracer), &config);
    Arc::new(engine.expect("starts"))
}

fn settings(finish: Duration) -> Settings {
    Settings {
        finish,
        limits: Limits {
            first_byte: Duration::from_millis(500),
            drain: Duration::from_secs(2),
            ..Limits::default()
        },
        ..Settings::default()
    }
}

/// A daemon that does not listen yet.
pub(super) fn daemon(waiting: usize, finish: Duration) -> (Daemon<Sleepy>, Arc<Engine<Sleepy>>) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let engine = engine(Sleepy, waiting, Tracer::silent(Arc::clone(&clock)));
    let kinds = Arc::new(Deeds::default());
    let daemon = Daemon::new(Arc::clone(&engine), kinds, clock, settings(finish));
    (daemon, engine)
}

/// A daemon over deeds.
pub(super) async fn start(waiting: usize, finish: Duration) -> Running {
    let (daemon, _engine) = daemon(waiting, finish);
    listen(daemon).await
}

/// A daemon over deeds that waits so long for cancelled jobs only.
pub(super) async fn impatient(finish: Duration, cancel: Duration) -> Running {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let engine = engine(Sleepy, 100, Tracer::silent(Arc::clone(&clock)));
    let settings = Settings {
        cancel,
        ..settings(finish)
    };
    listen(Daemon::new(
        engine,
        Arc::new(Deeds::default()),
        clock,
        settings,
    ))
    .await
}

/// A daemon over real proofs of a small circuit.
pub(super) async fn rehearse(partitions: usize) -> Running {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let engine = engine(
        Groth16::on_processor(),
        100,
        Tracer::silent(Arc::clone(&clock)),
    );
    let family = crate::circuits::by_name("mimc", 6).expect("known");
    let kinds = Arc::new(Rehearsal::new(family, partitions, None));
    listen(Daemon::new(
        engine,
        kinds,
        clock,
        settings(Duration::from_secs(10)),
    ))
    .await
}

/// A daemon over real sectors.
#[cfg(feature = "filecoin")]
pub(super) fn sectors(kinds: Arc<dyn Kinds<Groth16>>) -> Daemon<Groth16> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let engine = engine(
        Groth16::on_processor(),
        100,
        Tracer::silent(Arc::clone(&clock)),
    );
    Daemon::new(engine, kinds, clock, settings(Duration::from_secs(20)))
}

pub(super) async fn listen<W: Work>(daemon: Daemon<W>) -> Running {
    let any = (Ipv4Addr::LOCALHOST, 0).into();
    let listener = Listener::tcp(any).await.expect("a free port");
    let address = listener.address();
    let (end, told) = mpsc::channel(2);
    let done = tokio::spawn(async move { daemon.run(listener, None, told).await.expect("runs") });
    Running { address, end, done }
}

pub(super) fn request(deeds: &[&str]) -> SubmitProofRequest {
    SubmitProofRequest {
        proof_kind: ProofKind::PorepSealCommit.into(),
        vanilla_proofs: deeds.iter().map(|deed| deed.as_bytes().to_vec()).collect(),
        ..SubmitProofRequest::default()
    }
}
