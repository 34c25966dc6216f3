//! Samples from a trace: every printed duration with its phase, its partition where the line's
//! owner is certain, and whether its proof was verified.
//!
//! One life of a daemon is one run. A run that was cut off, or in which a partition failed, is
//! marked as incomplete and left to the gate to refuse. A negative duration (a clock that was set
//! back) is no time: it is counted with its line.

mod exact;
mod key;

use std::io::{self, Write};

use serde::Serialize;
use serde_json::json;
use tracefmt::finding::Confidence;
use tracefmt::phase::{each_signed, on_device, residual_ms, synthesis};
use tracefmt::run::{Mark, MarkKind, Outcome, Run, RunEnd, Trace};

pub use self::key::{key_of_trace, runs_differ};
use super::{SCHEMA, Sample, Samples};

/// All samples of a trace; runs that did not complete are marked.
#[must_use]
pub fn of_trace(trace: &Trace) -> Samples {
    let mut out = Samples {
        key: key_of_trace(trace),
        ..Samples::default()
    };
    for run in &trace.runs {
        let id = name(trace, run);
        let entry = out.run_mut(&id);
        entry.complete = complete(run);
        entry.commit.clone_from(&run.config.build);
        entry.injected = key::injected(run);
        entry.exact = exact::figures(run);
        each(run, |phase, time| match time {
            Time::Of(ms, owner) => out.push(Sample {
                run: id.clone(),
                phase: phase.to_owned(),
                partition: owner.partition,
                ms,
                verified: owner.verified,
            }),
            Time::Negative(ms, line) => {
                out.note(
                    line,
                    format!("{phase} took {ms} ms: the clock was set back"),
                );
            }
        });
    }
    out
}

/// One line of a time.
#[derive(Serialize)]
struct Line<'a> {
    run: &'a str,
    phase: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<u32>,
    ms: f64,
    verified: bool,
}

/// Writes a trace as `cuzk.samples/1`: a header, then for each run a line of its own and its times
/// in recorded order. Negative durations are written as they are, for the gate to refuse.
///
/// # Errors
/// What the writer says.
pub fn write_trace(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    line(out, &json!({"schema": SCHEMA, "key": key_of_trace(trace)}))?;
    for run in &trace.runs {
        let id = name(trace, run);
        let mut head = json!({"run": &id, "complete": complete(run)});
        if let Some(build) = &run.config.build {
            head["commit"] = json!(build);
        }
        if let Some(faults) = key::injected(run) {
            head["injected"] = json!(faults);
        }
        let exact = exact::figures(run);
        if !exact.is_empty() {
            head["exact"] = json!(exact);
        }
        line(out, &head)?;
        let mut written = Ok(());
        each(run, |phase, time| {
            let (ms, owner) = match time {
                Time::Of(ms, owner) => (ms, owner),
                Time::Negative(ms, _) => (ms, Owner::NOBODY),
            };
            let sample = Line {
                run: &id,
                phase,
                partition: owner.partition,
                ms,
                verified: owner.verified,
            };
            if written.is_ok() {
                written = line(out, &sample);
            }
        });
        written?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Whose a time is.
#[derive(Clone, Copy)]
struct Owner {
    partition: Option<u32>,
    verified: bool,
}

impl Owner {
    const NOBODY: Self = Self {
        partition: None,
        verified: false,
    };
}

/// What a line says that a phase took.
#[derive(Clone, Copy)]
enum Time {
    /// Milliseconds, and whose.
    Of(f64, Owner),
    /// Milliseconds below zero, and the line.
    Negative(f64, u64),
}

/// Calls `sink` with every duration of a run: name of the phase, and the time.
fn each(run: &Run, mut sink: impl FnMut(&str, Time)) {
    for (index, task) in (0..).zip(&run.tasks) {
        let owner = Owner {
            partition: task.partition,
            verified: verified(run, index),
        };
        let stages = [
            ("synth", synthesis(run, task), task.synth_end),
            ("gpu_ms", on_device(run, task), task.gpu_end),
        ];
        for (phase, spent, end) in stages {
            let line = end.map_or(0, |end| u64::from(end.line.line));
            match spent {
                Some(spent) if spent.ms() < 0.0 => sink(phase, Time::Negative(spent.ms(), line)),
                Some(spent) => sink(phase, Time::Of(spent.ms(), owner)),
                None => {}
            }
        }
    }
    for mark in &run.marks {
        let owner = owner(run, &mark);
        let line = u64::from(mark.line().line);
        if mark.kind() == MarkKind::Phase {
            let us = mark.us();
            let time = if us < 0 {
                Time::Negative(us as f64 / 1000.0, line)
            } else {
                Time::Of(us as f64 / 1000.0, owner)
            };
            sink(run.marks.name(&mark), time);
        } else {
            each_signed(&run.marks, &mark, |phase, ms| {
                let time = if ms < 0 {
                    Time::Negative(ms as f64, line)
                } else {
                    Time::Of(ms as f64, owner)
                };
                sink(phase.name(), time);
            });
        }
    }
    for (index, call) in run.calls.iter().enumerate() {
        if let Some(ms) = residual_ms(run, index) {
            let sure = call.confidence == Confidence::Certain;
            let task = run.tasks.get(call.task as usize);
            let owner = Owner {
                partition: task.and_then(|task| task.partition).filter(|_| sure),
                verified: verified(run, call.task),
            };
            sink("barrier_wait", Time::Of(f64::from(ms), owner));
        }
    }
}

/// A line with several possible owners has no partition, and is verified if all of them are.
fn owner(run: &Run, mark: &Mark) -> Owner {
    let task = |call: u32| run.calls.get(call as usize).map(|call| call.task);
    let own = mark.call().and_then(task);
    let others = run.marks.candidates(mark);
    let partition = own.and_then(|own| run.tasks.get(own as usize)?.partition);
    let mut owners = others.iter().filter_map(|call| task(*call)).chain(own);
    Owner {
        partition: partition.filter(|_| others.is_empty()),
        verified: own.is_some() && owners.all(|task| verified(run, task)),
    }
}

fn verified(run: &Run, task: u32) -> bool {
    let Some(task) = run.tasks.get(task as usize) else {
        return false;
    };
    let job = run.jobs.get(task.job as usize);
    let job = job.and_then(|job| job.verified).map(|(holds, _)| holds);
    task.verified.or(job).unwrap_or(false)
}

fn complete(run: &Run) -> bool {
    run.end == RunEnd::Complete && run.tasks.iter().all(|t| t.outcome == Outcome::Completed)
}

/// The name of the input's file; with the run's number when the trace has several runs. A golden
/// keeps it, and folders of the machine that recorded it are nobody else's business.
fn name(trace: &Trace, run: &Run) -> String {
    let input = trace.inputs.get(run.first.input() as usize);
    let path = input.map_or("trace", |input| input.path.as_str());
    let file = path.rsplit('/').next().unwrap_or(path);
    if trace.runs.len() > 1 {
        format!("{file}#{}", run.index)
    } else {
        file.to_owned()
    }
}

#[cfg(test)]
mod tests;
