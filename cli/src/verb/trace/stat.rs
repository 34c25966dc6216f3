//! `cuzk trace stat`: what is in a log.

use clap::Args;
use serde_json::{Map, Value, json};
use tracefmt::finding::Confidence;
use tracefmt::run::{Stat as Counted, StatRun, StatSink};

use crate::error::CliError;
use crate::exit::Exit;
use crate::inputs::{self, Source};
use crate::output::{self, Format, put};
use crate::reading;

/// What is in a log: every byte in exactly one class, events by kind, dialect, runs.
///
/// Also which lines were put together again and which were lost, and which version of the engine
/// wrote the log, with the reason for believing so.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk trace stat daemon.log
  zstdcat archive.zst | cuzk trace stat -
  cuzk trace stat daemon.log --format json | jq .classes.torn")]
pub struct Stat {
    /// Logs to read; - is standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// Text or JSON (one object a line when several logs are named)
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Scans the logs and prints what is in each.
///
/// # Errors
///
/// An input that cannot be read, or an output that cannot be written.
pub(super) fn run(verb: &Stat) -> Result<Exit, CliError> {
    let sources = inputs::open_all(&verb.logs)?;
    for source in &sources {
        let mut sink = StatSink::new();
        let scan = reading::scan(source, &mut sink)?;
        let stat = sink.finish(scan);
        match verb.format {
            Format::Text => output::text(&as_text(source, &stat))?,
            Format::Json if sources.len() == 1 => output::json(&as_json(source, &stat))?,
            Format::Json => output::text(&format!("{}\n", as_json(source, &stat)))?,
        }
    }
    Ok(Exit::Clean)
}

/// Unreadable lines in JSON.
const BAD_LISTED: usize = 100;
/// Unreadable lines in text.
const BAD_SHOWN: usize = 8;

fn confidence(of: Confidence) -> &'static str {
    super::super::words::confidence(of)
}

/// `cuzk.trace_stat/1`
fn as_json(source: &Source, stat: &Counted) -> Value {
    let ledger = &stat.scan.ledger;
    let classes: Map<String, Value> = ledger
        .classes()
        .map(|(class, tally)| {
            let tally = json!({ "lines": tally.lines, "bytes": tally.bytes });
            (class.as_str().to_owned(), tally)
        })
        .collect();
    let dialect = stat.dialect().map(|dialect| {
        json!({
            "name": dialect.name,
            "confidence": confidence(dialect.confidence),
            "why": dialect.why,
        })
    });
    let runs: Vec<Value> = stat.runs.iter().map(run_json).collect();
    json!({
        "schema": "cuzk.trace_stat/1",
        "path": source.name,
        "bytes": ledger.bytes(),
        "lines": ledger.lines(),
        "file_bytes": source.bytes,
        "classes": classes,
        "repaired": { "lines": stat.scan.repaired.count(), "lost": stat.scan.lost.count() },
        "bad_events": {
            "lines": stat.bad_events.count(),
            "first": stat.bad_events.lines().iter().take(BAD_LISTED).collect::<Vec<_>>(),
        },
        "events": stat.events,
        "timings": stat.timings,
        "damage": stat.scan.damage.as_ref().map(ToString::to_string),
        "wrappings": stat.scan.wrappings.iter().map(|w| format!("{w:?}")).collect::<Vec<_>>(),
        "dialect": dialect,
        "runs": runs,
    })
}

fn run_json(run: &StatRun) -> Value {
    json!({
        "first_line": run.first_line,
        "last_line": run.last_line,
        "epoch": run.epoch_unix_us.map(analyze::wall::rfc3339),
        "complete": run.complete,
        "dialect": run.dialect.name,
    })
}

fn as_text(source: &Source, stat: &Counted) -> String {
    let ledger = &stat.scan.ledger;
    let (bytes, lines) = (ledger.bytes(), ledger.lines());
    let mut text = format!("{}: {bytes} bytes, {lines} lines\n", source.name);
    if let Some(damage) = &stat.scan.damage {
        put(&mut text, format_args!("  damaged: {damage}\n"));
    }
    if source.bytes != bytes {
        put(
            &mut text,
            format_args!("  {} bytes on disk\n", source.bytes),
        );
    }
    put(
        &mut text,
        format_args!("\n  {:<14} {:>12} {:>16}\n", "class", "lines", "bytes"),
    );
    for (class, tally) in ledger.classes().filter(|(_, tally)| tally.bytes > 0) {
        let (lines, bytes) = (tally.lines, tally.bytes);
        put(
            &mut text,
            format_args!("  {:<14} {lines:>12} {bytes:>16}\n", class.as_str()),
        );
    }
    put(
        &mut text,
        format_args!("  {:<14} {lines:>12} {bytes:>16}\n", "all"),
    );
    let (repaired, lost) = (stat.scan.repaired.count(), stat.scan.lost.count());
    if repaired + lost > 0 {
        let pieces = if lost == 1 { "fragment" } else { "fragments" };
        put(
            &mut text,
            format_args!("\n  torn lines: {repaired} repaired, {lost} {pieces} lost\n"),
        );
    }
    let bad = &stat.bad_events;
    if bad.count() > 0 {
        let first = bad.lines().iter().take(BAD_SHOWN).map(u64::to_string);
        let first = first.collect::<Vec<_>>().join(", ");
        put(
            &mut text,
            format_args!(
                "  {} TIMELINE lines cannot be read and count nowhere else, first: {first}\n",
                bad.count()
            ),
        );
    }
    for wrapping in &stat.scan.wrappings {
        put(
            &mut text,
            format_args!("  wrapped: {wrapping:?}, stripped\n"),
        );
    }
    for (title, counts) in [("event", &stat.events), ("timing", &stat.timings)] {
        if !counts.is_empty() {
            put(&mut text, format_args!("\n  {title:<20} {:>10}\n", "lines"));
        }
        for (name, count) in counts {
            put(&mut text, format_args!("  {name:<20} {count:>10}\n"));
        }
    }
    text.push('\n');
    for (index, run) in stat.runs.iter().enumerate() {
        text.push_str(&run_text(index, run));
    }
    text
}

fn run_text(index: usize, run: &StatRun) -> String {
    let epoch = run.epoch_unix_us.map_or_else(
        || "unknown wall clock".to_owned(),
        |us| format!("offset 0 is {}", analyze::wall::rfc3339(us)),
    );
    let whole = if run.complete {
        "complete"
    } else {
        "incomplete"
    };
    let (name, sure) = (run.dialect.name, confidence(run.dialect.confidence));
    format!(
        "  run {index}: lines {} to {}, {whole}, {epoch}\n    dialect {name} ({sure}): {}\n",
        run.first_line, run.last_line, run.dialect.why
    )
}
