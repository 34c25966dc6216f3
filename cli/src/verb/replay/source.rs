//! Where schedules come from: a file of ops, or the runs of a log.

use std::fs::File;
use std::io::{BufReader, Read};

use replay::check::Source;
use replay::lifecycle::{Given, Version};
use replay::log::schedule_of;
use replay::report::Report;
use tracefmt::finding::Finding;
use tracefmt::ops::{Header, SCHEMA, Schedule};
use tracefmt::run::{Run, Trace};

use super::{Replay, long};
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
    #[cfg_attr(
        not(feature = "plots"),
        expect(dead_code, reason = "a picture has times")
    )]
    pub(super) times_ms: Option<Vec<f64>>,
    /// Whether a card was given that is another than the input's.
    pub(super) other_card: bool,
    /// The run of a log that it is of.
    pub(super) log: Option<OfRun>,
    /// What was said of it while it was read, so that it was not kept.
    pub(super) said: Option<Report>,
}

/// A run of a log.
pub(super) struct OfRun {
    pub(super) index: u32,
    /// Its first and last line.
    pub(super) lines: (u32, u32),
    /// What its end says, if the log ends before its jobs do.
    pub(super) ending: Option<Finding>,
}

impl Of {
    /// A schedule that is given as it is, on the card that it names.
    pub(super) fn given(schedule: Schedule) -> Self {
        let (source, by) = Source::of(&schedule.header);
        let by = by.and_then(Version::named);
        Self {
            source,
            profile: by.map(Version::name),
            schedule,
            assumed: Vec::new(),
            times_ms: None,
            other_card: false,
            log: None,
            said: None,
        }
    }
}

/// The schedules of an input: one, or one for each run of a log.
pub(super) struct Schedules {
    pub(super) all: Vec<Of>,
    /// How many runs the log holds; 1 for a schedule without a log.
    pub(super) runs: usize,
    /// Whether a run reached a card and has no schedule all the same.
    pub(super) lacks_some: bool,
}

impl Schedules {
    fn one(of: Of) -> Self {
        Self {
            all: vec![of],
            runs: 1,
            lacks_some: false,
        }
    }
}

/// Bytes in which the schema name of a schedule must stand.
const HEAD_BYTES: u64 = 4096;

/// The schedules of the input.
pub(super) fn schedules(verb: &Replay) -> Result<Schedules, CliError> {
    let given = Given {
        vram: verb.vram.as_deref().map(size).transpose()?,
        baseline: verb.baseline.as_deref().map(size).transpose()?,
        version: verb.profile.clone(),
    };
    #[cfg(feature = "prove")]
    if let Some(own) = super::plan::schedule(&verb.own, &given)? {
        return Ok(Schedules::one(own));
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
        if let Some(said) = long::judged(verb, &input.path, &given)? {
            return Ok(Schedules::one(said));
        }
        let file = File::open(&input.path).map_err(|error| unreadable(&error))?;
        let read = Schedule::read(BufReader::new(file)).map_err(|error| unreadable(&error))?;
        return Ok(Schedules::one(of_ops(read, &given)));
    }
    of_log(verb, &input, &given)
}

fn of_ops(mut schedule: Schedule, given: &Given) -> Of {
    for error in schedule.errors.iter().take(5) {
        output::note(&error.to_string());
    }
    Of {
        other_card: put(&mut schedule.header, given),
        ..Of::given(schedule)
    }
}

/// Puts a given card into a header; `true` if it is another one.
pub(super) fn put(header: &mut Header, given: &Given) -> bool {
    let before = header.clone();
    for gpu in &mut header.gpus {
        gpu.capacity = given.vram.unwrap_or(gpu.capacity);
        gpu.baseline = given.baseline.unwrap_or(gpu.baseline);
    }
    *header != before
}

/// The schedules of the runs of a log, or of the one that was asked for.
fn of_log(verb: &Replay, input: &inputs::Source, given: &Given) -> Result<Schedules, CliError> {
    let logs = reading::read(std::slice::from_ref(input))?;
    let trace = &logs.trace;
    let count = trace.runs.len();
    if let Some(run) = verb.run.filter(|run| *run >= count) {
        return Err(CliError::Usage(format!(
            "--run {run}: the log holds {count} runs, counted from 0"
        )));
    }
    let mut found = Schedules {
        all: Vec::new(),
        runs: count,
        lacks_some: false,
    };
    let asked = |run: &&Run| verb.run.is_none_or(|asked| asked == run.index as usize);
    for run in trace.runs.iter().filter(asked) {
        if let Some(of) = of_run(trace, run, given) {
            found.all.push(of);
            continue;
        }
        let index = run.index;
        if count > 1 {
            output::note(&format!("run {index} of {count}: no schedule can be had"));
        }
        found.lacks_some |= !run.calls.is_empty() || !run.device_events.is_empty();
    }
    if !found.all.is_empty() {
        return Ok(found);
    }
    let asked = trace.runs.get(verb.run.unwrap_or(0));
    let dialect = asked.map_or("none", |run| run.dialect.name);
    Err(CliError::Usage(format!(
        "no schedule can be had from {}: it records no memory events, and the lifecycle of its \
         dialect ({dialect}) is not known or nothing reached a GPU; name one with --profile \
         (phase8, phase9-v1, phase9, phase12, cache, head)",
        input.name
    )))
}

fn of_run(trace: &Trace, run: &Run, given: &Given) -> Option<Of> {
    let of = schedule_of(run, given)?;
    // Whether the card is another shows beside the same run without a given one.
    let other_card = given.vram.is_some() || given.baseline.is_some();
    let other_card = other_card && {
        let version = given.version.clone();
        let plain = schedule_of(
            run,
            &Given {
                version,
                ..Given::default()
            },
        );
        plain.is_none_or(|plain| plain.schedule.header != of.schedule.header)
    };
    Some(Of {
        times_ms: Some(analyze::vram::times(run, &of.refs)),
        schedule: of.schedule,
        source: of.source,
        profile: of.profile,
        assumed: of.assumed,
        other_card,
        log: Some(OfRun {
            index: run.index,
            lines: (run.first.line, run.last.line),
            ending: analyze::diagnose::ending(trace, run),
        }),
        said: None,
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
