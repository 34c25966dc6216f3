//! `cuzk setup`: parameters for a circuit of the registry, from a seed, insecure.

use std::path::{Path, PathBuf};

use clap::Args;
use prover::circuits::{self, Family};
use prover::clock::{Clock as _, SystemClock};
use prover::groth16::Mix;
use prover::proving;
use prover::srs::{Ceremony, Manifest, WARNING};
use serde::Serialize;

use super::card::Backend;
use super::making;
use super::size::Size;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, note};

/// Make parameters for a test circuit from a seed; they are INSECURE.
///
/// The file is a `.params` file as bellperson and Filecoin read them. Who knows the seed can prove
/// anything with it, so such parameters are for tests and benchmarks only; a file NAME.json beside
/// it says so, and names circuit, size and seed. NAME.vk is what a verifier needs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk setup --circuit mimc --size 2^16
  cuzk setup --circuit porep-shaped --size 2^18 --seed 7 -o porep.insecure.params
  cuzk setup --circuit porep-tiled --size 2^20 --backend cuda
  cuzk setup --list

Processor and device make the same bytes.")]
pub struct Setup {
    /// Name of the circuit
    #[arg(long, value_name = "NAME", required_unless_present = "list")]
    circuit: Option<String>,
    /// Rows of its domain, a power of two: 2^16 or 65536
    #[arg(long, value_name = "N", required_unless_present = "list")]
    size: Option<Size>,
    /// Seed of the secrets
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Where the points are computed
    #[arg(long, value_enum, default_value_t)]
    backend: Backend,
    /// Where to write them; without, CIRCUIT-LOG2.insecure.params here
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// List the circuits
    #[arg(long, conflicts_with_all = ["circuit", "size", "output"])]
    list: bool,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What was made, `cuzk.setup/1`.
#[derive(Debug, Serialize)]
struct Made {
    schema: &'static str,
    params: PathBuf,
    vk: PathBuf,
    backend: &'static str,
    ms: f64,
    witness: Option<Mix>,
    manifest: Manifest,
}

/// Makes parameters, or lists the circuits.
///
/// # Errors
/// An unknown circuit or size, or a file that cannot be written.
pub fn run(verb: &Setup) -> Result<Exit, CliError> {
    let (Some(circuit), Some(size)) = (&verb.circuit, verb.size) else {
        return list(verb.format);
    };
    let family = circuits::by_name(circuit, size.log2())?;
    let path = verb
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{circuit}-{}.insecure.params", size.log2())));
    writable(&path)?;
    let vk = key_beside(&path);
    output::ready(&[
        ("the parameters", Some(&path)),
        ("the verifying key", Some(&vk)),
        ("the manifest", Some(&Manifest::path(&path))),
    ])?;
    note(WARNING);
    let clock = SystemClock::new();
    let ((manifest, witness), backend) = make(&family, verb, &path)?;
    let ms = clock.now_us() as f64 / 1000.0;
    let made = Made {
        schema: "cuzk.setup/1",
        vk,
        params: path,
        backend,
        ms,
        witness,
        manifest,
    };
    match verb.format {
        Format::Json => output::json(&made)?,
        Format::Text => output::text(&as_text(&made))?,
    }
    Ok(Exit::Clean)
}

/// Where the verifying key goes: NAME.vk for NAME.params, else the whole name and `.vk`.
fn key_beside(params: &Path) -> PathBuf {
    if params.extension().is_some_and(|name| name == "params") {
        return params.with_extension("vk");
    }
    let mut name = params.as_os_str().to_owned();
    name.push(".vk");
    name.into()
}

/// Refuses to replace what is no plain file, or to give parameters the name of a key or manifest.
fn writable(path: &Path) -> Result<(), CliError> {
    let name = path.display();
    if output::is_stdout(path) {
        return Err(CliError::Usage(
            "parameters are three files that are read by their names; expected a name for -o, \
             found -"
                .to_owned(),
        ));
    }
    if path
        .extension()
        .is_some_and(|end| end == "vk" || end == "json")
    {
        return Err(CliError::Usage(format!(
            "{name} is the name of a key or a manifest; expected a name that ends in .params"
        )));
    }
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(CliError::Usage(format!(
            "{name} exists and is no plain file; it is left alone, name another one"
        ))),
        _ => Ok(()),
    }
}

/// What was made: the manifest, and what a witness is made of.
type Kept = (Manifest, Option<Mix>);

/// Makes and writes parameters, verifying key and manifest; says what made them.
fn make(family: &Family, verb: &Setup, path: &Path) -> Result<(Kept, &'static str), CliError> {
    note("synthesising the circuit");
    let shape = proving::shape(family)?;
    let witness = proving::mix(family, &shape)?;
    let progress = &mut |section: &'static str| note(&format!("making {section}"));
    let ceremony = Ceremony::insecure(verb.seed);
    let (srs, backend) = making::parameters(verb.backend, (&ceremony, &shape), progress)?;
    note(&format!("writing {}", path.display()));
    srs.save(path)?;
    srs.vk.save(&key_beside(path))?;
    let circuit = (family.name(), family.log2());
    let manifest = Manifest::of(path, srs.counts(), circuit, verb.seed)?;
    manifest.save(path)?;
    Ok(((manifest, witness), backend))
}

fn as_text(made: &Made) -> String {
    let Manifest {
        circuit,
        log2,
        seed,
        points,
        bytes,
        ..
    } = &made.manifest;
    format!(
        "{}  INSECURE parameters of {circuit} 2^{log2}, seed {seed}\n\
         {bytes} bytes: ic {}, h {}, l {}, a {}, b {} points; {:.2} s, {}\n\
         {}\n\
         {}  its verifying key\n",
        made.params.display(),
        points.ic,
        points.h,
        points.l,
        points.a,
        points.b,
        made.ms / 1000.0,
        made.backend,
        mix(made.witness.as_ref()),
        made.vk.display(),
    )
}

/// What a witness is made of, in a line.
pub(super) fn mix(witness: Option<&Mix>) -> String {
    let Some(witness) = witness else {
        return "a witness: too large to be made only to be counted".to_owned();
    };
    let [zeros, ones, dense] = witness.percent();
    let all = witness.zeros + witness.ones + witness.dense;
    format!("a witness: {all} values, {zeros:.1} % zeros, {ones:.1} % ones, {dense:.1} % others")
}

fn list(format: Format) -> Result<Exit, CliError> {
    #[derive(Serialize)]
    struct Circuit {
        name: &'static str,
        about: &'static str,
        log2_min: u32,
        log2_max: u32,
    }
    #[derive(Serialize)]
    struct List {
        schema: &'static str,
        circuits: Vec<Circuit>,
    }
    let all: Vec<Circuit> = circuits::ALL
        .iter()
        .map(|entry| Circuit {
            name: entry.name,
            about: entry.about,
            log2_min: entry.log2.0,
            log2_max: entry.log2.1,
        })
        .collect();
    match format {
        Format::Json => output::json(&List {
            schema: "cuzk.circuits/1",
            circuits: all,
        })?,
        Format::Text => {
            let lines = all.iter().map(|circuit| {
                let Circuit {
                    name,
                    about,
                    log2_min,
                    log2_max,
                } = circuit;
                format!("{name:<14} 2^{log2_min} to 2^{log2_max}  {about}\n")
            });
            output::text(&lines.collect::<String>())?;
        }
    }
    Ok(Exit::Clean)
}
