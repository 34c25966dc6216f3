//! `cuzk trace convert`: a log in the form of another tool.

use std::io::BufWriter;
use std::path::PathBuf;

use analyze::export;
use analyze::model::Analysis;
use analyze::{Options, analyze};
use clap::{Args, ValueEnum};
use tracefmt::run::Trace;

use crate::error::CliError;
use crate::exit::Exit;
use crate::joining;
use crate::output;
use crate::reading;

/// Turn a log into JSON Lines, Chrome JSON, Perfetto, samples, CSV or Parquet.
///
/// chrome and perfetto open in the public viewer; jsonl has runs, jobs, partitions, calls and
/// timing lines with their owners; samples is what the timing gate reads; csv and parquet are
/// tables and need a build with `--features frames`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk trace convert --to perfetto daemon.log -o run.pftrace
  cuzk trace convert --to chrome daemon.log > run.json
  cuzk trace convert --to samples daemon.log -o run.samples.jsonl
  cuzk trace convert --to parquet --table regions daemon.log -o regions.parquet")]
pub struct Convert {
    /// Logs to read; - is standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// The form wanted
    #[arg(long, value_enum, value_name = "FORM")]
    to: Form,
    /// Which table, for csv and parquet
    #[arg(long, value_enum, default_value_t, value_name = "TABLE")]
    table: TableName,
    /// Write here instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Forms that a log can be turned into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// JSON Lines
    Jsonl,
    /// Chrome's trace-event JSON
    Chrome,
    /// Perfetto's protobuf
    Perfetto,
    /// `cuzk.samples/1`, for the timing gate
    Samples,
    /// A table as comma-separated values; needs a build with `--features frames`
    Csv,
    /// A table as Parquet; needs a build with `--features frames`
    Parquet,
}

/// Tables of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum TableName {
    /// One row an event
    Events,
    /// One row a hold of a GPU
    #[default]
    Regions,
    /// One row a phase
    Phases,
    /// One row an idle gap
    Idle,
}

/// Reads the logs and writes them in the form wanted.
///
/// # Errors
///
/// An input that cannot be read, an output that cannot be written, or a form that this build
/// does not have.
pub(super) fn run(verb: &Convert) -> Result<Exit, CliError> {
    if matches!(verb.to, Form::Csv | Form::Parquet) {
        tables_are_here()?;
    }
    output::apart(&verb.logs, &[("the output", verb.output.as_deref())])?;
    let sources = joining::open_all(&verb.logs)?;
    let logs = reading::read(&sources)?;
    let analysis = analyze(&logs.trace, &Options::default());
    match &verb.output {
        None => {
            let mut result = Ok(());
            output::to_stdout(|out| {
                result = write(verb, &logs.trace, &analysis, out);
                Ok(())
            })?;
            result?;
        }
        Some(path) => {
            let mut file = BufWriter::new(output::create(path)?);
            write(verb, &logs.trace, &analysis, &mut file)?;
        }
    }
    Ok(Exit::Clean)
}

fn write(
    verb: &Convert,
    trace: &Trace,
    analysis: &Analysis,
    out: &mut dyn std::io::Write,
) -> Result<(), CliError> {
    let format = match verb.to {
        Form::Jsonl => export::Format::JsonLines,
        Form::Chrome => export::Format::Chrome,
        Form::Perfetto => export::Format::Perfetto,
        Form::Samples => export::Format::Samples,
        Form::Csv | Form::Parquet => return table(verb, trace, analysis, out),
    };
    export::write(format, trace, analysis, out).map_err(unwritten)
}

fn unwritten(error: analyze::error::AnalyzeError) -> CliError {
    match error {
        analyze::error::AnalyzeError::Write { source, .. } => CliError::Output {
            path: PathBuf::from("the output"),
            source,
        },
        other => CliError::Internal(other.to_string()),
    }
}

#[cfg(feature = "frames")]
fn table(
    verb: &Convert,
    trace: &Trace,
    analysis: &Analysis,
    out: &mut dyn std::io::Write,
) -> Result<(), CliError> {
    use analyze::frames::{self, Table};
    let table = match verb.table {
        TableName::Events => Table::Events,
        TableName::Regions => Table::Regions,
        TableName::Phases => Table::Phases,
        TableName::Idle => Table::Idle,
    };
    let format = if verb.to == Form::Csv {
        frames::Format::Csv
    } else {
        frames::Format::Parquet
    };
    frames::write(table, (trace, analysis), format, out).map_err(unwritten)
}

/// Never called: [`tables_are_here`] has refused before anything was read or created.
#[cfg(not(feature = "frames"))]
fn table(_: &Convert, _: &Trace, _: &Analysis, _: &mut dyn std::io::Write) -> Result<(), CliError> {
    tables_are_here()
}

/// Refuses where this binary has no tables, before an output file is created.
fn tables_are_here() -> Result<(), CliError> {
    if cfg!(feature = "frames") {
        return Ok(());
    }
    let how = "this cuzk was built without tables; build with `cargo build --release -p cli \
               --features frames` for csv and parquet, or take --to jsonl";
    Err(CliError::Usage(how.to_owned()))
}
