//! The schedule of a run that recorded its memory events: exact, op for op.
//!
//! Everything that a trace of our own says of memory, locks and streams becomes an op, with the
//! recorded result code as truth. A trace does not say what the program did about a failure, but
//! what it did next: if its partition failed, or the same buffer was asked for again, it
//! noticed; else the failure was swallowed.

mod op;

use std::collections::BTreeSet;

use tracefmt::event::What;
use tracefmt::ops::{GpuSpec, Header, OnError, Op, Schedule, Step, Truth};
use tracefmt::run::{DeviceEvent, LineRef, Outcome, Run};

/// Worker, job and partition.
type Task = (Option<u32>, Option<u32>, Option<u32>);

/// A schedule and the line of each of its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The schedule; [`Schedule::lines`] are lines of the log.
    pub schedule: Schedule,
    /// The line of each step.
    pub refs: Vec<LineRef>,
}

/// Reads the schedule off a run; none if it recorded no memory events.
pub fn recorded(run: &Run) -> Option<Recorded> {
    let retried = retried(run);
    let mut refs = Vec::new();
    let mut steps = Vec::new();
    for (index, event) in run.device_events.iter().enumerate() {
        let Some((op, rc)) = op::of(&event.what) else {
            continue;
        };
        let mut step = step(run, event, op);
        step.truth.rc = rc.and_then(|rc| u32::try_from(rc).ok());
        if let What::MemInfo { free, .. } = event.what {
            step.truth.free = Some(free);
        }
        let failed = rc.is_some_and(|rc| rc != 0);
        if failed && (retried.contains(&index) || task_failed(run, event)) {
            // It noticed: it went on elsewhere, which is the next op here.
            let name = format!("after{index}");
            step.on_error = OnError::Fallback(name.clone());
            let label = self::step(run, event, Op::Label { name });
            steps.extend([step, label]);
            refs.extend([event.at.line; 2]);
            continue;
        }
        if failed {
            step.on_error = OnError::Ignore;
        }
        steps.push(step);
        refs.push(event.at.line);
    }
    if steps.is_empty() {
        return None;
    }
    let mut schedule = Schedule::new(header(run, &steps), steps);
    schedule.lines = refs.iter().map(|at| u64::from(at.line)).collect();
    Some(Recorded { schedule, refs })
}

/// The cards: their size from the header, their use by others from the first answer about free
/// memory.
fn header(run: &Run, steps: &[Step]) -> Header {
    let answers = run
        .device_events
        .iter()
        .filter_map(|event| match event.what {
            What::MemInfo { free, total } => Some((free, total)),
            _ => None,
        });
    let first = answers.into_iter().next();
    let capacity = run
        .config
        .vram_bytes
        .or(first.map(|(_, total)| total))
        .unwrap_or(0);
    let free = run
        .config
        .free_mib
        .map(|mib| mib << 20)
        .or(first.map(|(free, _)| free));
    let baseline = capacity.saturating_sub(free.unwrap_or(capacity));
    let cards = steps
        .iter()
        .filter_map(|step| step.gpu)
        .max()
        .unwrap_or(0)
        .min(63);
    Header {
        gpus: vec![GpuSpec::new(capacity, baseline); cards as usize + 1],
        workers: u64::from(run.config.workers.max(1)),
        ..Header::one_gpu(0, 0)
    }
}

fn step(run: &Run, event: &DeviceEvent, op: Op) -> Step {
    let mut step = Step::new(op);
    step.worker = event.place.worker;
    step.partition = event.place.partition;
    step.gpu = event.place.gpu.filter(|gpu| *gpu > 0);
    let job = event.job.and_then(|job| run.jobs.get(job as usize));
    step.job = job.map(|job| job.id.clone());
    step.buf = name_of(&event.what).map(str::to_owned);
    step.truth = Truth::default();
    step
}

/// What a step is about: a buffer, or the phase of a kernel.
fn name_of<'a>(what: &'a What<'_>) -> Option<&'a str> {
    match what {
        What::VramAlloc(alloc) => Some(&alloc.buf),
        What::VramFree { buf, .. } => Some(buf),
        What::Launch { phase, .. } => Some(phase),
        _ => None,
    }
}

/// Failed requests after which the same worker asked for the same buffer of the same partition.
fn retried(run: &Run) -> BTreeSet<usize> {
    let mut later: BTreeSet<(Task, &str)> = BTreeSet::new();
    let mut retried = BTreeSet::new();
    for (index, event) in run.device_events.iter().enumerate().rev() {
        if let What::VramAlloc(alloc) = &event.what {
            let place = event.place;
            let task = (place.worker, event.job, place.partition);
            let key = (task, alloc.buf.as_ref());
            if !later.insert(key) && alloc.rc != 0 {
                retried.insert(index);
            }
        }
    }
    retried
}

/// Whether the partition of an event failed in the end.
fn task_failed(run: &Run, event: &DeviceEvent) -> bool {
    let mut tasks = run
        .tasks
        .iter()
        .filter(|task| Some(task.job) == event.job && task.partition == event.place.partition);
    tasks.any(|task| task.outcome == Outcome::Failed)
}

#[cfg(test)]
mod tests {
    use tracefmt::finding::Code;
    use tracefmt::run::{Source, read};

    use super::*;
    use crate::report::{Report, Request, replay};

    fn run(lines: &[&str]) -> Run {
        let text = lines.join("\n") + "\n";
        let source = Source::Bytes("own.log".to_owned(), text.into_bytes());
        read(&[source]).expect("reads").0.runs.remove(0)
    }

    fn report(recorded: &Recorded) -> Report {
        replay(&recorded.schedule, &Request::events("own.log")).expect("a known driver")
    }

    const AT: &str = "gpu=0,worker=0,partition=0";

    fn line(event: &str, detail: &str) -> String {
        format!("TIMELINE,1,{event},j,{AT},t_us=1000,{detail}")
    }

    #[test]
    fn every_event_becomes_its_op() {
        let lines = [
            line("MEM_INFO", "free=15032385536,total=17179869184"),
            line("LOCK_ACQ", "lock=gpu"),
            line("VRAM_ALLOC", "id=1,buf=d_a,bytes=4096,api=cudaMalloc,rc=0"),
            line(
                "VRAM_ALLOC",
                "id=2,buf=h,bytes=64,api=cudaMallocAsync,stream=2,rc=0",
            ),
            line(
                "LAUNCH",
                "op=kernel,phase=ntt,stream=2,reads=1,writes=2,rc=0",
            ),
            line("EVENT_RECORD", "event=7,stream=2,rc=0"),
            line("STREAM_WAIT", "event=7,stream=3,rc=0"),
            line("SYNC", "scope=stream,stream=2,rc=0"),
            line(
                "VRAM_FREE",
                "id=2,buf=h,bytes=64,api=cudaFreeAsync,stream=legacy,rc=0",
            ),
            line("SYNC", "scope=device,rc=0"),
            line("VRAM_FREE", "id=1,buf=d_a,bytes=4096,api=cudaFree,rc=0"),
            line("POOL_TRIM", "keep=0,rc=0"),
            line("HOST_REG", "addr=4096,bytes=10,rc=0"),
            line("HOST_UNREG", "addr=4096,rc=0"),
            line("LOCK_REL", "lock=gpu"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let recorded = recorded(&run(&lines)).expect("memory events");
        let names: Vec<&str> = recorded
            .schedule
            .steps
            .iter()
            .map(|step| step.op.name())
            .collect();
        assert_eq!(
            names,
            [
                "memGetInfo",
                "lock",
                "malloc",
                "mallocAsync",
                "launch",
                "eventRecord",
                "streamWait",
                "streamSync",
                "freeAsync",
                "ctxSync",
                "free",
                "trim",
                "hostRegister",
                "hostUnregister",
                "unlock",
            ]
        );
        let gpu = &recorded.schedule.header.gpus[0];
        assert_eq!((gpu.capacity, gpu.baseline), (16 << 30, 2 << 30));
        assert_eq!(recorded.schedule.lines, (1..=15).collect::<Vec<u64>>());
        let report = report(&recorded);
        assert_eq!(report.findings, []);
        assert_eq!(report.truth.rc_agree, report.truth.checked);
        assert_eq!(report.truth.checked, 13);
    }

    #[test]
    fn a_failure_that_nobody_noticed_is_swallowed_and_one_that_was_retried_is_not() {
        let info = line("MEM_INFO", "free=17179869184,total=17179869184");
        let fail = line(
            "VRAM_ALLOC",
            "id=1,buf=h,bytes=99999999999,api=cudaMalloc,rc=2",
        );
        let again = line("VRAM_ALLOC", "id=2,buf=h,bytes=64,api=cudaMalloc,rc=0");
        let free = line("VRAM_FREE", "id=2,buf=h,bytes=64,api=cudaFree,rc=0");
        let codes = |lines: &[&str]| -> Vec<Code> {
            let recorded = recorded(&run(lines)).expect("memory events");
            report(&recorded)
                .findings
                .iter()
                .map(|finding| finding.code)
                .collect()
        };
        assert_eq!(codes(&[&info, &fail]), [Code::VramSwallowedOom]);
        assert_eq!(codes(&[&info, &fail, &again, &free]), [Code::VramOom]);
    }

    #[test]
    fn a_run_without_memory_events_has_no_recorded_schedule() {
        assert_eq!(recorded(&Run::default()), None);
    }
}
