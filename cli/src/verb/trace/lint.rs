//! `cuzk trace lint`: anomalies of a log with their line numbers.

use clap::Args;
use serde_json::{Value, json};
use tracefmt::finding::Severity;
use tracefmt::lint::Found;

use crate::error::CliError;
use crate::exit::Exit;
use crate::inputs;
use crate::output::{self, Format, put};
use crate::reading;

/// Anomalies of a log with their line numbers.
///
/// Lost fragments, cut lines, duplicates, open spans, events that this version does not know,
/// times that step back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk trace lint daemon.log
  cuzk trace lint --format json daemon.log | jq '.found[] | select(.severity == \"error\")'

Exits with 1 when an anomaly of severity error was found.")]
pub struct Lint {
    /// Logs to read; - is standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Reads the logs and prints their anomalies.
///
/// # Errors
///
/// An input that cannot be read, or an output that cannot be written.
pub(super) fn run(verb: &Lint) -> Result<Exit, CliError> {
    let sources = inputs::open_all(&verb.logs)?;
    let read = reading::read(&sources)?;
    let mut all = Vec::new();
    for (input, (source, scan)) in (0_u32..).zip(sources.iter().zip(&read.scans)) {
        let mut lint = tracefmt::lint::Lint::new();
        reading::scan(source, &mut lint)?;
        lint.scan(scan);
        for run in &read.trace.runs {
            lint.run(run, input);
        }
        all.push((source.name.as_str(), lint.finish()));
    }
    match verb.format {
        Format::Json => output::json(&as_json(&all))?,
        Format::Text => output::text(&as_text(&all))?,
    }
    let errors = all.iter().flat_map(|(_, found)| found).any(is_error);
    Ok(if errors { Exit::Findings } else { Exit::Clean })
}

fn is_error(found: &Found) -> bool {
    found.kind.severity() == Severity::Error
}

fn severity(found: &Found) -> &'static str {
    super::super::words::severity(found.kind.severity())
}

fn as_json(all: &[(&str, Vec<Found>)]) -> Value {
    let found = all
        .iter()
        .flat_map(|(path, found)| found.iter().map(move |one| (path, one)));
    let list: Vec<Value> = found
        .map(|(path, found)| {
            json!({
                "path": path,
                "anomaly": found.kind.as_str(),
                "severity": severity(found),
                "count": found.count,
                "lines": found.lines,
                "example": found.example,
                "meaning": found.kind.meaning(),
                "advice": found.kind.advice(),
            })
        })
        .collect();
    json!({ "schema": "cuzk.trace_lint/1", "found": list })
}

/// Lines shown per anomaly in text.
const SHOWN: usize = 8;

fn as_text(all: &[(&str, Vec<Found>)]) -> String {
    let mut text = String::new();
    for (path, found) in all {
        if found.is_empty() {
            put(&mut text, format_args!("{path}: no anomalies\n"));
        }
        for one in found {
            let lines: Vec<String> = one.lines.iter().take(SHOWN).map(u64::to_string).collect();
            let more = if one.count > lines.len() as u64 {
                ", ..."
            } else {
                ""
            };
            let example = one
                .example
                .as_deref()
                .map(|e| format!(" ({e})"))
                .unwrap_or_default();
            put(
                &mut text,
                format_args!(
                    "{path}:{}: {}: {} x {}{example}\n    {}\n    lines {}{more}; {}\n",
                    one.lines.first().copied().unwrap_or_default(),
                    severity(one),
                    one.count,
                    one.kind.as_str(),
                    one.kind.meaning(),
                    lines.join(", "),
                    one.kind.advice(),
                ),
            );
        }
    }
    text
}
