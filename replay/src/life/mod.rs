//! The life of every buffer of a run: made, used, freed, and under which lock.
//!
//! Read off a [`Record`], so it says what happened, not what was meant. Uses are known only
//! where launches and copies name what they read and write.

mod ahead;
mod cut;
mod locks;

use rustc_hash::FxHashMap;
use tracefmt::ops::{Op, Schedule, Step, Work};

use crate::run::{Record, Stop};

pub use ahead::Ahead;
pub(crate) use cut::Cuts;
pub(crate) use locks::Locks;

/// One successful allocation. Places are positions in [`Record::ran`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// Its name in the schedule.
    pub id: u64,
    /// Its card.
    pub gpu: u32,
    /// Bytes asked for.
    pub bytes: u64,
    /// The worker that made it.
    pub worker: u32,
    /// The step that made it.
    pub at: usize,
    /// When it was made.
    pub made: usize,
    /// When it was used last.
    pub used: Option<usize>,
    /// When it was freed.
    pub freed: Option<usize>,
    /// Whether its worker held a lock when it was made or used last.
    pub under_lock: bool,
    /// When its worker then let go of its last lock.
    pub unlocked: Option<usize>,
    /// Whether the schedule only says what came of the failure of this request, so that nothing
    /// is known of its use and its free.
    pub unrecorded: bool,
    /// What the schedule still holds for it where its run stopped before.
    pub ahead: Option<Ahead>,
}

impl Buffer {
    /// Whether it was allocated at a place in the run; what the step at that place does to it
    /// does not count.
    pub fn is_live_at(&self, place: usize) -> bool {
        self.made < place && self.freed.is_none_or(|freed| freed >= place)
    }

    /// What the schedule still held for it at a place, had nothing failed there.
    pub fn ahead_at(&self, place: usize) -> Option<Ahead> {
        self.ahead.filter(|ahead| ahead.until >= place)
    }

    /// Whether it was freed after a place, or would have been.
    pub fn is_freed_after(&self, place: usize) -> bool {
        let ahead = self.ahead_at(place);
        self.freed.is_some() || ahead.is_some_and(|ahead| ahead.freed.is_some())
    }

    /// Whether it was past its last use at a place, or past the lock it was used under.
    pub fn is_late_at(&self, place: usize) -> bool {
        let is_needed = self
            .ahead_at(place)
            .is_some_and(|ahead| ahead.used.is_some());
        if self.unrecorded || is_needed {
            return false;
        }
        let past_use = self.used.is_some_and(|used| used < place);
        past_use || self.unlocked.is_some_and(|unlocked| unlocked < place)
    }
}

/// A free or a use of something that is not allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misuse {
    /// Where it happened.
    pub place: usize,
    /// The buffer that the name last meant, as an index into [`Life::buffers`].
    pub buffer: usize,
}

/// What a name means at the moment.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    Live(usize),
    Freed(usize),
    /// The request failed: a null pointer.
    Null,
}

/// The lives of all buffers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Life {
    /// In the order in which they were made.
    pub buffers: Vec<Buffer>,
    /// Frees of what was freed before.
    pub double_frees: Vec<Misuse>,
    /// Uses of what was freed before.
    pub late_uses: Vec<Misuse>,
    /// Allocations under the name of a buffer that is still allocated, which nothing can free
    /// any more.
    pub lost: Vec<Misuse>,
}

impl Life {
    /// Reads the lives off a run.
    pub fn of(schedule: &Schedule, record: &Record) -> Self {
        let cuts = Cuts::of(schedule);
        let mut reading = Reading::default();
        for (place, ran) in record.ran.iter().enumerate() {
            if let Some(step) = schedule.steps.get(ran.at) {
                reading.step(place, ran.at, step, ran.outcome.rc);
                let stop = |(_, stop): &(u32, Stop)| *stop == Stop::Aborted(ran.at);
                if record.ending.stopped.iter().any(stop) {
                    reading.unlock_all(place, step.worker.unwrap_or(0));
                }
            }
        }
        let mut life = reading.life;
        for buffer in &mut life.buffers {
            buffer.unrecorded = cuts.is_cut(buffer.at);
        }
        cuts.forget_uses(schedule, record, &mut life);
        ahead::look(schedule, record, &mut life);
        life
    }

    /// The buffers that were allocated at a place on a card, in order of their making.
    pub fn live_at(&self, place: usize, gpu: u32) -> impl Iterator<Item = &Buffer> {
        self.buffers
            .iter()
            .filter(move |buffer| buffer.gpu == gpu && buffer.is_live_at(place))
    }
}

#[derive(Debug, Default)]
struct Reading<'a> {
    life: Life,
    names: FxHashMap<(u32, u64), Meaning>,
    locks: Locks<'a>,
    /// Live buffers of each worker.
    mine: FxHashMap<u32, Vec<usize>>,
}

impl<'a> Reading<'a> {
    fn step(&mut self, place: usize, at: usize, step: &'a Step, rc: u32) {
        let worker = step.worker.unwrap_or(0);
        let gpu = step.gpu.unwrap_or(0);
        match &step.op {
            Op::Malloc { id, bytes } | Op::MallocAsync { id, bytes, .. } => {
                if rc == 0 {
                    self.make(place, at, step, (*id, *bytes));
                } else {
                    self.names.insert((gpu, *id), Meaning::Null);
                }
            }
            Op::Free { id } | Op::FreeAsync { id, .. } => self.free(place, gpu, *id),
            Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) => {
                self.work(place, gpu, work);
            }
            Op::Lock { name } => {
                self.locks.take(worker, name);
            }
            Op::Unlock { name } => {
                self.locks.release(worker, name);
                if !self.holds(worker) {
                    self.unlock_all(place, worker);
                }
            }
            Op::Panic { unwind } => {
                self.unlock_all(place, worker);
                if *unwind {
                    for index in self.mine.remove(&worker).unwrap_or_default() {
                        self.end(place, index);
                    }
                }
            }
            _ => {}
        }
    }

    fn make(&mut self, place: usize, at: usize, step: &Step, (id, bytes): (u64, u64)) {
        let worker = step.worker.unwrap_or(0);
        let gpu = step.gpu.unwrap_or(0);
        let index = self.life.buffers.len();
        self.life.buffers.push(Buffer {
            id,
            gpu,
            bytes,
            worker,
            at,
            made: place,
            used: None,
            freed: None,
            under_lock: self.holds(worker),
            unlocked: None,
            unrecorded: false,
            ahead: None,
        });
        if let Some(Meaning::Live(buffer)) = self.names.insert((gpu, id), Meaning::Live(index)) {
            self.life.lost.push(Misuse { place, buffer });
        }
        self.mine.entry(worker).or_default().push(index);
    }

    fn holds(&self, worker: u32) -> bool {
        !self.locks.of(worker).is_empty()
    }

    fn free(&mut self, place: usize, gpu: u32, id: u64) {
        match self.names.get(&(gpu, id)).copied() {
            Some(Meaning::Live(index)) => {
                self.end(place, index);
                if let Some(buffer) = self.life.buffers.get(index)
                    && let Some(mine) = self.mine.get_mut(&buffer.worker)
                {
                    mine.retain(|other| *other != index);
                }
            }
            Some(Meaning::Freed(buffer)) => {
                self.life.double_frees.push(Misuse { place, buffer });
            }
            // A null pointer may be freed; of an unknown one nothing is known.
            Some(Meaning::Null) | None => {}
        }
    }

    fn end(&mut self, place: usize, index: usize) {
        if let Some(buffer) = self.life.buffers.get_mut(index) {
            buffer.freed = Some(place);
            self.names
                .insert((buffer.gpu, buffer.id), Meaning::Freed(index));
        }
    }

    fn work(&mut self, place: usize, gpu: u32, work: &Work) {
        for id in work.ids() {
            match self.names.get(&(gpu, id)).copied() {
                Some(Meaning::Live(index)) => {
                    let owner = self.life.buffers.get(index).map(|buffer| buffer.worker);
                    let under_lock = owner.is_some_and(|owner| self.holds(owner));
                    if let Some(buffer) = self.life.buffers.get_mut(index) {
                        buffer.used = Some(place);
                        buffer.under_lock = under_lock;
                        buffer.unlocked = None;
                    }
                }
                Some(Meaning::Freed(buffer)) => {
                    self.life.late_uses.push(Misuse { place, buffer });
                }
                Some(Meaning::Null) | None => {}
            }
        }
    }

    fn unlock_all(&mut self, place: usize, worker: u32) {
        self.locks.clear(worker);
        for index in self.mine.get(&worker).into_iter().flatten() {
            if let Some(buffer) = self.life.buffers.get_mut(*index)
                && buffer.under_lock
                && buffer.unlocked.is_none()
            {
                buffer.unlocked = Some(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Options;
    use crate::testing::schedule;
    use crate::vram::H200_580;

    fn life(lines: &str) -> Life {
        let schedule = schedule(lines);
        let record = Record::of(&schedule, &Options::recorded(H200_580));
        Life::of(&schedule, &record)
    }

    #[test]
    fn a_buffer_is_made_used_unlocked_and_freed() {
        let life = life(
            "0 lock name=gpu
             0 malloc id=1 bytes=1G
             0 launch stream=1 writes=[1]
             0 launch stream=1 reads=[1]
             0 unlock name=gpu
             0 free id=1",
        );
        let buffer = life.buffers[0];
        assert_eq!(
            (buffer.made, buffer.used, buffer.freed),
            (1, Some(3), Some(5))
        );
        assert_eq!((buffer.under_lock, buffer.unlocked), (true, Some(4)));
        assert!(!buffer.is_live_at(1) && buffer.is_live_at(2) && buffer.is_live_at(5));
        assert!(!buffer.is_live_at(6));
        assert!(!buffer.is_late_at(3) && buffer.is_late_at(4));
    }

    #[test]
    fn a_use_under_a_new_lock_counts_anew() {
        let life = life(
            "0 lock name=gpu
             0 malloc id=1 bytes=1
             0 unlock name=gpu
             0 lock name=gpu
             0 launch stream=1 reads=[1]",
        );
        assert_eq!(life.buffers[0].unlocked, None);
        assert_eq!(life.live_at(5, 0).count(), 1);
        assert_eq!(life.live_at(5, 1).count(), 0);
    }

    #[test]
    fn a_second_free_and_a_late_use_are_noted_and_null_and_unknown_are_not() {
        let life = life(
            "0 malloc id=1 bytes=1
             0 free id=1
             0 free id=1 on_error=ignore
             0 launch stream=1 reads=[1,99]
             0 malloc id=2 bytes=99G on_error=ignore
             0 free id=2
             0 free id=77 on_error=ignore",
        );
        assert_eq!(
            life.double_frees,
            [Misuse {
                place: 2,
                buffer: 0
            }]
        );
        assert_eq!(
            life.late_uses,
            [Misuse {
                place: 3,
                buffer: 0
            }]
        );
    }

    #[test]
    fn a_worker_that_stops_lets_go_of_its_lock_and_an_unwinding_one_of_its_memory() {
        let life = life(
            "0 lock name=gpu
             0 malloc id=1 bytes=1
             0 malloc id=2 bytes=99G
             1 lock name=gpu
             1 malloc id=3 bytes=1
             1 panic unwind=true",
        );
        assert_eq!(life.buffers[0].unlocked, Some(2));
        assert_eq!(life.buffers[0].freed, None);
        assert_eq!(life.buffers[1].freed, Some(5));
    }
}
