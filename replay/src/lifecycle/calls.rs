//! From the prove calls of a run to steps in the order of the log.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::ops::{OnError, Op, Step};
use tracefmt::run::{Call, LineRef, MarkKind, Outcome, Run, Task};

use super::host::{self, Pinned};
use super::ops::{Buf, Partition};
use super::{Sizes, Version};

/// `cudaErrorMemoryAllocation`.
const RC_OUT_OF_MEMORY: u32 = 2;

/// The lines of a call at which something happens.
#[derive(Debug, Clone, Copy, Default)]
struct Lines {
    /// The first line under the lock.
    locked: Option<LineRef>,
    ntt: Option<LineRef>,
    batch: Option<LineRef>,
    tail: Option<LineRef>,
    /// The last line of the call.
    end: Option<LineRef>,
    staged: Staged,
}

/// What became of staging ahead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Staged {
    #[default]
    No,
    Ok,
    /// With the error code that the line gives.
    Failed(u32),
}

/// A step with the line it belongs to; steps of one line stay in order.
type Placed = (LineRef, Step);

/// All steps of a run in the order of its lines; none if no call left a timing line.
pub(super) fn steps(
    run: &Run,
    version: Version,
    sizes: &Sizes,
) -> Option<(Vec<LineRef>, Vec<Step>)> {
    let mut placed: Vec<Placed> = Vec::new();
    let mut cached: BTreeSet<u32> = BTreeSet::new();
    let staged = staged_lines(run);
    let mut pinned = if version.stages() {
        host::of(run)
    } else {
        BTreeMap::new()
    };
    for (index, call) in run.calls.iter().enumerate() {
        let Some(task) = run.tasks.get(call.task as usize) else {
            continue;
        };
        let lines = lines_of(run, index, task);
        let Some(locked) = lines.locked else { continue };
        let like = like(run, call, task);
        let mut writer = Writer {
            version,
            lines,
            locked,
            fails: matches!(task.outcome, Outcome::Failed) && lines.ntt.is_none(),
            partition: Partition {
                sizes,
                number: index as u64 + 1,
                like: &like,
                steps: Vec::new(),
            },
            placed: &mut placed,
        };
        let pinned = pinned.remove(&index);
        writer.pin(pinned.as_ref());
        match version {
            Version::Cache => writer.cache(&mut cached),
            _ => writer.call(&staged),
        }
        writer.unpin(pinned.as_ref());
    }
    placed.sort_by_key(|(line, _)| *line);
    if placed.is_empty() {
        return None;
    }
    Some(placed.into_iter().unzip())
}

/// Lines at which some call staged its buffers with success, by card.
fn staged_lines(run: &Run) -> BTreeMap<u32, Vec<LineRef>> {
    let mut staged: BTreeMap<u32, Vec<LineRef>> = BTreeMap::new();
    for mark in run
        .marks
        .iter()
        .filter(|mark| mark.kind() == MarkKind::PrestageOk)
    {
        let call = mark.call().and_then(|call| run.calls.get(call as usize));
        let gpu = call.and_then(|call| call.gpu).unwrap_or(0);
        staged.entry(gpu).or_default().push(mark.line());
    }
    staged
}

fn lines_of(run: &Run, call: usize, task: &Task) -> Lines {
    let mut lines = Lines::default();
    for mark in run.marks_of(call) {
        let line = mark.line();
        let first = lines.locked.get_or_insert(line);
        match mark.kind() {
            MarkKind::PrestageOk => lines.staged = Staged::Ok,
            MarkKind::PrestageFallback => {
                let code = u32::try_from(mark.second()).unwrap_or(u32::MAX);
                lines.staged = Staged::Failed(code);
            }
            MarkKind::PreLock | MarkKind::PrestageVram | MarkKind::PrestageSkip => {}
            MarkKind::NttMsmH => lines.ntt = Some(line),
            MarkKind::BatchAdd => lines.batch = Some(line),
            MarkKind::TailMsm => lines.tail = Some(line),
            MarkKind::Epilogue => lines.end = Some(line),
            // Lines of the calling thread: they say nothing of the lock.
            _ if *first == line => lines.locked = None,
            _ => {}
        }
    }
    lines.end = lines
        .end
        .or(task.gpu_end.map(|at| at.line))
        .or(task.failure);
    lines
}

fn like(run: &Run, call: &Call, task: &Task) -> Step {
    let mut like = Step::new(Op::CtxSync);
    like.worker = call.worker;
    like.gpu = call.gpu.filter(|gpu| *gpu > 0);
    like.set_partition(task.partition);
    like.set_job(run.jobs.get(task.job as usize).map(|job| &*job.id));
    like
}

struct Writer<'a, 'b> {
    version: Version,
    lines: Lines,
    locked: LineRef,
    /// Whether the call died before its first phase was over.
    fails: bool,
    partition: Partition<'a>,
    placed: &'b mut Vec<Placed>,
}

impl Writer<'_, '_> {
    /// Puts the steps written so far at a line.
    fn at(&mut self, line: LineRef) {
        let steps = std::mem::take(&mut self.partition.steps);
        self.placed
            .extend(steps.into_iter().map(|step| (line, step)));
    }

    /// Host memory is pinned before the lock.
    fn pin(&mut self, pinned: Option<&Pinned>) {
        if let Some(pinned) = pinned {
            pinned.pin(&mut self.partition);
            self.at(pinned.line);
        }
    }

    /// It is let go of when the call has ended, if it has.
    fn unpin(&mut self, pinned: Option<&Pinned>) {
        let end = self.lines.end;
        let line = pinned.and_then(|pinned| pinned.unpin(&mut self.partition, end));
        if let Some(line) = line {
            self.at(line);
        }
    }

    fn lock(&mut self) {
        let name = format!("gpu{}", self.partition.like.gpu.unwrap_or(0));
        self.partition.push(Op::Lock { name: name.into() });
    }

    fn unlock(&mut self) {
        let name = format!("gpu{}", self.partition.like.gpu.unwrap_or(0));
        self.partition.push(Op::Unlock { name: name.into() });
    }

    /// A call of a version that makes its buffers anew.
    fn call(&mut self, staged: &BTreeMap<u32, Vec<LineRef>>) {
        let tries = self.version.stages() && self.lines.staged != Staged::No;
        if self.version != Version::Phase9V0 {
            self.lock();
        }
        if tries && self.version == Version::Phase9 {
            self.partition.ask_first();
        }
        let ntt = self.lines.ntt.unwrap_or(self.locked);
        match self.lines.staged {
            Staged::Ok if tries => self.stage_well(ntt),
            Staged::Failed(RC_OUT_OF_MEMORY) if tries => {
                self.stage_in_vain();
                self.slow(ntt);
            }
            _ => self.slow(ntt),
        }
        let done = self.name("done");
        self.partition.label(&done);
        if self.fails {
            self.unlock();
            self.at(ntt);
        } else {
            self.rest(ntt, staged);
        }
    }

    /// The name of a place in this call.
    fn name(&self, place: &str) -> String {
        format!("{place}{}", self.partition.number)
    }

    /// `d_a` and `d_bc` are there, and the work is done in them.
    fn stage_well(&mut self, ntt: LineRef) {
        let sizes = *self.partition.sizes;
        self.partition.malloc(Buf::DA, sizes.d_a).rc = Some(0);
        self.partition.malloc(Buf::DBc, sizes.d_bc).rc = Some(0);
        if self.version == Version::Phase9V0 {
            self.lock();
        }
        self.at(self.locked);
        let in_time = matches!(self.version, Version::Phase9 | Version::Phase9V2);
        self.partition.staged(in_time);
        self.at(ntt);
    }

    /// `d_bc` could not be had; had it been there, the work would have been done in it.
    fn stage_in_vain(&mut self) {
        let sizes = *self.partition.sizes;
        let (slow, done) = (self.name("slow"), self.name("done"));
        self.partition.malloc(Buf::DA, sizes.d_a);
        let step = self.partition.malloc(Buf::DBc, sizes.d_bc);
        step.rc = Some(RC_OUT_OF_MEMORY);
        step.set_on_error(OnError::Fallback(slow.as_str().into()));
        self.partition.staged(true);
        self.partition.jump(&done);
        self.partition.label(&slow);
        self.partition.free(Buf::DA);
    }

    /// The original path; it may be where the call dies.
    fn slow(&mut self, ntt: LineRef) {
        if self.version == Version::Phase9V0 {
            self.lock();
        }
        let sizes = *self.partition.sizes;
        let own = tracefmt::ops::Stream::Id(1);
        self.partition.pool(Buf::SlowDA, sizes.d_a, own);
        self.partition.push(Op::StreamSync { stream: own });
        let dead = self.name("dead");
        let known_dead = self.fails && self.lines.staged == Staged::Failed(RC_OUT_OF_MEMORY);
        let step = self.partition.malloc(Buf::SlowDB, sizes.d_bc);
        step.set_on_error(OnError::Fallback(dead.as_str().into()));
        step.rc = match (known_dead, self.fails) {
            (true, _) => Some(RC_OUT_OF_MEMORY),
            (false, true) => None,
            (false, false) => Some(0),
        };
        self.at(self.locked);
        let done = self.name("done");
        self.partition.unstaged();
        self.partition.jump(&done);
        self.partition.label(&dead);
        self.partition.free(Buf::SlowDA);
        self.at(ntt);
    }

    /// Batch additions, tail, unlock, and what comes after it.
    fn rest(&mut self, ntt: LineRef, staged: &BTreeMap<u32, Vec<LineRef>>) {
        let batch = self.lines.batch.unwrap_or(ntt);
        if self.lines.batch.is_some() {
            self.partition.batch_add();
            self.at(batch);
        }
        let tail = self.lines.tail.unwrap_or(batch);
        if self.lines.tail.is_some() {
            self.partition.tail();
        } else {
            self.partition.push(Op::CtxSync);
        }
        self.unlock();
        self.at(tail);
        let late = matches!(self.version, Version::Phase9V0 | Version::Phase9V1);
        if late && self.lines.staged == Staged::Ok {
            self.partition.free(Buf::DBc);
            let gpu = self.partition.like.gpu.unwrap_or(0);
            let end = self.lines.end.unwrap_or(tail);
            // Another call that staged with success in between proves the free came earlier.
            let lines = staged.get(&gpu).into_iter().flatten();
            let proof = lines.filter(|line| **line > tail && **line < end).min();
            self.at(proof.copied().map_or(end, |line| {
                LineRef::new(line.input(), line.line.saturating_sub(1))
            }));
        }
    }

    /// A call of a version that caches `d_a` per card and keeps pool pages.
    fn cache(&mut self, cached: &mut BTreeSet<u32>) {
        let gpu = self.partition.like.gpu.unwrap_or(0);
        // The cache belongs to no partition; its name is the card's.
        let d_a = u64::from(gpu) + (1 << 60);
        self.lock();
        if cached.insert(gpu) {
            self.partition.push(Op::SetThreshold { bytes: u64::MAX });
            let bytes = self.partition.sizes.d_a;
            let step = self.partition.push(Op::Malloc { id: d_a, bytes });
            step.set_buf(Some("d_a_cache"));
            step.set_job(None);
            step.set_partition(None);
        }
        self.at(self.locked);
        let ntt = self.lines.ntt.unwrap_or(self.locked);
        self.partition.pooled_transform(d_a);
        if self.lines.ntt.is_some() {
            self.partition.h_msm(d_a);
        }
        self.at(ntt);
        self.rest(ntt, &BTreeMap::new());
    }
}
