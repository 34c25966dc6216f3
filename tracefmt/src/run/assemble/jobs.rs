//! Job ids and what is known of each job: the place where text becomes a number.

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
    /// For each job, its tasks by partition + 1 (0 for a monolithic proof), `u32::MAX` for none.
    near: Vec<Vec<u32>>,
    /// Tasks of partitions beyond [`NEAR_MAX`], by job and partition.
    far: FxHashMap<(u32, u32), u32>,
}

/// Partitions up to this number are found by position.
const NEAR_MAX: usize = 256;

fn slot(partition: Option<u32>) -> usize {
    partition.map_or(0, |partition| partition as usize + 1)
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
        let task = self.near.get(job as usize)?.get(slot).copied();
        task.filter(|task| *task != u32::MAX)
    }

    /// The task of a job and partition; `next` from now on if there is none.
    pub(super) fn task_or(&mut self, job: u32, partition: Option<u32>, next: u32) -> u32 {
        let slot = slot(partition);
        if slot > NEAR_MAX {
            let key = (job, partition.unwrap_or(u32::MAX));
            return *self.far.entry(key).or_insert(next);
        }
        let Some(near) = self.near.get_mut(job as usize) else {
            return next;
        };
        if near.len() <= slot {
            near.resize(slot + 1, u32::MAX);
        }
        match near.get_mut(slot) {
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
        self.near.push(Vec::new());
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
