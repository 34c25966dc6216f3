//! A snapshot of an engine: queue, jobs, workers, memory.

use super::fault::FaultCount;
use super::job::{PartState, Priority};
use super::shared::SchedOf;
use crate::device::{Info, Work};

/// What an engine is doing right now. Times are microseconds since its epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// When this was taken.
    pub now_us: u64,
    /// Open jobs in order of submission.
    pub jobs: Vec<JobStatus>,
    /// How long the waiting lines are.
    pub queue: QueueStatus,
    /// The device workers.
    pub workers: Vec<WorkerStatus>,
    /// Host memory that may be in flight.
    pub host_total: u64,
    /// Host memory that is in flight.
    pub host_used: u64,
    /// The most that ever was.
    pub host_peak: u64,
    /// The devices.
    pub devices: Vec<Info>,
    /// Jobs that ended so far.
    pub totals: Totals,
    /// What became of the faults that were to be injected.
    pub faults: Vec<FaultCount>,
}

/// An open job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatus {
    /// The client's name for it.
    pub id: String,
    /// Kind of proof.
    pub kind: String,
    /// How urgent it is.
    pub priority: Priority,
    /// When it was accepted.
    pub submitted_us: u64,
    /// Where its partitions are, and since when.
    pub partitions: Vec<(PartState, u64)>,
}

/// Partitions that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStatus {
    /// For synthesis.
    pub synthesis: usize,
    /// For a device.
    pub device: usize,
    /// For their check.
    pub finish: usize,
}

/// A device worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerStatus {
    /// Counted over all devices.
    pub worker: u32,
    /// Its device.
    pub gpu: u32,
    /// Job and partition that it is proving, and since when.
    pub busy: Option<(String, u32, u64)>,
}

/// How many jobs ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// With all proofs verified.
    pub verified: u64,
    /// With a reason.
    pub failed: u64,
    /// Given up.
    pub cancelled: u64,
    /// Partitions that an allocation failed for, and that began anew with a smaller plan.
    pub fallbacks: u64,
}

impl Status {
    pub(super) fn of<W: Work>(
        sched: &SchedOf<W>,
        now_us: u64,
        workers: Vec<WorkerStatus>,
        devices: Vec<Info>,
        faults: Vec<FaultCount>,
    ) -> Self {
        let jobs = sched.jobs.values().map(|job| JobStatus {
            id: job.id.to_string(),
            kind: job.kind.clone(),
            priority: job.priority,
            submitted_us: job.submitted_us,
            partitions: job
                .parts
                .iter()
                .map(|part| (part.state, part.since_us))
                .collect(),
        });
        let [synthesis, device, finish] = sched.lengths();
        Self {
            now_us,
            jobs: jobs.collect(),
            queue: QueueStatus {
                synthesis,
                device,
                finish,
            },
            workers,
            host_total: sched.limits.host_bytes,
            host_used: sched.used_bytes,
            host_peak: sched.used_bytes_max,
            devices,
            totals: Totals {
                verified: sched.ended.verified,
                failed: sched.ended.failed,
                cancelled: sched.ended.cancelled,
                fallbacks: sched.ended.fallbacks,
            },
            faults,
        }
    }
}
