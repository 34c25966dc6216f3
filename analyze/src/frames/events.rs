//! The table of events: what happened to partitions and jobs, and what devices were asked for.

use polars::prelude::Column;

use super::columns::column;
use crate::lanes::ms;
use tracefmt::event::What;
use tracefmt::run::{Run, Trace};

/// One event.
#[derive(Clone, Debug, Default, PartialEq)]
struct Row<'a> {
    run: u32,
    at_ms: f64,
    event: &'static str,
    job: Option<&'a str>,
    partition: Option<u32>,
    worker: Option<u32>,
    gpu: Option<u32>,
    buf: Option<&'a str>,
    bytes: Option<u64>,
    rc: Option<i32>,
    line: u32,
}

/// The columns, rows sorted by run, time, line.
pub(super) fn columns(trace: &Trace) -> Vec<Column> {
    let mut rows = Vec::new();
    for run in &trace.runs {
        let from = rows.len();
        tasks(run, &mut rows);
        jobs(run, &mut rows);
        devices(run, &mut rows);
        let own = rows.get_mut(from..).unwrap_or_default();
        own.sort_by(|a, b| a.at_ms.total_cmp(&b.at_ms).then(a.line.cmp(&b.line)));
    }
    vec![
        column("run", rows.iter().map(|row| row.run)),
        column("at_ms", rows.iter().map(|row| row.at_ms)),
        column("event", rows.iter().map(|row| row.event)),
        column("job", rows.iter().map(|row| row.job)),
        column("partition", rows.iter().map(|row| row.partition)),
        column("worker", rows.iter().map(|row| row.worker)),
        column("gpu", rows.iter().map(|row| row.gpu)),
        column("buf", rows.iter().map(|row| row.buf)),
        column("bytes", rows.iter().map(|row| row.bytes)),
        column("rc", rows.iter().map(|row| row.rc)),
        column("line", rows.iter().map(|row| row.line)),
    ]
}

fn job_id(run: &Run, job: u32) -> Option<&str> {
    run.jobs.get(job as usize).map(|job| job.id.as_str())
}

fn tasks<'a>(run: &'a Run, rows: &mut Vec<Row<'a>>) {
    for task in &run.tasks {
        for (step, at) in task.moments() {
            let on_worker = step.is_workers();
            rows.push(Row {
                run: run.index,
                at_ms: ms(at.us),
                event: step.name(),
                job: job_id(run, task.job),
                partition: task.partition,
                worker: task.worker.filter(|_| on_worker),
                gpu: task.gpu.filter(|_| on_worker),
                line: at.line.line,
                ..Row::default()
            });
        }
    }
}

fn jobs<'a>(run: &'a Run, rows: &mut Vec<Row<'a>>) {
    for job in &run.jobs {
        for (event, at) in [("JOB_SUBMIT", job.submitted), ("JOB_END", job.ended)] {
            let Some(at) = at else { continue };
            rows.push(Row {
                run: run.index,
                at_ms: ms(at.us),
                event,
                job: Some(&job.id),
                line: at.line.line,
                ..Row::default()
            });
        }
    }
}

fn devices<'a>(run: &'a Run, rows: &mut Vec<Row<'a>>) {
    for event in &run.device_events {
        let (buf, bytes, rc) = memory(&event.what);
        rows.push(Row {
            run: run.index,
            at_ms: ms(event.at.us),
            event: event.what.kind().as_str(),
            job: event.job.and_then(|job| job_id(run, job)),
            partition: event.place.partition,
            worker: event.place.worker,
            gpu: event.place.gpu,
            buf,
            bytes,
            rc,
            line: event.at.line.line,
        });
    }
}

/// Buffer, size and result code of an event, where it has them.
fn memory<'a>(what: &'a What<'_>) -> (Option<&'a str>, Option<u64>, Option<i32>) {
    match what {
        What::VramAlloc(alloc) => (Some(&alloc.buf), Some(alloc.bytes), Some(alloc.rc)),
        What::VramFree { buf, bytes, rc, .. } => (Some(buf), Some(*bytes), Some(*rc)),
        What::HostReg { bytes, rc, .. } => (None, Some(*bytes), Some(*rc)),
        What::PoolTrim { keep, rc } => (None, Some(*keep), Some(*rc)),
        What::MemInfo { free, .. } => (None, Some(*free), None),
        What::HostUnreg { rc, .. }
        | What::Sync { rc, .. }
        | What::EventRecord { rc, .. }
        | What::StreamWait { rc, .. }
        | What::Launch { rc, .. } => (None, None, Some(*rc)),
        _ => (None, None, None),
    }
}
