//! `cuzk bench`: a batch of jobs through the engine, every proof verified, the trace beside it.

mod page;
mod text;

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use prover::ProverError;
use prover::bench::{Jobs, Outcome, Request, Row, Setup, header};
use prover::circuits::by_name;
use prover::clock::{Clock as _, SystemClock};
use prover::device::groth16::Parameters;
use prover::engine::{Fault, Injection};
use prover::groth16::Shape;
use prover::srs::{Ceremony, Srs};
use prover::trace::Tracer;

use super::size::Size;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, note};

/// Prove a batch of jobs, several at a time, and say how fast it went.
///
/// Each job has partitions; each partition is a proof, and every proof is verified before its job
/// counts. The processor stands in for a card: it runs the kernels and accounts the memory that a
/// card would need. Without --params, insecure parameters are made first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk bench -c 5 -j 3 --trace run.log
  cuzk bench -c 20 -j 15 --circuit mimc --size 2^12 --gpu-workers 2 --html report.html
  cuzk bench --inject late-free --vram 14MiB --trace late.log; cuzk diagnose late.log

Faults for --inject: late-free, leak-on-error, alloc-fail, launch-fail, double-free, early-free,
synth-fail, bad-proof, panic:synthesis, panic:worker, panic:finisher; behind each :N for the N-th
time or :1/N for one time in N; and slow:PHASE:FACTOR.

Exits with 1 when a job failed.")]
pub struct Bench {
    /// Jobs in all
    #[arg(short, long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    count: u16,
    /// Jobs open at a time
    #[arg(short = 'j', long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// Partitions of each job
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    partitions: u16,
    /// Workers on the device: one computes, the others prepare
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    gpu_workers: u32,
    /// Workers that synthesise partitions
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=256))]
    partition_workers: u32,
    /// Name of the circuit
    #[arg(long, value_name = "NAME", default_value = "porep-shaped")]
    circuit: String,
    /// Rows of its domain, a power of two
    #[arg(long, value_name = "N", default_value = "2^15")]
    size: Size,
    /// Parameters, as setup writes them; without, insecure ones are made
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// Seed of statements, parameters and faults
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Memory of the card that the processor stands in for
    #[arg(long, value_name = "SIZE", default_value = "16GiB")]
    vram: String,
    /// Host memory that partitions in flight may hold
    #[arg(long, value_name = "SIZE", default_value = "4GiB")]
    memory: String,
    /// Something that is to go wrong; may be repeated
    #[arg(long, value_name = "FAULT")]
    inject: Vec<Fault>,
    /// Where to write the trace
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write the report of the run as one HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the batch and prints what came of it.
///
/// # Errors
/// Parameters that cannot be read or are another circuit's, a size that is none, an output that
/// cannot be written.
pub fn run(verb: &Bench) -> Result<Exit, CliError> {
    let request = Request {
        count: verb.count.into(),
        concurrency: verb.concurrency.into(),
    };
    output::distinct(&[
        ("the parameters", verb.params.as_deref()),
        ("the trace", verb.trace.as_deref()),
        ("the page", verb.html.as_deref()),
    ])?;
    let (vram, host_bytes) = (bytes(&verb.vram)?, bytes(&verb.memory)?);
    let jobs = jobs(verb)?;
    let setup = Setup {
        device_workers: verb.gpu_workers,
        synth_workers: verb.partition_workers,
        vram,
        host_bytes,
        injection: Injection {
            faults: verb.inject.clone(),
            seed: verb.seed,
        },
    };
    let trace = Trace::new(verb)?;
    let tracer = Arc::new(trace.start(&setup, &jobs, request)?);
    if verb.format == Format::Text {
        output::text(&header(jobs.family.name(), request))?;
    }
    let done = |row: &Row| note(&text::progress(row, request));
    let outcome = setup
        .run(&jobs, request, &tracer, done)
        .map_err(|error| CliError::Internal(error.to_string()))?;
    trace.end(tracer)?;
    match verb.format {
        Format::Text => output::text(&text::summary(&outcome, trace.path()))?,
        Format::Json => output::json(&text::json(&outcome, &jobs, request))?,
    }
    if let Some(html) = &verb.html {
        page::write(html, trace.path(), &text::plain(&jobs, request, &outcome))?;
    }
    Ok(exit(&outcome))
}

fn exit(outcome: &Outcome) -> Exit {
    if outcome.batch.failed() == 0 {
        Exit::Clean
    } else {
        Exit::Findings
    }
}

/// The circuit and its parameters.
fn jobs(verb: &Bench) -> Result<Jobs, CliError> {
    let family = by_name(&verb.circuit, verb.size.log2())
        .map_err(|error| CliError::Usage(error.to_string()))?;
    let made = || -> Result<Parameters, ProverError> {
        let (shape, _) = Shape::record(family.example().circuit)?;
        let srs = if let Some(path) = &verb.params {
            Srs::open(path)?.0
        } else {
            note("making insecure parameters; keep some with setup and --params");
            Ceremony::insecure(verb.seed).parameters(&shape, &mut |_| ())?
        };
        Parameters::new(shape, Box::new(srs))
    };
    let parameters = made().map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(Jobs {
        family,
        parameters: Arc::new(parameters),
        partitions: verb.partitions.into(),
        seed: verb.seed,
    })
}

/// Bytes of a size such as 16GiB.
fn bytes(text: &str) -> Result<u64, CliError> {
    replay::change::bytes(text).ok_or_else(|| {
        CliError::Usage(format!(
            "expected a size such as 16GiB or 512MiB, found {text:?}"
        ))
    })
}

/// Where the trace goes: a named file, one that the page needs only, or nowhere.
struct Trace {
    named: Option<PathBuf>,
    passing: Option<tempfile::NamedTempFile>,
}

impl Trace {
    fn new(verb: &Bench) -> Result<Self, CliError> {
        let named = verb.trace.clone();
        let wanted = named.is_none() && verb.html.is_some();
        let passing = wanted.then(tempfile::NamedTempFile::new).transpose();
        let passing = passing.map_err(|source| CliError::Output {
            path: std::env::temp_dir(),
            source,
        })?;
        Ok(Self { named, passing })
    }

    fn path(&self) -> Option<&std::path::Path> {
        let passing = self.passing.as_ref().map(tempfile::NamedTempFile::path);
        self.named.as_deref().or(passing)
    }

    fn start(&self, setup: &Setup, jobs: &Jobs, request: Request) -> Result<Tracer, CliError> {
        let clock = Arc::new(SystemClock::new());
        let Some(path) = self.path() else {
            return Ok(Tracer::silent(clock));
        };
        let failed = |source| CliError::Output {
            path: path.to_owned(),
            source,
        };
        let file = File::create(path).map_err(failed)?;
        let head = setup.head(jobs, request, clock.epoch_unix_us());
        Tracer::start(clock, Box::new(file), &head).map_err(failed)
    }

    /// Ends the trace. Lines that were lost are said; they make no proof worse.
    fn end(&self, tracer: Arc<Tracer>) -> Result<(), CliError> {
        let (Some(tracer), Some(path)) = (Arc::into_inner(tracer), self.path()) else {
            return Ok(());
        };
        if tracer.lost() > 0 {
            note(&format!("{} lines of the trace were lost", tracer.lost()));
        }
        let ended = tracer.finish().map_err(|source| CliError::Output {
            path: path.to_owned(),
            source,
        })?;
        drop(ended);
        Ok(())
    }
}
