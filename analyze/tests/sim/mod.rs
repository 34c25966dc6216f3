//! A small simulation of a daemon: a run and its analysis of any size, the same each time.
//! The times are plausible, not measured; what is under test here only draws and writes them.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "a test helper of which each test binary uses a part"
)]

use std::collections::BTreeMap;

use analyze::diagnose::{self, Diagnosis, InputRow, Verdict};
use analyze::model::{
    Analysis, GpuTime, IdleByCause, IdleCause, IdleGap, PathStep, PhaseRow, PhaseTimes, Region,
    SCHEMA,
};
use tracefmt::event::{Alloc, Place, What};
use tracefmt::finding::{Code, Confidence, Evidence, Finding, Severity};
use tracefmt::run::{
    At, Call, Config, DeviceEvent, Dialect, Input, Job, JobOutcome, LineRef, MarkStore, Outcome,
    Run, RunEnd, Task, Trace, Trouble, TroubleClass,
};
use tracefmt::timing::TimingWhat;

/// Size of a run.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub jobs: u32,
    pub partitions: u32,
    pub gpus: u32,
    pub workers_per_gpu: u32,
    pub synthesis_slots: usize,
}

impl Size {
    pub const SMALL: Self = Self {
        jobs: 5,
        partitions: 10,
        gpus: 1,
        workers_per_gpu: 2,
        synthesis_slots: 10,
    };
    pub const LARGE: Self = Self {
        jobs: 500,
        partitions: 16,
        gpus: 2,
        workers_per_gpu: 2,
        synthesis_slots: 40,
    };
}

/// Job ids that want escaping.
pub const ODD_ID: &str = "wd<post>&\"x\"-'1'-[3 5]%2C</title></script>, a=b";

struct Dice(u64);

impl Dice {
    /// Evenly between 0 and 1.
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 33).unwrap()) / f64::from(1_u32 << 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.roll()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::unnecessary_wraps,
    reason = "times of a simulated run are small, and its moments are all known"
)]
fn at(ms: f64, line: &mut u32) -> Option<At> {
    *line += 1;
    let us = (ms * 1000.0).round() as i64;
    let line = LineRef::new(0, *line);
    Some(At { us, line })
}

fn earliest(times: &[f64]) -> usize {
    (0..times.len())
        .min_by(|a, b| times[*a].total_cmp(&times[*b]))
        .unwrap()
}

/// A run and its analysis.
pub fn run(size: Size) -> (Trace, Analysis) {
    let mut dice = Dice(7);
    let mut line = 12;
    let jobs: Vec<Job> = (0..size.jobs)
        .map(|job| new_job(size, job, &mut line))
        .collect();
    let waiting = synthesized(size, &mut dice, &mut line);
    let mut tasks = Vec::new();
    let mut regions = Vec::new();
    let workers = size.gpus * size.workers_per_gpu;
    let mut free = vec![0.0_f64; workers as usize];
    let mut lock = vec![0.0_f64; size.gpus as usize];
    for (ready, mut task) in waiting {
        let worker = earliest(&free);
        let gpu = worker / size.workers_per_gpu as usize;
        let pickup = ready.max(free[worker]);
        let asked = pickup + dice.between(60.0, 300.0);
        task.worker = u32::try_from(worker).ok();
        task.gpu = u32::try_from(gpu).ok();
        task.pickup = at(pickup, &mut line);
        task.gpu_start = at(pickup + 1.0, &mut line);
        let job = jobs[task.job as usize].id.clone();
        let region = prove(&mut dice, &task, job, asked.max(lock[gpu] + 3.0));
        lock[gpu] = region.end_ms;
        free[worker] = region.end_ms + 5.0;
        task.gpu_end = at(region.end_ms + 4.0, &mut line);
        task.gpu_ms = Some(3_300);
        regions.push(region);
        tasks.push(task);
    }
    regions.sort_by(|a, b| a.start_ms.total_cmp(&b.start_ms));
    let trace = trace(size, jobs, tasks);
    let analysis = analysis(size, &trace, regions);
    (trace, analysis)
}

fn new_job(size: Size, job: u32, line: &mut u32) -> Job {
    let first = job * size.partitions;
    let checked = LineRef::new(0, 9);
    Job {
        id: if job == 1 {
            ODD_ID.to_owned()
        } else {
            format!("porep-1000-{job}")
        },
        kind: Some("porep-c2".to_owned()),
        submitted: at(23_600.0 + f64::from(job), line),
        outcome: JobOutcome::Completed,
        tasks: (first..first + size.partitions).collect(),
        partitions: Some(size.partitions),
        verified: job.is_multiple_of(2).then_some((true, checked)),
        ..Job::default()
    }
}

/// Partitions with the time at which they were ready, in that order.
fn synthesized(size: Size, dice: &mut Dice, line: &mut u32) -> Vec<(f64, Task)> {
    let mut slots = vec![23_800.0_f64; size.synthesis_slots];
    let mut out = Vec::new();
    for n in 0..size.jobs * size.partitions {
        let slot = earliest(&slots);
        let start = slots[slot];
        let end = start + dice.between(24_000.0, 34_000.0);
        slots[slot] = end;
        let task = Task {
            job: n / size.partitions,
            partition: Some(n % size.partitions),
            synth_start: at(start, line),
            synth_end: at(end, line),
            synth_ms: Some(25_000),
            queued: at(end, line),
            outcome: Outcome::Completed,
            ..Task::default()
        };
        out.push((end, task));
    }
    out.sort_by(|a, b| a.0.total_cmp(&b.0));
    out
}

fn prove(dice: &mut Dice, task: &Task, job: String, acquired: f64) -> Region {
    let phases = [
        ("ntt_msm_h", dice.between(800.0, 2_400.0)),
        ("barrier_wait", dice.between(0.0, 90.0)),
        ("batch_add", dice.between(600.0, 700.0)),
        ("tail_msm", dice.between(80.0, 130.0)),
        ("prep_msm", dice.between(1_500.0, 2_700.0)),
        ("epilogue", 1.0),
    ];
    let k0 = acquired + 4.0;
    let k1 = k0 + phases[0].1;
    let k2 = k1 + phases[1].1;
    let k3 = k2 + phases[2].1 + phases[3].1;
    let mut named = PhaseTimes::default();
    for (name, ms) in phases {
        named.add(name, ms.round());
    }
    named.add("gpu_total", (k3 - k0).round());
    Region {
        run: 0,
        job: job.into(),
        partition: task.partition,
        worker: task.worker,
        gpu: task.gpu,
        start_ms: acquired,
        end_ms: k3 + 7.0,
        kernels: vec![[k0, k1], [k2, k3]],
        confidence: Confidence::Certain,
        candidates: Vec::new(),
        phases: named,
        lines: [task.gpu_start.unwrap().line.line].into(),
    }
}

fn trace(size: Size, jobs: Vec<Job>, tasks: Vec<Task>) -> Trace {
    let last_us = tasks
        .iter()
        .filter_map(|t| t.gpu_end)
        .map(|e| e.us)
        .max()
        .unwrap_or(0);
    let calls: Vec<Call> = (0..)
        .zip(&tasks)
        .map(|(task, t)| Call {
            task,
            worker: t.worker,
            gpu: t.gpu,
            confidence: Confidence::Certain,
            lock_seq: Some(task),
            start: t.gpu_start.unwrap(),
        })
        .collect();
    let mut marks = MarkStore::default();
    for (call, t) in (0..).zip(&tasks) {
        let what = TimingWhat::NttMsmH {
            gpu_tid: 0,
            ms: 845,
        };
        let (start, end) = (t.gpu_start.unwrap(), t.gpu_end.unwrap());
        let index = marks.push(&what, end.line, (start.us, end.us));
        marks.assign(index, Some(call), Confidence::Certain, &[]);
    }
    let mut run = Run {
        first: LineRef::new(0, 1),
        last: LineRef::new(0, 900),
        epoch_unix_us: Some(1_772_084_199_998_000),
        dialect: Dialect {
            name: "phase8",
            confidence: Confidence::Inferred,
            why: "epilogue lines, no prestage lines".to_owned(),
        },
        config: config(size),
        jobs,
        tasks,
        calls,
        marks,
        end: RunEnd::Complete,
        last_us,
        ..Run::default()
    };
    run.index_marks();
    let input = Input {
        path: "logs/run & <one>.log.gz".to_owned(),
        file_bytes: 20_111,
        bytes: 103_555,
        lines: 921,
        ..Input::default()
    };
    Trace {
        inputs: vec![input],
        runs: vec![run],
    }
}

fn config(size: Size) -> Config {
    Config {
        gpus: (0..size.gpus).collect(),
        workers: size.gpus * size.workers_per_gpu,
        domain: Some(1 << 27),
        lot_of_memory: Some(false),
        vram_bytes: Some(17_094_934_528),
        free_bytes: Some(15_800 << 20),
        device: Some("NVIDIA RTX <A4000>".to_owned()),
        more: vec![("gpu_threads".to_owned(), "32".to_owned())],
        ..Config::default()
    }
}

fn analysis(size: Size, trace: &Trace, regions: Vec<Region>) -> Analysis {
    let run = &trace.runs[0];
    let start = run
        .tasks
        .iter()
        .filter_map(|t| t.synth_start)
        .map(|a| a.us)
        .min();
    let start = start.map_or(0.0, |us| us as f64 / 1000.0);
    let end = run.last_us as f64 / 1000.0;
    let gpus = (0..size.gpus)
        .map(|gpu| gpu_time(gpu, (start, end), run, &regions))
        .collect();
    let mut by_phase: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for region in &regions {
        for (phase, ms) in region.phases.iter() {
            by_phase.entry(phase.to_owned()).or_default().push(ms);
        }
    }
    let synthesis = run
        .tasks
        .iter()
        .filter_map(|t| Some((t.synth_end?.us - t.synth_start?.us) as f64 / 1e3));
    by_phase.insert("synth".to_owned(), synthesis.collect());
    let phases = by_phase.into_iter().map(|(phase, mut values)| {
        values.sort_by(f64::total_cmp);
        let pick = |q: usize| values.get(values.len() * q / 10).copied().unwrap_or(0.0);
        let nested = matches!(phase.as_str(), "ntt_msm_h" | "batch_add" | "tail_msm");
        PhaseRow {
            gpu: None,
            worker: None,
            n: values.len() as u64,
            median_ms: pick(5),
            p10_ms: pick(1),
            p90_ms: pick(9),
            mad_ms: (pick(6) - pick(4)) / 2.0,
            nested_in: nested.then(|| "gpu_total".to_owned()),
            phase,
        }
    });
    let path = regions.iter().rev().take(8).map(|r| PathStep {
        run: r.run,
        kind: "gpu".to_owned(),
        job: r.job.to_string(),
        partition: r.partition,
        start_ms: r.start_ms,
        end_ms: r.end_ms,
        slack_ms: 12.0,
    });
    Analysis {
        schema: SCHEMA.to_owned(),
        gpus,
        phases: phases.collect(),
        critical_path: path.collect(),
        critical_path_left_out: Vec::new(),
        findings: Vec::new(),
        regions,
    }
}

fn gpu_time(gpu: u32, (start, end): (f64, f64), run: &Run, regions: &[Region]) -> GpuTime {
    let own = || regions.iter().filter(|r| r.gpu == Some(gpu));
    let kernels: Vec<[f64; 2]> = own().flat_map(|r| r.kernels.clone()).collect();
    let busy: f64 = kernels.iter().map(|[a, b]| b - a).sum();
    let hold: f64 = own().map(|r| r.end_ms - r.start_ms).sum();
    let mut idle = Vec::new();
    let mut by_cause = IdleByCause::default();
    let mut from = start;
    let ends = kernels.iter().copied().chain([[end, end]]);
    for (n, [begin, stop]) in ends.enumerate() {
        let cause = if n == 0 {
            IdleCause::Fill
        } else if stop <= begin {
            IdleCause::Drain
        } else if begin - from > 200.0 {
            [
                IdleCause::SynthesisStarved,
                IdleCause::PreLockCpu,
                IdleCause::QueuedNotPicked,
            ][n % 3]
        } else if begin - from > 30.0 {
            IdleCause::BarrierWait
        } else {
            IdleCause::MutexWait
        };
        if begin > from {
            by_cause.add(cause, begin - from);
            idle.push(IdleGap {
                start_ms: from,
                end_ms: begin,
                ms: begin - from,
                cause,
                confidence: Confidence::Certain,
                lines: vec![3],
            });
        }
        from = stop;
    }
    let span = end - start;
    let interval = run.tasks.iter().filter(|t| t.gpu == Some(gpu)).count() as f64 * 3_300.0;
    GpuTime {
        run: 0,
        gpu,
        span_start_ms: start,
        span_ms: span,
        busy_interval_ms: interval.min(span),
        busy_hold_ms: hold,
        busy_kernel_ms: busy,
        utilisation_interval: (interval / span).min(1.0),
        utilisation_hold: hold / span,
        utilisation_kernel: busy / span,
        idle,
        idle_left_out: 0,
        idle_by_cause_ms: by_cause,
        idle_hold_by_cause_ms: by_cause,
        idle_no_job_ms: 0.0,
        holds_without_call: 0,
    }
}

/// A root cause, a consequence and a warning.
pub fn findings() -> Vec<Finding> {
    let mut root = Finding::new(
        Code::VramLateFree,
        Severity::Error,
        Confidence::Certain,
        "d_bc outlives the GPU lock of worker 0 and worker 1 runs out of memory".to_owned(),
    );
    root.id = "f0".into();
    root.root = true;
    root.job = Some(ODD_ID.to_owned());
    root.partition = Some(3);
    root.worker = Some(1);
    root.gpu = Some(0);
    root.explanation = "Worker 0 frees d_bc (8.0 GiB) only after it has given the lock back; \
        worker 1 takes the lock, asks for 12.0 GiB and gets code 2."
        .into();
    root.evidence = vec![
        Evidence {
            path: "logs/run.log".to_owned(),
            line: 172,
            text: "CUZK_TIMING: prestage_setup=fallback err=2 <&>".to_owned(),
        },
        Evidence {
            path: "logs/run.log".to_owned(),
            line: 175,
            text: "x".repeat(300),
        },
    ];
    root.fix = Some("Free d_bc before the lock is released.".to_owned());
    root.reproduce =
        Some("cuzk replay repro/late_free.ops --what-if free:d_bc=after:ntt".to_owned());
    let mut after = Finding::new(
        Code::RunCascade,
        Severity::Info,
        Confidence::Certain,
        "40 partitions were skipped since their jobs had failed".to_owned(),
    );
    after.id = "f1".into();
    after.caused_by = vec!["f0".to_owned()];
    let mut idle = Finding::new(
        Code::PerfIdle,
        Severity::Warning,
        Confidence::Inferred,
        "GPU 0 waited 88.0 s for synthesis, 61 % of the span".to_owned(),
    );
    idle.id = "f2".into();
    idle.fix = Some("Give synthesis more memory, so that more partitions run at once.".to_owned());
    vec![root, after, idle]
}

/// A diagnosis of [`findings`].
pub fn diagnosis(trace: &Trace) -> Diagnosis {
    let inputs = trace.inputs.iter().map(|input| InputRow {
        path: input.path.clone(),
        bytes: input.bytes,
        lines: input.lines,
    });
    Diagnosis {
        schema: diagnose::SCHEMA.to_owned(),
        inputs: inputs.collect(),
        verdict: Verdict::Failed,
        summary: "40 of 50 partitions failed: worker 1 ran out of device memory because worker 0 \
            held d_bc past its lock."
            .to_owned(),
        runs: Vec::new(),
        baseline: None,
        root: Some("f0".to_owned()),
        findings: findings(),
        foreign: Vec::new(),
    }
}

/// Adds an allocation and its end to every region, and one that fails.
pub fn with_memory(trace: &mut Trace, analysis: &Analysis) {
    let run = &mut trace.runs[0];
    let mut line = 10_000;
    for (id, region) in (0..).zip(&analysis.regions) {
        let place = Place {
            gpu: region.gpu,
            worker: region.worker,
            partition: region.partition,
        };
        let mut put = |ms, what| {
            run.device_events.push(DeviceEvent {
                at: at(ms, &mut line).unwrap(),
                job: None,
                place,
                what,
            });
        };
        let bytes = 12 << 30;
        put(
            region.start_ms,
            What::VramAlloc(Alloc {
                id,
                buf: "d_a".into(),
                bytes,
                api: "cudaMalloc".into(),
                stream: None,
                rc: if id == 20 { 2 } else { 0 },
            }),
        );
        let free = What::VramFree {
            id,
            buf: "d_a".into(),
            bytes,
            api: "cudaFree".into(),
            stream: None,
            rc: 0,
        };
        if id != 20 {
            put(region.end_ms, free);
        }
    }
    run.device_events.sort_by_key(|event| event.at.us);
}

/// Adds a panic to the run.
pub fn with_panic(trace: &mut Trace) {
    let run = &mut trace.runs[0];
    run.troubles.push(Trouble {
        kind: TroubleClass::Panic,
        line: LineRef::new(0, 400),
        us: Some(run.last_us / 2),
        code: None,
        text: "thread 'gpu-1' panicked: out of memory".to_owned(),
        job: None,
        task: None,
    });
}
