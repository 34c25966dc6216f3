//! `cuzk replay`: re-execute a run or a schedule against simulated device memory.

mod long;
mod orders;
#[cfg(feature = "prove")]
mod plan;
mod source;
mod svg;
mod text;

use std::cmp::Reverse;
use std::io::BufWriter;
use std::path::PathBuf;

use clap::Args;
use replay::change::{Change, objects};
use replay::check::shell_word;
use replay::explore::{Bounds, explore};
use replay::report::{Changed, Report, Request, Verdict};
use replay::vram::Profile;
use tracefmt::finding::{Code, Finding, Severity};
use tracefmt::ops::{Schedule, Truth};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format};

use source::{Of, Schedules};

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
sync=every-allocation, trim=every-partition, trim=every-allocation; several joined by commas are
one change.

A log may hold several runs: each is replayed, and the worst of them decides the exit code. A change
that comes to nothing leaves the recorded answers; another card or driver drops them.

Exits with 1 when a finding of severity error was made, when the log breaks off, or when a recorded
schedule fails in some other order (--explore). What only a rebuilt schedule suggests is a warning,
and exits with 0. Exits with 3 when nothing failed but the log ends before its jobs do, lines of the
schedule could not be read, a run has no schedule, or orders were left untried.")]
pub struct Replay {
    /// A log, or a schedule of ops; - is standard input
    #[arg(value_name = "LOG|OPS")]
    #[cfg_attr(feature = "prove", arg(required_unless_present = "plan"))]
    #[cfg_attr(not(feature = "prove"), arg(required = true))]
    input: Option<String>,
    #[cfg(feature = "prove")]
    #[command(flatten)]
    own: plan::Own,
    /// Which daemon run of a log, counted from 0; all of them if not given
    #[arg(long, value_name = "N")]
    run: Option<usize>,
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
    /// Look for the smallest card on which no allocation fails; a lower bound where the schedule
    /// was cut off by its own failure
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
    let written = [
        ("the schedule", verb.output.as_deref()),
        ("the picture", verb.svg.as_deref()),
    ];
    output::apart(&verb.input, &written)?;
    output::ready(&written)?;
    let Schedules {
        all,
        runs,
        lacks_some,
    } = source::schedules(verb)?;
    one_only(verb, all.len())?;
    let mut done = Vec::with_capacity(all.len());
    for of in all {
        let (of, report) = replayed(verb, of, runs > 1)?;
        if report.ran == 0 && report.findings.is_empty() {
            output::note("nothing was replayed: the schedule has no operations");
        }
        done.push((of, report));
    }
    let exits = done.iter().map(|(_, report)| exit(report));
    let exits = exits.chain(lacks_some.then_some(Exit::Inconclusive));
    let worst = exits.max_by_key(|exit| rank(*exit)).unwrap_or(Exit::Clean);
    match verb.format {
        Format::Text => output::text(&text::all(&done, runs))?,
        Format::Json => output::json(&together(done))?,
    }
    Ok(worst)
}

/// One picture, one file, one core: of one run.
fn one_only(verb: &Replay, schedules: usize) -> Result<(), CliError> {
    let asked = [
        ("--output", verb.output.is_some()),
        ("--svg", verb.svg.is_some()),
        ("--shrink", verb.shrink.is_some()),
    ];
    match asked.into_iter().find(|(_, asked)| *asked) {
        Some((option, _)) if schedules > 1 => Err(CliError::Usage(format!(
            "{option} is about one run, and the log holds {schedules}: name one with --run"
        ))),
        _ => Ok(()),
    }
}

/// Replays one schedule.
fn replayed(verb: &Replay, mut of: Of, of_several: bool) -> Result<(Of, Report), CliError> {
    if let Some(report) = of.said.take() {
        return Ok((of, report));
    }
    let recorded = Profile::named(&of.schedule.header.driver).ok();
    let driver = driver(verb, &of.schedule)?;
    if of.other_card || recorded != Some(driver) {
        forget_answers(&mut of.schedule);
    }
    if let Some(code) = &verb.shrink {
        of.schedule = shrunk(code, &of.schedule, driver)?;
        // The core stands for itself, recorded or rebuilt as its header says.
        of = Of::given(of.schedule);
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
    report.run = of.log.as_ref().map(|run| run.index);
    let run = report.run.filter(|_| of_several).map(|run| run.to_string());
    reproduce(verb, run, &mut report);
    if let Some(ending) = of.log.as_ref().and_then(|run| run.ending.clone()) {
        report.add_ending(ending);
    }
    if let Some(path) = &verb.svg {
        svg::write(path, &of, &report, driver)?;
    }
    Ok((of, report))
}

/// The report of the only run, or that of the worst with those of all beside it.
fn together(done: Vec<(Of, Report)>) -> Report {
    let mut reports: Vec<Report> = done.into_iter().map(|(_, report)| report).collect();
    let worst = reports
        .iter()
        .enumerate()
        .max_by_key(|(at, report)| (rank(exit(report)), report.verdict as u8, Reverse(*at)))
        .map_or(0, |(at, _)| at);
    if reports.len() == 1 {
        return reports.swap_remove(worst);
    }
    let worst = reports.get(worst).cloned();
    let mut whole = worst.unwrap_or_else(|| reports.swap_remove(0));
    whole.runs = reports;
    whole
}

/// How bad an exit is beside others: a failure that was seen decides over what is not known.
fn rank(exit: Exit) -> u8 {
    match exit {
        Exit::Clean => 0,
        Exit::Inconclusive => 1,
        _ => 2,
    }
}

/// Nothing replayed, a log that goes on, lines left out, or orders (of ops, or of locks) left
/// untried without a failure among those tried, decide nothing.
fn exit(report: &Report) -> Exit {
    let explored = report.explored.as_ref();
    let cut_off = explored.is_some_and(|found| !found.complete);
    let broken = |finding: &Finding| finding.severity == Severity::Error;
    match report.verdict {
        Verdict::Fails => Exit::Findings,
        Verdict::Truncated if report.findings.iter().any(broken) => Exit::Findings,
        Verdict::Truncated | Verdict::Unrecorded => Exit::Inconclusive,
        _ if report.unread_lines > 0 || report.undecided > 0 => Exit::Inconclusive,
        Verdict::Passes if report.ran == 0 || cut_off => Exit::Inconclusive,
        Verdict::Passes | Verdict::FailsUnseen => Exit::Clean,
    }
}

/// A finding made under options shows again under the same ones; that of a core that was written
/// shows in the core.
fn reproduce(verb: &Replay, run: Option<String>, report: &mut Report) {
    let mut options = String::new();
    let run = run.or_else(|| verb.run.map(|run| run.to_string()));
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
        step.set_truth(Truth::default());
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
    let file = BufWriter::new(output::create(path)?);
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
        objects(&changes, schedule).map_err(|error| CliError::Usage(error.to_string()))?;
        Ok(Changed::run(&changes, schedule, driver))
    };
    verb.what_if.iter().map(one).collect()
}
