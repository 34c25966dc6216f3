//! `cuzk bench`: a batch of jobs through the engine, every proof verified, the trace beside it.

mod page;
mod text;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use prover::ProverError;
use prover::bench::{Jobs, Outcome, Request, Row, Setup, header};
use prover::circuits::by_name;
use prover::clock::SystemClock;
use prover::device::groth16::Parameters;
use prover::engine::{Fault, Injection};
use prover::groth16::Mix;
use prover::proving;
use prover::srs::{Ceremony, Manifest, Srs};

use super::card::{self, Card};
use super::making;
use super::setup::mix;
use super::size::Size;
use super::traced;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, note};

/// Prove a batch of jobs, several at a time, and say how fast it went.
///
/// Each job has partitions; each partition is a proof, and every proof is verified before its job
/// counts. Without a card the processor stands in for one: it runs the kernels and accounts the
/// memory that a card would need. Without --params, insecure parameters are made first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk bench -c 5 -j 3 --trace run.log
  cuzk bench -c 20 -j 15 --circuit mimc --size 2^12 --gpu-workers 2 --html report.html
  cuzk bench -c 5 -j 3 --size 2^20 --backend cuda --vram-limit 16GiB
  cuzk bench --circuit mimc --size 2^7 --inject late-free --vram 16MiB --trace late.log
  cuzk diagnose late.log

Faults for --inject: late-free, leak-on-error, alloc-fail, alloc-once, launch-fail, double-free,
early-free, synth-fail, bad-proof, panic:synthesis, panic:worker, panic:finisher; behind each :N for
the N-th time or :1/N for one time in N; without, once among its first four occasions, as the seed
has it, and late-free each time. An occasion is an allocation, a kernel's launch, a partition.
Further slow:PHASE:FACTOR, with a PHASE of synth, quotient, msm_h, msm_l, msm_a, msm_b_g1, msm_b_g2,
verify.

Exits with 1 when a job failed, with 3 when a fault was asked for and never struck, or was a late
free that failed nothing; it then names a card on which it does.")]
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
    #[command(flatten)]
    card: Card,
    /// Host memory that partitions in flight may hold
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = card::bytes)]
    memory: u64,
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
    output::ready(&[
        ("the trace", verb.trace.as_deref()),
        ("the page", verb.html.as_deref()),
    ])?;
    if verb.html.is_some() && verb.trace.as_deref().is_some_and(output::is_stdout) {
        return Err(CliError::Usage(
            "the page is made from the trace, which standard output does not keep; name a file by \
             --trace"
                .to_owned(),
        ));
    }
    let devices = verb.card.open()?;
    let (jobs, witness) = jobs(verb)?;
    let setup = Setup {
        device_workers: verb.gpu_workers,
        synth_workers: verb.partition_workers,
        host_bytes: verb.memory,
        injection: Injection {
            faults: verb.inject.clone(),
            seed: verb.seed,
        },
        machine: machine(),
    };
    let trace = Trace::new(verb)?;
    let head = setup.head(&jobs, request, &devices.first());
    let clock = Arc::new(SystemClock::new());
    let tracer = Arc::new(traced::begin(trace.path(), "bench-", clock, head)?);
    note(&mix(witness.as_ref()));
    if verb.format == Format::Text {
        output::text(&header(jobs.family.name(), request))?;
    }
    let done = |row: &Row| note(&text::progress(row, request));
    let outcome = setup
        .run(&jobs, request, (devices, &tracer), done)
        .map_err(|error| CliError::Internal(error.to_string()))?;
    traced::end(tracer, trace.path())?;
    match verb.format {
        Format::Text => output::text(&text::summary(&outcome, &jobs, trace.named.as_deref()))?,
        Format::Json => output::json(&text::json(&outcome, &jobs, request, witness.as_ref()))?,
    }
    if let Some(html) = &verb.html {
        let kept = trace.named.is_some();
        page::write(
            html,
            (trace.path(), kept),
            &text::plain(&jobs, request, &outcome),
        )?;
    }
    Ok(exit(&outcome))
}

/// A batch that was to go wrong and did not has shown nothing.
fn exit(outcome: &Outcome) -> Exit {
    let unstruck = text::unstruck(outcome).map(text::never);
    let unstruck: Vec<_> = unstruck.chain(text::roomy(outcome)).collect();
    for never in &unstruck {
        note(never);
    }
    if outcome.batch.failed() > 0 {
        Exit::Findings
    } else if unstruck.is_empty() {
        Exit::Clean
    } else {
        Exit::Inconclusive
    }
}

/// What times hang on beside the settings: the processor and the build.
fn machine() -> Vec<(&'static str, String)> {
    let build = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    let mut found = vec![("build_profile", build.to_owned())];
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| {
        let (name, model) = line.split_once(':')?;
        (name.trim() == "model name").then(|| model.trim().to_owned())
    });
    found.extend(model.map(|model| ("cpu", model)));
    found
}

/// The circuit and its parameters.
fn jobs(verb: &Bench) -> Result<(Jobs, Option<Mix>), CliError> {
    let family = by_name(&verb.circuit, verb.size.log2())
        .map_err(|error| CliError::Usage(error.to_string()))?;
    let made = || -> Result<(Parameters, Option<Mix>), ProverError> {
        let shape = proving::shape(&family)?;
        let witness = proving::mix(&family, &shape)?;
        let srs = if let Some(path) = &verb.params {
            Srs::open_as(path, Manifest::beside(path).as_ref())?.0
        } else {
            note("making insecure parameters; keep some with setup and --params");
            let ceremony = Ceremony::insecure(verb.seed);
            making::parameters(verb.card.backend, (&ceremony, &shape), &mut |_| ())?.0
        };
        Ok((Parameters::new(shape, Box::new(srs))?, witness))
    };
    let (parameters, witness) = made().map_err(|error| CliError::Usage(error.to_string()))?;
    let jobs = Jobs {
        family,
        parameters: Arc::new(parameters),
        partitions: verb.partitions.into(),
        seed: verb.seed,
    };
    Ok((jobs, witness))
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
}
