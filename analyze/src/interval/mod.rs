//! When each prove call held its GPU, and when kernels ran: times rebuilt from a log whose timing
//! lines carry durations but no time.
//!
//! What is known: `GPU_START` and `GPU_END` of each call to a millisecond, durations of its
//! phases cut to milliseconds, and a time window for every timing line. What is wanted: when the
//! lock was asked for, taken and given back, when kernels ran, when the GPU thread waited at the
//! barrier. Per call there is one unknown, the start of the GPU thread; [`estimate`] has the
//! equations for it and [`chain`] the order in which the calls of a GPU hold its lock. Our own
//! traces record locks and ends of phases with their time, so there nothing is estimated
//! ([`exact`]).
//!
//! Causes of idle time are not found here, but in [`crate::idle`].

mod chain;
mod cover;
mod estimate;
mod exact;
mod printed;
mod tuning;

pub(crate) use cover::Union;
pub use cover::{Cover, Cursor, Span};
pub(crate) use printed::sane;

use tracefmt::finding::Confidence;
use tracefmt::run::{Call, Job, LineRef, Run};

/// One prove call in time. All times are microseconds since the run's epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Index into [`Run::calls`].
    pub call: u32,
    /// GPU, 0 where the log does not say.
    pub gpu: u32,
    /// `GPU_START` of its partition.
    pub started: Known,
    /// `GPU_END` of its partition.
    pub over: Known,
    /// The worker took the partition.
    pub ready: i64,
    /// It asked for the lock.
    pub request: i64,
    /// It got the lock.
    pub acquired: i64,
    /// It gave the lock back; equal to `acquired` if it never held it.
    pub released: i64,
    /// End of the preparation of device memory under the lock; `acquired` if there was none.
    pub prepared: i64,
    /// Its stretches in [`Reconstruction::kernels`].
    pub kernels: std::ops::Range<u32>,
    /// The GPU thread waited for the CPU; empty if it did not.
    pub barrier: Span,
    /// The log ends before the call does.
    pub open: bool,
    /// The call failed with its own reason.
    pub failed: bool,
    /// How sure its times are.
    pub confidence: Confidence,
    /// Last line that it printed under the lock, or the one that started it.
    pub line: LineRef,
}

const _: () = assert!(
    size_of::<Hold>() <= 104,
    "a long run has a million, and they are gone through ten times"
);

/// A time that the log may not give, in eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known(i64);

impl Known {
    /// No line gives it: far from all that [`sane`] leaves.
    const UNKNOWN: i64 = i64::MIN;

    /// Microseconds since the run's epoch, if the log says so.
    pub fn us(self) -> Option<i64> {
        (self.0 != Self::UNKNOWN).then_some(self.0)
    }
}

impl From<Option<i64>> for Known {
    fn from(us: Option<i64>) -> Self {
        Self(us.unwrap_or(Self::UNKNOWN))
    }
}

impl Hold {
    /// Whether it held the lock at all.
    pub const fn locked(&self) -> bool {
        self.acquired < self.released
    }
}

/// A recorded tenure of a GPU's lock whose call has no `GPU_START` in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncalled {
    /// GPU, 0 where the log does not say.
    pub gpu: u32,
    /// When.
    pub span: Span,
    /// Where it is taken.
    pub line: LineRef,
}

/// The calls of a run in time.
#[derive(Clone, Debug, Default)]
pub struct Reconstruction {
    /// Sorted by GPU, then by start of the hold.
    pub holds: Vec<Hold>,
    /// Stretches in which kernels ran, those of one hold together, in order of time.
    pub kernels: Vec<Span>,
    /// Recorded tenures without a call.
    pub uncalled: Vec<Uncalled>,
    /// GPU ordinals of the run, sorted.
    pub gpus: Vec<u32>,
    /// First `SYNTH_START` to the last `TIMELINE` event or kernel end; none for an empty run.
    pub span: Option<Span>,
}

impl Reconstruction {
    /// The holds of one GPU, in order of time.
    pub fn of_gpu(&self, gpu: u32) -> &[Hold] {
        let from = self.holds.partition_point(|hold| hold.gpu < gpu);
        let to = self.holds.partition_point(|hold| hold.gpu <= gpu);
        self.holds.get(from..to).unwrap_or_default()
    }

    /// Recorded tenures of one GPU without a call.
    pub fn uncalled_of(&self, gpu: u32) -> impl Iterator<Item = &Uncalled> {
        self.uncalled.iter().filter(move |tenure| tenure.gpu == gpu)
    }

    /// Kernel stretches of a hold.
    pub fn kernels_of(&self, hold: &Hold) -> &[Span] {
        let range = hold.kernels.start as usize..hold.kernels.end as usize;
        self.kernels.get(range).unwrap_or_default()
    }
}

/// Rebuilds the times of all calls of a run.
pub fn reconstruct(run: &Run) -> Reconstruction {
    let (mut all, events) = rayon::join(|| placed(run), || span_of_events(run));
    all.span = events.and_then(|events| whole_span(events, &all));
    close_open_holds(&mut all);
    all
}

/// The calls of a run where their lines put them; what has no end is open still.
fn placed(run: &Run) -> Reconstruction {
    let gpus = gpus_of(run);
    let records = exact::Records::of(run);
    let mut all = Reconstruction::default();
    let mut orders: Vec<Vec<u32>> = vec![Vec::new(); gpus.len()];
    for (index, call) in (0_u32..).zip(&run.calls) {
        let at = gpus.binary_search(&gpu_of(run, call)).ok();
        if let Some(order) = at.and_then(|at| orders.get_mut(at)) {
            order.push(index);
        }
    }
    for (gpu, order) in gpus.iter().zip(orders) {
        let from = all.holds.len();
        if !chain::place(run, &records, *gpu, order, &mut all) {
            let added = all.holds.get_mut(from..).unwrap_or_default();
            added.sort_by_key(|hold| hold.acquired);
        }
    }
    all.gpus = gpus;
    all.uncalled = records.uncalled;
    all
}

/// The GPU of a call, 0 where the log does not say.
pub fn gpu_of(run: &Run, call: &Call) -> u32 {
    let of_worker = || {
        let worker = call.worker? as usize;
        run.config.gpu_of_worker.get(worker).copied().flatten()
    };
    let only = || run.config.gpus.first().copied();
    call.gpu.or_else(of_worker).or_else(only).unwrap_or(0)
}

/// GPU ordinals that a run names or uses, sorted.
pub fn gpus_of(run: &Run) -> Vec<u32> {
    let mut gpus = run.config.gpus.clone();
    for call in &run.calls {
        let gpu = gpu_of(run, call);
        if !gpus.contains(&gpu) {
            gpus.push(gpu);
        }
    }
    gpus.sort_unstable();
    gpus.dedup();
    gpus
}

/// Whether the times of a run are to the microsecond: it is a trace of ours.
pub(crate) fn is_exact(run: &Run) -> bool {
    run.dialect.name == "own" || !run.device_events.is_empty()
}

/// When the last event of a job was, its check included; none in an old log, where no `TIMELINE`
/// line says so.
pub(crate) fn end_of_job(run: &Run, job: &Job) -> Option<i64> {
    let last = job.ended.max(job.checked).filter(|_| is_exact(run))?;
    Some(sane(last.us))
}

/// First `SYNTH_START`, or the first event where there is none, to the last `TIMELINE` event of a
/// task or job.
pub fn span_of_events(run: &Run) -> Option<Span> {
    // One pass over all tasks for the three: a long run has a quarter of a gigabyte of them.
    let (mut synth, mut first, mut end) = (None::<i64>, None::<i64>, None::<i64>);
    let least = |slot: Option<i64>, us: i64| Some(slot.map_or(us, |known| known.min(us)));
    for task in &run.tasks {
        if let Some(at) = task.synth_start {
            synth = least(synth, sane(at.us));
        }
        for us in task.moments().map(|(_, at)| sane(at.us)) {
            first = least(first, us);
            end = end.max(Some(us));
        }
    }
    let jobs = run.jobs.iter().filter_map(|job| end_of_job(run, job));
    let (start, end) = (synth.or(first)?, end?.max(jobs.max().unwrap_or(i64::MIN)));
    Some(Span { start, end })
}

/// The span of the events with the kernels and the last signs of what is open.
fn whole_span(events: Span, all: &Reconstruction) -> Option<Span> {
    let kernels = || {
        let ends = all.kernels.iter().map(|kernel| kernel.end);
        ends.filter(|end| *end != OPEN_END).max()
    };
    let signs = || {
        let open = all.holds.iter().filter(|hold| hold.open);
        let signs = open.flat_map(|hold| [hold.request, hold.acquired, hold.prepared]);
        signs.filter(|us| *us != OPEN_END).max()
    };
    let (last_kernel, last_sign) = rayon::join(kernels, signs);
    let end = Some(events.end).max(last_kernel).max(last_sign)?;
    Span::new(events.start, end)
}

/// Stands for the end of the run until that is known.
const OPEN_END: i64 = i64::MAX;

/// Lets what the log's end cut off last until the end of the run.
fn close_open_holds(all: &mut Reconstruction) {
    let Some(span) = all.span else { return };
    let (kernels, holds) = (&mut all.kernels, &mut all.holds);
    let close_kernels = || {
        for kernel in kernels {
            kernel.end = kernel.end.min(span.end.max(kernel.start));
        }
    };
    let close_holds = || {
        for hold in holds {
            close(hold, span.end);
        }
    };
    rayon::join(close_kernels, close_holds);
}

fn close(hold: &mut Hold, end: i64) {
    hold.acquired = hold.acquired.min(end.max(hold.request));
    hold.prepared = hold.prepared.clamp(hold.acquired, end.max(hold.acquired));
    hold.released = hold.released.min(end.max(hold.acquired));
    hold.barrier.end = hold.barrier.end.min(end.max(hold.barrier.start));
}
