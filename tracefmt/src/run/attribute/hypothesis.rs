//! One way to give the lines so far to the calls, and its strain.

use super::freeing::Freeing;
use super::live::Live;
use super::rules::{self, Form};
use super::span::Span;
use crate::run::{Mark, MarkKind};

/// No call can own the line.
pub(super) const NOBODY: u32 = u32::MAX;

/// The strain of leaving a line to nobody, microseconds.
pub(super) const ORPHAN_US: i64 = 2_000_000;

/// The strain of a line whose forerunner is missing.
const ROUGH_US: i64 = 300_000;

/// The strain of a line that is missing when its call ends.
const MISSING_US: i64 = 200_000;

/// The strain of an end at most, twelve days: stamps may lie ages apart, and strains are added up.
const FAR_US: i64 = 1 << 40;

/// The strain of two lines that one thread prints together and that stand apart.
const PARTED_US: i64 = 15_000;

/// More open calls than any daemon has workers: the oldest are given up.
const OPEN_MAX: usize = 64;

/// A GPU's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpu {
    pub(super) ordinal: u32,
    /// The call that holds it, as far as its lines say.
    pub(super) holder: Option<u32>,
    /// The last holder was through at the earliest at `lo`.
    pub(super) free: Span,
    /// `mutex_held` lines end a tenure, not the tail.
    pub(super) bracketed: bool,
}

impl Gpu {
    pub(super) fn release(&mut self, call: u32) {
        if self.holder == Some(call) {
            self.holder = None;
        }
    }
}

/// A line that was given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) mark: u32,
    pub(super) call: u32,
    /// Order alone left one call.
    pub(super) only: bool,
}

/// A candidate for a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Position among the open calls; none for nobody.
    pub(super) at: Option<usize>,
    pub(super) strain: i64,
    pub(super) only: bool,
}

/// One way to see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hypothesis {
    pub(super) open: Vec<Live>,
    pub(super) gpus: Vec<Gpu>,
    freeing: Freeing,
    /// The line before was this call's `CUZK_NTT_H`.
    transformed: Option<u32>,
    /// The last line was printed no earlier.
    now: i64,
    pub(super) strain: i64,
    pub(super) trail: Vec<Given>,
    /// Other owners that lines of the trail may have: index into the trail, call.
    pub(super) others: Vec<(u32, u32)>,
}

impl Hypothesis {
    /// A call begins.
    pub(super) fn begin(&mut self, live: &Live, form: Form) {
        if self.open.len() >= OPEN_MAX {
            self.open.remove(0);
        }
        if !self.gpus.iter().any(|gpu| gpu.ordinal == live.gpu) {
            self.gpus.push(Gpu {
                ordinal: live.gpu,
                holder: None,
                free: Span::ANY,
                bracketed: form.has(MarkKind::MutexHeld),
            });
        }
        self.open.push(*live);
    }

    fn gpu_of(&self, live: &Live) -> Gpu {
        let known = self.gpus.iter().find(|gpu| gpu.ordinal == live.gpu);
        known.copied().unwrap_or(Gpu {
            ordinal: live.gpu,
            holder: None,
            free: Span::ANY,
            bracketed: false,
        })
    }

    /// When a line was printed: lines stand in the order in which they were.
    fn window(&self, mark: &Mark) -> Span {
        let after = mark.after_us().max(self.now.min(mark.before_us()));
        Span::new(after, mark.before_us())
    }

    /// Who could own a line, least strain first; nobody at last.
    pub(super) fn candidates(&self, mark: &Mark, form: Form, out: &mut Vec<Candidate>) {
        out.clear();
        let window = self.window(mark);
        if mark.kind() == MarkKind::AsyncDealloc {
            let in_turn = !form.returns_whole();
            self.freeing.candidates(mark, window, in_turn, out);
            Self::sort(out);
            return;
        }
        for (at, live) in self.open.iter().enumerate() {
            if rules::in_order(live, mark, form) {
                out.push(self.candidate(at, live, mark, window));
            }
        }
        if let [one] = out.as_mut_slice() {
            one.only = true;
        }
        if out.iter().all(|candidate| candidate.strain > ROUGH_US) {
            for (at, live) in self.open.iter().enumerate() {
                if !rules::in_order(live, mark, form) && rules::in_rough_order(live, mark) {
                    let mut rough = self.candidate(at, live, mark, window);
                    rough.strain += ROUGH_US;
                    out.push(rough);
                }
            }
        }
        Self::sort(out);
    }

    /// Least strain first; nobody where every call is out of the question.
    fn sort(out: &mut Vec<Candidate>) {
        out.retain(|candidate| candidate.strain < ORPHAN_US);
        if out.len() > 1 {
            out.sort_by_key(|candidate| candidate.strain);
        }
        if out.is_empty() {
            out.push(Candidate {
                at: None,
                strain: ORPHAN_US,
                only: false,
            });
        }
    }

    fn candidate(&self, at: usize, live: &Live, mark: &Mark, window: Span) -> Candidate {
        // One thread prints both lines, one right behind the other.
        let other = mark.kind() == MarkKind::NttMsmH
            && self.transformed.is_some_and(|call| call != live.call);
        let parted = i64::from(other) * PARTED_US;
        Candidate {
            at: Some(at),
            strain: parted + rules::strain(live, &self.gpu_of(live), mark, window),
            only: false,
        }
    }

    /// Gives a line to a candidate; the caller keeps in mind to whom.
    pub(super) fn give(
        &mut self,
        index: usize,
        mark: &Mark,
        candidate: Candidate,
        form: Form,
    ) -> Given {
        self.strain += candidate.strain;
        let window = self.window(mark);
        let mut call = NOBODY;
        if mark.kind() == MarkKind::AsyncDealloc {
            if let Some(at) = candidate.at {
                let in_turn = !form.returns_whole();
                let (freed, done) = self.freeing.take(at, mark.ms(), window, in_turn);
                call = freed;
                self.now = self.now.max(done.lo);
            }
        } else if let Some(live) = candidate.at.and_then(|at| self.open.get_mut(at))
            && let Some(gpu) = self.gpus.iter_mut().find(|gpu| gpu.ordinal == live.gpu)
        {
            call = live.call;
            self.transformed = (mark.kind() == MarkKind::NttH).then_some(call);
            live.take(index, mark);
            let printed = rules::learn(live, gpu, mark, window);
            self.now = self.now.max(printed.lo);
        }
        Given {
            mark: u32::try_from(index).unwrap_or(u32::MAX),
            call,
            only: candidate.only,
        }
    }

    /// The start function of a call came back after so many milliseconds.
    pub(super) fn started(&mut self, call: u32, prove_start_ms: u32) {
        let Some(live) = self.open.iter().find(|live| live.call == call) else {
            return;
        };
        self.strain += if live.has(MarkKind::MutexHeld) {
            rules::whole(i64::from(prove_start_ms), live.start_fn_ms, false)
        } else {
            MISSING_US
        };
    }

    /// The worker of a call went on, or the call failed.
    pub(super) fn left(&mut self, call: u32, form: Form) {
        for gpu in &mut self.gpus {
            gpu.release(call);
        }
        if let Some(live) = self.open.iter_mut().find(|live| live.call == call) {
            live.left = true;
        }
        if form.returns_whole() {
            self.open.retain(|live| live.call != call);
            return;
        }
        // The preparation threads of a worker's last call but one are through.
        let worker = self.open.iter().find(|live| live.call == call);
        let worker = worker.map(|live| live.worker);
        let mut kept = 0;
        for at in (0..self.open.len()).rev() {
            let of = |live: &&Live| live.left && Some(live.worker) == worker;
            if self.open.get(at).as_ref().is_some_and(of) {
                kept += 1;
                if kept > 2 {
                    self.open.remove(at);
                }
            }
        }
    }

    /// A call came back with success: all its lines must be there, and its length must fit.
    pub(super) fn end(&mut self, call: u32, at: Span, gpu_ms: Option<i64>, form: Form) {
        for gpu in &mut self.gpus {
            gpu.release(call);
        }
        let Some(position) = self.open.iter().position(|live| live.call == call) else {
            return;
        };
        let live = self.open.remove(position);
        let mut missing = 0;
        for (kind, wanted) in [
            (MarkKind::SplitVectors, true),
            (MarkKind::PrepMsm, true),
            (MarkKind::BG2Msm, true),
            (MarkKind::NttMsmH, true),
            (MarkKind::BatchAdd, true),
            (MarkKind::TailMsm, true),
            (MarkKind::Epilogue, form.has(MarkKind::Epilogue)),
            (MarkKind::PreLock, form.has(MarkKind::PreLock)),
            (MarkKind::MutexHeld, form.has(MarkKind::MutexHeld)),
        ] {
            missing += i64::from(wanted && !live.has(kind));
        }
        self.strain += missing * MISSING_US;
        let early = at.too_early(live.b_g2).max(at.too_early(live.tail));
        self.strain += early.min(FAR_US);
        if form.has(MarkKind::AsyncDealloc) {
            self.freeing.push(call, at);
        }
        let Some(gpu_ms) = gpu_ms else {
            return;
        };
        self.strain += at.gap(live.start.after_ms(gpu_ms)).min(FAR_US);
        self.strain += rules::whole(gpu_ms, live.preparation_ms(), true);
        if live.has(MarkKind::Epilogue) {
            self.strain += rules::whole(gpu_ms, live.pre_destructor_ms, false);
        }
        if live.has(MarkKind::MutexHeld) {
            self.strain += rules::whole(gpu_ms, live.start_fn_ms, true);
        }
    }

    /// What tells two hypotheses apart for the future: which call has taken which lines.
    pub(super) fn same_future(&self, other: &Self) -> bool {
        let state = |live: &Live| (live.call, live.taken, live.left);
        self.open.len() == other.open.len()
            && self.freeing.same(&other.freeing)
            && self.open.iter().map(state).eq(other.open.iter().map(state))
    }

    /// Another way that cannot be told from this one: where it differs, both are possible.
    pub(super) fn absorb(&mut self, other: &Self) {
        let pairs = (0_u32..).zip(self.trail.iter().zip(&other.trail));
        for (at, (mine, theirs)) in pairs {
            if mine.call != theirs.call {
                self.others.push((at, theirs.call));
            }
        }
        self.others.extend_from_slice(&other.others);
        // The same few come from many ways.
        self.others.sort_unstable();
        self.others.dedup();
    }
}
