//! `cuzk replay`: re-execute a run or a schedule against simulated device memory.

#[cfg(feature = "prove")]
mod plan;
mod source;
mod svg;
mod text;

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use clap::Args;
use replay::change::Change;
use replay::check::{Source, shell_word};
use replay::explore::{Bounds, explore};
use replay::report::{Changed, Report, Request, Verdict};
use replay::vram::Profile;
use tracefmt::finding::Code;
use tracefmt::ops::{Schedule, Truth};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format};

use source::Of;

/// Re-execute the schedule of a run against simulated device memory; say what fails and why.
///
/// The input is a log (its recorded memory events, or for an old log the allocations that the
/// engine's version makes, in the order that the log shows) or a schedule, `cuzk.ops/1`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk replay daemon.log
  cuzk replay daemon.log --vram 24GiB
  cuzk replay daemon.log --what-if free:d_bc=before:unlock --what-if workers=1
  cuzk replay daemon.log --shrink vram.oom -o small.jsonl && cuzk replay small.jsonl
  cuzk replay small.jsonl --explore
  cuzk replay --plan 2^27 --vram 16GiB --partitions 10 --workers 2 --min-vram

Changes for --what-if: free:BUF=after:last-use, free:BUF=after:LAUNCH, free:BUF=before:unlock,
workers=1, vram=SIZE, baseline=SIZE, driver=NAME, margin=SIZE, sync=every-partition,
sync=every-allocation, trim=every-partition; several joined by commas are one change.

Exits with 1 when a finding of severity error was made, or when a recorded schedule fails in some
other order (--explore). What only a rebuilt schedule suggests is a warning, and exits with 0.")]
pub struct Replay {
    /// A log, or a schedule of ops; - is standard input
    #[arg(value_name = "LOG|OPS")]
    #[cfg_attr(feature = "prove", arg(required_unless_present = "plan"))]
    #[cfg_attr(not(feature = "prove"), arg(required = true))]
    input: Option<String>,
    #[cfg(feature = "prove")]
    #[command(flatten)]
    own: plan::Own,
    /// Which daemon run of a log
    #[arg(long, value_name = "N", default_value_t = 0)]
    run: usize,
    /// Memory of each card, such as 16GiB
    #[arg(long, value_name = "SIZE")]
    vram: Option<String>,
    /// Memory in use by others, such as 1609MiB
    #[arg(long, value_name = "SIZE")]
    baseline: Option<String>,
    /// Lifecycle profile for a log without memory events: phase8, phase9-v1, head, ...
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Driver profile: h200-580 or strict
    #[arg(long, value_name = "NAME")]
    driver: Option<String>,
    /// Run the same schedule under a changed rule; may be repeated
    #[arg(long, value_name = "CHANGE")]
    what_if: Vec<String>,
    /// Try all orders that locks, barriers, streams and events allow
    #[arg(long)]
    explore: bool,
    /// States after which exploration stops
    #[arg(long, value_name = "N", default_value_t = Bounds::default().states_max)]
    states_max: u64,
    /// Memory at which exploration stops, roughly
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    memory_max: String,
    /// Leave the core of the schedule that still shows a finding of this code
    #[arg(long, value_name = "CODE")]
    shrink: Option<String>,
    /// Write the schedule (shrunk, if asked) as cuzk.ops/1
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw device memory by buffer and worker over time, beside it under the first --what-if, or
    /// under the change that the findings name
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Look for the smallest card on which no allocation fails
    #[arg(long)]
    min_vram: bool,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Replay {
    /// The input as the user named it.
    fn name(&self) -> &str {
        self.input.as_deref().unwrap_or("plan")
    }
}

/// Replays and prints.
///
/// # Errors
///
/// An input that cannot be read or that holds no schedule, a size, change, code or profile that
/// is none, an output that cannot be written.
pub fn run(verb: &Replay) -> Result<Exit, CliError> {
    let mut of = source::schedule(verb)?;
    let driver = driver(verb, &of.schedule)?;
    if verb.vram.is_some() || verb.baseline.is_some() || verb.driver.is_some() {
        forget_answers(&mut of.schedule);
    }
    if let Some(code) = &verb.shrink {
        of.schedule = shrunk(code, &of.schedule, driver)?;
        // The core stands for itself: what it shows, it shows for certain.
        (of.source, of.profile, of.times_ms) = (Source::Events, None, None);
    }
    if let Some(path) = &verb.output {
        write(path, &of.schedule)?;
    }
    let mut report = report(verb, &of, driver)?;
    if verb.explore {
        let bounds = Bounds {
            states_max: verb.states_max,
            bytes_max: source::size(&verb.memory_max)?,
        };
        report.add_explored(explore(&of.schedule, driver, bounds));
    }
    report.what_if = what_ifs(verb, &of.schedule, driver)?;
    reproduce(verb, &mut report);
    if let Some(path) = &verb.svg {
        svg::write(path, &of, &report, driver)?;
    }
    match verb.format {
        Format::Text => output::text(&text::render(&of, &report))?,
        Format::Json => output::json(&report)?,
    }
    Ok(exit(&report))
}

/// Nothing replayed, or orders left untried without a failure among those tried, decides nothing.
fn exit(report: &Report) -> Exit {
    let cut_off = report
        .explored
        .as_ref()
        .is_some_and(|found| !found.complete);
    match report.verdict {
        Verdict::Fails => Exit::Findings,
        Verdict::Passes if report.ran == 0 => {
            output::note("nothing was replayed: the schedule has no operations");
            Exit::Inconclusive
        }
        Verdict::Passes if cut_off => Exit::Inconclusive,
        Verdict::Passes | Verdict::FailsUnseen => Exit::Clean,
    }
}

/// A finding made under options shows again under the same ones; that of a core that was written
/// shows in the core.
fn reproduce(verb: &Replay, report: &mut Report) {
    let mut options = String::new();
    let run = (verb.run > 0).then(|| verb.run.to_string());
    for (name, value) in [
        ("run", &run),
        ("vram", &verb.vram),
        ("baseline", &verb.baseline),
        ("profile", &verb.profile),
        ("driver", &verb.driver),
        ("shrink", &verb.shrink),
    ] {
        if let Some(value) = value {
            output::put(
                &mut options,
                format_args!(" --{name} {}", shell_word(value)),
            );
        }
    }
    let written = verb.output.as_ref().map(|path| path.to_string_lossy());
    for finding in &mut report.findings {
        match (&written, &mut finding.reproduce) {
            (Some(path), reproduce) => {
                *reproduce = Some(format!("cuzk replay {}", shell_word(path)));
            }
            (None, Some(command)) => command.push_str(&options),
            (None, None) => {}
        }
    }
    if report
        .findings
        .iter()
        .any(|finding| finding.reproduce.is_none())
    {
        output::note("the input is a pipe: write its schedule with -o FILE to replay it again");
    }
}

/// Nobody recorded what another card or driver answers.
fn forget_answers(schedule: &mut Schedule) {
    for step in &mut schedule.steps {
        step.truth = Truth::default();
    }
}

fn driver(verb: &Replay, schedule: &Schedule) -> Result<Profile, CliError> {
    let name = verb.driver.as_deref().unwrap_or(&schedule.header.driver);
    Profile::named(name).map_err(|error| CliError::Usage(error.to_string()))
}

fn shrunk(code: &str, schedule: &Schedule, driver: Profile) -> Result<Schedule, CliError> {
    let code: Code = code
        .parse()
        .map_err(|error| CliError::Usage(format!("--shrink: {error}")))?;
    replay::shrink::shrink(schedule, code, driver).ok_or_else(|| {
        let hint = "replay it without --shrink to see what it shows";
        CliError::Usage(format!(
            "--shrink: the schedule shows no finding {code}; {hint}"
        ))
    })
}

fn write(path: &std::path::Path, schedule: &Schedule) -> Result<(), CliError> {
    let failed = |source| CliError::Output {
        path: path.to_owned(),
        source,
    };
    let file = BufWriter::new(File::create(path).map_err(failed)?);
    schedule.write(file).map_err(failed)?;
    output::note(&format!(
        "wrote {} ({} ops)",
        path.display(),
        schedule.steps.len()
    ));
    Ok(())
}

fn report(verb: &Replay, of: &Of, driver: Profile) -> Result<Report, CliError> {
    let request = Request {
        path: verb.name(),
        source: of.source,
        lifecycle: of.profile,
        driver: Some(driver),
        min_vram: verb.min_vram,
    };
    replay::report::replay(&of.schedule, &request)
        .map_err(|error| CliError::Usage(error.to_string()))
}

fn what_ifs(verb: &Replay, schedule: &Schedule, driver: Profile) -> Result<Vec<Changed>, CliError> {
    let one = |text: &String| {
        let changes: Result<Vec<Change>, _> = text.split(',').map(str::parse).collect();
        let changes = changes.map_err(|error: replay::change::BadChange| {
            CliError::Usage(format!("--what-if {text}: {error}"))
        })?;
        Ok(Changed::run(&changes, schedule, driver))
    };
    verb.what_if.iter().map(one).collect()
}
