//! What is live, who holds it and the lock, and what has become too intricate to tell.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use tracefmt::ops::{Op, Step, Stream, Work};

/// A live buffer.
#[derive(Debug, Clone, Copy)]
struct Live {
    worker: u32,
    of_partition: bool,
    from_pool: bool,
    /// The stream of the work that names it, if there was any.
    used_on: Option<Stream>,
    /// The steps that made it and used it last.
    made: usize,
    used: Option<usize>,
}

/// Buffers and the lock of one worker.
#[derive(Debug, Clone, Default)]
struct Worker {
    live: u64,
    /// Of them, those of partitions.
    of_partitions: u64,
    /// The partition of its last step, known as its own.
    last: Option<(Option<String>, u32)>,
    /// The lock and the unlock that it kept memory beyond last.
    outlived: Option<(usize, usize)>,
}

/// The state of what was seen so far.
#[derive(Debug, Default)]
pub(super) struct Watch {
    live: FxHashMap<(u32, u64), Live>,
    workers: BTreeMap<u32, Worker>,
    /// Whose partition is whose.
    partitions: BTreeMap<(String, u32), u32>,
    /// The one lock that is held, by whom, and since which step.
    lock: Option<(u32, Box<str>, usize)>,
    has_locks: bool,
    /// Whether a worker asked for memory while another held some.
    shares: bool,
}

impl Watch {
    /// Takes note of a step that went well, with the free bytes after it; `false` if it may take
    /// hindsight to judge it.
    pub(super) fn is_clear(&mut self, at: usize, step: &Step, free: u64) -> bool {
        let worker = step.worker.unwrap_or(0);
        let gpu = step.gpu.unwrap_or(0);
        if !self.is_the_workers(worker, step) {
            return false;
        }
        match &step.op {
            Op::Malloc { id, .. } => self.make(at, (gpu, *id), step, false),
            Op::MallocAsync { id, .. } => self.make(at, (gpu, *id), step, true),
            Op::Free { id } => self.free((gpu, *id)).is_some(),
            Op::FreeAsync { id, stream } => {
                let freed = self.free((gpu, *id));
                freed.is_some_and(|freed| {
                    freed.from_pool && freed.used_on.is_none_or(|on| on == *stream)
                })
            }
            Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) => self.work(at, gpu, work),
            Op::Lock { name } => {
                self.has_locks = true;
                self.lock.replace((worker, name.clone(), at)).is_none()
            }
            Op::Unlock { name } => {
                let held = self.lock.take();
                let mine = |held: &(u32, Box<str>, usize)| held.0 == worker && held.1 == *name;
                let Some((.., since)) = held.filter(mine) else {
                    return false;
                };
                let keeps = self.workers.get_mut(&worker);
                if let Some(keeps) = keeps.filter(|worker| worker.of_partitions > 0) {
                    keeps.outlived = Some((since, at));
                }
                true
            }
            Op::MemGetInfo { .. } => step.op.room().is_none_or(|room| free >= room),
            Op::Barrier { .. } | Op::Panic { .. } => false,
            _ => true,
        }
    }

    /// Whether nothing is left that would be a finding.
    pub(super) fn is_clear_at_the_end(&self) -> bool {
        let keeps = |worker: &Worker| worker.of_partitions > 0 || worker.outlived.is_some();
        let shares = self.has_locks && self.shares;
        !self.workers.values().any(keeps) && self.lock.is_none() && !shares
    }

    /// The steps without which what is live now would not be what it is, and its names.
    pub(super) fn roots(&self) -> (BTreeSet<usize>, BTreeSet<(u32, u64)>) {
        let of_live = self.live.values().flat_map(|live| {
            let owner = self.workers.get(&live.worker);
            let (lock, unlock) = owner.and_then(|owner| owner.outlived).unzip();
            [Some(live.made), live.used, lock, unlock]
        });
        let held = self.lock.iter().map(|(.., since)| *since);
        let steps = of_live.flatten().chain(held).collect();
        (steps, self.live.keys().copied().collect())
    }

    /// Whether the partition of a step is nobody else's.
    fn is_the_workers(&mut self, worker: u32, step: &Step) -> bool {
        let Some(partition) = step.partition() else {
            return true;
        };
        let known = self.workers.entry(worker).or_default();
        let same = |(job, last): &(Option<String>, u32)| {
            job.as_deref() == step.job() && *last == partition
        };
        if known.last.as_ref().is_some_and(same) {
            return true;
        }
        known.last = Some((step.job().map(str::to_owned), partition));
        let key = (step.job().unwrap_or_default().to_owned(), partition);
        *self.partitions.entry(key).or_insert(worker) == worker
    }

    fn make(&mut self, at: usize, name: (u32, u64), step: &Step, from_pool: bool) -> bool {
        let worker = step.worker.unwrap_or(0);
        let of_partition = step.partition().is_some() || step.job().is_some();
        let mine = self.workers.entry(worker).or_default();
        self.shares |= self.live.len() as u64 > mine.live;
        mine.live += 1;
        mine.of_partitions += u64::from(of_partition);
        let made = Live {
            worker,
            of_partition,
            from_pool,
            used_on: None,
            made: at,
            used: None,
        };
        self.live.insert(name, made).is_none()
    }

    fn free(&mut self, name: (u32, u64)) -> Option<Live> {
        let freed = self.live.remove(&name)?;
        let owner = self.workers.entry(freed.worker).or_default();
        owner.live -= 1;
        owner.of_partitions -= u64::from(freed.of_partition);
        Some(freed)
    }

    /// Whether all that some work names is live and is used on this stream only.
    fn work(&mut self, at: usize, gpu: u32, work: &Work) -> bool {
        work.ids().all(|id| {
            let live = self.live.get_mut(&(gpu, id));
            live.is_some_and(|live| {
                live.used = Some(at);
                *live.used_on.get_or_insert(work.stream) == work.stream
            })
        })
    }
}
