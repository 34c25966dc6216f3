//! `cuzk verify`: whether proofs hold for their public inputs.

use std::path::PathBuf;

use clap::Args;
use prover::clock::{Clock as _, SystemClock};
use prover::groth16::{PROOF_BYTES, PreparedKey, Proof, VerifyingKey};
use prover::inputs::PublicInputs;
use serde::Serialize;

use super::prove::beside;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, put};

/// Check proofs against a verifying key and their public inputs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk verify --vk mimc-16.insecure.vk proof.bin
  cuzk verify --params mimc-16.insecure.params --inputs inputs.json proof.bin

Exits with 1 when a proof does not hold, or is none.")]
pub struct Verify {
    /// Proofs, 192 bytes each, one after another
    #[arg(value_name = "PROOF")]
    proof: PathBuf,
    /// The verifying key
    #[arg(long, value_name = "FILE", required_unless_present = "params")]
    vk: Option<PathBuf>,
    /// Parameters, whose start is the verifying key
    #[arg(long, value_name = "FILE", conflicts_with = "vk")]
    params: Option<PathBuf>,
    /// Their public inputs; without, PROOF.inputs.json
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What was checked, `cuzk.verification/1`.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    valid: bool,
    partitions: Vec<Checked>,
}

/// One proof.
#[derive(Debug, Serialize)]
struct Checked {
    partition: usize,
    valid: bool,
    /// Why it cannot even be checked.
    reason: Option<String>,
    ms: f64,
}

/// Checks and says.
///
/// # Errors
/// A key, a file of proofs or of public inputs that cannot be read.
pub fn run(verb: &Verify) -> Result<Exit, CliError> {
    let key = verb.vk.as_ref().or(verb.params.as_ref());
    let key = key.ok_or_else(|| CliError::Usage("expected --vk or --params".to_owned()))?;
    let key = PreparedKey::new(&VerifyingKey::open(key)?);
    let inputs = verb.inputs.clone().unwrap_or_else(|| beside(&verb.proof));
    let inputs = PublicInputs::open(&inputs)?;
    let name = verb.proof.display().to_string();
    let wanted = "as many proofs of 192 bytes as there are lists of public inputs";
    let bytes = std::fs::read(&verb.proof);
    let bytes = bytes.map_err(|error| CliError::input(&name, &error, wanted))?;
    let (count, lists) = (bytes.len() / PROOF_BYTES, inputs.partitions.len());
    if count == 0 || bytes.len() % PROOF_BYTES != 0 || count != lists {
        let found = format!("{} bytes, {lists} lists", bytes.len());
        return Err(CliError::input(&name, &found, wanted));
    }
    let clock = SystemClock::new();
    let proofs = bytes.chunks(PROOF_BYTES).zip(&inputs.partitions);
    let partitions: Vec<Checked> = proofs
        .enumerate()
        .map(|(partition, (proof, inputs))| {
            let begin = clock.now_us();
            let holds = Proof::from_bytes(proof).and_then(|proof| key.verify(&proof, inputs));
            let ms = (clock.now_us() - begin) as f64 / 1000.0;
            let (valid, reason) = match holds {
                Ok(valid) => (valid, None),
                Err(error) => (false, Some(error.to_string())),
            };
            Checked {
                partition,
                valid,
                reason,
                ms,
            }
        })
        .collect();
    let report = Report {
        schema: "cuzk.verification/1",
        valid: partitions.iter().all(|checked| checked.valid),
        partitions,
    };
    match verb.format {
        Format::Json => output::json(&report)?,
        Format::Text => output::text(&as_text(&report))?,
    }
    Ok(if report.valid {
        Exit::Clean
    } else {
        Exit::Findings
    })
}

fn as_text(report: &Report) -> String {
    let mut text = String::new();
    for checked in &report.partitions {
        let Checked {
            partition,
            valid,
            reason,
            ms,
        } = checked;
        let word = if *valid { "holds" } else { "does NOT hold" };
        let reason = reason.as_ref().map(|reason| format!(": {reason}"));
        put(
            &mut text,
            format_args!(
                "partition {partition}: {word}{} ({ms:.2} ms)\n",
                reason.unwrap_or_default()
            ),
        );
    }
    let good = report
        .partitions
        .iter()
        .filter(|checked| checked.valid)
        .count();
    put(
        &mut text,
        format_args!("{good} of {} proofs hold\n", report.partitions.len()),
    );
    text
}
