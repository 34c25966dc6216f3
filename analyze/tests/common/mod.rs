//! A small engine: partitions with given durations go through workers and the lock of their GPU;
//! what it writes down is a [`Trace`] as the reader would make it of such a run's log, beside the
//! true times. Times are microseconds.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "test support that several test binaries share; its numbers are small"
)]

use tracefmt::event::{Place, What};
use tracefmt::finding::Confidence;
use tracefmt::run::{
    At, Call, Config, DeviceEvent, Input, Job, JobOutcome, LineRef, Outcome, Run, Task, Trace,
};
use tracefmt::timing::TimingWhat;

/// Which lines the engine writes and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Durations of the GPU thread, epilogue; nothing registered.
    Old,
    /// As [`Shape::Old`], with host memory registered before the lock and unregistered after it.
    Registered,
    /// Lock and barrier lines; no epilogue.
    Locked,
    /// Our own traces: lock events and phases with their time.
    Own,
}

/// Durations of one partition.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// When its synthesis starts.
    pub synth_start: i64,
    pub synth: i64,
    pub split: i64,
    pub register: i64,
    pub prep: i64,
    pub b_g2: i64,
    pub ntt: i64,
    pub batch: i64,
    pub tail: i64,
}

impl Default for Part {
    fn default() -> Self {
        Self {
            synth_start: 0,
            synth: 30_000_000,
            split: 14_000,
            register: 760_000,
            prep: 1_700_000,
            b_g2: 380_000,
            ntt: 2_400_000,
            batch: 640_000,
            tail: 120_000,
        }
    }
}

/// True times of one call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Truth {
    pub start: i64,
    pub request: i64,
    pub acquired: i64,
    pub k_start: i64,
    pub ntt_end: i64,
    pub batch_start: i64,
    pub k_end: i64,
    pub released: i64,
    pub end: i64,
}

/// Steps that no line prints.
const TO_K: i64 = 4_100;
const PRESTAGE: i64 = 18_200;
const TO_RELEASE: i64 = 5_900;
const UNREGISTER: i64 = 256_000;
const HANDOVER: i64 = 900;

/// What happens at a moment: a stamped event, or a timing line.
enum Line {
    Event(u32, Stamp),
    Mark(u32, TimingWhat<'static>),
    Device(u32, What<'static>),
}

#[derive(Clone, Copy)]
enum Stamp {
    SynthStart,
    SynthEnd,
    Queued,
    Pickup,
    Start,
    End,
}

/// Runs the partitions; `parts_per_job` of them make a job. Worker `w` serves GPU `w % gpus`.
pub fn simulate(
    shape: Shape,
    parts: &[Part],
    parts_per_job: usize,
    (gpus, workers): (u32, u32),
) -> (Trace, Vec<Truth>) {
    let mut lines: Vec<(i64, Line)> = Vec::new();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| (parts[*at].synth_start + parts[*at].synth, *at));
    let mut worker_free = vec![0_i64; workers as usize];
    let mut lock_free = vec![0_i64; gpus as usize];
    let mut truth = vec![Truth::default(); parts.len()];
    let mut place = vec![(0_u32, 0_u32); parts.len()];
    for at in order {
        let part = parts[at];
        let ready = part.synth_start + part.synth;
        let worker = (0..workers)
            .min_by_key(|w| (worker_free[*w as usize].max(ready), *w))
            .unwrap_or(0);
        let gpu = worker % gpus;
        let pickup = worker_free[worker as usize].max(ready) + 120;
        let times = call(shape, &part, pickup, &mut lock_free[gpu as usize]);
        worker_free[worker as usize] = times.end;
        truth[at] = times;
        place[at] = (gpu, worker);
        emit(shape, &part, at as u32, (pickup, times), &mut lines);
    }
    lines.sort_by_key(|(us, _)| *us);
    let trace = assemble(shape, parts_per_job, &place, lines, (gpus, workers));
    (trace, truth)
}

fn call(shape: Shape, part: &Part, pickup: i64, lock_free: &mut i64) -> Truth {
    let registered = shape == Shape::Registered;
    let start = pickup + 150;
    let entry = start + 250;
    let split_end = entry + part.split;
    let request = split_end + if registered { part.register } else { 30 };
    let acquired = if *lock_free > request {
        *lock_free + HANDOVER
    } else {
        request + 10
    };
    let k_start = acquired + TO_K + if registered { PRESTAGE } else { 0 };
    let ntt_end = k_start + part.ntt;
    let prep_end = split_end + part.prep;
    let batch_start = ntt_end.max(prep_end) + 50;
    let k_end = batch_start + part.batch + part.tail;
    let released = k_end + TO_RELEASE;
    *lock_free = released;
    let post = if registered { UNREGISTER } else { 300 };
    let end = (released + post).max(prep_end + part.b_g2) + 900;
    Truth {
        start,
        request,
        acquired,
        k_start,
        ntt_end,
        batch_start,
        k_end,
        released,
        end,
    }
}

fn emit(
    shape: Shape,
    part: &Part,
    at: u32,
    (pickup, t): (i64, Truth),
    lines: &mut Vec<(i64, Line)>,
) {
    let synth_end = part.synth_start + part.synth;
    let mut stamp = |us: i64, stamp: Stamp| lines.push((us, Line::Event(at, stamp)));
    stamp(part.synth_start, Stamp::SynthStart);
    stamp(synth_end, Stamp::SynthEnd);
    stamp(synth_end + 60, Stamp::Queued);
    stamp(pickup, Stamp::Pickup);
    stamp(t.start, Stamp::Start);
    stamp(t.end, Stamp::End);
    if shape == Shape::Own {
        emit_own(at, t, lines);
        return;
    }
    emit_cpu(part, at, t, lines);
    emit_locked(shape, part, at, t, lines);
}

/// Timing lines of the calling thread's split and of the preparation thread.
fn emit_cpu(part: &Part, at: u32, t: Truth, lines: &mut Vec<(i64, Line)>) {
    let ms = |us: i64| us.div_euclid(1000);
    let mut mark = |us: i64, what: TimingWhat<'static>| lines.push((us, Line::Mark(at, what)));
    let split_end = t.start + 250 + part.split;
    let setup_ms = ms(part.split);
    let split_ms = setup_ms;
    mark(split_end, TimingWhat::SplitVectors { split_ms, setup_ms });
    let prep_end = split_end + part.prep;
    mark(prep_end, TimingWhat::PrepMsm { ms: ms(part.prep) });
    let (b_g2, num_circuits) = (ms(part.b_g2), 1);
    mark(
        prep_end + part.b_g2,
        TimingWhat::BG2Msm {
            ms: b_g2,
            num_circuits,
        },
    );
}

/// Timing lines of the GPU thread and of the calling thread around the lock.
fn emit_locked(shape: Shape, part: &Part, at: u32, t: Truth, lines: &mut Vec<(i64, Line)>) {
    let ms = |us: i64| us.div_euclid(1000);
    let mut mark = |us: i64, what: TimingWhat<'static>| lines.push((us, Line::Mark(at, what)));
    let gpu_tid = 0;
    if shape == Shape::Registered {
        let (domain, lot_of_memory, parts_ms) = (1 << 27, true, None);
        mark(
            t.k_start - TO_K,
            TimingWhat::PrestageOk {
                domain,
                lot_of_memory,
                parts_ms,
            },
        );
    }
    if shape == Shape::Locked {
        let pre_lock_cpu_ms = ms(t.request - t.start - 250);
        let mutex_wait_ms = ms(t.acquired - t.request);
        mark(
            t.acquired,
            TimingWhat::PreLock {
                pre_lock_cpu_ms,
                mutex_wait_ms,
            },
        );
        let wait = ms(t.batch_start - t.ntt_end);
        mark(t.batch_start, TimingWhat::BarrierWait { gpu_tid, ms: wait });
        let total_start_fn_ms = ms(t.released - t.start - 250);
        let held_ms = ms(t.released - t.acquired);
        mark(
            t.released,
            TimingWhat::MutexHeld {
                held_ms,
                total_start_fn_ms,
            },
        );
    } else {
        let pre_destructor_ms = ms(t.end - t.start - 250);
        let epilogue_ms = 0;
        mark(
            t.end - 5,
            TimingWhat::Epilogue {
                epilogue_ms,
                pre_destructor_ms,
            },
        );
    }
    mark(
        t.ntt_end,
        TimingWhat::NttMsmH {
            gpu_tid,
            ms: ms(part.ntt),
        },
    );
    mark(
        t.k_end - part.tail,
        TimingWhat::BatchAdd {
            gpu_tid,
            ms: ms(part.batch),
        },
    );
    let gpu_total_ms = ms(t.k_end - t.k_start);
    mark(
        t.k_end,
        TimingWhat::TailMsm {
            gpu_tid,
            ms: ms(part.tail),
            gpu_total_ms,
        },
    );
}

fn emit_own(at: u32, t: Truth, lines: &mut Vec<(i64, Line)>) {
    let lock = || std::borrow::Cow::Borrowed("gpu0");
    lines.push((t.request, Line::Device(at, What::LockWait { lock: lock() })));
    lines.push((t.acquired, Line::Device(at, What::LockAcq { lock: lock() })));
    lines.push((t.released, Line::Device(at, What::LockRel { lock: lock() })));
    let mut phase = |name: &'static str, from: i64, to: i64| {
        let us = (to - from) as u64;
        lines.push((
            to,
            Line::Mark(
                at,
                TimingWhat::Phase {
                    name: name.into(),
                    us,
                },
            ),
        ));
    };
    phase("ntt_msm_h", t.k_start, t.ntt_end);
    phase("barrier_wait", t.ntt_end, t.batch_start);
    phase("batch_add", t.batch_start, t.k_end);
    phase("gpu_total", t.k_start, t.k_end);
}

fn assemble(
    shape: Shape,
    parts_per_job: usize,
    place: &[(u32, u32)],
    lines: Vec<(i64, Line)>,
    (gpus, workers): (u32, u32),
) -> Trace {
    let mut run = Run {
        config: Config {
            gpus: (0..gpus).collect(),
            workers,
            gpu_of_worker: (0..workers).map(|w| Some(w % gpus)).collect(),
            ..Config::default()
        },
        ..Run::default()
    };
    run.first = LineRef::new(0, 1);
    run.last = LineRef::new(0, lines.len() as u32);
    run.tasks = (0..place.len())
        .map(|at| task(at, parts_per_job, place[at]))
        .collect();
    for (job, tasks) in run.tasks.chunks(parts_per_job).enumerate() {
        let first = (job * parts_per_job) as u32;
        run.jobs.push(Job {
            id: format!("job-{job}"),
            tasks: (first..first + tasks.len() as u32).collect(),
            outcome: JobOutcome::Completed,
            ..Job::default()
        });
    }
    fill(&mut run, shape == Shape::Own, parts_per_job, place, lines);
    let input = Input {
        path: "sim.log".to_owned(),
        ..Input::default()
    };
    Trace {
        inputs: vec![input],
        runs: vec![run],
    }
}

/// Time of each stamped line as a log shows it, and for each line the next such time behind it.
fn stamps(lines: &[(i64, Line)]) -> (Vec<Option<i64>>, Vec<i64>) {
    let stamp = |(us, line): &(i64, Line)| match line {
        Line::Event(..) => Some(us - us.rem_euclid(1000)),
        _ => None,
    };
    let stamps: Vec<Option<i64>> = lines.iter().map(stamp).collect();
    let mut before = vec![i64::MAX; stamps.len()];
    let mut next = i64::MAX;
    for (at, us) in stamps.iter().enumerate().rev() {
        before[at] = next;
        next = us.unwrap_or(next);
    }
    (stamps, before)
}

fn fill(
    run: &mut Run,
    exact: bool,
    parts_per_job: usize,
    place: &[(u32, u32)],
    lines: Vec<(i64, Line)>,
) {
    let (stamps, before) = stamps(&lines);
    let mut call_of = vec![u32::MAX; place.len()];
    let mut owners = Vec::new();
    let mut after = 0;
    for (index, (us, line)) in lines.into_iter().enumerate() {
        let number = LineRef::new(0, index as u32 + 1);
        match line {
            Line::Event(at, stamp) => {
                let us = stamps[index].filter(|_| !exact).unwrap_or(us);
                after = us;
                event(run, at, stamp, At { us, line: number });
                if matches!(stamp, Stamp::Start) {
                    call_of[at as usize] = run.calls.len() as u32 - 1;
                }
            }
            Line::Mark(at, what) => {
                let window = if exact {
                    (us, us)
                } else {
                    (after, before[index])
                };
                run.marks.push(&what, number, window);
                owners.push(at);
            }
            Line::Device(at, what) => {
                let (gpu, worker) = place[at as usize];
                let at_job = at as usize / parts_per_job;
                run.device_events.push(DeviceEvent {
                    at: At { us, line: number },
                    job: Some(at_job as u32),
                    place: Place {
                        gpu: Some(gpu),
                        worker: Some(worker),
                        partition: Some(at % parts_per_job as u32),
                    },
                    what,
                });
            }
        }
        run.last_us = run.last_us.max(us);
    }
    for (index, at) in owners.into_iter().enumerate() {
        run.marks
            .assign(index, Some(call_of[at as usize]), Confidence::Certain, &[]);
    }
    run.index_marks();
}

fn task(at: usize, parts_per_job: usize, (gpu, worker): (u32, u32)) -> Task {
    Task {
        job: (at / parts_per_job) as u32,
        partition: Some((at % parts_per_job) as u32),
        worker: Some(worker),
        gpu: Some(gpu),
        outcome: Outcome::Completed,
        ..Task::default()
    }
}

fn event(run: &mut Run, at: u32, stamp: Stamp, when: At) {
    let task = &mut run.tasks[at as usize];
    match stamp {
        Stamp::SynthStart => {
            task.synth_start = Some(when);
            let job = &mut run.jobs[task.job as usize];
            job.submitted = job.submitted.or(Some(when));
        }
        Stamp::SynthEnd => {
            task.synth_end = Some(when);
            let start = task.synth_start.map_or(0, |start| start.us);
            task.synth_ms = Some(((when.us - start) / 1000) as u64);
        }
        Stamp::Queued => task.queued = Some(when),
        Stamp::Pickup => task.pickup = Some(when),
        Stamp::Start => {
            task.gpu_start = Some(when);
            run.calls.push(Call {
                task: at,
                worker: task.worker,
                gpu: task.gpu,
                confidence: Confidence::Certain,
                lock_seq: None,
                start: when,
            });
        }
        Stamp::End => {
            task.gpu_end = Some(when);
            let start = task.gpu_start.map_or(0, |start| start.us);
            task.gpu_ms = Some(((when.us - start) / 1000) as u64);
            let job = &mut run.jobs[task.job as usize];
            job.ended = job.ended.max(Some(when));
        }
    }
}
