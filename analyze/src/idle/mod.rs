//! Why a GPU was idle: every microsecond of a run in which no kernel ran gets one cause.
//!
//! The causes are tried in this order, and the first that holds wins, so they add up to the idle
//! time exactly:
//!
//! | at that moment | cause |
//! |---|---|
//! | no kernel has run yet | `fill` |
//! | no kernel will run any more | `drain` |
//! | the lock is held by a call that failed | `failed_holder` |
//! | the lock is held, and its holder waits at the barrier | `barrier_wait` |
//! | the lock is held, and its holder prepares device memory | `unattributed` |
//! | the lock is held, and another worker waits for it | `mutex_wait` |
//! | the lock is held, and nobody waits | `unattributed` |
//! | the lock is free, and a worker has asked for it | `mutex_wait` |
//! | the lock is free, and a worker is at CPU work before it asks | `pre_lock_cpu` |
//! | the lock is free, and a proof waits in the queue | `queued_not_picked` |
//! | the lock is free, and a job is open | `synthesis_starved` |
//! | none of these: no job is open | `unattributed` |
//!
//! `docs/idle-time.md` says the same to users, and how the times are found.
//!
//! The same rule by lock tenure: there the holder's own time is busy time, so only the rows of a
//! free lock remain.

mod gaps;

pub use gaps::{Gap, Ledger, Listing};

use tracefmt::run::{Run, Task};

use crate::interval::{Cover, Cursor, Hold, Reconstruction, Span, Union, sane};
use crate::model::IdleCause;

/// What several GPUs of a run share: proofs in the queue, and open jobs.
#[derive(Clone, Debug)]
pub struct Demand {
    queue: Cover,
    jobs: Cover,
}

impl Demand {
    /// Demand over the whole run; what has no end lasts until `span` ends.
    pub fn of(run: &Run, span: Span) -> Self {
        let end = span.end;
        let queued = |task: &Task| {
            let from = sane(task.queued.or(task.synth_end)?.us);
            let picked = task.pickup.or(task.gpu_start).map_or(end, |at| sane(at.us));
            Span::new(from, picked)
        };
        let synthesized = |task: &Task| {
            let to = task.synth_end.map_or(end, |at| sane(at.us));
            Span::new(sane(task.synth_start?.us), to)
        };
        let open = run.jobs.iter().filter_map(|job| {
            let first = || {
                let tasks = job.tasks.iter();
                let starts = tasks.filter_map(|at| run.tasks.get(*at as usize)?.synth_start);
                starts.map(|at| at.us).min()
            };
            let from = job.submitted.map(|at| at.us).or_else(first)?;
            Span::new(sane(from), job.ended.map_or(end, |at| sane(at.us)))
        });
        let jobs: Cover = open.collect();
        // Both in one pass: a long run has a quarter of a gigabyte of tasks.
        let (mut queue, mut syntheses) = (Union::default(), Union::default());
        for task in &run.tasks {
            if let Some(span) = queued(task) {
                queue.add(span);
            }
            if let Some(span) = synthesized(task) {
                syntheses.add(span);
            }
        }
        let syntheses = syntheses.close();
        let jobs = jobs.spans().iter().chain(syntheses.spans());
        Self {
            queue: queue.close(),
            jobs: jobs.copied().collect(),
        }
    }
}

/// Busy time of one GPU and its idle time by cause, by kernel and by lock tenure.
#[derive(Clone, Debug)]
pub struct Usage {
    /// The run's span.
    pub span: Span,
    /// Union of `GPU_START` to `GPU_END`.
    pub interval: Cover,
    /// Union of the lock tenures.
    pub hold: Cover,
    /// Union of the kernel stretches.
    pub kernel: Cover,
    /// Idle time by kernel, with the gaps to be listed.
    pub by_kernel: Ledger,
    /// Idle time by lock tenure, sums only.
    pub by_hold: Ledger,
}

/// Splits the time of one GPU; none if the run is empty.
pub fn usage(all: &Reconstruction, demand: &Demand, gpu: u32, listing: Listing) -> Option<Usage> {
    let span = all.span?;
    let holds = all.of_gpu(gpu);
    let covers = || {
        let kernels = holds.iter().flat_map(|hold| all.kernels_of(hold));
        let kernel = kernels.copied().collect::<Cover>().within(span);
        let (mut held, mut calls) = (Union::default(), Union::default());
        for hold in holds {
            held.add(tenure(hold));
            if let Some(call) = call(hold, span) {
                calls.add(call);
            }
        }
        // A tenure whose call is not in the log is one all the same.
        for tenure in all.uncalled_of(gpu) {
            held.add(tenure.span);
        }
        (
            kernel,
            held.close().within(span),
            calls.close().within(span),
        )
    };
    let states = || States::of(holds, demand);
    let ((kernel, hold, interval), states) = rayon::join(covers, states);
    let (by_kernel, by_hold) = rayon::join(
        || states.split(span, &kernel, &hold, Ledger::listing(listing)),
        || states.split(span, &hold, &hold, Ledger::default()),
    );
    Some(Usage {
        span,
        interval,
        hold,
        kernel,
        by_kernel,
        by_hold,
    })
}

fn tenure(hold: &Hold) -> Span {
    Span {
        start: hold.acquired,
        end: hold.released,
    }
}

fn call(hold: &Hold, span: Span) -> Option<Span> {
    let end = match hold.over.us() {
        Some(over) => over,
        None if hold.open => span.end,
        None => hold.released,
    };
    Span::new(hold.started.us()?, end)
}

/// What holds at which time, beside busy time.
struct States<'a> {
    failed: Cover,
    barrier: Cover,
    preparing: Cover,
    waiting: Cover,
    before: Cover,
    demand: &'a Demand,
}

impl<'a> States<'a> {
    /// What the calls of a GPU do, in one pass over them.
    fn of(holds: &[Hold], demand: &'a Demand) -> Self {
        let mut failed = Union::default();
        let (mut barrier, mut preparing) = (Union::default(), Union::default());
        let (mut waiting, mut before) = (Union::default(), Union::default());
        for hold in holds {
            if hold.failed {
                failed.add(tenure(hold));
            }
            barrier.add(hold.barrier);
            let (start, end) = (hold.acquired, hold.prepared);
            preparing.add(Span { start, end });
            let (start, end) = (hold.request, hold.acquired);
            waiting.add(Span { start, end });
            let (start, end) = (hold.ready, hold.request);
            before.add(Span { start, end });
        }
        Self {
            failed: failed.close(),
            barrier: barrier.close(),
            preparing: preparing.close(),
            waiting: waiting.close(),
            before: before.close(),
            demand,
        }
    }

    /// Every idle stretch of the span with its cause, in one pass over all covers.
    fn split(&self, span: Span, busy: &Cover, hold: &Cover, mut ledger: Ledger) -> Ledger {
        let Some(active) = busy.hull() else {
            ledger.add(IdleCause::Fill, span);
            return ledger.close();
        };
        if let Some(fill) = Span::new(span.start, active.start) {
            ledger.add(IdleCause::Fill, fill);
        }
        let mut hold = hold.cursor();
        let mut held = self.held();
        let mut free = self.free();
        for pair in busy.spans().windows(2) {
            let [before, after] = pair else { continue };
            let Some(idle) = Span::new(before.end, after.start) else {
                continue;
            };
            hold.cut(idle, |part, is_held| {
                if is_held {
                    let rest = |ledger: &mut Ledger, span| {
                        ledger.add(IdleCause::Unattributed, span);
                    };
                    first_of(part, &mut held, &rest, &mut ledger);
                } else {
                    let rest = |ledger: &mut Ledger, span| {
                        ledger.without_job(span);
                        ledger.add(IdleCause::Unattributed, span);
                    };
                    first_of(part, &mut free, &rest, &mut ledger);
                }
            });
        }
        if let Some(drain) = Span::new(active.end, span.end) {
            ledger.add(IdleCause::Drain, drain);
        }
        ledger.close()
    }

    /// What the holder of the lock does, first to last.
    fn held(&self) -> [(IdleCause, Cursor<'_>); 4] {
        [
            (IdleCause::FailedHolder, self.failed.cursor()),
            (IdleCause::BarrierWait, self.barrier.cursor()),
            (IdleCause::Unattributed, self.preparing.cursor()),
            (IdleCause::MutexWait, self.waiting.cursor()),
        ]
    }

    /// What there is to do while the lock is free, first to last.
    fn free(&self) -> [(IdleCause, Cursor<'_>); 4] {
        [
            (IdleCause::MutexWait, self.waiting.cursor()),
            (IdleCause::PreLockCpu, self.before.cursor()),
            (IdleCause::QueuedNotPicked, self.demand.queue.cursor()),
            (IdleCause::SynthesisStarved, self.demand.jobs.cursor()),
        ]
    }
}

/// Gives each part of a stretch the cause of the first layer that covers it, and what none covers
/// to `last`.
fn first_of(
    span: Span,
    layers: &mut [(IdleCause, Cursor<'_>)],
    last: &impl Fn(&mut Ledger, Span),
    ledger: &mut Ledger,
) {
    match layers.split_first_mut() {
        None => last(ledger, span),
        Some(((cause, layer), rest)) => layer.cut(span, |part, covered| {
            if covered {
                ledger.add(*cause, part);
            } else {
                first_of(part, rest, last, ledger);
            }
        }),
    }
}
