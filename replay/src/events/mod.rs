//! The schedule of a run that recorded its memory events: exact, op for op.
//!
//! Everything that a trace of our own says of memory, locks and streams becomes an op, with the
//! recorded result code as truth. A trace does not say what the program did about a failure, but
//! what it did next: if its partition failed, or the same buffer was asked for again, it
//! noticed; else the failure was swallowed. A failed allocation after which the trace says
//! that a smaller plan was taken, and whose partition did not fail, was recovered from.

mod op;

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::event::What;
use tracefmt::ops::{GpuSpec, Header, OnError, Op, Schedule, Step, Truth};
use tracefmt::run::{DeviceEvent, Job, JobOutcome, LineRef, Outcome, Run, Task};

use crate::run::{Options, execute};
use crate::vram::{H200_580, STICKY};

/// Worker, job and partition.
type Key = (Option<u32>, Option<u32>, Option<u32>);

/// A schedule and the line of each of its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The schedule; [`Schedule::lines`] are lines of the log.
    pub schedule: Schedule,
    /// The line of each step.
    pub refs: Vec<LineRef>,
}

/// The key of a step whose failure was made good: a smaller plan was taken and the partition did
/// not fail, or all jobs ended well in spite of it.
pub(crate) const RECOVERED: &str = "recovered";

/// Reads the schedule off a run; none if it recorded no memory events.
pub fn recorded(run: &Run) -> Option<Recorded> {
    let retried = retried(run);
    let fell_back = fell_back(run);
    let mut refs = Vec::new();
    let mut steps = Vec::new();
    for (index, event) in run.device_events.iter().enumerate() {
        let Some((op, rc)) = op::of(&event.what) else {
            continue;
        };
        let mut step = step(run, event, op);
        step.rc = rc.and_then(|rc| u32::try_from(rc).ok());
        if let What::MemInfo { free, .. } = event.what {
            step.set_truth(Truth {
                rc: step.rc,
                free: Some(free),
                ..Truth::default()
            });
        }
        let failed = rc.is_some_and(|rc| rc != 0);
        let smaller = matches!(&event.what, What::VramAlloc(one) if fell_back.contains(&one.id));
        if failed && smaller && !task_failed(run, event) {
            step.add_extra(RECOVERED, true.into());
        }
        if failed && (smaller || retried.contains(&index) || task_failed(run, event)) {
            // It noticed: it went on elsewhere, which is the next op here.
            let name: Box<str> = format!("after{index}").into();
            step.set_on_error(OnError::Fallback(name.clone()));
            let label = self::step(run, event, Op::Label { name });
            steps.extend([step, label]);
            refs.extend([event.at.line; 2]);
            continue;
        }
        if failed {
            step.set_on_error(OnError::Ignore);
            if carried_on(&step, &run.jobs, &run.tasks) {
                step.add_extra(RECOVERED, true.into());
            }
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

/// The cards. Of the first, size and use by others stand in the head of the trace; of the others,
/// and of the first in a trace without a head, they follow from the first answer about free
/// memory on that card.
fn header(run: &Run, steps: &[Step]) -> Header {
    let mut answers: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for event in &run.device_events {
        if let What::MemInfo { free, total } = event.what {
            let gpu = event.place.gpu.unwrap_or(0);
            answers.entry(gpu).or_insert((free, total));
        }
    }
    let first = answers.values().next().copied();
    let capacity = run
        .config
        .vram_bytes
        .or(first.map(|(_, total)| total))
        .unwrap_or(0);
    let free = run.config.free_bytes.or(first.map(|(free, _)| free));
    let baseline = capacity.saturating_sub(free.unwrap_or(capacity));
    let cards = steps
        .iter()
        .filter_map(|step| step.gpu)
        .max()
        .unwrap_or(0)
        .min(63);
    let mut header = Header {
        gpus: vec![GpuSpec::new(capacity, baseline); cards as usize + 1],
        workers: u64::from(run.config.workers.max(1)),
        ..Header::one_gpu(0, 0)
    };
    if run.config.free_bytes.is_some() {
        answers.remove(&0);
    }
    for (gpu, baseline) in baselines(&header, steps, &answers) {
        if let Some(card) = header.gpus.get_mut(gpu) {
            *card = baseline;
        }
    }
    header
}

/// The cards that answered, each with the use by others at which the model gives its first answer:
/// what was allocated before it is not theirs.
fn baselines(
    header: &Header,
    steps: &[Step],
    answers: &BTreeMap<u32, (u64, u64)>,
) -> Vec<(usize, GpuSpec)> {
    let mut cards: Vec<(usize, GpuSpec)> = Vec::new();
    let mut empty = header.clone();
    let mut needed = 0;
    for (gpu, (_, total)) in answers {
        let asks = |step: &Step| matches!(step.op, Op::MemGetInfo { .. }) && gpu_of(step) == *gpu;
        let index = usize::try_from(*gpu).unwrap_or(usize::MAX);
        if let Some(card) = empty.gpus.get_mut(index) {
            *card = GpuSpec::new(*total, 0);
            let first = steps.iter().position(asks).map_or(0, |at| at + 1);
            needed = needed.max(first);
        }
    }
    let before = Schedule::new(empty, steps.iter().take(needed).cloned().collect());
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    let options = Options::recorded(H200_580);
    execute(&before, &options, |ran| {
        let Some(step) = before.steps.get(ran.at) else {
            return;
        };
        let gpu = gpu_of(step);
        if let (Op::MemGetInfo { .. }, Some((_, total)), Some(free)) =
            (&step.op, answers.get(&gpu), step.truth().free)
            && seen.insert(gpu)
        {
            let baseline = ran.outcome.free.saturating_sub(free);
            let index = usize::try_from(gpu).unwrap_or(usize::MAX);
            cards.push((index, GpuSpec::new(*total, baseline)));
        }
    });
    cards
}

fn gpu_of(step: &Step) -> u32 {
    step.gpu.unwrap_or(0)
}

fn step(run: &Run, event: &DeviceEvent, op: Op) -> Step {
    let mut step = Step::new(op);
    step.worker = event.place.worker;
    step.set_partition(event.place.partition);
    step.gpu = event.place.gpu.filter(|gpu| *gpu > 0);
    let job = event.job.and_then(|job| run.jobs.get(job as usize));
    step.set_job(job.map(|job| &*job.id));
    step.set_buf(name_of(&event.what));
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
    let mut later: BTreeSet<(Key, &str)> = BTreeSet::new();
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

/// The allocations after whose failure a smaller plan was taken.
fn fell_back(run: &Run) -> BTreeSet<u64> {
    let events = run.device_events.iter();
    let ids = events.filter_map(|event| match event.what {
        What::PlanFallback { id, .. } => Some(id),
        _ => None,
    });
    ids.collect()
}

/// Whether a run went well in spite of a call that failed for another reason than memory, and that
/// leaves the process usable: no partition and no job failed.
fn carried_on(step: &Step, jobs: &[Job], tasks: &[Task]) -> bool {
    let memory = matches!(step.op, Op::Malloc { .. } | Op::MallocAsync { .. });
    let sticky = step.rc.is_some_and(|rc| STICKY.contains(&rc));
    let failed = jobs.iter().any(|job| job.outcome == JobOutcome::Failed)
        || tasks.iter().any(|task| task.outcome == Outcome::Failed);
    let ended = !jobs.is_empty() && jobs.iter().all(|job| job.outcome != JobOutcome::Open);
    !memory && !sticky && !failed && ended
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
    use tracefmt::finding::{Code, Severity};
    use tracefmt::run::{Source, read};

    use super::*;
    use crate::report::{Report, Request, Verdict, replay};

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
    fn a_failure_that_a_smaller_plan_made_good_is_a_warning() {
        let info = line("MEM_INFO", "free=17179869184,total=17179869184");
        let fail = line(
            "VRAM_ALLOC",
            "id=1,buf=h,bytes=99999999999,api=cudaMalloc,rc=2",
        );
        let smaller = line("PLAN_FALLBACK", "id=1,free=17179869184,need=64,plan=tables");
        let failed = line("PARTITION_FAILED", "error=out%20of%20memory");
        let report = |lines: &[&str]| report(&recorded(&run(lines)).expect("memory events"));
        let good = report(&[&info, &fail, &smaller]);
        let codes: Vec<_> = good
            .findings
            .iter()
            .map(|finding| (finding.code, finding.severity, finding.root))
            .collect();
        assert_eq!(codes, [(Code::VramOom, Severity::Warning, false)]);
        assert_eq!(good.verdict, Verdict::Passes);
        assert_eq!((good.failed_allocations, good.fell_back), (0, 1));
        // A partition that failed all the same did not recover.
        let bad = report(&[&info, &fail, &smaller, &failed]);
        assert_eq!(bad.verdict, Verdict::Fails);
        assert_eq!((bad.failed_allocations, bad.fell_back), (1, 0));
        assert!(bad.findings[0].root);
    }

    /// Diagnosis says the same of it.
    #[test]
    fn a_call_that_failed_in_a_run_that_went_well_is_a_warning() {
        let text = |rc: u32, end: &str| {
            let launch = format!("op=kernel,phase=ntt,stream=1,reads=,writes=,rc={rc}");
            let submit = "TIMELINE,0,JOB_SUBMIT,j,t_us=1,kind=mimc,partitions=1".to_owned();
            let start = line("GPU_START", "");
            [
                submit,
                start.trim_end_matches(',').to_owned(),
                line("LAUNCH", &launch),
            ]
            .into_iter()
            .chain(end.lines().map(str::to_owned))
            .collect::<Vec<String>>()
        };
        let severity = |rc: u32, end: &str| {
            let lines = text(rc, end);
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let report = report(&recorded(&run(&lines)).expect("memory events"));
            let findings = report.findings.iter();
            let codes = findings.filter(|finding| finding.code.as_str().starts_with("cuda."));
            codes
                .map(|finding| finding.severity)
                .collect::<Vec<Severity>>()
        };
        let well = format!(
            "TIMELINE,2,GPU_END,j,{AT},t_us=2000,gpu_ms=1\n\
             TIMELINE,3,JOB_END,j,t_us=3000,status=ok"
        );
        let failed = line("PARTITION_FAILED", "error=x");
        assert_eq!(severity(1, &well), [Severity::Warning]);
        assert_eq!(
            severity(700, &well),
            [Severity::Error],
            "nothing works after it"
        );
        assert_eq!(severity(1, &failed), [Severity::Error]);
        assert_eq!(
            severity(1, ""),
            [Severity::Error],
            "the log ends before the job does"
        );
    }

    #[test]
    fn what_others_use_of_a_card_is_read_off_its_own_first_answer() {
        let on = |gpu: u32, event: &str, rest: &str| {
            format!("TIMELINE,1,{event},,gpu={gpu},worker={gpu},t_us=1,{rest}")
        };
        let alloc = "id=1,buf=d_srs,bytes=1073741824,api=cudaMalloc,rc=0";
        let lines = [
            "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r,epoch_unix_us=1,build=b,device=d,\
             vram_total=17179869184,vram_free=16106127360"
                .to_owned(),
            on(0, "VRAM_ALLOC", alloc),
            on(1, "VRAM_ALLOC", alloc),
            on(1, "MEM_INFO", "free=7516192768,total=8589934592"),
            on(0, "MEM_INFO", "free=15032385536,total=17179869184"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let recorded = recorded(&run(&lines)).expect("memory events");
        let gpus = recorded.schedule.header.gpus.iter();
        let cards: Vec<(u64, u64)> = gpus.map(|gpu| (gpu.capacity, gpu.baseline)).collect();
        let report = report(&recorded);
        assert_eq!((report.truth.checked, report.truth.agree), (4, 4));
        assert_eq!(cards, [(16 << 30, 1 << 30), (8 << 30, 0)]);
    }

    #[test]
    fn a_run_without_memory_events_has_no_recorded_schedule() {
        assert_eq!(recorded(&Run::default()), None);
    }
}
