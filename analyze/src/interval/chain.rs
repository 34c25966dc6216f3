//! The calls of one GPU in the order of its lock: each starts where its own equations say, or
//! else as soon as its CPU work is done and the call before it has left.

use rayon::prelude::*;
use tracefmt::finding::Confidence;
use tracefmt::run::{Outcome, Run};

use super::estimate::{Call, PREPARE_US, TO_RELEASE_US};
use super::exact::Records;
use super::printed::{self, SANE_US_MAX};
use super::tuning::Tuning;
use super::{Hold, OPEN_END, Reconstruction, Span};

/// From a release to the next holder, where one waits.
const HANDOVER_US: i64 = 2_000;
/// A hold that begins this long after the one before did not wait for it.
const FREE_US: i64 = 10_000;
/// Two anchors may overlap by this much before one of them must be wrong.
const OVERLAP_US: i64 = 25_000;

/// Calls whose equations are set up side by side; each takes half a kilobyte.
const CALLS_AT_ONCE: usize = 1024;

/// Where one call lies, before it becomes a [`Hold`].
#[derive(Debug)]
pub(super) struct Place {
    pub(super) request: i64,
    pub(super) acquired: i64,
    pub(super) prepared: i64,
    pub(super) released: i64,
    pub(super) kernels: Stretches,
    pub(super) barrier: Option<Span>,
    pub(super) confidence: Confidence,
}

/// Kernel stretches in order of time; the old dialects have two at most.
#[derive(Debug)]
pub(super) enum Stretches {
    Few([Option<Span>; 2]),
    Many(Vec<Span>),
}

impl Stretches {
    fn append_to(self, list: &mut Vec<Span>) {
        match self {
            Self::Few(few) => list.extend(few.into_iter().flatten()),
            Self::Many(many) => list.extend(many),
        }
    }
}

/// Places the calls of one GPU and appends them to `all`; whether each took the lock no earlier
/// than the one before.
pub(super) fn place(
    run: &Run,
    records: &Records<'_>,
    gpu: u32,
    order: Vec<u32>,
    all: &mut Reconstruction,
) -> bool {
    let (order, last) = lock_order(run, order);
    let tuning = Tuning::of(run, &order);
    all.holds.reserve(order.len());
    // Two stretches each at most, where they are not recorded.
    all.kernels.reserve(2 * order.len());
    let equations = |index: &u32| Equations::of(run, &tuning, *index as usize);
    let mut chunks = order.chunks(CALLS_AT_ONCE);
    let first = chunks.next().unwrap_or_default();
    let mut these: Vec<Equations> = first.par_iter().map(equations).collect();
    let mut placing = Placing {
        run,
        records,
        gpu,
        tuning: &tuning,
        last,
        left: -SANE_US_MAX,
        acquired: i64::MIN,
        is_sorted: true,
        all,
    };
    while !these.is_empty() {
        let next = chunks.next().unwrap_or_default();
        let behind = next.first().map(equations);
        // While the calls of one chunk are placed, the equations of the next are set up.
        let ((), following) = rayon::join(
            || placing.calls(&these, behind.as_ref()),
            || next.par_iter().map(equations).collect(),
        );
        these = following;
    }
    placing.is_sorted
}

/// The calls of one GPU on their way into a reconstruction.
struct Placing<'a> {
    run: &'a Run,
    records: &'a Records<'a>,
    gpu: u32,
    tuning: &'a Tuning,
    /// The last call that had the lock.
    last: Option<usize>,
    /// When the last holder so far left.
    left: i64,
    /// When the last call so far took the lock.
    acquired: i64,
    /// None took it before the one that was placed before it.
    is_sorted: bool,
    all: &'a mut Reconstruction,
}

impl Placing<'_> {
    /// Places calls in the order of the lock; `behind` is the one that follows them.
    fn calls(&mut self, these: &[Equations], behind: Option<&Equations>) {
        for (at, this) in these.iter().enumerate() {
            let call = &this.call;
            let next = these.get(at + 1).or(behind);
            let is_last = self.last.is_none_or(|last| last == call.index);
            let may_hold_on = is_last || !call.printed.locked();
            let exact = self.records.place(call.index, may_hold_on);
            let place = exact.unwrap_or_else(|| {
                let chain = Chain {
                    tuning: self.tuning,
                    left: self.left,
                    next: next.and_then(Equations::acquired),
                    bounds: this.bounds,
                    may_hold_on,
                };
                chain.place(call, this.anchor)
            });
            // A hold without an end tells those behind it only when it was last seen.
            let left = match place.released {
                OPEN_END => place.prepared,
                released => released,
            };
            if place.acquired < left {
                self.left = self.left.max(left);
            }
            self.is_sorted &= self.acquired <= place.acquired;
            self.acquired = place.acquired;
            push(self.run, self.gpu, call, place, self.all);
        }
    }
}

/// A call with what its equations say by themselves.
#[derive(Debug)]
struct Equations {
    call: Call,
    /// Start of its GPU thread, where it is pinned down.
    anchor: Option<i64>,
    bounds: (i64, i64),
}

impl Equations {
    fn of(run: &Run, tuning: &Tuning, index: usize) -> Self {
        let call = Call::of(run, index);
        let bounds = call.bounds();
        let anchor = call.anchor(tuning, bounds);
        Self {
            call,
            anchor,
            bounds,
        }
    }

    /// When it takes the lock, where its own equations say so.
    fn acquired(&self) -> Option<i64> {
        Some(self.anchor? - self.call.prepare_us())
    }
}

/// Orders the calls by their first line under the lock, else by where they started; and the last
/// one that had the lock.
fn lock_order(run: &Run, order: Vec<u32>) -> (Vec<u32>, Option<usize>) {
    let key = |index: u32| {
        let mut marks = run.marks_of(index as usize);
        let locked = marks.find(|mark| printed::is_locked(mark.kind()));
        let start = || run.calls.get(index as usize).map(|call| call.start.line);
        let line = locked
            .map(|mark| mark.line())
            .or_else(start)
            .unwrap_or_default();
        (line, index, locked.is_some())
    };
    let mut keyed: Vec<_> = order.into_iter().map(key).collect();
    keyed.sort();
    let last = keyed.iter().rev().find(|(_, _, locked)| *locked);
    let last = last.map(|(_, index, _)| *index as usize);
    (keyed.into_iter().map(|(_, index, _)| index).collect(), last)
}

fn push(run: &Run, gpu: u32, call: &Call, place: Place, all: &mut Reconstruction) {
    let index = u32::try_from(call.index).unwrap_or(u32::MAX);
    let from = u32::try_from(all.kernels.len()).unwrap_or(u32::MAX);
    place.kernels.append_to(&mut all.kernels);
    let to = u32::try_from(all.kernels.len()).unwrap_or(u32::MAX);
    let owner = run.calls.get(call.index).map(|call| call.confidence);
    let start = call.start.unwrap_or(tracefmt::run::At {
        us: place.request,
        line: tracefmt::run::LineRef::default(),
    });
    all.holds.push(Hold {
        call: index,
        gpu,
        started: call.started.map(|at| at.us).into(),
        over: call.end.map(|at| at.us).into(),
        ready: call.ready.unwrap_or(start).us.min(place.request),
        request: place.request,
        acquired: place.acquired,
        released: place.released,
        prepared: place.prepared,
        kernels: from..to,
        barrier: place.barrier.unwrap_or(Span { start: 0, end: 0 }),
        open: place.released == OPEN_END,
        failed: call.outcome == Outcome::Failed,
        confidence: place.confidence.min(owner.unwrap_or(Confidence::Certain)),
        line: call.printed.last_locked.unwrap_or(start.line),
    });
}

/// When a call that starts its GPU thread at `start` gives the lock back.
pub(super) fn release_of(call: &Call, start: i64) -> i64 {
    match (call.printed.held, call.kernel_us()) {
        (Some(held), _) => start - call.prepare_us() + held,
        (None, Some(us)) => start + us + TO_RELEASE_US,
        (None, None) => start,
    }
}

/// What the calls before and behind leave to a call.
struct Chain<'a> {
    tuning: &'a Tuning,
    /// When the last holder left.
    left: i64,
    /// When the next one takes the lock, where its own equations say so.
    next: Option<i64>,
    /// Earliest and latest start of its GPU thread.
    bounds: (i64, i64),
    /// Nobody took the lock behind it, so the log may end while it holds it.
    may_hold_on: bool,
}

impl Chain<'_> {
    fn place(&self, call: &Call, anchor: Option<i64>) -> Place {
        let open = call.end.is_none() && call.outcome == Outcome::Proving;
        let printed = &call.printed;
        let none = printed.ntt.or(printed.batch).or(printed.tail).is_none();
        if !printed.locked() && (call.end.is_none() || self.tuning.usual.is_none()) {
            return self.without_lines(call, open);
        }
        let start = self.start(call, anchor);
        if open && printed.tail.is_none() && self.may_hold_on {
            return self.open(call, start);
        }
        if none && call.end.is_none() {
            return self.failed(call, start);
        }
        self.whole(call, start, anchor.is_some())
    }

    /// Start of the GPU thread.
    fn start(&self, call: &Call, anchor: Option<i64>) -> i64 {
        let prepare = call.prepare_us();
        let (low, high) = self.bounds;
        let start = anchor.unwrap_or_else(|| {
            let free = self.left.saturating_add(HANDOVER_US);
            let guess = self.ready_for_lock(call).max(free) + prepare;
            let kernel_us = call.kernel_us().unwrap_or(0) + TO_RELEASE_US;
            let next = self.next.map_or(SANE_US_MAX, |next| next - kernel_us);
            guess.max(low).min(high).min(next.max(low))
        });
        start.max(self.left.saturating_add(PREPARE_US / 4))
    }

    /// When its CPU work was done, if nothing else is known.
    fn ready_for_lock(&self, call: &Call) -> i64 {
        let before = || call.ready.map_or(0, |at| at.us);
        let split = call.split_end().unwrap_or_else(before);
        match call.printed.pre_lock {
            Some(us) => call.entry().unwrap_or(split) + us,
            None if call.printed.prestage.registered() => split + self.tuning.register,
            None => split,
        }
    }

    /// When it asked for the lock that it got at `acquired`.
    fn request(&self, call: &Call, acquired: i64) -> i64 {
        if let Some(wait) = call.printed.mutex_wait {
            return acquired - wait;
        }
        if acquired > self.left.saturating_add(FREE_US) {
            return acquired;
        }
        self.ready_for_lock(call).min(acquired)
    }

    fn whole(&self, call: &Call, start: i64, anchored: bool) -> Place {
        let printed = &call.printed;
        let usual = self.tuning.usual.unwrap_or_default();
        let [ntt, batch, tail] = usual;
        let ntt_end = start + printed.ntt.unwrap_or(ntt);
        let batch_start = ntt_end + printed.barrier_wait();
        let rest = printed.batch.unwrap_or(batch) + printed.tail.unwrap_or(tail);
        let end = batch_start + rest;
        let acquired = (start - call.prepare_us()).max(self.left.min(start - 1));
        let released = match printed.held {
            Some(held) => acquired + held,
            None => end + TO_RELEASE_US,
        };
        let over = call.end.map_or(released, |at| at.us);
        let whole = call.kernel_us().is_some();
        let lost_order =
            anchored && start - call.prepare_us() < self.left.saturating_sub(OVERLAP_US);
        Place {
            request: self.request(call, acquired),
            acquired,
            prepared: (acquired + call.prestage_us()).min(start),
            released: released.min(over).max(end),
            kernels: kernels(start, ntt_end, batch_start, end),
            barrier: Span::new(ntt_end, batch_start),
            confidence: if whole && !lost_order {
                Confidence::Inferred
            } else {
                Confidence::Ambiguous
            },
        }
    }

    /// The log ends inside the hold.
    fn open(&self, call: &Call, start: i64) -> Place {
        let printed = &call.printed;
        let acquired = start - call.prepare_us();
        let (mut spans, mut barrier) = ([Span::new(start, OPEN_END), None], None);
        if let Some(ntt) = printed.ntt {
            let ntt_end = start + ntt;
            let ready = call.split_end().zip(printed.prep).map(|(a, b)| a + b);
            let batch_start = ready.map_or(OPEN_END, |us| us.max(ntt_end));
            spans = [Span::new(start, ntt_end), Span::new(batch_start, OPEN_END)];
            barrier = Span::new(ntt_end, batch_start);
        }
        Place {
            request: self.request(call, acquired),
            acquired,
            prepared: start,
            released: OPEN_END,
            kernels: Stretches::Few(spans),
            barrier,
            confidence: Confidence::Inferred,
        }
    }

    /// It took the lock and failed under it before any kernel phase came to its end.
    fn failed(&self, call: &Call, start: i64) -> Place {
        let acquired = start - call.prepare_us();
        Place {
            request: self.request(call, acquired),
            acquired,
            prepared: start,
            released: call.printed.held.map_or(start, |held| acquired + held),
            kernels: Stretches::Few([None; 2]),
            barrier: None,
            confidence: Confidence::Inferred,
        }
    }

    /// No line under the lock: it waits for it to the end of the log, or never came to it, or the
    /// log holds no timing lines and the call itself is the best that is known.
    fn without_lines(&self, call: &Call, open: bool) -> Place {
        let ready = self.ready_for_lock(call);
        let (acquired, released) = match call.end {
            Some(end) => (ready.max(self.left).min(end.us), end.us),
            None if open => (OPEN_END, OPEN_END),
            None => (ready, ready),
        };
        Place {
            request: ready.min(acquired),
            acquired,
            prepared: acquired,
            released,
            kernels: Stretches::Few([Span::new(acquired, released), None]),
            barrier: None,
            confidence: Confidence::Ambiguous,
        }
    }
}

fn kernels(start: i64, ntt_end: i64, batch_start: i64, end: i64) -> Stretches {
    if ntt_end == batch_start {
        return Stretches::Few([Span::new(start, end), None]);
    }
    Stretches::Few([Span::new(start, ntt_end), Span::new(batch_start, end)])
}
