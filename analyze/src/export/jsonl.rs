//! JSON Lines: one object a line, `type` says which: `run`, `job`, `task`, `call`, `mark`,
//! `region`, `event`, `trouble`. Lines of one run stand together. Times are milliseconds since
//! the run's start; absent is unknown.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::fields::fields;
use super::moments::words;
use crate::lanes::ms;
use crate::model::Analysis;
use tracefmt::run::{At, JobOutcome, LineRef, Outcome, Run, RunEnd, Task, Trace};

/// All objects of all runs.
pub(super) fn write(trace: &Trace, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    for run in &trace.runs {
        line(out, &head(trace, run))?;
        jobs(run, out)?;
        for task in &run.tasks {
            line(out, &task_object(run, task))?;
        }
        calls(run, out)?;
        for region in analysis.regions.iter().filter(|r| r.run == run.index) {
            line(
                out,
                &Tagged {
                    kind: "region",
                    value: region,
                },
            )?;
        }
        events(run, out)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Tagged<'a, T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    value: &'a T,
}

/// Writes an object without its null members.
fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut value = serde_json::to_value(value)?;
    if let Value::Object(members) = &mut value {
        members.retain(|_, member| !member.is_null());
    }
    serde_json::to_writer(&mut *out, &value)?;
    out.write_all(b"\n")
}

fn head(trace: &Trace, run: &Run) -> Value {
    let path = |at: LineRef| {
        trace
            .inputs
            .get(at.input() as usize)
            .map(|input| &input.path)
    };
    json!({
        "type": "run",
        "run": run.index,
        "path": path(run.first),
        "first_line": run.first.line,
        "last_line": run.last.line,
        "epoch_unix_us": run.epoch_unix_us,
        "dialect": run.dialect.name,
        "dialect_confidence": run.dialect.confidence,
        "device": run.config.device,
        "workers": run.config.workers,
        "gpus": run.config.gpus,
        "domain": run.config.domain,
        "end": match run.end {
            RunEnd::Complete => "complete",
            RunEnd::Cut => "cut",
            RunEnd::Restarted => "restarted",
            RunEnd::Open => "open",
            RunEnd::Aborted => "aborted",
        },
    })
}

fn time(at: Option<At>) -> Option<f64> {
    at.map(|at| ms(at.us))
}

fn jobs(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    for job in &run.jobs {
        line(
            out,
            &json!({
                "type": "job",
                "run": run.index,
                "job": job.id,
                "kind": job.kind,
                "partitions": job.partitions,
                "submitted_ms": time(job.submitted),
                "ended_ms": time(job.ended),
                "outcome": match job.outcome {
                    JobOutcome::Open => "open",
                    JobOutcome::Completed => "completed",
                    JobOutcome::Failed => "failed",
                    JobOutcome::Cancelled => "cancelled",
                },
                "error": job.error,
                "verified": job.verified.map(|(holds, _)| holds),
            }),
        )?;
    }
    Ok(())
}

fn job_id(run: &Run, job: u32) -> Option<&str> {
    run.jobs.get(job as usize).map(|job| job.id.as_str())
}

fn task_object(run: &Run, task: &Task) -> Value {
    json!({
        "type": "task",
        "run": run.index,
        "job": job_id(run, task.job),
        "partition": task.partition,
        "worker": task.worker,
        "gpu": task.gpu,
        "synth_start_ms": time(task.synth_start),
        "synth_end_ms": time(task.synth_end),
        "queued_ms": time(task.queued),
        "pickup_ms": time(task.pickup),
        "gpu_start_ms": time(task.gpu_start),
        "gpu_end_ms": time(task.gpu_end),
        "synth_ms": task.synth_ms,
        "gpu_ms": task.gpu_ms,
        "outcome": outcome(task.outcome),
        "verified": task.verified,
        "line": task.synth_start.or(task.queued).or(task.pickup).map(|at| at.line.line),
    })
}

const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Synthesizing => "synthesizing",
        Outcome::Synthesized => "synthesized",
        Outcome::Queued => "queued",
        Outcome::PickedUp => "picked_up",
        Outcome::Proving => "proving",
        Outcome::Completed => "completed",
        Outcome::Failed => "failed",
        Outcome::Skipped => "skipped",
        Outcome::Discarded => "discarded",
    }
}

fn calls(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    for (index, call) in run.calls.iter().enumerate() {
        let task = run.tasks.get(call.task as usize);
        let partition = task.and_then(|task| task.partition);
        let job = task.and_then(|task| job_id(run, task.job));
        line(
            out,
            &json!({
                "type": "call",
                "run": run.index,
                "call": index,
                "job": job,
                "partition": partition,
                "worker": call.worker,
                "gpu": call.gpu,
                "lock_seq": call.lock_seq,
                "confidence": call.confidence,
            }),
        )?;
    }
    for mark in &run.marks {
        let candidates = run.marks.candidates(&mark);
        let before = mark.before_us();
        line(
            out,
            &json!({
                "type": "mark",
                "run": run.index,
                "name": run.marks.name(&mark),
                "call": mark.call(),
                "confidence": mark.confidence(),
                "candidates": (!candidates.is_empty()).then_some(candidates),
                "us": mark.us(),
                "after_ms": ms(mark.after_us()),
                "before_ms": (before != i64::MAX).then(|| ms(before)),
                "line": mark.line().line,
            }),
        )?;
    }
    Ok(())
}

fn events(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    for event in &run.device_events {
        let mut object = json!({
            "type": "event",
            "run": run.index,
            "event": event.what.kind().as_str(),
            "job": event.job.and_then(|job| job_id(run, job)),
            "gpu": event.place.gpu,
            "worker": event.place.worker,
            "partition": event.place.partition,
            "at_ms": ms(event.at.us),
            "line": event.at.line.line,
        });
        if let (Value::Object(object), Value::Object(own)) = (&mut object, fields(&event.what)) {
            for (key, value) in own {
                // The number of a CUDA event must not stand in the place of the event's name.
                let key = if key == "event" {
                    "cuda_event".to_owned()
                } else {
                    key
                };
                object.insert(key, value);
            }
        }
        line(out, &object)?;
    }
    for trouble in &run.troubles {
        line(
            out,
            &json!({
                "type": "trouble",
                "run": run.index,
                "kind": words(trouble.kind),
                "at_ms": trouble.us.map(ms),
                "code": trouble.code,
                "job": trouble.job.and_then(|job| job_id(run, job)),
                "text": trouble.text,
                "line": trouble.line.line,
            }),
        )?;
    }
    Ok(())
}
