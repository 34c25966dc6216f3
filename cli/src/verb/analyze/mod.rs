//! `cuzk analyze`: how busy each GPU was, where it sat idle and why.

mod plots;
mod text;

use std::mem::ManuallyDrop;
use std::path::PathBuf;

use analyze::{Options, analyze};
use clap::Args;

use crate::error::CliError;
use crate::exit::Exit;
use crate::joining;
use crate::output::{self, Format};
use crate::reading;

/// How busy each GPU was, three ways; every idle gap with its cause; phases; critical path.
///
/// Busy by interval is the union of `GPU_START` to `GPU_END`, by hold that of the lock tenures, by
/// kernel that of the stretches in which kernels ran. Idle time is by kernel; its causes sum to the
/// span less the kernel time exactly, fill and drain included.
///
/// The critical path of a run leads from a submission to the last proof, through whatever each step
/// waited for. Slack is how much later a step could have ended without moving the end of the run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk analyze daemon.log
  cuzk analyze daemon.log --gap-floor-ms 50 --gaps 20
  cuzk analyze daemon.log --svg pictures/ --png pictures/
  cuzk analyze daemon.log --html report.html
  cuzk analyze daemon.log --format json | jq '.gpus[].idle_by_cause_ms'

Exits with 3 when the log holds nothing to measure.")]
pub struct Analyze {
    /// Logs to read; - is standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// Idle gaps shorter than this are summed but not listed
    #[arg(long, value_name = "MS", default_value_t = 1.0)]
    gap_floor_ms: f64,
    /// How many of the longest gaps a GPU the text lists
    #[arg(long, value_name = "N", default_value_t = 5)]
    gaps: usize,
    /// Write the pictures as SVG files into this folder
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Write the pictures as PNG files into this folder
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,
    /// Write one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Reads the logs and prints the analysis.
///
/// # Errors
///
/// An input that cannot be read, or an output that cannot be written.
pub fn run(verb: &Analyze) -> Result<Exit, CliError> {
    output::apart(&verb.logs, &[("the page", verb.html.as_deref())])?;
    output::ready(&[("the page", verb.html.as_deref())])?;
    if !(verb.gap_floor_ms.is_finite() && verb.gap_floor_ms >= 0.0) {
        let found = verb.gap_floor_ms;
        let wrong = format!("--gap-floor-ms wants milliseconds from 0 on, found {found}");
        return Err(CliError::Usage(wrong));
    }
    let sources = joining::open_all(&verb.logs)?;
    // The process ends with this verb: freeing a million partitions one by one is for nothing.
    let logs = ManuallyDrop::new(reading::read(&sources)?);
    let pictures = verb.svg.is_some() || verb.png.is_some() || verb.html.is_some();
    let options = Options {
        gap_floor_ms: verb.gap_floor_ms,
        // The text lists none.
        regions: pictures || matches!(verb.format, Format::Json),
        ..Options::default()
    };
    let analysis = ManuallyDrop::new(analyze(&logs.trace, &options));
    match verb.format {
        Format::Json => output::json(&*analysis)?,
        Format::Text => {
            let foreign = analyze::foreign::section(&analyze::foreign::rows(&logs.trace));
            output::text(&(text::render(&analysis, verb.gaps) + &foreign))?;
        }
    }
    plots::write(
        verb.svg.as_deref(),
        verb.png.as_deref(),
        &logs.trace,
        &analysis,
    )?;
    if let Some(path) = &verb.html {
        let diagnosis = super::diagnose::of(&logs, &analysis, &sources)?;
        super::report::write(path, &logs, &analysis, &diagnosis)?;
    }
    // What measured nothing must not look like a clean result.
    let nothing = analysis.gpus.is_empty() && analysis.phases.is_empty();
    Ok(if nothing {
        Exit::Inconclusive
    } else {
        Exit::Clean
    })
}
