//! From the inputs of a command to a trace: all inputs read side by side, with progress.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

use analyze::diagnose::ReadAgain;
use rayon::prelude::*;
use tracefmt::foreign::Timings;
use tracefmt::input::Opened;
use tracefmt::run::{self, Reading, Trace};
use tracefmt::scan::{Scan, Sink, scan_reader};

use crate::error::CliError;
use crate::inputs::Source;
use crate::output;
use crate::progress::Progress;

/// What was read.
#[derive(Debug)]
pub struct Logs {
    /// Runs, jobs, partitions, calls.
    pub trace: Trace,
    /// The ledger of each input.
    pub scans: Vec<Scan>,
}

/// Reads all inputs and puts them together.
///
/// # Errors
///
/// The first input that cannot be read to its end. What stands in an input is never an error.
pub fn read(sources: &[Source]) -> Result<Logs, CliError> {
    let progress = Progress::new(sources.iter().map(|source| source.bytes).sum(), "reading");
    let one = |(index, source): (usize, &Source)| -> Result<Reading, CliError> {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let opened = open(source, &progress)?;
        run::read_opened(index, source.name.clone(), opened)
            .map_err(|error| CliError::Read(error.to_string()))
    };
    let readings: Result<Vec<Reading>, CliError> =
        sources.par_iter().enumerate().map(one).collect();
    let (mut trace, scans) = run::join(readings?);
    for (input, source) in trace.inputs.iter_mut().zip(sources) {
        input.pieces.clone_from(&source.pieces);
    }
    for (source, scan) in sources.iter().zip(&scans) {
        if let Some(damage) = &scan.damage {
            output::note(&format!(
                "{}: {damage}; what was read of it is used",
                source.name
            ));
        }
    }
    for (index, source) in (0_u32..).zip(sources) {
        let engine = |run: &run::Run| {
            run.first.input() == index && !(run.jobs.is_empty() && run.marks.is_empty())
        };
        if !trace.runs.iter().any(engine)
            && let Some(input) = trace.inputs.get_mut(index as usize)
        {
            let mut timings = Timings::new();
            scan(source, &mut timings)?;
            input.foreign = timings.finish();
        }
    }
    if let Some(text) = pieces(&trace) {
        output::note(&text);
    }
    Ok(Logs { trace, scans })
}

/// A word on two inputs that speak of the same job: pieces of one run, read as two runs.
fn pieces(trace: &Trace) -> Option<String> {
    // One input alone is no piece, and a long log has a hundred thousand jobs to sort.
    let inputs = || trace.runs.iter().map(|run| run.first.input());
    if inputs().min() == inputs().max() {
        return None;
    }
    let mut owners: BTreeMap<&str, u32> = BTreeMap::new();
    for run in &trace.runs {
        for job in run.jobs.iter().filter(|job| !job.id.is_empty()) {
            let owner = *owners.entry(&job.id).or_insert(run.first.input());
            if owner != run.first.input() {
                let path = |input: u32| Some(trace.inputs.get(input as usize)?.path.as_str());
                let (a, b) = (path(owner)?, path(run.first.input())?);
                return Some(format!(
                    "{a} and {b} both hold job {}, and each file is read as a run of its own; \
                     if they are pieces of one log, join them oldest first: \
                     cat OLDER NEWER | cuzk ... -",
                    job.id
                ));
            }
        }
    }
    None
}

/// Scans one input into a sink.
///
/// # Errors
///
/// When the input cannot be read to its end.
pub fn scan<S: Sink + ?Sized>(source: &Source, sink: &mut S) -> Result<Scan, CliError> {
    let progress = Progress::new(source.bytes, "reading");
    let mut opened = open(source, &progress)?;
    let scanned = scan_reader(&mut opened, sink);
    let mut scan = scanned.map_err(|error| unreadable(source, &error))?;
    scan.damage = opened.damage().cloned();
    scan.cut_end |= scan.damage.is_some();
    Ok(scan)
}

/// The inputs once more, for the lines that findings quote.
pub fn again(sources: &[Source]) -> ReadAgain<impl Fn(u32) -> Option<Box<dyn Read>>> {
    let paths: Vec<_> = sources.iter().map(|source| source.path.clone()).collect();
    ReadAgain(move |input: u32| {
        let path = paths.get(input as usize)?;
        Some(Box::new(Opened::open(path).ok()?) as Box<dyn Read>)
    })
}

fn open(source: &Source, progress: &Progress) -> Result<Opened<'static>, CliError> {
    let opened = File::open(&source.path).and_then(|file| Opened::new(progress.wrap(file)));
    let opened = opened.map_err(|error| unreadable(source, &error))?;
    Ok(opened.with_size(source.bytes))
}

fn unreadable(source: &Source, error: &io::Error) -> CliError {
    CliError::input(&source.name, error, "a log that can be read to its end")
}
