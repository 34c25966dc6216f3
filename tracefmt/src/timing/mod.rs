//! Typed `CUZK_TIMING` and `CUZK_NTT_H` lines.
//!
//! The old ones carry neither job nor time: which call they belong to is decided in
//! [`crate::run`]. Ours end with a [`Tag`]. Durations are milliseconds as printed; some clocks
//! of the old writer can step, so they may be negative.

use std::borrow::Cow;

use crate::event::Place;

#[cfg(any(test, feature = "proptest"))]
pub mod strategy;

/// One timing line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing<'a> {
    /// What it reports.
    pub what: TimingWhat<'a>,
    /// Whose it is, on lines of our own writer.
    pub tag: Option<Tag<'a>>,
}

/// The end of our own timing lines: no line needs guessing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag<'a> {
    /// Job id, percent-escapes undone.
    pub job: Cow<'a, str>,
    /// GPU, worker and partition.
    pub place: Place,
    /// Microseconds since the engine's epoch, taken when the line was written.
    pub t_us: u64,
}

/// What a timing line reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimingWhat<'a> {
    /// `split_vectors_ms= setup_to_split_ms=`
    SplitVectors {
        /// Splitting the assignment.
        split_ms: i64,
        /// From entry of the call to the end of the split.
        setup_ms: i64,
    },
    /// `host_register=fallback err=`
    HostRegisterFallback {
        /// CUDA error code.
        err: i64,
    },
    /// `pre_lock_cpu_ms= mutex_wait_ms=`, the first line under the lock.
    PreLock {
        /// CPU work before the lock was asked for.
        pre_lock_cpu_ms: i64,
        /// Wait for the lock.
        mutex_wait_ms: i64,
    },
    /// `prestage_vram free_mib= ...`
    PrestageVram {
        /// Free device memory.
        free_mib: u64,
        /// Free less the safety margin.
        usable_mib: u64,
        /// Wanted for `d_a`.
        need_da_mib: u64,
        /// Wanted for `d_bc`.
        need_dbc_mib: u64,
        /// Wanted in all; not the size of the card.
        total_mib: u64,
    },
    /// `prestage_setup=skip_vram`
    PrestageSkip,
    /// `prestage_setup=ok domain= lot_of_memory=`
    PrestageOk {
        /// Domain size in elements.
        domain: u64,
        /// Whether two more vectors fit beside `d_a`.
        lot_of_memory: bool,
        /// `sync_ms trim_ms alloc_ms upload_ms total_ps_ms`, in one dialect only.
        parts_ms: Option<[i64; 5]>,
    },
    /// `prestage_setup=fallback err=`
    PrestageFallback {
        /// CUDA error code.
        err: i64,
    },
    /// `set pool release threshold to MAX on gpu`
    PoolThresholdMax {
        /// CUDA device id.
        gpu: u32,
    },
    /// `d_a_cache allocated N MiB on gpu N`
    DaCache {
        /// Size of the cached buffer.
        mib: u64,
        /// GPU index.
        gpu: u32,
    },
    /// The `CUZK_NTT_H` line.
    NttH {
        /// Allocation of `d_b`.
        d_b_alloc_ms: i64,
        /// Transforms.
        ntt_kernels_ms: i64,
        /// Coset inverse transform and synchronisation.
        coset_intt_sync_ms: i64,
        /// MSM set-up.
        msm_init_ms: i64,
        /// MSM.
        msm_invoke_ms: i64,
        /// MSM clean-up.
        msm_dtor_ms: i64,
        /// All of it.
        total_ms: i64,
    },
    /// `gpu_tid= ntt_msm_h_ms=`
    NttMsmH {
        /// Index of the GPU inside the call, not the ordinal.
        gpu_tid: u32,
        /// Allocation and upload of `d_a`, transforms and H MSM.
        ms: i64,
    },
    /// `gpu_tid= barrier_wait_ms=`
    BarrierWait {
        /// Index of the GPU inside the call.
        gpu_tid: u32,
        /// Wait for the CPU's MSM preparation.
        ms: i64,
    },
    /// `gpu_tid= batch_add_ms=`
    BatchAdd {
        /// Index of the GPU inside the call.
        gpu_tid: u32,
        /// Batch additions.
        ms: i64,
    },
    /// `gpu_tid= tail_msm_ms= gpu_total_ms=`
    TailMsm {
        /// Index of the GPU inside the call.
        gpu_tid: u32,
        /// Tail MSMs.
        ms: i64,
        /// From the start of the GPU thread to the end of the tail, the barrier wait included.
        gpu_total_ms: i64,
    },
    /// `mutex_held_ms= total_start_fn_ms=`, the last line under the lock.
    MutexHeld {
        /// Tenure of the lock.
        held_ms: i64,
        /// The whole start function.
        total_start_fn_ms: i64,
    },
    /// `prep_msm_ms=`
    PrepMsm {
        /// CPU preparation of the MSMs.
        ms: i64,
    },
    /// `b_g2_msm_ms= num_circuits=`
    BG2Msm {
        /// The G2 MSM on the CPU.
        ms: i64,
        /// Circuits of the call.
        num_circuits: u64,
    },
    /// `epilogue_ms= pre_destructor_ms=`
    Epilogue {
        /// Assembly of the proof.
        epilogue_ms: i64,
        /// The whole call before its destructors run.
        pre_destructor_ms: i64,
    },
    /// `async_dealloc_ms=`
    AsyncDealloc {
        /// Freeing of host memory in a thread of its own.
        ms: i64,
    },
    /// Our own form: `phase=<name> ms=<n> [us=<n>]`.
    Phase {
        /// Name of the phase.
        name: Cow<'a, str>,
        /// Duration in microseconds.
        us: u64,
    },
    /// A timing line of a shape that this version does not know; kept as written.
    Other {
        /// The text behind the prefix.
        text: Cow<'a, str>,
    },
}

/// All that [`TimingWhat::name`] gives, but the names of our own phases.
pub const TIMING_NAMES: [&str; 18] = [
    "split_vectors",
    "host_register",
    "pre_lock",
    "prestage_vram",
    "prestage",
    "pool_threshold",
    "d_a_cache",
    "CUZK_NTT_H",
    "ntt_msm_h",
    "barrier_wait",
    "batch_add",
    "tail_msm",
    "mutex_held",
    "prep_msm",
    "b_g2_msm",
    "epilogue",
    "async_dealloc",
    "other",
];

impl TimingWhat<'_> {
    /// Short name, as used in counts and tables.
    pub fn name(&self) -> &str {
        match self {
            Self::SplitVectors { .. } => "split_vectors",
            Self::HostRegisterFallback { .. } => "host_register",
            Self::PreLock { .. } => "pre_lock",
            Self::PrestageVram { .. } => "prestage_vram",
            Self::PrestageSkip | Self::PrestageOk { .. } | Self::PrestageFallback { .. } => {
                "prestage"
            }
            Self::PoolThresholdMax { .. } => "pool_threshold",
            Self::DaCache { .. } => "d_a_cache",
            Self::NttH { .. } => "CUZK_NTT_H",
            Self::NttMsmH { .. } => "ntt_msm_h",
            Self::BarrierWait { .. } => "barrier_wait",
            Self::BatchAdd { .. } => "batch_add",
            Self::TailMsm { .. } => "tail_msm",
            Self::MutexHeld { .. } => "mutex_held",
            Self::PrepMsm { .. } => "prep_msm",
            Self::BG2Msm { .. } => "b_g2_msm",
            Self::Epilogue { .. } => "epilogue",
            Self::AsyncDealloc { .. } => "async_dealloc",
            Self::Phase { name, .. } => name,
            Self::Other { .. } => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_lines() {
        let text = include_str!("mod.rs");
        let body = text.split("pub fn name(&self)").nth(1).expect("there");
        let body = body.split("\n}\n").next().expect("an end");
        let quoted: Vec<&str> = body.split('"').skip(1).step_by(2).collect();
        assert_eq!(quoted, TIMING_NAMES);
    }
}
