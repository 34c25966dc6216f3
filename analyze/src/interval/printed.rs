//! What the timing lines of one prove call print, gathered for the reconstruction of its times.
//!
//! A printed duration is cut to whole milliseconds, so the expected duration is half a
//! millisecond more; [`Printed`] adds it. Lines that an attribution calls ambiguous still give
//! durations, but no time window.

use tracefmt::finding::Confidence;
use tracefmt::run::{LineRef, Mark, MarkKind, Run};
use tracefmt::timing::TimingWhat;

/// Half of the millisecond that printing cuts off.
pub(super) const HALF_MS: i64 = 500;

/// When a line was written: not before `after`, not behind `before`, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) after: i64,
    pub(super) before: i64,
}

/// What became of the preparation of device memory under the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Prestage {
    /// No line: this version has none, or the host memory could not be registered.
    #[default]
    None,
    /// Host memory registered, device memory not prepared.
    Skipped,
    /// Both done.
    Done,
    /// An allocation failed.
    Failed,
}

/// Durations in microseconds; negative ones, from a stepped clock, are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Printed {
    pub(super) setup: Option<i64>,
    pub(super) pre_lock: Option<i64>,
    pub(super) mutex_wait: Option<i64>,
    pub(super) held: Option<i64>,
    pub(super) prestage: Prestage,
    pub(super) prestage_us: Option<i64>,
    pub(super) ntt: Option<i64>,
    pub(super) barrier: Option<i64>,
    pub(super) batch: Option<i64>,
    pub(super) tail: Option<i64>,
    pub(super) total: Option<i64>,
    pub(super) prep: Option<i64>,
    pub(super) b_g2: Option<i64>,
    pub(super) epilogue: Option<i64>,
    /// Last line printed under the lock.
    pub(super) last_locked: Option<LineRef>,
    pub(super) acquired_at: Option<Window>,
    pub(super) ntt_at: Option<Window>,
    pub(super) barrier_at: Option<Window>,
    pub(super) batch_at: Option<Window>,
    pub(super) tail_at: Option<Window>,
    pub(super) released_at: Option<Window>,
}

/// Times beyond this, some 36 thousand years, come from a broken line; sums of times below it
/// stay inside the type.
pub(super) const SANE_US_MAX: i64 = 1 << 60;

/// A time that sums cannot carry out of the type.
pub(crate) const fn sane(us: i64) -> i64 {
    if us > SANE_US_MAX {
        SANE_US_MAX
    } else if us < -SANE_US_MAX {
        -SANE_US_MAX
    } else {
        us
    }
}

/// Milliseconds as printed to expected microseconds.
fn us(ms: i64) -> Option<i64> {
    (0..=1_000_000_000)
        .contains(&ms)
        .then(|| ms * 1000 + HALF_MS)
}

/// Whether a line is printed by the holder of the lock.
pub(super) const fn is_locked(kind: MarkKind) -> bool {
    matches!(
        kind,
        MarkKind::PreLock
            | MarkKind::PrestageVram
            | MarkKind::PrestageSkip
            | MarkKind::PrestageOk
            | MarkKind::PrestageFallback
            | MarkKind::NttMsmH
            | MarkKind::BarrierWait
            | MarkKind::BatchAdd
            | MarkKind::TailMsm
            | MarkKind::MutexHeld
    )
}

impl Printed {
    /// Gathers the lines of a call.
    pub(super) fn of(run: &Run, call: usize) -> Self {
        let mut all = Self::default();
        for mark in run.marks_of(call) {
            all.add(run, &mark);
        }
        all
    }

    /// Whether any line shows that the call had the lock.
    pub(super) const fn locked(&self) -> bool {
        self.last_locked.is_some()
    }

    /// Wait at the barrier: as printed, or what is left of the GPU thread's total.
    ///
    /// Three cut durations are taken from one cut total, so the residual comes out up to a
    /// millisecond high or two low; below 2 ms it means "none".
    pub(super) fn barrier_wait(&self) -> i64 {
        let residual = || {
            let parts = self.ntt? + self.batch? + self.tail?;
            Some(self.total? - parts)
        };
        let wait = self.barrier.or_else(residual).unwrap_or(0);
        if wait < 2000 { 0 } else { wait }
    }

    fn add(&mut self, run: &Run, mark: &Mark) {
        let window = (mark.confidence() != Confidence::Ambiguous).then_some(Window {
            after: sane(mark.after_us()),
            before: sane(mark.before_us()),
        });
        match mark.kind() {
            MarkKind::SplitVectors => self.setup = us(mark.second()),
            MarkKind::PrepMsm => self.prep = us(mark.ms()),
            MarkKind::BG2Msm => self.b_g2 = us(mark.ms()),
            MarkKind::Epilogue => self.epilogue = us(mark.ms()),
            MarkKind::NttMsmH | MarkKind::BarrierWait | MarkKind::BatchAdd | MarkKind::TailMsm
                if mark.gpu_tid() == 0 =>
            {
                self.add_kernel(mark, window);
            }
            _ => self.add_locked(run, mark, window),
        }
    }

    /// Lines of the GPU thread.
    fn add_kernel(&mut self, mark: &Mark, window: Option<Window>) {
        let ms = us(mark.ms());
        match mark.kind() {
            MarkKind::NttMsmH => (self.ntt, self.ntt_at) = (ms, window),
            MarkKind::BarrierWait => (self.barrier, self.barrier_at) = (ms, window),
            MarkKind::BatchAdd => (self.batch, self.batch_at) = (ms, window),
            _ => {
                (self.tail, self.tail_at) = (ms, window);
                self.total = us(mark.second());
            }
        }
        self.last_locked = Some(mark.line());
    }

    /// Other lines printed while the call holds the lock.
    fn add_locked(&mut self, run: &Run, mark: &Mark, window: Option<Window>) {
        match mark.kind() {
            MarkKind::PreLock => {
                self.pre_lock = us(mark.ms());
                self.mutex_wait = us(mark.second()).map(|wait| wait - HALF_MS);
                self.acquired_at = self.acquired_at.or(window);
            }
            MarkKind::PrestageVram => {
                self.prestage = self.prestage.or_skipped();
                self.acquired_at = self.acquired_at.or(window);
            }
            MarkKind::PrestageSkip => self.prestage = Prestage::Skipped,
            MarkKind::PrestageOk => {
                self.prestage = Prestage::Done;
                if let TimingWhat::PrestageOk { parts_ms, .. } = run.marks.what(mark) {
                    self.prestage_us = parts_ms.and_then(|parts| us(*parts.last()?));
                }
            }
            MarkKind::PrestageFallback => self.prestage = Prestage::Failed,
            MarkKind::MutexHeld => {
                (self.held, self.released_at) = (us(mark.ms()), window);
            }
            _ => return,
        }
        self.last_locked = Some(mark.line());
    }
}

impl Prestage {
    const fn or_skipped(self) -> Self {
        match self {
            Self::None => Self::Skipped,
            other => other,
        }
    }

    /// Whether the host memory was registered, which costs time before and after the lock.
    pub(super) const fn registered(self) -> bool {
        !matches!(self, Self::None)
    }
}
