//! `cuzk.samples/1` from a trace: every printed duration with its phase, its partition where the
//! line's owner is certain, and whether the proof was verified.

use std::collections::BTreeSet;
use std::io::{self, Write};

use golden::Key;
use golden::samples::{SCHEMA, Sample, Samples};
use serde::Serialize;
use serde_json::json;

use crate::phase::{each_of, residual_ms};
use tracefmt::finding::Confidence;
use tracefmt::run::{Mark, MarkKind, Outcome, Run, RunEnd, Trace};

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

/// All samples of a trace as the gate's own value; runs that did not complete are marked.
pub fn samples(trace: &Trace) -> Samples {
    let mut out = Samples {
        key: key(trace),
        ..Samples::default()
    };
    for run in &trace.runs {
        let id = name(trace, run);
        out.run_mut(&id).complete = complete(run);
        each(run, |phase, ms, owner| {
            out.push(Sample {
                run: id.clone(),
                phase: phase.to_owned(),
                partition: owner.partition,
                ms,
                verified: owner.verified,
            });
        });
    }
    out
}

/// Header, then for each run a line of its own and its times in recorded order.
pub(super) fn write(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    line(out, &json!({"schema": SCHEMA, "key": key(trace)}))?;
    for run in &trace.runs {
        let id = name(trace, run);
        line(out, &json!({"run": &id, "complete": complete(run)}))?;
        let mut written = Ok(());
        each(run, |phase, ms, owner| {
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

/// Calls `sink` with every duration of a run: name of the phase, milliseconds, owner.
fn each(run: &Run, mut sink: impl FnMut(&str, f64, Owner)) {
    for (index, task) in (0..).zip(&run.tasks) {
        let owner = Owner {
            partition: task.partition,
            verified: verified(run, index),
        };
        for (phase, ms) in [("synth", task.synth_ms), ("gpu_ms", task.gpu_ms)] {
            if let Some(ms) = ms {
                sink(phase, ms as f64, owner);
            }
        }
    }
    for mark in &run.marks {
        let owner = owner(run, mark);
        if mark.kind() == MarkKind::Phase {
            sink(run.marks.name(mark), mark.us() as f64 / 1000.0, owner);
        } else {
            each_of(&run.marks.what(mark), |phase, ms| {
                sink(phase.name(), f64::from(ms), owner);
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
            sink("barrier_wait", f64::from(ms), owner);
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

/// The input's path; with the run's number when the trace has several runs.
fn name(trace: &Trace, run: &Run) -> String {
    let input = trace.inputs.get(run.first.input as usize);
    let path = input.map_or("trace", |input| input.path.as_str());
    if trace.runs.len() > 1 {
        format!("{path}#{}", run.index)
    } else {
        path.to_owned()
    }
}

/// What the log says the times were measured on; a field in which its runs differ is left open.
pub fn key(trace: &Trace) -> Key {
    let runs = || trace.runs.iter();
    let jobs = || runs().flat_map(|run| &run.jobs);
    Key {
        proof_kind: only(jobs().map(|job| job.kind.clone())),
        domain: only(runs().map(|run| run.config.domain)),
        partitions: only(jobs().map(|job| job.partitions.map(u64::from))),
        gpu: only(runs().map(|run| run.config.device.clone())),
        vram_bytes: only(runs().map(|run| run.config.vram_bytes)),
        workers: only(runs().map(|run| Some(u64::from(run.config.workers)))),
        concurrency: only(runs().map(|run| run.bench.as_ref().and_then(|b| b.concurrency))),
        dialect: only(runs().map(|run| Some(run.dialect.name.to_owned()))),
        ..Key::default()
    }
}

fn only<T: Ord>(values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let mut all: BTreeSet<Option<T>> = values.collect();
    if all.len() == 1 {
        all.pop_first().flatten()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_differs_between_runs_is_left_open() {
        assert_eq!(only([Some(3), Some(3)].into_iter()), Some(3));
        assert_eq!(only([Some(3), Some(4)].into_iter()), None);
        assert_eq!(only([Some(3), None].into_iter()), None);
        assert_eq!(only(std::iter::empty::<Option<u8>>()), None);
    }
}
