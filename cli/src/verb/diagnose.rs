//! `cuzk diagnose`: read, attribute, analyze, and say what happened.

use std::path::PathBuf;

use analyze::diagnose::{Diagnosis, Question, Reading, render};
use analyze::model::Analysis;
use analyze::{Options, analyze};
use clap::Args;

use crate::error::CliError;
use crate::exit::Exit;
use crate::inputs::Source;
use crate::joining;
use crate::output::{self, Format};
use crate::reading::{self, Logs};

use super::replayed;

/// Read the logs of a run, good or dead, and say what happened, why, and what to do.
///
/// Several files may belong to one run (the daemon's log and the benchmark client's output), and
/// one file may hold several runs. Rotated pieces of one log are joined in order of time, the two
/// streams of a daemon are merged by their clocks. Any age and condition of log will do: cut, torn,
/// piped through grep -n, from journald or a container.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk diagnose daemon.log
  cuzk diagnose daemon.log bench.txt --html report.html
  cuzk diagnose daemon.log.2.gz daemon.log.1 daemon.log
  cuzk diagnose daemon.log --repro-dir repro && cuzk replay repro/run0-vram.late_free.jsonl
  cuzk diagnose tonight.log --baseline last-good.log
  journalctl -u cuzk | cuzk diagnose - --format json | jq '.findings[] | select(.root)'

Exit codes: 0 nothing wrong; 1 an error was found, a log that lacks lines or breaks off within one
included, but not a missing line end behind jobs that all ended; 2 unreadable input; 3 nothing
failed visibly, but the log ends before its jobs do, lacks its beginning, or holds no run; 4 the
baseline is not comparable.")]
pub struct Diagnose {
    /// Logs to read; - is standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// A good run to compare phases with
    #[arg(long, value_name = "LOG")]
    baseline: Vec<String>,
    /// Write the minimal schedules that show what replay found into this folder
    #[arg(long, value_name = "DIR")]
    repro_dir: Option<PathBuf>,
    /// Write one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Reads the logs and prints the diagnosis.
///
/// # Errors
///
/// An input that cannot be read, or an output that cannot be written.
pub fn run(verb: &Diagnose) -> Result<Exit, CliError> {
    let read = verb.logs.iter().chain(&verb.baseline);
    output::apart(read, &[("the page", verb.html.as_deref())])?;
    output::ready(&[("the page", verb.html.as_deref())])?;
    let sources = joining::open_all(&verb.logs)?;
    let logs = reading::read(&sources)?;
    let analysis = analyze(&logs.trace, &Options::default());
    let baseline = read_baseline(&verb.baseline)?;
    let lines = reading::again(&sources);
    let question = Question {
        subject: Reading {
            trace: &logs.trace,
            analysis: &analysis,
        },
        baseline: baseline.as_ref().map(|(logs, analysis)| Reading {
            trace: &logs.trace,
            analysis,
        }),
        replay: replayed::findings(&logs.trace, verb.repro_dir.as_deref())?,
        lines: &lines,
    };
    let diagnosis = analyze::diagnose(&question);
    match verb.format {
        Format::Text => output::text(&render(&diagnosis, &analysis))?,
        Format::Json => output::json(&diagnosis)?,
    }
    if let Some(path) = &verb.html {
        super::report::write(path, &logs, &analysis, &diagnosis)?;
    }
    Ok(Exit::of(diagnosis.exit_code()))
}

/// The diagnosis of logs that are read and analyzed already, without a baseline.
///
/// # Errors
///
/// None that a diagnosis without schedules to write can have.
pub(super) fn of(
    logs: &Logs,
    analysis: &Analysis,
    sources: &[Source],
) -> Result<Diagnosis, CliError> {
    Ok(analyze::diagnose(&Question {
        subject: Reading {
            trace: &logs.trace,
            analysis,
        },
        baseline: None,
        replay: replayed::findings(&logs.trace, None)?,
        lines: &reading::again(sources),
    }))
}

fn read_baseline(names: &[String]) -> Result<Option<(Logs, Analysis)>, CliError> {
    if names.is_empty() {
        return Ok(None);
    }
    let logs = reading::read(&joining::open_all(names)?)?;
    let analysis = analyze(&logs.trace, &Options::default());
    Ok(Some((logs, analysis)))
}
