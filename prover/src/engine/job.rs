//! Jobs as clients see them: what is submitted, where its partitions are, how it ended.

use std::cmp::Reverse;
use std::sync::Arc;

/// How urgent a job is. More urgent jobs go first; what runs is not interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Priority {
    /// Whenever there is time.
    Low,
    /// Sealing.
    #[default]
    Normal,
    /// Proofs with a deadline of minutes.
    High,
    /// Proofs with a deadline of seconds.
    Critical,
}

/// The place of a partition in every waiting line: priority, then job, then partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The most urgent first.
    pub priority: Reverse<Priority>,
    /// Number of the job, in order of submission.
    pub job: u64,
    /// Partition of the job.
    pub partition: u32,
}

/// A job that is to be done.
#[derive(Debug)]
pub struct JobSpec<C> {
    /// The client's name for it; two open jobs never share one.
    pub id: String,
    /// Kind of proof, for traces and tables.
    pub kind: String,
    /// How urgent it is.
    pub priority: Priority,
    /// The partitions, in order.
    pub circuits: Vec<C>,
}

/// Names an accepted job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Where a partition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartState {
    /// Waits for a synthesis worker and for memory.
    Waiting,
    /// Is synthesised.
    Synthesizing,
    /// Waits for a device worker.
    Queued,
    /// Is on a device.
    Proving,
    /// Its proof is put together and checked.
    Finishing,
    /// Its proof holds.
    Verified,
    /// It failed with a reason of its own.
    Failed,
    /// Given up, since its job failed or was cancelled.
    Skipped,
}

impl PartState {
    /// Whether nothing more happens to it.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Verified | Self::Failed | Self::Skipped)
    }

    /// Whether a worker has it.
    pub const fn is_in_flight(self) -> bool {
        matches!(self, Self::Synthesizing | Self::Proving | Self::Finishing)
    }

    /// The name in status pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "pending",
            Self::Synthesizing => "synthesizing",
            Self::Queued => "synth_done",
            Self::Proving => "gpu",
            Self::Finishing => "finishing",
            Self::Verified => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobEnd {
    /// All proofs hold.
    Verified,
    /// A partition failed; the first reason, in words.
    Failed(String),
    /// It was cancelled, or the engine shut down before it was done.
    Cancelled,
}

impl JobEnd {
    /// The word in traces.
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Verified => "ok",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What came of a job. Times are microseconds.
#[derive(Debug, Clone)]
pub struct JobReport<P> {
    /// The client's name for it.
    pub id: Arc<str>,
    /// How it ended.
    pub end: JobEnd,
    /// The proofs in order of partition; empty unless all hold.
    pub proofs: Vec<P>,
    /// From submission to the start of its first synthesis.
    pub queue_us: u64,
    /// Synthesis, summed over partitions.
    pub synth_us: u64,
    /// On devices, summed over partitions.
    pub gpu_us: u64,
    /// From submission to its end.
    pub total_us: u64,
}

/// Why a job was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// No partitions.
    #[error("job {id} has no partitions; expected at least one")]
    Empty {
        /// The job.
        id: String,
    },
    /// Another open job has this name.
    #[error("a job named {id} is open; wait for its end or choose another name")]
    Duplicate {
        /// The job.
        id: String,
    },
    /// A partition alone is larger than all the memory there is.
    #[error(
        "a partition of job {id} takes {needed} bytes of host memory, and the budget is {total}; \
         raise the budget"
    )]
    TooLarge {
        /// The job.
        id: String,
        /// Bytes of the largest partition.
        needed: u64,
        /// Bytes of the budget.
        total: u64,
    },
    /// A partition does not fit on a device.
    #[error("job {id}: {why}")]
    Unplannable {
        /// The job.
        id: String,
        /// The plan's own words.
        why: String,
    },
    /// Too many partitions wait already.
    #[error("{waiting} partitions wait and {limit} may; try job {id} again later")]
    Full {
        /// The job.
        id: String,
        /// Partitions that wait.
        waiting: usize,
        /// How many may.
        limit: usize,
    },
    /// The engine takes no more jobs.
    #[error("the engine shuts down; job {id} was not accepted")]
    ShuttingDown {
        /// The job.
        id: String,
    },
}

impl SubmitError {
    /// Whether the same job will never be accepted.
    pub const fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Empty { .. } | Self::TooLarge { .. } | Self::Unplannable { .. }
        )
    }
}
