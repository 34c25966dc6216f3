//! One life of a daemon while its lines come in.

use super::clock::{Clock, When, bounded, unbelievable};
use super::features::{Features, Sign};
use super::jobs::Jobs;
use super::rebirth::{Fall, Offsets};
use super::troubles::Suspect;
use crate::event::{Event, TraceStart};
use crate::record::Stamp;
use crate::run::mark::PlainMark;
use crate::run::{Call, LineRef, MarkKind, Run, Task};
use crate::timing::{Tag, Timing, TimingWhat};

/// Worker numbers beyond this are not believed.
const WORKERS_MAX: usize = 4096;

/// What a line says of the life of a call, for the attribution of timing lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The line that says so.
    pub(crate) line: u32,
    /// Index into [`Run::calls`].
    pub(crate) call: u32,
    /// What it says.
    pub(crate) what: LinkKind,
}

/// Kinds of [`Link`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LinkKind {
    /// The start function of the call took so long, milliseconds, Rust's share included.
    Started(u32),
    /// The call came back with success.
    Ended,
    /// Its worker went on to something else, or the call failed.
    Left,
}

/// A GPU worker.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worker {
    pub(super) gpu: Option<u32>,
    /// The call that it is in.
    pub(super) call: Option<u32>,
}

/// The state of a run that is being put together.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) run: Run,
    pub(super) jobs: Jobs,
    /// The last call of each task, `u32::MAX` for none.
    call_of: Vec<u32>,
    pub(super) clock: Clock,
    pub(super) features: Features,
    pub(super) workers: Vec<Worker>,
    pub(super) links: Vec<Link>,
    /// Times of [`Run::troubles`], before the epoch is known.
    pub(super) trouble_times: Vec<When>,
    /// Troubles whose owner a later line may name.
    pub(super) nameless: Vec<usize>,
    /// Lines that may tell of a failure; what comes after them decides.
    pub(super) suspects: Vec<Suspect>,
    pub(super) offsets: Offsets,
    /// Events of partitions that are there again with the same time.
    pub(super) copied: u64,
    /// The stamp of the line that says that the daemon starts.
    pub(super) born: Option<Stamp>,
    /// Run and epoch of `TRACE_START`, until `TRACE_END`.
    pub(super) begun: Option<(String, u64)>,
}

impl Life {
    pub(super) fn new(first: LineRef) -> Self {
        Self {
            run: Run {
                first,
                ..Run::default()
            },
            jobs: Jobs::default(),
            call_of: Vec::new(),
            clock: Clock::default(),
            features: Features::default(),
            workers: Vec::new(),
            links: Vec::new(),
            trouble_times: Vec::new(),
            nameless: Vec::new(),
            suspects: Vec::new(),
            offsets: Offsets::default(),
            copied: 0,
            born: None,
            begun: None,
        }
    }

    pub(super) fn has_events(&self) -> bool {
        self.features.all_events() > 0
    }

    /// Whether a daemon has shown itself, so that another one's first line ends this life.
    pub(super) fn has_begun(&self) -> bool {
        self.features.has(Sign::DaemonStart) || self.has_events() || !self.run.marks.is_empty()
    }

    /// Whether a `TRACE_START` is the one of this run again, before the run's end.
    pub(super) fn repeats_start(&self, start: &TraceStart<'_>) -> bool {
        let known =
            |(run, epoch): &(String, u64)| *run == start.run && *epoch == start.epoch_unix_us;
        self.begun.as_ref().is_some_and(known)
    }

    /// Whether there is anything to tell.
    pub(super) fn has_content(&self) -> bool {
        self.has_begun()
            || self.features.has(Sign::EngineLog)
            || !self.jobs.list.is_empty()
            || !self.run.troubles.is_empty()
            || self.run.unread.count > 0
    }

    /// Whether an event is the first of another daemon, by its offset.
    pub(super) fn fall(&self, event: &Event<'_>) -> Fall {
        self.offsets.fall(event, || {
            let job = self.jobs.find(&event.job)?;
            let task = self.task(job, event.place.partition);
            let task = task.and_then(|task| self.run.tasks.get(task as usize));
            Some(task.is_some_and(|task| task.synth_start.is_some()))
        })
    }

    pub(super) fn saw_offset(&mut self, event: &Event<'_>, us: i64) {
        self.offsets.saw(event);
        self.run.last_us = self.run.last_us.max(us);
    }

    pub(super) fn task(&self, job: u32, partition: Option<u32>) -> Option<u32> {
        self.jobs.task(job, partition)
    }

    /// The task of a job and partition, new if need be.
    pub(super) fn task_or_new(&mut self, job: u32, partition: Option<u32>) -> u32 {
        let next = u32::try_from(self.run.tasks.len()).unwrap_or(u32::MAX);
        let task = self.jobs.task_or(job, partition, next);
        if task == next {
            self.run.tasks.push(Task {
                job,
                partition,
                ..Task::default()
            });
            self.call_of.push(u32::MAX);
            if let Some(job) = self.jobs.get_mut(job) {
                job.tasks.push(task);
            }
        }
        task
    }

    pub(super) fn task_mut(&mut self, task: u32) -> Option<&mut Task> {
        self.run.tasks.get_mut(task as usize)
    }

    pub(super) fn call_of(&self, task: u32) -> Option<u32> {
        let call = self.call_of.get(task as usize).copied();
        call.filter(|call| *call != u32::MAX)
    }

    pub(super) fn push_call(&mut self, call: Call) -> u32 {
        let index = u32::try_from(self.run.calls.len()).unwrap_or(u32::MAX);
        if let Some(slot) = self.call_of.get_mut(call.task as usize) {
            *slot = index;
        }
        self.run.calls.push(call);
        index
    }

    /// The worker with this number, new if need be.
    pub(super) fn worker_mut(&mut self, worker: u32) -> Option<&mut Worker> {
        let at = worker as usize;
        if at >= WORKERS_MAX {
            return None;
        }
        if at >= self.workers.len() {
            self.workers.resize(at + 1, Worker::default());
        }
        self.workers.get_mut(at)
    }

    /// The worker is in this call from here on; what it was in before is over.
    pub(super) fn worker_turns(&mut self, worker: Option<u32>, call: Option<u32>, line: u32) {
        let left = worker
            .and_then(|worker| self.worker_mut(worker))
            .and_then(|worker| std::mem::replace(&mut worker.call, call));
        if let Some(call) = left {
            let what = LinkKind::Left;
            self.links.push(Link { line, call, what });
        }
    }

    /// A line said on which GPU a worker runs.
    pub(super) fn worker_runs_on(&mut self, worker: Option<u32>, gpu: Option<u32>) {
        let Some((worker, gpu)) = worker.zip(gpu) else {
            return;
        };
        let Some(slot) = self.worker_mut(worker) else {
            return;
        };
        if slot.gpu.replace(gpu) == Some(gpu) {
            return;
        }
        let sharing = self.workers.iter().filter(|w| w.gpu == Some(gpu)).count();
        if sharing > 1 {
            self.features.sign(Sign::SharedGpu);
        }
    }

    /// A timing line.
    pub(super) fn timing(&mut self, at: LineRef, timing: &Timing<'_>) {
        let index = self.run.marks.push(&timing.what, at, (0, i64::MAX));
        let kind = self
            .run
            .marks
            .get(index)
            .map_or(MarkKind::Other, |mark| mark.kind());
        self.features.timing(kind);
        match &timing.what {
            TimingWhat::PrestageOk {
                domain,
                lot_of_memory,
                parts_ms,
            } => {
                self.run.config.domain.get_or_insert(*domain);
                self.run.config.lot_of_memory.get_or_insert(*lot_of_memory);
                if parts_ms.is_some() {
                    self.features.sign(Sign::FinePrestage);
                }
            }
            TimingWhat::PrestageVram { free_mib, .. } => {
                self.run.config.free_bytes.get_or_insert(*free_mib << 20);
            }
            TimingWhat::PrestageFallback { err: 2 } => self.features.sign(Sign::FallbackOom),
            _ => {}
        }
        self.trouble_of_timing(at, &timing.what);
        let long = match &timing.what {
            TimingWhat::Phase { us, .. } => unbelievable(*us),
            _ => false,
        };
        let late = timing
            .tag
            .as_ref()
            .is_some_and(|tag| unbelievable(tag.t_us));
        if long || late {
            self.run.unbelieved.push(at);
        }
        match &timing.tag {
            Some(tag) => self.tagged(index, tag),
            None => self.clock.mark(index),
        }
    }

    /// A timing line of one of the plain kinds, without a tag.
    pub(super) fn plain_timing(&mut self, at: LineRef, mark: PlainMark) {
        self.features.timing(mark.kind);
        let index = self.run.marks.push_plain(mark, at);
        self.clock.mark(index);
    }

    /// One of our own timing lines says whose it is and when it was written.
    fn tagged(&mut self, index: usize, tag: &Tag<'_>) {
        self.features.sign(Sign::Own);
        let us = bounded(tag.t_us);
        self.run.last_us = self.run.last_us.max(us);
        self.run.marks.set_windows(index..index + 1, us, Some(us));
        self.worker_runs_on(tag.place.worker, tag.place.gpu);
        let task = self
            .jobs
            .find(&tag.job)
            .and_then(|job| self.task(job, tag.place.partition));
        let call = task.and_then(|task| self.call_of(task));
        if call.is_some() {
            let certain = crate::finding::Confidence::Certain;
            self.run.marks.assign(index, call, certain, &[]);
        }
    }
}
