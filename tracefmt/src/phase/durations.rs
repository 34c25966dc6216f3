//! The durations that a timing line prints, and the one that no line prints.

use super::KnownPhase;
use crate::run::Run;
use crate::timing::TimingWhat;

/// The barrier wait of a call as a residual; none if a line prints it or a part is missing.
pub fn residual_ms(run: &Run, call: usize) -> Option<u32> {
    let (mut parts, mut found, mut total) = (0, 0, None);
    for mark in run.marks_of(call) {
        match run.marks.what(mark) {
            TimingWhat::BarrierWait { .. } => return None,
            TimingWhat::NttMsmH { ms, gpu_tid: 0 } | TimingWhat::BatchAdd { ms, gpu_tid: 0 } => {
                parts += ms;
                found += 1;
            }
            TimingWhat::TailMsm {
                ms,
                gpu_total_ms,
                gpu_tid: 0,
            } => {
                parts += ms;
                found += 1;
                total = Some(gpu_total_ms);
            }
            _ => {}
        }
    }
    let rest = total? - parts;
    u32::try_from(rest.max(0)).ok().filter(|_| found == 3)
}

/// Calls `each` with every duration of a line; negative ones, from a stepped clock, are left out.
pub fn each_of(what: &TimingWhat<'_>, mut each: impl FnMut(KnownPhase, u32)) {
    each_signed(what, |phase, ms| {
        if let Ok(ms) = u32::try_from(ms) {
            each(phase, ms);
        }
    });
}

/// Calls `put` with every duration of a line as printed, milliseconds, negative ones too.
pub fn each_signed(what: &TimingWhat<'_>, mut put: impl FnMut(KnownPhase, i64)) {
    match what {
        TimingWhat::SplitVectors { split_ms, setup_ms } => {
            put(KnownPhase::SPLIT_VECTORS, *split_ms);
            put(KnownPhase::SETUP_TO_SPLIT, *setup_ms);
        }
        TimingWhat::PreLock {
            pre_lock_cpu_ms,
            mutex_wait_ms,
        } => {
            put(KnownPhase::PRE_LOCK_CPU, *pre_lock_cpu_ms);
            put(KnownPhase::MUTEX_WAIT, *mutex_wait_ms);
        }
        TimingWhat::PrestageOk {
            parts_ms: Some([sync, trim, alloc, upload, total]),
            ..
        } => {
            put(KnownPhase::PRESTAGE_SYNC, *sync);
            put(KnownPhase::PRESTAGE_TRIM, *trim);
            put(KnownPhase::PRESTAGE_ALLOC, *alloc);
            put(KnownPhase::PRESTAGE_UPLOAD, *upload);
            put(KnownPhase::PRESTAGE, *total);
        }
        TimingWhat::NttMsmH { ms, .. } => put(KnownPhase::NTT_MSM_H, *ms),
        TimingWhat::BarrierWait { ms, .. } => put(KnownPhase::BARRIER_WAIT, *ms),
        TimingWhat::BatchAdd { ms, .. } => put(KnownPhase::BATCH_ADD, *ms),
        TimingWhat::TailMsm {
            ms, gpu_total_ms, ..
        } => {
            put(KnownPhase::TAIL_MSM, *ms);
            put(KnownPhase::GPU_TOTAL, *gpu_total_ms);
        }
        TimingWhat::MutexHeld {
            held_ms,
            total_start_fn_ms,
        } => {
            put(KnownPhase::MUTEX_HELD, *held_ms);
            put(KnownPhase::TOTAL_START_FN, *total_start_fn_ms);
        }
        TimingWhat::PrepMsm { ms } => put(KnownPhase::PREP_MSM, *ms),
        TimingWhat::BG2Msm { ms, .. } => put(KnownPhase::B_G2_MSM, *ms),
        TimingWhat::Epilogue {
            epilogue_ms,
            pre_destructor_ms,
        } => {
            put(KnownPhase::EPILOGUE, *epilogue_ms);
            put(KnownPhase::PRE_DESTRUCTOR, *pre_destructor_ms);
        }
        TimingWhat::AsyncDealloc { ms } => put(KnownPhase::ASYNC_DEALLOC, *ms),
        TimingWhat::NttH { .. } => each_ntt_part(what, put),
        _ => {}
    }
}

fn each_ntt_part(what: &TimingWhat<'_>, mut put: impl FnMut(KnownPhase, i64)) {
    if let TimingWhat::NttH {
        d_b_alloc_ms,
        ntt_kernels_ms,
        coset_intt_sync_ms,
        msm_init_ms,
        msm_invoke_ms,
        msm_dtor_ms,
        total_ms,
    } = what
    {
        put(KnownPhase::D_B_ALLOC, *d_b_alloc_ms);
        put(KnownPhase::NTT_KERNELS, *ntt_kernels_ms);
        put(KnownPhase::COSET_INTT_SYNC, *coset_intt_sync_ms);
        put(KnownPhase::MSM_INIT, *msm_init_ms);
        put(KnownPhase::MSM_INVOKE, *msm_invoke_ms);
        put(KnownPhase::MSM_DTOR, *msm_dtor_ms);
        put(KnownPhase::NTT_H_TOTAL, *total_ms);
    }
}
