//! What the threads of an engine share: the state machine under its lock, the voice, the faults.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tracefmt::event::What;

use super::fault::Faults;
use super::job::JobEnd;
use super::pins::Pins;
use super::sched::{Failure, Leftovers, Sched};
use super::station::Station;
use super::status::WorkerStatus;
use crate::device::Work;
use crate::plan::Sizes;
use crate::trace::{Scope, Tracer};

/// A circuit and its sizes.
pub(super) type Raw<W> = (<W as Work>::Circuit, Sizes);

/// The state machine of an engine that does this work.
pub(super) type SchedOf<W> = Sched<Raw<W>, InFlight<W>, <W as Work>::Proof>;

/// A partition between synthesis and its end. The state is dropped before its memory is given
/// back: fields drop in order.
pub(super) struct InFlight<W: Work> {
    pub(super) state: W::State,
    pub(super) sizes: Sizes,
    pub(super) reservation: Reservation<W>,
}

impl<W: Work> fmt::Debug for InFlight<W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("InFlight")
            .field("reservation", &self.reservation)
            .finish_non_exhaustive()
    }
}

/// Host memory that is reserved until this is dropped. Never dropped under the lock.
pub(super) struct Reservation<W: Work> {
    bytes: u64,
    shared: Arc<Shared<W>>,
}

impl<W: Work> Reservation<W> {
    pub(super) fn new(bytes: u64, shared: &Arc<Shared<W>>) -> Self {
        Self {
            bytes,
            shared: Arc::clone(shared),
        }
    }
}

impl<W: Work> fmt::Debug for Reservation<W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Reservation({})", self.bytes)
    }
}

impl<W: Work> Drop for Reservation<W> {
    fn drop(&mut self) {
        let bytes = self.bytes;
        self.shared.change(|sched, _| sched.release(bytes));
    }
}

pub(super) struct Shared<W: Work> {
    pub(super) work: Arc<W>,
    pub(super) tracer: Arc<Tracer>,
    pub(super) faults: Faults,
    pub(super) stations: Vec<Station<W>>,
    /// Host memory that streams through the devices.
    pub(super) pins: Pins,
    sched: Mutex<SchedOf<W>>,
    changed: Condvar,
    workers: Mutex<Vec<WorkerStatus>>,
    next_id: AtomicU64,
}

impl<W: Work> Shared<W> {
    pub(super) fn new(
        work: Arc<W>,
        tracer: Arc<Tracer>,
        faults: Faults,
        stations: Vec<Station<W>>,
        sched: SchedOf<W>,
    ) -> Self {
        Self {
            work,
            tracer,
            faults,
            stations,
            pins: Pins::default(),
            sched: Mutex::new(sched),
            changed: Condvar::new(),
            workers: Mutex::default(),
            next_id: AtomicU64::new(1),
        }
    }

    pub(super) fn now_us(&self) -> u64 {
        self.tracer.clock().now_us()
    }

    /// An id for an allocation, unique in the trace.
    pub(super) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Transitions are whole when they return, and none of them panics by itself.
    pub(super) fn sched(&self) -> MutexGuard<'_, SchedOf<W>> {
        self.sched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn workers(&self) -> MutexGuard<'_, Vec<WorkerStatus>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a transition, wakes who waits, and announces the jobs that ended with it.
    pub(super) fn change<R>(&self, transition: impl FnOnce(&mut SchedOf<W>, u64) -> R) -> R {
        let now_us = self.now_us();
        let (result, news) = {
            let mut sched = self.sched();
            let result = transition(&mut sched, now_us);
            (result, sched.take_news())
        };
        self.changed.notify_all();
        for (id, end) in news {
            self.announce(&id, &end);
        }
        result
    }

    /// A transition that throws payloads away: they are dropped here, outside the lock.
    pub(super) fn settle(
        &self,
        transition: impl FnOnce(&mut SchedOf<W>, u64) -> Leftovers<Raw<W>, InFlight<W>>,
    ) {
        drop(self.change(transition));
    }

    /// Waits until `take` gives something, or says that there will never be anything.
    pub(super) fn wait_for<R>(
        &self,
        mut take: impl FnMut(&mut SchedOf<W>, u64) -> Option<R>,
        is_over: impl Fn(&SchedOf<W>) -> bool,
    ) -> Option<R> {
        let mut sched = self.sched();
        loop {
            if let Some(taken) = take(&mut sched, self.now_us()) {
                return Some(taken);
            }
            if is_over(&sched) {
                return None;
            }
            sched = self
                .changed
                .wait(sched)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that a partition failed with a reason of its own.
    pub(super) fn report_failure(&self, scope: &Scope, failure: &Failure) {
        if let Failure::Own(why) = failure {
            let error = why.as_str().into();
            self.tracer.event(scope, What::PartitionFailed { error });
        }
    }

    /// Writes the end of a job.
    pub(super) fn announce(&self, id: &Arc<str>, end: &JobEnd) {
        let scope = Scope::of_job(id);
        let error = match end {
            JobEnd::Verified => {
                self.tracer.event(&scope, What::ProofOk { all: true });
                None
            }
            JobEnd::Failed(why) => Some(why.as_str().into()),
            JobEnd::Cancelled => None,
        };
        let status = end.status().into();
        self.tracer.event(&scope, What::JobEnd { status, error });
    }

    /// Lets a phase take longer, if a fault says so; `us` is what it took.
    pub(super) fn drag(&self, phase: &str, us: u64) {
        if let Some(factor) = self.faults.factor(phase) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a duration times a factor from 1 to 1000"
            )]
            let more = (us as f64 * (factor - 1.0)) as u64;
            self.tracer.clock().sleep_us(more);
        }
    }
}

/// What a panic said.
pub(super) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}
