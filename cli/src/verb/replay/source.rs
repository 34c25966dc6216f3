//! Where a schedule comes from: a file of ops, or a run of a log.

use std::fs::File;
use std::io::{BufReader, Read};

use replay::check::Source;
use replay::lifecycle::Given;
use replay::log::schedule_of;
use tracefmt::ops::{SCHEMA, Schedule};

use super::Replay;
use crate::error::CliError;
use crate::inputs;
use crate::output;
use crate::reading;

/// A schedule and how it was come by.
pub(super) struct Of {
    pub(super) schedule: Schedule,
    pub(super) source: Source,
    pub(super) profile: Option<&'static str>,
    pub(super) assumed: Vec<String>,
    /// When each step happens, milliseconds; none for a schedule without a log.
    pub(super) times_ms: Option<Vec<f64>>,
}

/// Bytes in which the schema name of a schedule must stand.
const HEAD_BYTES: u64 = 4096;

/// The schedule of the input.
pub(super) fn schedule(verb: &Replay) -> Result<Of, CliError> {
    let given = Given {
        vram: verb.vram.as_deref().map(size).transpose()?,
        baseline: verb.baseline.as_deref().map(size).transpose()?,
        version: verb.profile.clone(),
    };
    #[cfg(feature = "prove")]
    if let Some(own) = super::plan::schedule(&verb.own, &given)? {
        return Ok(own);
    }
    let input = inputs::open(verb.name())?;
    let unreadable = |error: &dyn ToString| {
        CliError::input(&input.name, error, "a log or a schedule, cuzk.ops/1")
    };
    let mut head = Vec::new();
    let file = File::open(&input.path).map_err(|error| unreadable(&error))?;
    file.take(HEAD_BYTES)
        .read_to_end(&mut head)
        .map_err(|error| unreadable(&error))?;
    if String::from_utf8_lossy(&head).contains(SCHEMA) {
        let file = File::open(&input.path).map_err(|error| unreadable(&error))?;
        let read = Schedule::read(BufReader::new(file)).map_err(|error| unreadable(&error))?;
        return Ok(of_ops(read, &given));
    }
    of_log(verb, &input, &given)
}

fn of_ops(mut schedule: Schedule, given: &Given) -> Of {
    for error in schedule.errors.iter().take(5) {
        output::note(&error.to_string());
    }
    for gpu in &mut schedule.header.gpus {
        gpu.capacity = given.vram.unwrap_or(gpu.capacity);
        gpu.baseline = given.baseline.unwrap_or(gpu.baseline);
    }
    Of {
        schedule,
        source: Source::Events,
        profile: None,
        assumed: Vec::new(),
        times_ms: None,
    }
}

fn of_log(verb: &Replay, input: &inputs::Source, given: &Given) -> Result<Of, CliError> {
    let logs = reading::read(std::slice::from_ref(input))?;
    let runs = logs.trace.runs.len();
    let run = logs.trace.runs.get(verb.run).ok_or_else(|| {
        CliError::Usage(format!(
            "--run {}: the log holds {runs} runs, counted from 0",
            verb.run
        ))
    })?;
    let Some(of) = schedule_of(run, given) else {
        let dialect = run.dialect.name;
        return Err(CliError::Usage(format!(
            "no schedule can be had from {}: it records no memory events, and the lifecycle of \
             its dialect ({dialect}) is not known or nothing reached a GPU; name one with \
             --profile (phase8, phase9-v1, phase9, phase12, cache, head)",
            input.name
        )));
    };
    Ok(Of {
        times_ms: Some(analyze::vram::times(run, &of.refs)),
        schedule: of.schedule,
        source: of.source,
        profile: of.profile,
        assumed: of.assumed,
    })
}

/// Bytes of a size in the syntax of the changes.
pub(super) fn size(text: &str) -> Result<u64, CliError> {
    replay::change::bytes(text).ok_or_else(|| {
        CliError::Usage(format!(
            "expected a size such as 16GiB or 1609MiB, found {text:?}"
        ))
    })
}
