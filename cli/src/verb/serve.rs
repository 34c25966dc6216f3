//! `cuzk serve`: the daemon.

use std::mem::ManuallyDrop;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use prover::ProverError;
use prover::circuits;
use prover::clock::{Clock, SystemClock};
use prover::device::groth16::Groth16;
use prover::device::{Devices, Info};
use prover::engine::{Config, Engine, Injection, Limits};
use prover::serve::{Certificate, Daemon, Kinds, Place, Rehearsal, Settings, run as serve};
use prover::trace::Tracer;
use tracefmt::event::TraceStart;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::verb::card::{self, Card};
use crate::verb::size::Size;
use crate::verb::traced;

/// Run the proving daemon: gRPC, metrics and a live page at one address.
///
/// The interface is that of `cuzk.v1.ProvingEngine`; `/` shows the pipeline, `/status` the same as
/// JSON, `/metrics` is for Prometheus. SIGTERM and SIGINT refuse new jobs, finish the open ones
/// within --finish, and answer what is left as cancelled; a second signal does not wait.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk serve --rehearse mimc --size 2^12 --partitions 10
  cuzk serve --unix /run/cuzk.sock --rehearse porep-shaped --size 2^16 --trace daemon.log
  cuzk serve --filecoin params/
  grpcurl -plaintext 127.0.0.1:9820 cuzk.v1.ProvingEngine/GetStatus

Exits with 0 when all jobs had ended, with 1 when some were cancelled by the end or never ended.")]
pub struct Serve {
    /// Address to listen on; everyone who reaches it can submit jobs
    #[arg(long, default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Port to listen on; 0 takes any
    #[arg(long, default_value_t = 9820)]
    port: u16,
    /// Listen on a unix socket instead
    #[arg(long, value_name = "SOCKET")]
    unix: Option<PathBuf>,
    /// Prove real sectors of 2 KiB with the parameters of this folder: window-post-2k.params,
    /// winning-post-2k.params, porep-2k.params, as setup writes them. Needs the feature `filecoin`
    #[arg(long, value_name = "DIR", required_unless_present = "rehearse")]
    filecoin: Option<PathBuf>,
    /// Answer for PoRep with this test circuit instead (`cuzk setup --list` names them)
    #[arg(long, value_name = "CIRCUIT", conflicts_with = "filecoin")]
    rehearse: Option<String>,
    /// Rows of its domain, a power of two: 2^16 or 65536
    #[arg(long, value_name = "N", default_value = "2^12")]
    size: Size,
    /// Partitions of a job in rehearsal
    #[arg(long, default_value_t = 10)]
    partitions: usize,
    /// Parameters in rehearsal; without them they are made, insecurely
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// Workers on the device
    #[arg(long, value_name = "N", default_value_t = 2)]
    gpu_workers: u32,
    /// Synthesis workers
    #[arg(long, value_name = "N", default_value_t = 1)]
    partition_workers: u32,
    #[command(flatten)]
    card: Card,
    /// Host memory that partitions in flight may hold
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = card::bytes)]
    memory: u64,
    /// Partitions that may wait; a job beyond is refused
    #[arg(long, value_name = "N", default_value_t = 1000)]
    queue: usize,
    /// Largest message
    #[arg(long, value_name = "SIZE", default_value = "128MiB", value_parser = card::bytes)]
    message: u64,
    /// Seconds for open jobs once the end was asked for
    #[arg(long, value_name = "S", default_value_t = 600)]
    finish: u64,
    /// Seconds for cancelled jobs to let go of their workers, before the end does not wait for them
    #[arg(long, value_name = "S", default_value_t = 30)]
    cancel: u64,
    /// Certificate chain (PEM) for TLS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key (PEM) for TLS
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Write the trace of the run to this file
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// Serves until a signal ends it.
///
/// # Errors
///
/// A circuit that does not exist, an address that cannot be bound, a certificate or a trace file
/// that cannot be used.
pub fn run(verb: &Serve) -> Result<Exit, CliError> {
    let usage = |error: &dyn ToString| CliError::Usage(error.to_string());
    output::ready(&[("the trace", verb.trace.as_deref())])?;
    let kinds = kinds(verb).map_err(|error| usage(&error))?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let devices = verb.card.open()?;
    let tracer = Arc::new(tracer(verb, &devices.first(), &clock)?);
    let engine = engine(verb, devices, &tracer).map_err(|error| usage(&error))?;
    let settings = Settings {
        message_bytes: usize::try_from(verb.message).unwrap_or(usize::MAX),
        finish: Duration::from_secs(verb.finish),
        cancel: Duration::from_secs(verb.cancel),
        ..Settings::default()
    };
    let daemon = Daemon::new(engine, kinds, clock, settings);
    let place = match &verb.unix {
        Some(path) => Place::Unix(path.clone()),
        None => Place::Tcp(SocketAddr::new(verb.bind, verb.port)),
    };
    let certificate = verb.tls_cert.clone().zip(verb.tls_key.clone());
    let certificate = certificate.map(|(chain, key)| Certificate { chain, key });
    let ended = serve(&daemon, &place, certificate.as_ref(), |address| {
        output::note(&format!("listening on {address}"));
    });
    let ended = ended.map_err(|error| usage(&error))?;
    if !ended.left.is_empty() {
        // Waiting for the engine's threads would be waiting for ever; they end with the process.
        let _kept = ManuallyDrop::new(daemon);
        output::note(&format!(
            "ended without the workers of {}: their jobs were answered as failed, and the trace \
             has no end",
            ended.left.join(", ")
        ));
        return Ok(Exit::Findings);
    }
    // The engine goes first: its threads write to the trace.
    drop(daemon);
    traced::end(tracer, verb.trace.as_deref())?;
    output::note(&format!(
        "ended; {} jobs were cancelled by the end{}",
        ended.cancelled,
        if ended.answered {
            ""
        } else {
            ", and requests were cut off"
        }
    ));
    Ok(if ended.cancelled == 0 && ended.answered {
        Exit::Clean
    } else {
        Exit::Findings
    })
}

/// What the daemon can prove.
fn kinds(verb: &Serve) -> Result<Arc<dyn Kinds<Groth16>>, ProverError> {
    if let Some(circuit) = &verb.rehearse {
        let family = circuits::by_name(circuit, verb.size.log2())?;
        let kinds = Rehearsal::new(family, verb.partitions, verb.params.clone());
        return Ok(Arc::new(kinds));
    }
    sectors(verb.filecoin.as_deref().unwrap_or(Path::new(".")))
}

#[cfg(feature = "filecoin")]
fn sectors(folder: &Path) -> Result<Arc<dyn Kinds<Groth16>>, ProverError> {
    Ok(Arc::new(prover::serve::Sectors::new(folder)?))
}

#[cfg(not(feature = "filecoin"))]
fn sectors(_: &Path) -> Result<Arc<dyn Kinds<Groth16>>, ProverError> {
    Err(ProverError::CircuitLeftOut {
        circuit: "--filecoin",
        feature: "filecoin",
    })
}

fn tracer(verb: &Serve, device: &Info, clock: &Arc<dyn Clock>) -> Result<Tracer, CliError> {
    let number = |name: &'static str, value: u64| (name.into(), value.to_string().into());
    let head = TraceStart {
        config: vec![
            (
                "circuit".into(),
                verb.rehearse
                    .clone()
                    .unwrap_or_else(|| "filecoin-2k".to_owned())
                    .into(),
            ),
            number("partitions", verb.partitions as u64),
            number("workers", verb.gpu_workers.into()),
            number("partition_workers", verb.partition_workers.into()),
        ],
        ..traced::head(device)
    };
    traced::begin(verb.trace.as_deref(), "serve-", Arc::clone(clock), head)
}

fn engine(
    verb: &Serve,
    devices: Devices,
    tracer: &Arc<Tracer>,
) -> Result<Arc<Engine<Groth16>>, prover::engine::StartError> {
    let config = Config {
        synth_workers: verb.partition_workers,
        device_workers: verb.gpu_workers,
        finishers: 1,
        expected: u64::MAX,
        limits: Limits {
            host_bytes: verb.memory,
            waiting: verb.queue,
            reports: verb.queue,
        },
        injection: Injection::default(),
    };
    Ok(Arc::new(Engine::start(
        devices.work,
        devices.all,
        Arc::clone(tracer),
        &config,
    )?))
}
