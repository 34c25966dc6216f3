//! `cuzk prove`: one job of a circuit of the registry, proved, verified, and traced.

use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use prover::ProverError;
use prover::circuits::{self, Family};
use prover::clock::SystemClock;
use prover::device::Info;
use prover::device::groth16::Parameters;
use prover::proving::{self, Proved, Request};
use prover::srs::{Checked, Manifest, Srs};
use prover::trace::Tracer;
use serde::Serialize;
use tracefmt::event::TraceStart;

use super::card::Card;
use super::size::Size;
use super::traced;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, note};

/// Prove a job of a test circuit, verify every proof, and leave a trace.
///
/// Circuit and size are those that the parameters were made for, unless given. The proofs are
/// written one after another, 192 bytes each; the public inputs beside them in OUTPUT.inputs.json.
/// Nothing is written unless every proof was verified.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk prove --params mimc-16.insecure.params -o proof.bin
  cuzk prove --params porep.insecure.params --partitions 10 -o proof.bin --trace run.log
  cuzk diagnose run.log

Exits with 1 when a proof was not made or does not hold.")]
pub struct Prove {
    /// Parameters, as setup writes them
    #[arg(long, value_name = "FILE")]
    params: PathBuf,
    /// Name of the circuit
    #[arg(long, value_name = "NAME", requires = "size")]
    circuit: Option<String>,
    /// Rows of its domain, a power of two: 2^16 or 65536
    #[arg(long, value_name = "N", requires = "circuit")]
    size: Option<Size>,
    /// Seed of the statements
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Partitions of the job
    #[arg(long, value_name = "N", default_value = "1")]
    partitions: NonZeroU16,
    /// Where to write the proofs
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Where to write the public inputs; without, OUTPUT.inputs.json
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// Where to write the trace
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    card: Card,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What was proved, `cuzk.proof/1`.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    circuit: &'static str,
    log2: u32,
    partitions: usize,
    proof: PathBuf,
    inputs: PathBuf,
    trace: Option<PathBuf>,
    verified: bool,
    synth_ms: f64,
    device_ms: f64,
    total_ms: f64,
    verify_ms: f64,
}

/// Proves and writes.
///
/// # Errors
/// An input that cannot be read, parameters of another circuit, an output that cannot be written.
pub fn run(verb: &Prove) -> Result<Exit, CliError> {
    let inputs = inputs(verb)?;
    output::distinct(&[
        ("the parameters", Some(&verb.params)),
        ("the proofs", Some(&verb.output)),
        ("the public inputs", Some(&inputs)),
        ("the trace", verb.trace.as_deref()),
    ])?;
    output::ready(&[
        ("the proofs", Some(&verb.output)),
        ("the public inputs", Some(&inputs)),
        ("the trace", verb.trace.as_deref()),
    ])?;
    let family = family(verb)?;
    let parameters = Arc::new(parameters(&family, &verb.params)?);
    let devices = verb.card.open()?;
    let tracer = Arc::new(tracer(verb, &family, &devices.first())?);
    let request = Request {
        job: format!("{}-{}", family.name(), verb.seed),
        seed: verb.seed,
        partitions: verb.partitions.get().into(),
        device_workers: 1,
    };
    note(&format!("proving {} partitions", request.partitions));
    let dice = &mut proving::system_dice();
    let proved = proving::prove(&family, &parameters, &request, (devices, &tracer), dice);
    traced::end(tracer, verb.trace.as_deref())?;
    match proved {
        Ok(proved) => {
            let report = write(verb, inputs, &family, &proved)?;
            match verb.format {
                Format::Json => output::json(&report)?,
                Format::Text => output::text(&as_text(&report))?,
            }
            Ok(Exit::Clean)
        }
        Err(error @ ProverError::Job { .. }) => {
            note(&error.to_string());
            Ok(Exit::Findings)
        }
        Err(error) => Err(error.into()),
    }
}

/// The circuit that is named, or else that of the parameters.
fn family(verb: &Prove) -> Result<Family, CliError> {
    let named = verb.circuit.clone().zip(verb.size.map(Size::log2));
    let (name, log2) = named
        .or_else(|| Manifest::beside(&verb.params).map(|made| (made.circuit, made.log2)))
        .ok_or_else(|| {
            CliError::Usage(format!(
                "expected --circuit and --size, or {} beside the parameters, found neither",
                Manifest::path(&verb.params).display()
            ))
        })?;
    Ok(circuits::by_name(&name, log2)?)
}

fn parameters(family: &Family, path: &Path) -> Result<Parameters, ProverError> {
    note("synthesising the circuit");
    let shape = proving::shape(family)?;
    note(&format!("reading {}", path.display()));
    let (srs, checked) = Srs::open_as(path, Manifest::beside(path).as_ref())?;
    note(match checked {
        Checked::Before => "every point was checked before",
        Checked::Now => "every point checked; remembered beside the file",
        Checked::NotRemembered => "every point checked; that could not be remembered",
    });
    Parameters::new(shape, Box::new(srs))
}

fn tracer(verb: &Prove, family: &Family, device: &Info) -> Result<Tracer, CliError> {
    let head = TraceStart {
        config: vec![
            ("circuit".into(), family.name().into()),
            ("domain".into(), (1_u64 << family.log2()).to_string().into()),
            ("partitions".into(), verb.partitions.to_string().into()),
            ("workers".into(), "1".into()),
        ],
        ..traced::head(device)
    };
    let clock = Arc::new(SystemClock::new());
    traced::begin(verb.trace.as_deref(), "", clock, head)
}

/// Where the public inputs go.
fn inputs(verb: &Prove) -> Result<PathBuf, CliError> {
    match &verb.inputs {
        Some(path) => Ok(path.clone()),
        None if output::is_stdout(&verb.output) => Err(CliError::Usage(
            "the proofs go to standard output, which has no name to put the public inputs beside; \
             name a file by --inputs"
                .to_owned(),
        )),
        None => Ok(beside(&verb.output)),
    }
}

fn write(
    verb: &Prove,
    inputs: PathBuf,
    family: &Family,
    proved: &Proved,
) -> Result<Report, CliError> {
    let bytes: Vec<u8> = proved
        .proofs
        .iter()
        .flat_map(|proof| proof.to_bytes())
        .collect();
    output::file(&verb.output, &bytes)?;
    output::file(&inputs, proved.inputs.to_json().as_bytes())?;
    let ms = |us: u64| us as f64 / 1000.0;
    Ok(Report {
        schema: "cuzk.proof/1",
        circuit: family.name(),
        log2: family.log2(),
        partitions: proved.proofs.len(),
        proof: verb.output.clone(),
        inputs,
        trace: verb.trace.clone(),
        verified: true,
        synth_ms: ms(proved.synth_us),
        device_ms: ms(proved.device_us),
        total_ms: ms(proved.total_us),
        verify_ms: ms(proved.verify_us),
    })
}

/// Where the public inputs of a file of proofs lie.
pub(super) fn beside(proof: &Path) -> PathBuf {
    let mut name = proof.as_os_str().to_owned();
    name.push(".inputs.json");
    name.into()
}

fn as_text(report: &Report) -> String {
    let Report {
        circuit,
        log2,
        partitions,
        synth_ms,
        device_ms,
        total_ms,
        verify_ms,
        ..
    } = report;
    format!(
        "{circuit} 2^{log2}: {partitions} of {partitions} proofs verified\n\
         synthesis {synth_ms:.1} ms, device {device_ms:.1} ms, in all {total_ms:.1} ms; slowest \
         check {verify_ms:.2} ms\n\
         {}  proofs\n{}  public inputs\n",
        report.proof.display(),
        report.inputs.display(),
    )
}
