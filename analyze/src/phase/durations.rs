//! The durations that a run prints, phase by phase, in recorded order.

use std::collections::BTreeMap;

use tracefmt::run::{MarkKind, Run};
use tracefmt::timing::TimingWhat;

use crate::model::KnownPhase;

/// All durations of a run by phase, milliseconds, each list in recorded order.
pub fn durations(run: &Run) -> BTreeMap<String, Vec<f64>> {
    let mut known = vec![Vec::new(); KnownPhase::COUNT];
    let mut own: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    each_duration(run, |name, ms, _| match name {
        Name::Known(phase) => known[phase.index()].push(ms.as_f64()),
        Name::Own(name) => match own.get_mut(name) {
            Some(list) => list.push(ms.as_f64()),
            None => {
                own.insert(name.to_owned(), vec![ms.as_f64()]);
            }
        },
    });
    for (phase, list) in KnownPhase::all().zip(known) {
        if !list.is_empty() {
            own.entry(phase.name().to_owned()).or_default().extend(list);
        }
    }
    own
}

/// Name of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name<'a> {
    /// Of the trace language.
    Known(KnownPhase),
    /// Of our own traces.
    Own(&'a str),
}

impl<'a> Name<'a> {
    pub(super) fn of(name: &'a str) -> Self {
        KnownPhase::find(name).map_or(Self::Own(name), Self::Known)
    }
}

/// A duration as its line gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Length {
    /// Whole milliseconds.
    Ms(u32),
    /// Milliseconds with a fraction.
    Exact(f64),
}

impl Length {
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Ms(ms) => f64::from(ms),
            Self::Exact(ms) => ms,
        }
    }
}

/// Where a duration was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Index into [`Run::calls`].
    Call(u32),
    /// Index into [`Run::tasks`]; what is measured is the worker's.
    Task(u32),
    /// Nobody, or no worker.
    None,
}

/// Calls `each` with every duration of a run.
pub(super) fn each_duration<'a>(run: &'a Run, mut each: impl FnMut(Name<'a>, Length, Owner)) {
    let whole = |ms: u64| u32::try_from(ms).ok().map(Length::Ms);
    for (index, task) in (0_u32..).zip(&run.tasks) {
        if let Some(length) = task.synth_ms.and_then(whole) {
            each(Name::Known(KnownPhase::SYNTH), length, Owner::None);
        }
        if let Some(length) = task.gpu_ms.and_then(whole) {
            each(Name::Known(KnownPhase::GPU_MS), length, Owner::Task(index));
        }
    }
    for mark in &run.marks {
        let owner = mark.call().map_or(Owner::None, Owner::Call);
        if mark.kind() == MarkKind::Phase {
            let name = Name::of(run.marks.name(mark));
            each(name, Length::Exact(mark.us() as f64 / 1000.0), owner);
        } else {
            each_of(&run.marks.what(mark), |phase, ms| {
                each(Name::Known(phase), Length::Ms(ms), owner);
            });
        }
    }
    // The wait at the barrier where no line prints it: what the parts leave of the total.
    for (index, call) in (0_u32..).zip(0..run.calls.len()) {
        if let Some(ms) = residual_ms(run, call) {
            let barrier = Name::Known(KnownPhase::BARRIER_WAIT);
            each(barrier, Length::Ms(ms), Owner::Call(index));
        }
    }
}

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
    let mut put = |phase, ms: i64| {
        if let Ok(ms) = u32::try_from(ms) {
            each(phase, ms);
        }
    };
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
