//! The rules that say whether an open call can own a line, and at what strain.
//!
//! Order rules exclude. Time rules follow the call's threads: the calling thread splits, takes the
//! lock and waits; the preparation thread starts at the split and prints when it ends; the GPU
//! thread starts under the lock, waits for the preparation, and prints after each phase. Each line
//! gives the length of a phase that ended when it was printed, so each must lie where the lines
//! before it say. What is out of place is the strain, in microseconds.

use super::hypothesis::Gpu;
use super::live::{Live, Stage, thread};
use super::span::Span;
use crate::run::{Mark, MarkKind};

/// Which kinds of lines the log has, by which rules are chosen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Form(u32);

impl Form {
    /// The kinds for which `has` holds.
    pub(super) fn of(has: impl Fn(MarkKind) -> bool) -> Self {
        let kinds = MarkKind::ALL.iter().filter(|kind| has(**kind));
        Self(kinds.fold(0, |bits, kind| bits | 1 << *kind as u32))
    }

    pub(super) fn has(self, kind: MarkKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    /// The call returns when the proof is done, not before.
    pub(super) fn returns_whole(self) -> bool {
        self.has(MarkKind::Epilogue)
    }
}

/// Another call is known to hold the lock.
pub(super) const HELD_US: i64 = 300_000;

/// From the last line under the lock before the GPU threads to their start.
const LAUNCH_US: i64 = 30_000;

/// A whole that is shorter than its parts by a millisecond strains so much: no delay does that.
const SHORTER_US: i64 = 25_000;

/// Strain from sums of printed milliseconds at most: a wall clock that is set spoils them.
const SUM_MAX_US: i64 = 150_000;

/// Milliseconds that the cutting off of a few phases and what lies between them can hide.
const CUT_OFF_MS: i64 = 5;

/// A whole and the sum of its parts, as printed: cut off, the whole is never shorter, and longer
/// only by what was cut off. `at_least`: other parts are not counted, so longer is no strain.
pub(super) fn whole(whole_ms: i64, parts_ms: i64, at_least: bool) -> i64 {
    let over = whole_ms.saturating_sub(parts_ms);
    let strain = if over < 0 {
        over.saturating_neg().saturating_mul(SHORTER_US)
    } else if at_least {
        0
    } else {
        (over - CUT_OFF_MS).max(0).saturating_mul(1000)
    };
    strain.min(SUM_MAX_US)
}

/// Whether the order of lines allows it.
pub(super) fn in_order(live: &Live, mark: &Mark, form: Form) -> bool {
    let has = |kind| live.has(kind);
    let split = has(MarkKind::SplitVectors);
    let kind = mark.kind();
    let stage = live.stage(thread(mark));
    let lock_open =
        (!form.has(MarkKind::PreLock) || has(MarkKind::PreLock)) && !has(MarkKind::MutexHeld);
    match kind {
        MarkKind::PrepMsm => split && !has(kind),
        MarkKind::BG2Msm => has(MarkKind::PrepMsm) && !has(kind),
        _ if live.left => false,
        MarkKind::SplitVectors => !split,
        MarkKind::HostRegister => {
            split && !has(kind) && !has(MarkKind::PrestageVram) && !live.has_run()
        }
        MarkKind::PreLock => split && !has(kind),
        MarkKind::PrestageVram
        | MarkKind::PrestageSkip
        | MarkKind::PrestageOk
        | MarkKind::PrestageFallback => {
            split && !has(kind) && !has(MarkKind::HostRegister) && !live.has_run()
        }
        MarkKind::PoolThreshold | MarkKind::DaCache | MarkKind::NttH => {
            split && lock_open && stage == Stage::None
        }
        MarkKind::NttMsmH => split && lock_open && stage == Stage::None,
        MarkKind::BarrierWait => stage == Stage::Ntt && has(MarkKind::PrepMsm),
        MarkKind::BatchAdd => {
            let barrier = !form.has(MarkKind::BarrierWait) || stage == Stage::Barrier;
            barrier && stage >= Stage::Ntt && stage < Stage::Batch && has(MarkKind::PrepMsm)
        }
        MarkKind::TailMsm => stage == Stage::Batch,
        MarkKind::MutexHeld => split && !has(kind) && !live.is_mid_run(),
        MarkKind::Epilogue => live.run_is_over() && has(MarkKind::BG2Msm) && !has(kind),
        MarkKind::AsyncDealloc | MarkKind::Phase | MarkKind::Other => false,
    }
}

/// Whether a call could own a line some of whose forerunners are missing.
pub(super) fn in_rough_order(live: &Live, mark: &Mark) -> bool {
    let kind = mark.kind();
    match kind {
        MarkKind::AsyncDealloc | MarkKind::Phase | MarkKind::Other => false,
        MarkKind::PrepMsm | MarkKind::BG2Msm => !live.has(kind),
        _ if live.left => false,
        MarkKind::NttMsmH => live.stage(thread(mark)) == Stage::None,
        MarkKind::BarrierWait => live.stage(thread(mark)) <= Stage::Ntt,
        MarkKind::BatchAdd => live.stage(thread(mark)) <= Stage::Barrier,
        MarkKind::TailMsm => live.stage(thread(mark)) <= Stage::Batch,
        MarkKind::NttH => live.stage(0) == Stage::None,
        _ => !live.has(kind) && !live.run_is_over() || kind == MarkKind::Epilogue,
    }
}

/// The strain of giving a line to a call, microseconds.
pub(super) fn strain(live: &Live, gpu: &Gpu, mark: &Mark, at: Span) -> i64 {
    let ms = mark.ms();
    let held = match gpu.holder {
        Some(holder) if holder != live.call => HELD_US,
        _ => 0,
    };
    match mark.kind() {
        MarkKind::SplitVectors => at.gap(live.start.after_ms(mark.second())),
        MarkKind::PrepMsm => at.gap(live.split.after_ms(ms)),
        MarkKind::BG2Msm => at.gap(live.prep.after_ms(ms)),
        MarkKind::PreLock => {
            let cpu = (ms - live.setup_ms).abs().saturating_sub(3).clamp(0, 200) * 1000;
            let before = ms + mark.second();
            held + cpu + at.gap(live.start.after_ms(before)) + at.too_early(gpu.free)
        }
        MarkKind::HostRegister => at.too_early(live.split),
        MarkKind::PrestageVram
        | MarkKind::PrestageSkip
        | MarkKind::PrestageOk
        | MarkKind::PrestageFallback => {
            held + at.too_early(live.split).max(at.too_early(gpu.free)) + near(at, live.locked)
        }
        MarkKind::PoolThreshold | MarkKind::DaCache => {
            let other = if mark.gpu_tid() == live.gpu {
                0
            } else {
                50_000
            };
            held + other + at.too_early(live.split) + near(at, live.locked)
        }
        MarkKind::NttH => held + run_start(live, gpu, at.before_ms(ms)),
        MarkKind::NttMsmH => {
            let parts = whole(ms, live.transform_ms, live.transform_ms == 0);
            held + parts + run_start(live, gpu, at.before_ms(ms))
        }
        MarkKind::BarrierWait => {
            let end = live.ntt.latest(live.prep);
            at.gap(Span::new(end.lo, end.hi + 4_000))
                .max(at.gap(live.ntt.after_ms(ms)))
        }
        MarkKind::BatchAdd => at.gap(live.ntt.latest(live.prep).after_ms(ms)),
        MarkKind::TailMsm => tail(live, mark, at),
        MarkKind::MutexHeld => {
            let parts = live.before_lock_ms + ms;
            let parts = (mark.second() - parts)
                .abs()
                .saturating_sub(5)
                .clamp(0, 1000)
                * 1000;
            let parts = if live.has(MarkKind::PreLock) {
                parts
            } else {
                0
            };
            parts + at.gap(live.start.after_ms(mark.second())) + at.too_early(live.tail)
        }
        MarkKind::Epilogue => {
            let early = at.too_early(live.tail.latest(live.b_g2));
            let sums = whole(mark.second(), live.preparation_ms() + ms, true)
                + whole(mark.second(), live.setup_ms + live.gpu_total_ms + ms, true);
            sums + at.gap(live.start.after_ms(mark.second())).max(early)
        }
        MarkKind::AsyncDealloc | MarkKind::Phase | MarkKind::Other => 0,
    }
}

/// A further line of the same few milliseconds under the lock.
fn near(at: Span, locked: Span) -> i64 {
    let until = Span::new(locked.lo, locked.hi.saturating_add(LAUNCH_US));
    at.gap(until)
}

/// GPU threads start under the lock: after the split, after the last holder, and right behind the
/// lines that open the tenure.
fn run_start(live: &Live, gpu: &Gpu, start: Span) -> i64 {
    let early = start.too_early(live.split).max(start.too_early(gpu.free));
    early
        .max(near(start, live.locked))
        .max(start.gap(live.k_start))
}

/// The tail closes the run: it must fit behind the batch additions, the whole must fit to the
/// start of the thread, and the wait that is left over must end with the preparation.
fn tail(live: &Live, mark: &Mark, at: Span) -> i64 {
    let total = mark.second();
    let end = at.meet(live.batch.after_ms(mark.ms()));
    let own = at.gap(live.batch.after_ms(mark.ms()));
    if thread(mark) != 0 {
        return own;
    }
    let fits = end.gap(live.k_start.after_ms(total));
    let kernels = live.ntt_ms + live.batch_ms + mark.ms();
    let parts = kernels + live.barrier_ms.unwrap_or(0);
    let sums = whole(total, parts, live.barrier_ms.is_none());
    let wait = total - kernels;
    let released = end.before_ms(mark.ms()).before_ms(live.batch_ms);
    let prep = if wait > CUT_OFF_MS {
        released.gap(live.prep)
    } else {
        released.too_early(live.prep)
    };
    own.max(fits).max(prep) + sums
}

/// The line is the call's: what it teaches about the moments of the call.
/// Gives back when it was printed.
pub(super) fn learn(live: &mut Live, gpu: &mut Gpu, mark: &Mark, at: Span) -> Span {
    let ms = mark.ms();
    match mark.kind() {
        MarkKind::SplitVectors => {
            live.setup_ms = mark.second();
            live.split = at.meet(live.start.after_ms(mark.second()));
        }
        MarkKind::PrepMsm => {
            live.prep_ms = ms;
            live.prep = at.meet(live.split.after_ms(ms));
        }
        MarkKind::BG2Msm => {
            live.b_g2_ms = ms;
            live.b_g2 = at.meet(live.prep.after_ms(ms));
        }
        MarkKind::BarrierWait => live.barrier_ms = Some(ms),
        MarkKind::PreLock => {
            live.before_lock_ms = ms + mark.second();
            live.locked = at.meet(live.start.after_ms(live.before_lock_ms));
            gpu.holder = Some(live.call);
        }
        MarkKind::PrestageVram
        | MarkKind::PrestageSkip
        | MarkKind::PrestageOk
        | MarkKind::PrestageFallback
        | MarkKind::PoolThreshold
        | MarkKind::DaCache => {
            live.locked = at;
            gpu.holder = Some(live.call);
        }
        MarkKind::NttH => {
            gpu.holder = Some(live.call);
            live.transform_ms += ms;
        }
        MarkKind::NttMsmH => run_begins(live, gpu, ms, at),
        MarkKind::BatchAdd => {
            live.batch = at.meet(live.ntt.latest(live.prep).after_ms(ms));
            live.batch_ms = ms;
        }
        MarkKind::TailMsm => {
            live.tail = at.meet(live.batch.after_ms(ms));
            live.gpu_total_ms = mark.second();
            if !live.is_mid_run() {
                gpu.free = Span::new(live.tail.lo, Span::ANY.hi);
                gpu.holder = gpu.holder.filter(|_| gpu.bracketed);
            }
        }
        MarkKind::MutexHeld => {
            live.start_fn_ms = mark.second();
            gpu.release(live.call);
        }
        MarkKind::Epilogue => live.pre_destructor_ms = mark.second(),
        _ => {}
    }
    match mark.kind() {
        MarkKind::SplitVectors => live.split,
        MarkKind::PrepMsm => live.prep,
        MarkKind::BG2Msm => live.b_g2,
        MarkKind::NttMsmH => live.ntt,
        MarkKind::BatchAdd => live.batch,
        MarkKind::TailMsm => live.tail,
        MarkKind::PreLock => live.locked,
        _ => at,
    }
}

/// The first line of a run of the GPU threads.
fn run_begins(live: &mut Live, gpu: &mut Gpu, ms: i64, at: Span) {
    gpu.holder = Some(live.call);
    let until = live.locked.hi.saturating_add(LAUNCH_US);
    let start = at.before_ms(ms).meet(Span::new(live.locked.lo, until));
    let bound = Span::new(live.split.lo.max(gpu.free.lo), i64::MAX);
    live.k_start = start.meet(bound);
    live.ntt = at.meet(live.k_start.after_ms(ms));
    live.ntt_ms = ms;
}
