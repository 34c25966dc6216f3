//! A prove call while its lines come in: which it has printed, and when its phases ended.

use super::span::Span;
use crate::run::{Mark, MarkKind};

/// GPU threads of one call that are told apart.
const THREADS: usize = 8;

/// How far a GPU thread has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Nothing printed.
    #[default]
    None,
    /// `ntt_msm_h`
    Ntt,
    /// `barrier_wait`
    Barrier,
    /// `batch_add`
    Batch,
    /// `tail_msm`
    Tail,
}

/// An open call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) call: u32,
    pub(super) worker: u32,
    pub(super) gpu: u32,
    /// Kinds of lines seen, by bit.
    seen: u32,
    stages: [Stage; THREADS],
    /// The calling thread is through: the worker went on, or the call failed.
    pub(super) left: bool,
    /// Which lines it took, as a hash.
    pub(super) taken: u64,
    /// The call was entered.
    pub(super) start: Span,
    /// The assignment was split.
    pub(super) split: Span,
    /// The CPU preparation was done.
    pub(super) prep: Span,
    /// The G2 MSM was done.
    pub(super) b_g2: Span,
    /// A line under the lock, before the GPU threads start.
    pub(super) locked: Span,
    /// The GPU threads started.
    pub(super) k_start: Span,
    /// The H MSM was done.
    pub(super) ntt: Span,
    /// The batch additions were done.
    pub(super) batch: Span,
    /// The tail was done.
    pub(super) tail: Span,
    pub(super) setup_ms: i64,
    /// Sum of the `CUZK_NTT_H` lines.
    pub(super) transform_ms: i64,
    pub(super) ntt_ms: i64,
    pub(super) barrier_ms: Option<i64>,
    pub(super) batch_ms: i64,
    pub(super) gpu_total_ms: i64,
    pub(super) prep_ms: i64,
    pub(super) b_g2_ms: i64,
    /// CPU work before the lock and wait for it.
    pub(super) before_lock_ms: i64,
    pub(super) start_fn_ms: i64,
    pub(super) pre_destructor_ms: i64,
}

impl Live {
    pub(super) fn new(call: u32, (worker, gpu): (u32, u32), start: Span) -> Self {
        Self {
            call,
            worker,
            gpu,
            seen: 0,
            stages: [Stage::None; THREADS],
            left: false,
            taken: 0,
            start,
            split: Span::ANY,
            prep: Span::ANY,
            b_g2: Span::ANY,
            locked: Span::ANY,
            k_start: Span::ANY,
            ntt: Span::ANY,
            batch: Span::ANY,
            tail: Span::ANY,
            setup_ms: 0,
            transform_ms: 0,
            ntt_ms: 0,
            barrier_ms: None,
            batch_ms: 0,
            gpu_total_ms: 0,
            prep_ms: 0,
            b_g2_ms: 0,
            before_lock_ms: 0,
            start_fn_ms: 0,
            pre_destructor_ms: 0,
        }
    }

    pub(super) fn has(&self, kind: MarkKind) -> bool {
        match kind {
            MarkKind::NttMsmH => self.stage(0) >= Stage::Ntt,
            MarkKind::BatchAdd => self.stage(0) >= Stage::Batch,
            MarkKind::TailMsm => self.stage(0) >= Stage::Tail,
            _ => self.seen & (1 << kind as u32) != 0,
        }
    }

    /// The line was its own.
    pub(super) fn take(&mut self, index: usize, mark: &Mark) {
        self.seen |= 1 << mark.kind() as u32;
        let stage = match mark.kind() {
            MarkKind::NttMsmH => Some(Stage::Ntt),
            MarkKind::BarrierWait => Some(Stage::Barrier),
            MarkKind::BatchAdd => Some(Stage::Batch),
            MarkKind::TailMsm => Some(Stage::Tail),
            _ => None,
        };
        if let Some(stage) = stage
            && let Some(slot) = self.stages.get_mut(thread(mark))
        {
            *slot = stage;
        }
        let mixed = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.taken ^= mixed ^ (mixed >> 29);
    }

    pub(super) fn stage(&self, thread: usize) -> Stage {
        self.stages.get(thread).copied().unwrap_or_default()
    }

    /// Whether a GPU thread is between its first and its last line.
    pub(super) fn is_mid_run(&self) -> bool {
        let mid = |stage: &Stage| !matches!(stage, Stage::None | Stage::Tail);
        self.stages.iter().any(mid)
    }

    /// Whether any GPU thread has printed.
    pub(super) fn has_run(&self) -> bool {
        self.stages.iter().any(|stage| *stage != Stage::None)
    }

    /// Milliseconds of the preparation thread, which starts after the split, as printed.
    pub(super) fn preparation_ms(&self) -> i64 {
        self.setup_ms + self.prep_ms + self.b_g2_ms
    }

    /// Whether every GPU thread that printed is through.
    pub(super) fn run_is_over(&self) -> bool {
        self.has_run() && !self.is_mid_run()
    }
}

/// The GPU thread of a line; those beyond the eighth are taken together.
pub(super) fn thread(mark: &Mark) -> usize {
    (mark.gpu_tid() as usize).min(THREADS - 1)
}
