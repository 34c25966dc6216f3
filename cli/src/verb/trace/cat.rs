//! `cuzk trace cat`: lines of a log as they are, chosen by what they say.

use std::collections::BTreeSet;
use std::io::{self, Write};

use clap::Args;
use regex::bytes::Regex;
use tracefmt::run::{Outcome, Run, Task, Trace};
use tracefmt::scan::{Class, Line, Sink};
use tracefmt::select::{Context, Described, Filter, is_known_kind};

use crate::error::CliError;
use crate::exit::Exit;
use crate::inputs::{self, Source};
use crate::output::{self, Format};
use crate::reading;

/// Print lines of a log by kind, job, partition, worker, time; find trouble.
///
/// The lines keep their original bytes. Timing lines of old engines say nothing of their owner;
/// with --job, --partition or --worker those that belong to the chosen partitions are printed too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk trace cat --trouble -C 3 daemon.log          what grep would miss, with context
  cuzk trace cat --partition 3 --job 8fdded daemon.log
  cuzk trace cat --kind GPU_START,GPU_END daemon.log
  cuzk trace cat --match 'err=(2|712)' -n daemon.log
  cuzk trace cat --from-ms 240000 --to-ms 250000 daemon.log

Exits with 1 when --trouble found something, like a finding.")]
pub struct Cat {
    /// Logs to read; - is standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// Classes (timeline, timing, panic, ...), events (`GPU_END`) or timings (`batch_add`)
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,
    /// Job id, or the beginning of one
    #[arg(long = "job", value_name = "ID")]
    jobs: Vec<String>,
    /// Partition
    #[arg(long = "partition", value_name = "N")]
    partitions: Vec<u32>,
    /// Worker
    #[arg(long = "worker", value_name = "N")]
    workers: Vec<u32>,
    /// Not before this offset from the engine's start, in milliseconds
    #[arg(long, value_name = "MS")]
    from_ms: Option<u64>,
    /// Not after this offset, in milliseconds
    #[arg(long, value_name = "MS")]
    to_ms: Option<u64>,
    /// Only lines whose text matches
    #[arg(long = "match", value_name = "REGEX")]
    pattern: Option<String>,
    /// Fallbacks, panics, CUDA errors by text and by bare code, failures, lost lines, and the last
    /// line of every partition that never ended
    #[arg(long, conflicts_with_all = ["kinds", "from_ms", "to_ms"])]
    trouble: bool,
    /// Lines of context around each
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    context: usize,
    /// Lines of context before each
    #[arg(short = 'B', long, value_name = "N")]
    before: Option<usize>,
    /// Lines of context after each
    #[arg(short = 'A', long, value_name = "N")]
    after: Option<usize>,
    /// Head each line with its number
    #[arg(short = 'n', long)]
    line_number: bool,
    /// The lines themselves, or what they say as JSON Lines (without context)
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Reads the logs and prints the chosen lines.
///
/// # Errors
///
/// An input that cannot be read, an output that cannot be written, a regular expression that is
/// none.
pub(super) fn run(verb: &Cat) -> Result<Exit, CliError> {
    let sources = inputs::open_all(&verb.logs)?;
    let pattern = verb.pattern.as_deref().map(compile).transpose()?;
    let owned = !(verb.jobs.is_empty() && verb.partitions.is_empty() && verb.workers.is_empty());
    let read = (verb.trouble || owned)
        .then(|| reading::read(&sources))
        .transpose()?;
    let mut chosen = 0;
    for (input, source) in (0_u32..).zip(&sources) {
        let mut filter = verb.filter(pattern.as_ref());
        match &read {
            Some(read) if verb.trouble => filter.only = Some(troubles(&read.trace, input)),
            Some(read) => filter.owned = verb.attributed(&read.trace, input),
            None => {}
        }
        chosen += print(verb, source, &filter)?;
    }
    if chosen == 0 {
        verb.kinds_exist()?;
        output::note("no line was chosen");
    }
    Ok(if verb.trouble && chosen > 0 {
        Exit::Findings
    } else {
        Exit::Clean
    })
}

fn compile(pattern: &str) -> Result<Regex, CliError> {
    let wrong = |error| CliError::Usage(format!("--match {pattern:?} is no regex: {error}"));
    Regex::new(pattern).map_err(wrong)
}

impl Cat {
    /// A name that nothing has is a slip of the pen, not an answer.
    fn kinds_exist(&self) -> Result<(), CliError> {
        let Some(unknown) = self.kinds.iter().find(|kind| !is_known_kind(kind)) else {
            return Ok(());
        };
        let classes = Class::ALL.map(Class::as_str).join(", ");
        Err(CliError::Usage(format!(
            "--kind {unknown}: no line has it, and no class ({classes}), event or timing of any \
             engine is called so; cuzk trace stat lists the events and timings of a log"
        )))
    }

    fn filter<'f>(&'f self, pattern: Option<&'f Regex>) -> Filter<'f> {
        Filter {
            kinds: self.kinds.clone(),
            jobs: self.jobs.clone(),
            partitions: self.partitions.clone(),
            workers: self.workers.clone(),
            from_ms: self.from_ms,
            to_ms: self.to_ms,
            matches: pattern.map(|regex| -> tracefmt::select::Predicate<'f> {
                Box::new(|text: &[u8]| regex.is_match(text))
            }),
            ..Filter::default()
        }
    }

    /// Timing lines that belong to the chosen partitions.
    fn attributed(&self, trace: &Trace, input: u32) -> BTreeSet<u64> {
        let mut lines = BTreeSet::new();
        for run in &trace.runs {
            for mark in run.marks.iter().filter(|mark| mark.line().input() == input) {
                let call = mark.call().and_then(|call| run.calls.get(call as usize));
                let task = call.and_then(|call| run.tasks.get(call.task as usize));
                if task.is_some_and(|task| self.wants(run, task)) {
                    lines.insert(u64::from(mark.line().line));
                }
            }
        }
        lines
    }

    fn wants(&self, run: &Run, task: &Task) -> bool {
        let id = run
            .jobs
            .get(task.job as usize)
            .map_or("", |job| job.id.as_str());
        let among = |list: &[u32], value: Option<u32>| {
            list.is_empty() || value.is_some_and(|value| list.contains(&value))
        };
        (self.jobs.is_empty()
            || self
                .jobs
                .iter()
                .any(|wanted| id.starts_with(wanted.as_str())))
            && among(&self.partitions, task.partition)
            && among(&self.workers, task.worker)
    }
}

/// Lines of trouble, lost fragments, and the last line of each partition that never ended.
fn troubles(trace: &Trace, input: u32) -> BTreeSet<u64> {
    let mut lines = BTreeSet::new();
    for run in &trace.runs {
        let open = run
            .tasks
            .iter()
            .filter(|task| task.outcome <= Outcome::Proving);
        let ends = open.filter_map(Task::last_line);
        let told = run.troubles.iter().map(|trouble| trouble.line);
        let all = ends.chain(told).chain(run.torn.lost.iter().copied());
        lines.extend(
            all.filter(|at| at.input() == input)
                .map(|at| u64::from(at.line)),
        );
    }
    lines
}

/// Prints chosen lines as they are.
struct Printer<'p, W> {
    filter: &'p Filter<'p>,
    context: Context<W>,
    result: io::Result<()>,
}

impl<W: Write> Sink for Printer<'_, W> {
    fn line(&mut self, line: &Line<'_>) {
        if self.result.is_ok() {
            self.result = self.context.line(line, self.filter.accepts(line));
        }
    }
}

/// Prints what chosen lines say.
struct Describer<'p, W> {
    filter: &'p Filter<'p>,
    out: W,
    chosen: u64,
    result: io::Result<()>,
}

impl<W: Write> Sink for Describer<'_, W> {
    fn line(&mut self, line: &Line<'_>) {
        if self.result.is_ok() && self.filter.accepts(line) {
            self.chosen += 1;
            let written = serde_json::to_writer(&mut self.out, &Described::of(line));
            self.result = written
                .map_err(io::Error::from)
                .and_then(|()| self.out.write_all(b"\n"));
        }
    }
}

fn print(verb: &Cat, source: &Source, filter: &Filter<'_>) -> Result<u64, CliError> {
    let before = verb.before.unwrap_or(verb.context);
    let after = verb.after.unwrap_or(verb.context);
    let (mut chosen, mut read) = (0, Ok(()));
    output::to_stdout(|out| match verb.format {
        Format::Text => {
            let context = Context::new(out, before, after, verb.line_number);
            let mut printer = Printer {
                filter,
                context,
                result: Ok(()),
            };
            read = reading::scan(source, &mut printer).map(|_| ());
            chosen = printer.context.chosen();
            printer.result
        }
        Format::Json => {
            let mut describer = Describer {
                filter,
                out,
                chosen: 0,
                result: Ok(()),
            };
            read = reading::scan(source, &mut describer).map(|_| ());
            chosen = describer.chosen;
            describer.result
        }
    })?;
    read.map(|()| chosen)
}
