//! The durations that a timing line prints, and the one that no line prints.

use super::KnownPhase;
use crate::run::{Mark, MarkKind, MarkStore, Run};
use crate::timing::TimingWhat;

/// The barrier wait of a call as a residual; none if a line prints it or a part is missing.
pub fn residual_ms(run: &Run, call: usize) -> Option<u32> {
    let (mut parts, mut found, mut total) = (0, 0, None);
    for mark in run.marks_of(call) {
        match mark.kind() {
            MarkKind::BarrierWait => return None,
            MarkKind::NttMsmH | MarkKind::BatchAdd if mark.gpu_tid() == 0 => {
                parts += mark.ms();
                found += 1;
            }
            MarkKind::TailMsm if mark.gpu_tid() == 0 => {
                parts += mark.ms();
                found += 1;
                total = Some(mark.second());
            }
            _ => {}
        }
    }
    let rest = total? - parts;
    u32::try_from(rest.max(0)).ok().filter(|_| found == 3)
}

/// Calls `each` with every duration of a line in whole milliseconds; negative ones, from a stepped
/// clock, are left out.
pub fn each_of(marks: &MarkStore, mark: &Mark, mut each: impl FnMut(KnownPhase, u32)) {
    each_signed(marks, mark, |phase, ms| {
        if let Ok(ms) = u32::try_from(ms) {
            each(phase, ms);
        }
    });
}

/// The phases that the first and the second value of a line give, for the kinds that are read so.
const fn simple(kind: MarkKind) -> Option<(KnownPhase, Option<KnownPhase>)> {
    Some(match kind {
        MarkKind::SplitVectors => (KnownPhase::SPLIT_VECTORS, Some(KnownPhase::SETUP_TO_SPLIT)),
        MarkKind::PreLock => (KnownPhase::PRE_LOCK_CPU, Some(KnownPhase::MUTEX_WAIT)),
        MarkKind::NttMsmH => (KnownPhase::NTT_MSM_H, None),
        MarkKind::BarrierWait => (KnownPhase::BARRIER_WAIT, None),
        MarkKind::BatchAdd => (KnownPhase::BATCH_ADD, None),
        MarkKind::TailMsm => (KnownPhase::TAIL_MSM, Some(KnownPhase::GPU_TOTAL)),
        MarkKind::MutexHeld => (KnownPhase::MUTEX_HELD, Some(KnownPhase::TOTAL_START_FN)),
        MarkKind::PrepMsm => (KnownPhase::PREP_MSM, None),
        MarkKind::BG2Msm => (KnownPhase::B_G2_MSM, None),
        MarkKind::Epilogue => (KnownPhase::EPILOGUE, Some(KnownPhase::PRE_DESTRUCTOR)),
        MarkKind::AsyncDealloc => (KnownPhase::ASYNC_DEALLOC, None),
        _ => return None,
    })
}

/// Calls `put` with every duration of a line as printed, milliseconds, negative ones too.
pub fn each_signed(marks: &MarkStore, mark: &Mark, mut put: impl FnMut(KnownPhase, i64)) {
    if let Some((first, second)) = simple(mark.kind()) {
        put(first, mark.ms());
        if let Some(second) = second {
            put(second, mark.second());
        }
        return;
    }
    match marks.what(mark) {
        TimingWhat::PrestageOk {
            parts_ms: Some([sync, trim, alloc, upload, total]),
            ..
        } => {
            put(KnownPhase::PRESTAGE_SYNC, sync);
            put(KnownPhase::PRESTAGE_TRIM, trim);
            put(KnownPhase::PRESTAGE_ALLOC, alloc);
            put(KnownPhase::PRESTAGE_UPLOAD, upload);
            put(KnownPhase::PRESTAGE, total);
        }
        TimingWhat::NttH {
            d_b_alloc_ms,
            ntt_kernels_ms,
            coset_intt_sync_ms,
            msm_init_ms,
            msm_invoke_ms,
            msm_dtor_ms,
            total_ms,
        } => {
            put(KnownPhase::D_B_ALLOC, d_b_alloc_ms);
            put(KnownPhase::NTT_KERNELS, ntt_kernels_ms);
            put(KnownPhase::COSET_INTT_SYNC, coset_intt_sync_ms);
            put(KnownPhase::MSM_INIT, msm_init_ms);
            put(KnownPhase::MSM_INVOKE, msm_invoke_ms);
            put(KnownPhase::MSM_DTOR, msm_dtor_ms);
            put(KnownPhase::NTT_H_TOTAL, total_ms);
        }
        _ => {}
    }
}
