//! Chrome's trace-event format: a process a run, a thread a lane, complete events (`X`) for
//! spans, instants (`i`) for moments, metadata (`M`) for names. Times are microseconds.

use std::io::{self, Write};

use serde::Serialize;

use super::moments::moments;
use crate::lanes::{Lane, Owner, Stage, lanes};
use crate::model::Analysis;
use tracefmt::run::{Run, Trace};

/// Thread of the moments; lanes count from the next one.
const MOMENTS: u32 = 0;

#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    ph: &'static str,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    /// Scope of an instant: `p` for the whole process.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    args: Args<'a>,
}

#[derive(Default, Serialize)]
struct Args<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_index: Option<u32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    job: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<bool>,
}

/// Writes the events with a comma before each but the first.
struct Events<'a> {
    out: &'a mut dyn Write,
    any: bool,
}

impl Events<'_> {
    fn put(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)
    }

    fn name(&mut self, what: &'static str, at: (u32, u32), name: &str) -> io::Result<()> {
        let args = Args {
            name: Some(name),
            ..Args::default()
        };
        self.metadata(what, at, args)
    }

    fn order(&mut self, at: (u32, u32)) -> io::Result<()> {
        let args = Args {
            sort_index: Some(at.1),
            ..Args::default()
        };
        self.metadata("thread_sort_index", at, args)
    }

    fn metadata(
        &mut self,
        name: &'static str,
        (pid, tid): (u32, u32),
        args: Args<'_>,
    ) -> io::Result<()> {
        self.put(&Event {
            name,
            cat: "",
            ph: "M",
            ts: 0.0,
            dur: None,
            pid,
            tid,
            s: None,
            args,
        })
    }
}

/// The whole document.
pub(super) fn write(trace: &Trace, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let mut events = Events { out, any: false };
    for run in &trace.runs {
        one_run(&mut events, run, analysis)?;
    }
    events.out.write_all(b"\n]}\n")
}

fn one_run(events: &mut Events<'_>, run: &Run, analysis: &Analysis) -> io::Result<()> {
    let pid = run.index + 1;
    events.name("process_name", (pid, MOMENTS), &process(run))?;
    events.name("thread_name", (pid, MOMENTS), "events")?;
    events.order((pid, MOMENTS))?;
    for moment in moments(run) {
        events.put(&Event {
            name: &moment.name,
            cat: "event",
            ph: "i",
            ts: moment.ms * 1000.0,
            dur: None,
            pid,
            tid: MOMENTS,
            s: Some("p"),
            args: Args {
                job: &moment.job,
                line: Some(moment.line),
                text: &moment.text,
                ..Args::default()
            },
        })?;
    }
    for (tid, lane) in (MOMENTS + 1..).zip(lanes(run, analysis)) {
        events.name("thread_name", (pid, tid), &label(run, lane.owner))?;
        events.order((pid, tid))?;
        one_lane(events, (pid, tid), &lane)?;
    }
    Ok(())
}

fn one_lane(events: &mut Events<'_>, (pid, tid): (u32, u32), lane: &Lane) -> io::Result<()> {
    for span in &lane.spans {
        let named = span_name(span.stage, span.partition);
        events.put(&Event {
            name: &named,
            cat: category(span.stage),
            ph: "X",
            ts: span.start_ms * 1000.0,
            dur: Some(span.ms() * 1000.0),
            pid,
            tid,
            s: None,
            args: Args {
                job: &span.job,
                partition: span.partition,
                line: (span.line > 0).then_some(span.line),
                open: span.open.then_some(true),
                ..Args::default()
            },
        })?;
    }
    Ok(())
}

/// Name of a process: the run, its dialect and device.
pub(super) fn process(run: &Run) -> String {
    let device = run.config.device.as_deref();
    let device = device.map(|device| format!(", {device}"));
    let device = device.unwrap_or_default();
    format!("run {} ({}{device})", run.index, run.dialect.name)
}

/// Name of a lane; a worker's names its GPU where the log does.
pub(super) fn label(run: &Run, owner: Owner) -> String {
    if let Owner::Worker(Some(worker), _) = owner {
        let gpus = run.config.gpu_of_worker.get(worker as usize);
        if let Some(gpu) = gpus.copied().flatten() {
            return format!("{} (GPU {gpu})", owner.label());
        }
    }
    owner.label()
}

/// Name of a span.
pub(super) fn span_name(stage: Stage, partition: Option<u32>) -> String {
    match (stage, partition) {
        (Stage::Idle(cause), _) => format!("idle: {}", cause.as_str()),
        (Stage::Kernel | Stage::Hold, _) | (_, None) => stage.as_str().to_owned(),
        (_, Some(partition)) => format!("{} p{partition}", stage.as_str()),
    }
}

/// Category of a span.
pub(super) const fn category(stage: Stage) -> &'static str {
    match stage {
        Stage::Idle(_) => "idle",
        Stage::Synthesis => "synthesis",
        Stage::Queue => "queue",
        Stage::Call => "call",
        Stage::Hold => "hold",
        Stage::Kernel => "kernel",
    }
}
