//! `cuzk golden record`: runs become a candidate beside the golden.

use clap::Args;
use golden::render;
use golden::verbs::{self, Recorded, Recording};
use serde_json::json;

use super::limits::Limits;
use super::measured::Measured;
use super::review::grown;
use super::who;
use super::{Goldens, told};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, put};

/// Record runs as a candidate for a golden.
///
/// Writes `<gpu>/<circuit>-<key>.golden.new` below the folder of the goldens; the golden itself is
/// not touched. Only verified proofs count. Under CI nothing is written and the exit is 2.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk golden record run1.log run2.log run3.log run4.log run5.log
  cuzk golden record more*.log --append
  cuzk golden review                            then decide

Exits with 0 when a candidate was written, with 2 when there is nothing to record.")]
pub struct Record {
    #[command(flatten)]
    measured: Measured,
    #[command(flatten)]
    goldens: Goldens,
    #[command(flatten)]
    limits: Limits,
    /// Add the runs to those of the golden, of the same code, instead of replacing them
    #[arg(long)]
    append: bool,
    /// The commit that was measured, where the inputs do not say it
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Reads the runs and writes the candidate.
///
/// # Errors
///
/// Under CI; an input that cannot be read; no usable run; a candidate that cannot be written.
pub(super) fn run(verb: &Record) -> Result<Exit, CliError> {
    let mut samples = verb.measured.read()?;
    for run in &mut samples.runs {
        run.commit = verb.commit.clone().or(run.commit.take());
    }
    let options = verb.limits.options(verb.measured.rules());
    let recording = if verb.append {
        Recording::Append
    } else {
        Recording::Fresh
    };
    let store = verb.goldens.store();
    let made = verbs::record(&store, &samples, (recording, who::place()), &options);
    let made = made.map_err(told)?;
    match verb.format {
        Format::Text => output::text(&as_text(&made))?,
        Format::Json => output::json(&json!({
            "path": made.path,
            "runs": made.candidate.runs.len(),
            "phases": made.candidate.phases.keys().collect::<Vec<_>>(),
            "unverified": made.candidate.unverified,
            "problems": made.problems.iter().map(golden::problem::Problem::finding)
                .collect::<Vec<_>>(),
            "verdict": made.verdict,
            "grown_by": made.grown_by,
        }))?,
    }
    Ok(Exit::Clean)
}

fn as_text(made: &Recorded) -> String {
    let mut text = String::new();
    let (runs, phases) = (made.candidate.runs.len(), made.candidate.phases.len());
    put(
        &mut text,
        format_args!(
            "wrote {}: {runs} runs, {phases} phases\n",
            made.path.display()
        ),
    );
    for (name, value) in made.candidate.key.known() {
        put(&mut text, format_args!("  {name} {value}\n"));
    }
    if made.candidate.unverified {
        text.push_str("times of unverified proofs are in it\n");
    }
    for problem in &made.problems {
        put(
            &mut text,
            format_args!("look: {}\n", problem.finding().title),
        );
    }
    match &made.verdict {
        Some(verdict) => {
            text.push_str("\nagainst the golden\n");
            if let Some(runs) = made.grown_by {
                let words = grown(verdict.baseline_runs, runs);
                put(&mut text, format_args!("{words}\n"));
            }
            text.push_str(&render::text(verdict));
        }
        None => text.push_str("there is no golden of this configuration yet\n"),
    }
    text.push_str("\nnext: cuzk golden review\n");
    text
}
