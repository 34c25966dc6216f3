//! The durations that a timing line prints, and the one that no line prints.

use super::KnownPhase;
use crate::run::{At, Mark, MarkKind, MarkStore, Run, Task};
use crate::timing::TimingWhat;

/// How long a stage of a partition took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// Whole milliseconds, as printed: up to one more.
    Ms(u64),
    /// Microseconds between its two events; below zero where the clock was set back.
    Us(i64),
}

impl Spent {
    /// As milliseconds.
    #[must_use]
    pub fn ms(self) -> f64 {
        match self {
            Self::Ms(ms) => ms as f64,
            Self::Us(us) => us as f64 / 1000.0,
        }
    }
}

/// The synthesis of a partition.
#[must_use]
pub fn synthesis(run: &Run, task: &Task) -> Option<Spent> {
    spent(run, (task.synth_start, task.synth_end), task.synth_ms)
}

/// The stay of a partition with its device worker.
#[must_use]
pub fn on_device(run: &Run, task: &Task) -> Option<Spent> {
    spent(run, (task.gpu_start, task.gpu_end), task.gpu_ms)
}

/// The events of our own traces carry microseconds, and a stage that takes less than a
/// millisecond is then more than a zero; old logs have what they print.
fn spent(run: &Run, ends: (Option<At>, Option<At>), printed: Option<u64>) -> Option<Spent> {
    match ends {
        (Some(start), Some(end)) if run.dialect.name == OWN => Some(Spent::Us(end.us - start.us)),
        _ => printed.map(Spent::Ms),
    }
}

/// The dialect whose events have microseconds.
const OWN: &str = "own";

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Dialect, LineRef};

    fn at(us: i64) -> At {
        let line = LineRef::new(0, 1);
        At { us, line }
    }

    #[test]
    fn own_events_are_read_to_the_microsecond() {
        let task = Task {
            synth_start: Some(at(1_000_250)),
            synth_end: Some(at(1_001_126)),
            synth_ms: Some(0),
            gpu_start: Some(at(2_000_000)),
            gpu_ms: Some(7),
            ..Task::default()
        };
        let mut run = Run::default();
        assert_eq!(synthesis(&run, &task), Some(Spent::Ms(0)), "an old log");
        run.dialect = Dialect {
            name: "own",
            ..Dialect::default()
        };
        assert_eq!(synthesis(&run, &task), Some(Spent::Us(876)));
        assert_eq!(
            on_device(&run, &task),
            Some(Spent::Ms(7)),
            "no end, no clock"
        );
        assert_eq!(synthesis(&run, &Task::default()), None);
        assert!((Spent::Us(876).ms() - 0.876).abs() < 1e-12);
    }
}
