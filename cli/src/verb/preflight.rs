//! `cuzk preflight`: wait until a benchmark may start, and say what it waits for.

use std::path::PathBuf;

use clap::Args;
use prover::clock::{Clock, SystemClock};
use prover::preflight::{Linux, Preflight as Checks, Report, Settings, State};
use serde_json::json;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, put};

/// Wait until the machine is ready for a benchmark.
///
/// The old daemon is gone, the port is free, device memory is at its baseline and still, the
/// binary is the one just built: each is polled until it has held for a while, and what is waited
/// for is said on standard error. A fixed sleep after a kill measures the process before.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk preflight
  cuzk preflight --gpu-baseline 1609 && cuzk bench -c 5 -j 3
  cuzk preflight --binary target/release/cuzk --sources . --timeout 300

Exits with 0 when all holds, with 1 when it does not within the time, or never will.")]
pub struct Preflight {
    /// Port of the daemon on the loopback
    #[arg(long, default_value_t = 9820)]
    port: u16,
    /// MiB in use on each device when nothing of ours runs; without it, stillness is asked for
    #[arg(long, value_name = "MIB")]
    gpu_baseline: Option<u64>,
    /// MiB that use may lie above the baseline, and move between polls
    #[arg(long, value_name = "MIB", default_value_t = 8)]
    gpu_slack: u64,
    /// The binary of the benchmark; it must be newer than all sources
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Folder of the sources
    #[arg(long, value_name = "DIR", default_value = ".", requires = "binary")]
    sources: PathBuf,
    /// Milliseconds for which all must hold without a break
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    stable: u64,
    /// Seconds to wait at most
    #[arg(long, value_name = "S", default_value_t = 60)]
    timeout: u64,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Microseconds between polls.
const POLL_US: u64 = 200_000;

/// Polls until all holds or the time is up.
///
/// # Errors
///
/// An output that cannot be written.
pub fn run(verb: &Preflight) -> Result<Exit, CliError> {
    let settings = Settings {
        port: verb.port,
        gpu_baseline_mib: verb.gpu_baseline,
        gpu_slack_mib: verb.gpu_slack,
        stable_ms: verb.stable,
        build: verb
            .binary
            .clone()
            .map(|binary| (binary, verb.sources.clone())),
    };
    let report = wait(
        &SystemClock::new(),
        Checks::new(settings),
        verb.timeout * 1000,
    );
    match verb.format {
        Format::Text => output::text(&as_text(&report))?,
        Format::Json => output::json(&as_json(&report))?,
    }
    Ok(if report.is_ready() {
        Exit::Clean
    } else {
        Exit::Findings
    })
}

fn wait(clock: &dyn Clock, mut checks: Checks, timeout_ms: u64) -> Report {
    let mut said = String::new();
    loop {
        let report = checks.poll(clock.now_us() / 1000, &Linux);
        if report.is_ready() || report.is_hopeless() || report.at_ms >= timeout_ms {
            return report;
        }
        let waits = waits_for(&report);
        if waits != said {
            output::note(&format!("waiting; {waits}"));
            said = waits;
        }
        clock.sleep_us(POLL_US);
    }
}

/// What is open, without the figures that change at every poll.
fn waits_for(report: &Report) -> String {
    let each = report.open().map(|line| {
        let says = line.says.split(" ms: ").collect::<Vec<_>>();
        match says[..] {
            [says, _so_far] => format!("{}: {says} ms", line.check.name()),
            _ => format!("{}: {}", line.check.name(), line.says),
        }
    });
    each.collect::<Vec<_>>().join("; ")
}

const fn word(state: State) -> &'static str {
    match state {
        State::Ready => "ready",
        State::Waiting => "not ready",
        State::Failed => "failed",
        State::Skipped => "skipped",
    }
}

fn as_text(report: &Report) -> String {
    let mut text = String::new();
    for line in &report.lines {
        put(
            &mut text,
            format_args!(
                "{:<10} {:<9} {}\n",
                line.check.name(),
                word(line.state),
                line.says
            ),
        );
    }
    let verdict = if report.is_ready() {
        "a benchmark may start"
    } else {
        "a benchmark would measure something else; mend what is not ready"
    };
    put(&mut text, format_args!("{verdict}\n"));
    text
}

fn as_json(report: &Report) -> serde_json::Value {
    let checks = report.lines.iter().map(|line| {
        json!({
            "check": line.check.name(),
            "state": word(line.state).replace(' ', "_"),
            "says": line.says,
        })
    });
    json!({
        "schema": "cuzk.preflight/1",
        "ready": report.is_ready(),
        "waited_ms": report.at_ms,
        "checks": checks.collect::<Vec<_>>(),
    })
}
