//! The analyzer's result, `cuzk.analysis/1`: GPU time, idle gaps with causes, regions, phases,
//! critical path. Plots, tables, report and command line all read this one value. Fields may be
//! added, never changed; times are milliseconds since the run's epoch.

mod phase_times;

pub use phase_times::PhaseTimes;
pub use tracefmt::phase::KnownPhase;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tracefmt::finding::{Confidence, Finding};

/// Schema name of [`Analysis`].
pub const SCHEMA: &str = "cuzk.analysis/1";

/// Everything that `cuzk analyze` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: String,
    /// One entry per GPU and run, sorted by run, then GPU.
    pub gpus: Vec<GpuTime>,
    /// Every hold of a GPU by a partition, sorted by run, then start.
    pub regions: Vec<Region>,
    /// Totals first (`gpu` and `worker` null), then per GPU, then per worker; sorted by phase.
    pub phases: Vec<PhaseRow>,
    /// A path for each run, from a submission to the last proof; by run, then in order of time.
    pub critical_path: Vec<PathStep>,
    /// Runs whose path is longer than what is listed of it: its first steps are left out.
    #[serde(default)]
    pub critical_path_left_out: Vec<StepsLeftOut>,
    /// `perf.idle`, `perf.contention`, ...
    pub findings: Vec<Finding>,
}

impl Default for Analysis {
    /// One that says nothing.
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            gpus: Vec::new(),
            regions: Vec::new(),
            phases: Vec::new(),
            critical_path: Vec::new(),
            critical_path_left_out: Vec::new(),
            findings: Vec::new(),
        }
    }
}

/// How one GPU spent the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuTime {
    /// Run index.
    pub run: u32,
    /// GPU ordinal.
    pub gpu: u32,
    /// First `SYNTH_START`.
    pub span_start_ms: f64,
    /// From there to the last `TIMELINE` event or kernel end.
    pub span_ms: f64,
    /// Union of `GPU_START` to `GPU_END`.
    pub busy_interval_ms: f64,
    /// Union of the lock tenures.
    pub busy_hold_ms: f64,
    /// Kernel regions: lock tenure less waits at the barrier and set-up.
    pub busy_kernel_ms: f64,
    /// `busy_interval_ms / span_ms`.
    pub utilisation_interval: f64,
    /// `busy_hold_ms / span_ms`.
    pub utilisation_hold: f64,
    /// `busy_kernel_ms / span_ms`.
    pub utilisation_kernel: f64,
    /// Gaps by kernel that are at least as long as the floor, in order of time.
    pub idle: Vec<IdleGap>,
    /// How many more such gaps there are: the longest ones are listed.
    #[serde(default)]
    pub idle_left_out: u64,
    /// Sums to `span_ms - busy_kernel_ms`; gaps under the floor are included.
    pub idle_by_cause_ms: IdleByCause,
    /// The same by lock tenure: sums to `span_ms - busy_hold_ms`.
    pub idle_hold_by_cause_ms: IdleByCause,
    /// The part of `idle_by_cause_ms.unattributed` in which no job was open.
    #[serde(default)]
    pub idle_no_job_ms: f64,
    /// Recorded tenures of the lock whose `GPU_START` is missing: their kernels count as idle time.
    #[serde(default)]
    pub holds_without_call: u64,
}

/// A stretch in which no kernel ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdleGap {
    /// Start.
    pub start_ms: f64,
    /// End.
    pub end_ms: f64,
    /// Length.
    pub ms: f64,
    /// Why.
    pub cause: IdleCause,
    /// How sure.
    pub confidence: Confidence,
    /// Lines around it that show it.
    pub lines: Vec<u64>,
}

/// Why a GPU was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleCause {
    /// Before the first kernel.
    Fill,
    /// After the last kernel.
    Drain,
    /// No partition was synthesized and waiting.
    SynthesisStarved,
    /// One was waiting in the queue and a worker was free.
    QueuedNotPicked,
    /// A worker had one and waited for the lock while no kernel ran.
    MutexWait,
    /// A worker had one and was still at CPU work before it asked for the lock.
    PreLockCpu,
    /// The holder waited for the CPU's MSM preparation.
    BarrierWait,
    /// The lock was held by a call that failed.
    FailedHolder,
    /// None of these can be shown.
    Unattributed,
}

impl IdleCause {
    /// All causes in order of report.
    pub const ALL: [Self; 9] = [
        Self::Fill,
        Self::Drain,
        Self::SynthesisStarved,
        Self::QueuedNotPicked,
        Self::MutexWait,
        Self::PreLockCpu,
        Self::BarrierWait,
        Self::FailedHolder,
        Self::Unattributed,
    ];

    /// Name in all outputs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Drain => "drain",
            Self::SynthesisStarved => "synthesis_starved",
            Self::QueuedNotPicked => "queued_not_picked",
            Self::MutexWait => "mutex_wait",
            Self::PreLockCpu => "pre_lock_cpu",
            Self::BarrierWait => "barrier_wait",
            Self::FailedHolder => "failed_holder",
            Self::Unattributed => "unattributed",
        }
    }
}

/// Idle milliseconds by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdleByCause {
    /// [`IdleCause::Fill`]
    pub fill: f64,
    /// [`IdleCause::Drain`]
    pub drain: f64,
    /// [`IdleCause::SynthesisStarved`]
    pub synthesis_starved: f64,
    /// [`IdleCause::QueuedNotPicked`]
    pub queued_not_picked: f64,
    /// [`IdleCause::MutexWait`]
    pub mutex_wait: f64,
    /// [`IdleCause::PreLockCpu`]
    pub pre_lock_cpu: f64,
    /// [`IdleCause::BarrierWait`]
    pub barrier_wait: f64,
    /// [`IdleCause::FailedHolder`]; files of before it was told lack it.
    #[serde(default)]
    pub failed_holder: f64,
    /// [`IdleCause::Unattributed`]
    pub unattributed: f64,
}

impl IdleByCause {
    /// Milliseconds of one cause.
    pub const fn get(&self, cause: IdleCause) -> f64 {
        match cause {
            IdleCause::Fill => self.fill,
            IdleCause::Drain => self.drain,
            IdleCause::SynthesisStarved => self.synthesis_starved,
            IdleCause::QueuedNotPicked => self.queued_not_picked,
            IdleCause::MutexWait => self.mutex_wait,
            IdleCause::PreLockCpu => self.pre_lock_cpu,
            IdleCause::BarrierWait => self.barrier_wait,
            IdleCause::FailedHolder => self.failed_holder,
            IdleCause::Unattributed => self.unattributed,
        }
    }

    /// Adds milliseconds to one cause.
    pub const fn add(&mut self, cause: IdleCause, ms: f64) {
        let slot = match cause {
            IdleCause::Fill => &mut self.fill,
            IdleCause::Drain => &mut self.drain,
            IdleCause::SynthesisStarved => &mut self.synthesis_starved,
            IdleCause::QueuedNotPicked => &mut self.queued_not_picked,
            IdleCause::MutexWait => &mut self.mutex_wait,
            IdleCause::PreLockCpu => &mut self.pre_lock_cpu,
            IdleCause::BarrierWait => &mut self.barrier_wait,
            IdleCause::FailedHolder => &mut self.failed_holder,
            IdleCause::Unattributed => &mut self.unattributed,
        };
        *slot += ms;
    }

    /// All causes together.
    pub fn total(&self) -> f64 {
        IdleCause::ALL.iter().map(|cause| self.get(*cause)).sum()
    }
}

/// One partition's hold of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Run index.
    pub run: u32,
    /// Job id, shared by the regions of a job.
    pub job: Arc<str>,
    /// Partition; null for a monolithic proof.
    pub partition: Option<u32>,
    /// Worker.
    pub worker: Option<u32>,
    /// GPU.
    pub gpu: Option<u32>,
    /// Lock acquired (or the best that the log allows).
    pub start_ms: f64,
    /// Lock released.
    pub end_ms: f64,
    /// Stretches in which kernels ran, in order of time: `[start_ms, end_ms]`.
    pub kernels: Vec<[f64; 2]>,
    /// How sure the times and the owner are.
    pub confidence: Confidence,
    /// Other owners that are possible.
    pub candidates: Vec<Candidate>,
    /// Phase -> milliseconds, sorted by name.
    pub phases: PhaseTimes,
    /// Its timing lines.
    pub lines: Box<[u32]>,
}

/// A possible owner of a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Job id.
    pub job: String,
    /// Partition.
    pub partition: Option<u32>,
    /// Worker.
    pub worker: Option<u32>,
}

/// Durations of one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// Name, such as `ntt_msm_h`.
    pub phase: String,
    /// Null: over all GPUs.
    pub gpu: Option<u32>,
    /// Null: over all workers.
    pub worker: Option<u32>,
    /// How many.
    pub n: u64,
    /// Median.
    pub median_ms: f64,
    /// 10th percentile.
    pub p10_ms: f64,
    /// 90th percentile.
    pub p90_ms: f64,
    /// Median absolute deviation, unscaled.
    pub mad_ms: f64,
    /// The phase that this one is a part of; never sum the two.
    pub nested_in: Option<String>,
}

/// One step of the critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathStep {
    /// Run index.
    #[serde(default)]
    pub run: u32,
    /// `submit`, `slot`, `synthesis`, `queue`, `pre_lock_cpu`, `mutex_wait`, `gpu`, `finish`, ...
    pub kind: String,
    /// Job id.
    pub job: String,
    /// Partition.
    pub partition: Option<u32>,
    /// Start.
    pub start_ms: f64,
    /// End.
    pub end_ms: f64,
    /// How much later it could have ended without moving the end of the run.
    pub slack_ms: f64,
}

/// Steps of a run's critical path that are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepsLeftOut {
    /// Run index.
    pub run: u32,
    /// How many.
    pub steps: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_a_slot_of_its_own() {
        let mut idle = IdleByCause::default();
        for (index, cause) in IdleCause::ALL.into_iter().enumerate() {
            idle.add(cause, f64::from(1 << index));
        }
        assert!((idle.total() - 511.0).abs() < 1e-9);
        let json = serde_json::to_value(idle).unwrap();
        for (index, cause) in IdleCause::ALL.into_iter().enumerate() {
            assert_eq!(json[cause.as_str()], f64::from(1 << index), "{cause:?}");
        }
    }
}
