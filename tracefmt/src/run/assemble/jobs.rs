//! Job ids and what is known of each job: the place where text becomes a number.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::clock::When;
use crate::run::{Job, LineRef};

/// The jobs of a run; the same id may come again after its job has ended.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub(super) list: Vec<Job>,
    /// What is not settled before the epoch is known: submission and end.
    pub(super) times: Vec<Times>,
    index: FxHashMap<Box<str>, u32>,
    last: u32,
    near: Near,
    /// Tasks of partitions beyond [`NEAR_MAX`], by job and partition.
    far: FxHashMap<(u32, u32), u32>,
}

/// Partitions up to this number are found by position.
const NEAR_MAX: usize = 256;

fn slot(partition: Option<u32>) -> usize {
    partition.map_or(0, |partition| partition as usize + 1)
}

/// For each job its tasks by partition + 1 (0 for a monolithic proof), all in one list: a list for
/// each of a hundred thousand jobs costs more to give back than to fill.
#[derive(Debug, Default)]
struct Near {
    /// `u32::MAX` for none.
    tasks: Vec<u32>,
    /// Where those of each job lie.
    of_job: Vec<Range<usize>>,
}

/// Room for so many partitions at first.
const NEAR_MIN: usize = 16;

impl Near {
    fn get(&self, job: u32, slot: usize) -> Option<u32> {
        let tasks = self.tasks.get(self.of_job.get(job as usize)?.clone())?;
        tasks.get(slot).copied().filter(|task| *task != u32::MAX)
    }

    /// The entry of a job's slot, with room made for it; none if there is no such job.
    fn entry(&mut self, job: u32, slot: usize) -> Option<&mut u32> {
        let range = self.of_job.get_mut(job as usize)?;
        if slot >= range.len() {
            let room = (slot + 1).next_power_of_two().max(NEAR_MIN);
            if range.end != self.tasks.len() {
                let start = self.tasks.len();
                self.tasks.extend_from_within(range.clone());
                range.start = start;
            }
            range.end = range.start + room;
            self.tasks.resize(range.end, u32::MAX);
        }
        self.tasks.get_mut(range.start + slot)
    }
}

/// Submission and end as their lines give them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) submitted: Option<(When, LineRef)>,
    pub(super) ended: Option<(When, LineRef)>,
}

impl Jobs {
    /// The job with this id, new if need be.
    pub(super) fn intern(&mut self, id: &str) -> u32 {
        // Neighbouring lines often speak of the same job.
        if self
            .list
            .get(self.last as usize)
            .is_some_and(|job| job.id == id)
        {
            return self.last;
        }
        self.last = match self.index.get(id) {
            Some(job) => *job,
            None => self.push(id),
        };
        self.last
    }

    /// The job with this id, if there is one.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        self.index.get(id).copied()
    }

    /// The job with this id, a new one if the last of that id has ended.
    pub(super) fn submit(&mut self, id: &str) -> u32 {
        let known = self.find(id);
        let ended = known.and_then(|job| self.times.get(job as usize));
        self.last = match known {
            Some(job) if ended.is_none_or(|times| times.ended.is_none()) => job,
            _ => self.push(id),
        };
        self.last
    }

    /// The task of a job and partition, if there is one.
    pub(super) fn task(&self, job: u32, partition: Option<u32>) -> Option<u32> {
        let slot = slot(partition);
        if slot > NEAR_MAX {
            return self.far.get(&(job, partition?)).copied();
        }
        self.near.get(job, slot)
    }

    /// The task of a job and partition; `next` from now on if there is none.
    pub(super) fn task_or(&mut self, job: u32, partition: Option<u32>, next: u32) -> u32 {
        let slot = slot(partition);
        if slot > NEAR_MAX {
            let key = (job, partition.unwrap_or(u32::MAX));
            return *self.far.entry(key).or_insert(next);
        }
        match self.near.entry(job, slot) {
            Some(task) if *task == u32::MAX => {
                *task = next;
                next
            }
            Some(task) => *task,
            None => next,
        }
    }

    pub(super) fn get_mut(&mut self, job: u32) -> Option<&mut Job> {
        self.list.get_mut(job as usize)
    }

    pub(super) fn times_mut(&mut self, job: u32) -> Option<&mut Times> {
        self.times.get_mut(job as usize)
    }

    fn push(&mut self, id: &str) -> u32 {
        let job = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(Job {
            id: id.to_owned(),
            ..Job::default()
        });
        self.times.push(Times::default());
        self.near.of_job.push(0..0);
        self.index.insert(id.into(), job);
        job
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_found_near_and_far() {
        let mut jobs = Jobs::default();
        let job = jobs.intern("a");
        let other = jobs.intern("b");
        let partitions = [None, Some(0), Some(255), Some(256), Some(u32::MAX)];
        for (next, partition) in (0_u32..).zip(partitions) {
            assert_eq!(jobs.task(job, partition), None);
            assert_eq!(jobs.task_or(job, partition, next), next);
        }
        for (task, partition) in (0_u32..).zip(partitions) {
            assert_eq!(jobs.task(job, partition), Some(task));
            assert_eq!(jobs.task_or(job, partition, 99), task);
            assert_eq!(jobs.task(other, partition), None);
        }
    }

    #[test]
    fn tasks_of_interleaved_jobs_keep_apart() {
        let mut jobs = Jobs::default();
        let ids: Vec<u32> = ["a", "b", "c"].map(|id| jobs.intern(id)).to_vec();
        let key = |job: u32, partition: u32| job * 1000 + partition;
        for partition in (0..200).step_by(7) {
            for job in &ids {
                let task = key(*job, partition);
                assert_eq!(jobs.task_or(*job, Some(partition), task), task);
            }
        }
        for partition in 0..200 {
            for job in &ids {
                let wanted = (partition % 7 == 0).then(|| key(*job, partition));
                assert_eq!(jobs.task(*job, Some(partition)), wanted);
            }
        }
        assert_eq!(jobs.task(3, Some(0)), None, "no such job");
    }

    #[test]
    fn an_id_is_one_job_until_it_ends() {
        let mut jobs = Jobs::default();
        let first = jobs.intern("a,b=c");
        let second = jobs.intern("porep-1000-2");
        assert_ne!(first, second);
        assert_eq!(jobs.intern("a,b=c"), first);
        assert_eq!(jobs.submit("a,b=c"), first);
        jobs.times_mut(first).unwrap().ended = Some((When::Offset(1), LineRef::default()));
        assert_eq!(jobs.intern("a,b=c"), first);
        let again = jobs.submit("a,b=c");
        assert_ne!(again, first);
        assert_eq!(jobs.intern("a,b=c"), again);
        assert_eq!(jobs.list.len(), 3);
    }
}
