//! Inputs that are one log: rotated pieces and the two streams of a daemon become one input, in a
//! temporary file. Which files belong together is decided in `tracefmt::pieces`.

use std::io::{self, BufReader, BufWriter};

use tempfile::NamedTempFile;
use tracefmt::input::Opened;
use tracefmt::pieces::{self, InTurn, Join, Survey};

use crate::error::CliError;
use crate::inputs::{self, Source};
use crate::output;
use crate::reading;

/// Opens all inputs and joins those that are one log.
///
/// # Errors
///
/// As [`inputs::open_all`], and when a copy cannot be written.
pub fn open_all(names: &[String]) -> Result<Vec<Source>, CliError> {
    let sources = inputs::open_all(names)?;
    if sources.len() < 2 {
        return Ok(sources);
    }
    let surveys = surveys(&sources)?;
    let files: Vec<(&str, Survey)> = sources
        .iter()
        .map(|source| source.name.as_str())
        .zip(surveys)
        .collect();
    let plan = pieces::plan(&files);
    let mut free: Vec<Option<Source>> = sources.into_iter().map(Some).collect();
    let mut take = |at: usize| free.get_mut(at).and_then(Option::take);
    let mut joined = Vec::new();
    for join in plan {
        match join {
            Join::Alone(at) | Join::Unordered(at, _) => joined.extend(take(at)),
            Join::InTurn(members) => {
                let members: Vec<Source> = members.into_iter().filter_map(&mut take).collect();
                joined.push(in_turn(&members)?);
            }
            Join::Streams {
                events,
                log,
                epoch_us,
            } => {
                if let Some((events, log)) = take(events).zip(take(log)) {
                    joined.push(merged(&events, &log, epoch_us)?);
                }
            }
        }
    }
    Ok(joined)
}

/// Looks at each file; at the largest only if another holds something of a daemon.
fn surveys(sources: &[Source]) -> Result<Vec<Survey>, CliError> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|at| sources.get(*at).map(|source| source.bytes));
    let mut surveys: Vec<Survey> = sources.iter().map(|_| Survey::new()).collect();
    let last = order.last().copied();
    let mut needed = false;
    for at in order {
        if Some(at) == last && !needed {
            break;
        }
        if let (Some(source), Some(survey)) = (sources.get(at), surveys.get_mut(at)) {
            reading::scan(source, survey)?;
            needed |= survey.is_daemon();
        }
    }
    Ok(surveys)
}

fn copy() -> Result<NamedTempFile, CliError> {
    NamedTempFile::new().map_err(|error| unwritten(&error))
}

fn unwritten(error: &io::Error) -> CliError {
    CliError::Read(format!(
        "cannot join the inputs in a temporary file: {error}; set TMPDIR"
    ))
}

fn open(source: &Source) -> Result<Opened<'static>, CliError> {
    Opened::open(&source.path).map_err(|error| unreadable(source, &error))
}

fn unreadable(source: &Source, error: &io::Error) -> CliError {
    CliError::input(&source.name, error, "a log that can be read to its end")
}

/// One piece behind the other.
fn in_turn(sources: &[Source]) -> Result<Source, CliError> {
    let copy = copy()?;
    let mut turn = InTurn::new(BufWriter::with_capacity(1 << 18, copy.as_file()));
    for source in sources {
        turn.piece(&source.name, open(source)?)
            .map_err(|error| unwritten(&error))?;
    }
    let pieces = turn.finish().map_err(|error| unwritten(&error))?;
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let listed = names.join(", ");
    output::note(&format!("{listed} are read as one log, oldest first"));
    Ok(Source::joined(names.join(" + "), copy, pieces))
}

fn merged(events: &Source, log: &Source, epoch_us: i64) -> Result<Source, CliError> {
    let copy = copy()?;
    let to = BufWriter::with_capacity(1 << 18, copy.as_file());
    let pieces = pieces::merge(
        (&events.name, BufReader::new(open(events)?)),
        (&log.name, BufReader::new(open(log)?)),
        epoch_us,
        to,
    )
    .map_err(|error| unwritten(&error))?;
    let (events, log) = (&events.name, &log.name);
    output::note(&format!(
        "{events} and {log} are the two streams of one daemon and are merged by their clocks; a \
         line without a time stays behind the one before it in its file"
    ));
    Ok(Source::joined(format!("{events} + {log}"), copy, pieces))
}
