//! The run as lanes of spans: one list that the waterfall, the Chrome JSON and the Perfetto
//! export all draw from, so that they can never disagree.
//!
//! Spans of one lane never overlap unless one holds the other; stages without an owner in the
//! log (synthesis, queue) are packed into as few rows as fit. Causes of idle time are lanes of
//! the GPU. Nothing is decided here: times come from the run and from the analysis.

mod pack;

use std::collections::BTreeMap;

pub use pack::pack;

use crate::model::{Analysis, IdleCause, Region};
use tracefmt::run::{Run, Task};

/// A stretch of time with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What it shows.
    pub stage: Stage,
    /// Start, milliseconds since the run's epoch.
    pub start_ms: f64,
    /// End; never before the start.
    pub end_ms: f64,
    /// Job id; empty when none owns it.
    pub job: String,
    /// Position of the job in the run; 0 when none owns it.
    pub job_index: u32,
    /// Partition.
    pub partition: Option<u32>,
    /// Line that begins it, 0 when no line does.
    pub line: u64,
    /// The log gives no end: drawn up to the end of the run.
    pub open: bool,
}

/// What a span shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Synthesis on the CPU.
    Synthesis,
    /// From the hand-over to the pick-up.
    Queue,
    /// `GPU_START` to `GPU_END` of a worker.
    Call,
    /// A worker's tenure of the GPU lock.
    Hold,
    /// Kernels ran.
    Kernel,
    /// No kernel ran.
    Idle(IdleCause),
}

impl Stage {
    /// Name in exports and legends.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Synthesis => "synthesis",
            Self::Queue => "queue",
            Self::Call => "prove call",
            Self::Hold => "GPU lock held",
            Self::Kernel => "kernels",
            Self::Idle(cause) => cause.as_str(),
        }
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Which row.
    pub owner: Owner,
    /// Its spans, by start, an enclosing span before what it holds.
    pub spans: Vec<Span>,
}

/// Whose row it is; the order is the order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The n-th row of synthesis.
    Synthesis(u32),
    /// The n-th row of the queue.
    Queue(u32),
    /// A worker and the n-th row of its overlapping calls; none when the log names no worker.
    Worker(Option<u32>, u32),
    /// A GPU.
    Gpu(u32),
}

impl Owner {
    /// Label of the row.
    pub fn label(self) -> String {
        match self {
            Self::Synthesis(row) => format!("synthesis {row}"),
            Self::Queue(row) => format!("queue {row}"),
            Self::Worker(Some(worker), 0) => format!("worker {worker}"),
            Self::Worker(Some(worker), row) => format!("worker {worker} +{row}"),
            Self::Worker(None, row) => format!("worker ? {row}"),
            Self::Gpu(gpu) => format!("GPU {gpu}"),
        }
    }
}

/// First and last moment of a run that anything drawn touches, milliseconds; `None` when the
/// run has no moment at all.
pub fn extent(run: &Run, analysis: &Analysis) -> Option<(f64, f64)> {
    let moments = run.tasks.iter().flat_map(Task::moments);
    let moments = moments.map(|(_, at)| ms(at.us));
    let regions = analysis.regions.iter().filter(|r| r.run == run.index);
    let held = regions.flat_map(|r| [r.start_ms, r.end_ms]);
    let gpus = analysis.gpus.iter().filter(|gpu| gpu.run == run.index);
    let spans = gpus.flat_map(|g| [g.span_start_ms, g.span_start_ms + g.span_ms]);
    let all = moments.chain(held).chain(spans).filter(|t| t.is_finite());
    all.fold(None, |seen, t| match seen {
        None => Some((t, t)),
        Some((low, high)) => Some((f64::min(low, t), f64::max(high, t))),
    })
}

/// All rows of a run, sorted by owner.
pub fn lanes(run: &Run, analysis: &Analysis) -> Vec<Lane> {
    let end = extent(run, analysis).map_or(0.0, |(_, end)| end);
    let mut out = Vec::new();
    push_rows(&mut out, synthesis(run, end), Owner::Synthesis);
    push_rows(&mut out, queue(run, end), Owner::Queue);
    let regions = by_partition(run.index, analysis);
    for (worker, spans) in calls(run, end) {
        for (row, mut spans) in (0..).zip(pack(spans)) {
            let inner: Vec<Span> = spans.iter().flat_map(|s| inside(s, &regions)).collect();
            spans.extend(inner);
            sort(&mut spans);
            nest(&mut spans);
            let owner = Owner::Worker(worker, row);
            out.push(Lane { owner, spans });
        }
    }
    out.extend(gpus(run.index, analysis));
    out.retain(|lane| !lane.spans.is_empty());
    out.sort_by_key(|lane| lane.owner);
    out
}

/// Synthesis of every partition that began it.
pub fn synthesis(run: &Run, end_ms: f64) -> Vec<Span> {
    let begun = run.tasks.iter().filter_map(|task| {
        let start = task.synth_start?;
        let span = span(run, task, Stage::Synthesis, ms(start.us));
        let line = u64::from(start.line.line);
        Some(Span { line, ..span }.until(task.synth_end.map(|at| ms(at.us)), end_ms))
    });
    begun.collect()
}

/// Waiting of every partition that was handed over.
pub fn queue(run: &Run, end_ms: f64) -> Vec<Span> {
    let waiting = run.tasks.iter().filter_map(|task| {
        let start = task.queued?;
        let span = span(run, task, Stage::Queue, ms(start.us));
        let taken = task.pickup.or(task.gpu_start).map(|at| ms(at.us));
        let line = u64::from(start.line.line);
        Some(Span { line, ..span }.until(taken, end_ms))
    });
    waiting.collect()
}

/// When partitions failed, by index of the task: the first line of trouble that is theirs.
fn failures(run: &Run) -> BTreeMap<u32, f64> {
    let mut out = BTreeMap::new();
    for trouble in &run.troubles {
        if let (Some(task), Some(us)) = (trouble.task, trouble.us) {
            out.entry(task).or_insert_with(|| ms(us));
        }
    }
    out
}

/// Prove calls by worker. A call that failed ends with its failure, where the log tells when.
pub fn calls(run: &Run, end_ms: f64) -> BTreeMap<Option<u32>, Vec<Span>> {
    let failures = failures(run);
    let mut out: BTreeMap<Option<u32>, Vec<Span>> = BTreeMap::new();
    for (index, task) in (0_u32..).zip(&run.tasks) {
        let Some(start) = task.gpu_start else {
            continue;
        };
        let span = span(run, task, Stage::Call, ms(start.us));
        let line = u64::from(start.line.line);
        let failed = failures.get(&index).filter(|at| **at >= span.start_ms);
        let ended = task.gpu_end.map(|at| ms(at.us)).or(failed.copied());
        let span = Span { line, ..span }.until(ended, end_ms);
        out.entry(task.worker).or_default().push(span);
    }
    out
}

type Regions<'a> = BTreeMap<(&'a str, Option<u32>), Vec<&'a Region>>;

fn by_partition(run: u32, analysis: &Analysis) -> Regions<'_> {
    let mut out = Regions::new();
    for region in analysis.regions.iter().filter(|region| region.run == run) {
        let key = (&*region.job, region.partition);
        out.entry(key).or_default().push(region);
    }
    out
}

/// Tenures and kernels of a call, cut to its bounds so that they nest.
fn inside(call: &Span, regions: &Regions<'_>) -> Vec<Span> {
    let own = regions.get(&(call.job.as_str(), call.partition));
    let all = own.into_iter().flatten().flat_map(|region| holds(region));
    let cut = all.map(|span| Span {
        start_ms: span.start_ms.max(call.start_ms),
        end_ms: span.end_ms.min(call.end_ms),
        ..span
    });
    cut.filter(|span| span.end_ms > span.start_ms).collect()
}

/// The tenure of a region and the kernels inside it.
fn holds(region: &Region) -> Vec<Span> {
    let held = Span {
        stage: Stage::Hold,
        start_ms: region.start_ms,
        end_ms: region.end_ms.max(region.start_ms),
        job: region.job.to_string(),
        job_index: 0,
        partition: region.partition,
        line: region.lines.first().map_or(0, |line| u64::from(*line)),
        open: false,
    };
    let kernels = region.kernels.iter().map(|[from, to]| Span {
        stage: Stage::Kernel,
        start_ms: *from,
        end_ms: to.max(*from),
        ..held.clone()
    });
    let mut out: Vec<Span> = kernels.collect();
    out.push(held);
    out
}

fn gpus(run: u32, analysis: &Analysis) -> Vec<Lane> {
    let known = analysis.gpus.iter().filter(|gpu| gpu.run == run);
    let lane = known.map(|gpu| {
        let own = analysis.regions.iter();
        let own = own.filter(|r| r.run == run && r.gpu == Some(gpu.gpu));
        let mut spans: Vec<Span> = own.flat_map(holds).collect();
        spans.retain(|span| span.stage == Stage::Kernel);
        spans.extend(gpu.idle.iter().map(|gap| Span {
            stage: Stage::Idle(gap.cause),
            start_ms: gap.start_ms,
            end_ms: gap.end_ms.max(gap.start_ms),
            job: String::new(),
            job_index: 0,
            partition: None,
            line: gap.lines.first().copied().unwrap_or_default(),
            open: false,
        }));
        sort(&mut spans);
        disjoint(&mut spans);
        let owner = Owner::Gpu(gpu.gpu);
        Lane { owner, spans }
    });
    lane.collect()
}

/// Cuts what overlaps: one card does one thing at a time, and owners that are only inferred can
/// claim the same moment twice.
fn disjoint(spans: &mut Vec<Span>) {
    let mut free = f64::NEG_INFINITY;
    for span in spans.iter_mut() {
        span.start_ms = span.start_ms.max(free);
        span.end_ms = span.end_ms.max(span.start_ms);
        free = span.end_ms;
    }
    spans.retain(|span| span.end_ms > span.start_ms);
}

/// Cuts what begins inside another span and ends behind it, so that a row is a tree.
fn nest(spans: &mut [Span]) {
    let mut open: Vec<f64> = Vec::new();
    for span in spans.iter_mut() {
        while open.pop_if(|end| *end <= span.start_ms).is_some() {}
        if let Some(end) = open.last() {
            span.end_ms = span.end_ms.min(*end);
        }
        open.push(span.end_ms);
    }
}

fn push_rows(out: &mut Vec<Lane>, spans: Vec<Span>, owner: impl Fn(u32) -> Owner) {
    for (row, spans) in (0..).zip(pack(spans)) {
        let owner = owner(row);
        out.push(Lane { owner, spans });
    }
}

fn sort(spans: &mut [Span]) {
    spans.sort_by(|a, b| {
        let start = a.start_ms.total_cmp(&b.start_ms);
        start
            .then(b.end_ms.total_cmp(&a.end_ms))
            .then(a.stage.cmp(&b.stage))
    });
}

fn span(run: &Run, task: &Task, stage: Stage, start_ms: f64) -> Span {
    let job = run.jobs.get(task.job as usize);
    Span {
        stage,
        start_ms,
        end_ms: start_ms,
        job: job.map(|job| job.id.clone()).unwrap_or_default(),
        job_index: task.job,
        partition: task.partition,
        line: 0,
        open: false,
    }
}

impl Span {
    fn until(mut self, end: Option<f64>, run_end: f64) -> Self {
        self.open = end.is_none();
        self.end_ms = end.unwrap_or(run_end).max(self.start_ms);
        self
    }

    /// `job, partition n`, or the job alone.
    pub fn who(&self) -> String {
        match self.partition {
            Some(partition) => format!("{}, partition {partition}", self.job),
            None => self.job.clone(),
        }
    }

    /// Length in milliseconds.
    pub const fn ms(&self) -> f64 {
        self.end_ms - self.start_ms
    }
}

/// Microseconds to milliseconds.
pub fn ms(us: i64) -> f64 {
    us as f64 / 1000.0
}
