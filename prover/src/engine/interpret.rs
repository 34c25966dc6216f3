//! The interpreter: carries a plan out on a device, op by op, every return code checked.
//!
//! What precedes a plan, and what follows a failed allocation, is in `settle`. Whatever ends a plan
//! (its last op, a failed one, a stop, a panic), what the partition held is freed, then the lock is
//! given back: [`Tenancy`] does so when it is dropped.

use std::sync::Arc;

use tracefmt::event::{Alloc, Stream, What};
use tracefmt::ops::{self, Op};

use super::fault::Place;
use super::sched::{Failure, Task};
use super::shared::Shared;
use super::station::Station;
use crate::device::{Held, RC_INVALID, RC_OUT_OF_MEMORY, Reply, Work};
use crate::plan::{OWN_SLOT, Plan, PlanStep, Sizes};
use crate::trace::Scope;

/// An allocation of a partition.
#[derive(Debug, Clone)]
pub(super) struct Live {
    /// Its id in the plan.
    local: u64,
    /// Its id in the trace.
    id: u64,
    buf: &'static str,
    bytes: u64,
}

/// Why a plan was not carried out.
#[derive(Debug)]
pub(super) enum Miss {
    /// There was no memory for an allocation.
    Memory {
        /// Its id in the trace.
        id: u64,
        /// What was asked for, in words.
        what: String,
    },
    /// Anything else.
    Failed(Failure),
}

impl From<Failure> for Miss {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A buffer that a fault keeps beyond its time.
#[derive(Debug)]
pub(super) struct Debt {
    scope: Scope,
    live: Live,
}

/// A partition's stay on a device.
pub(super) struct Tenancy<'a, W: Work> {
    pub(super) shared: &'a Shared<W>,
    pub(super) station: &'a Station<W>,
    pub(super) scope: Scope,
    /// The partition that brings what all share, which is nobody's; a failure of it is that
    /// partition's.
    pub(super) for_whom: Option<Scope>,
    /// How many workers of the device come before this one.
    slot: u32,
    held: Option<Held<'a>>,
    pub(super) live: Vec<Live>,
    /// What was freed in time; a use or a second free of it shows as what it is.
    pub(super) freed: Vec<Live>,
    pinned: Option<u64>,
    /// What all partitions of the size share on the device.
    pub(super) residents: Vec<Live>,
    /// Buffers of earlier partitions that the next tenure frees.
    debts: &'a mut Vec<Debt>,
    /// Time of the launches of the phase that is not complete, by the device if it has a clock.
    pub(super) phase_us: u64,
    /// Whether a fault lets a launch fail and leaks what is held.
    pub(super) leaks: bool,
    /// Whether a fault refuses all allocations of the partition from here on.
    refused: bool,
    /// The sizes whose share of the device it uses.
    pub(super) uses: Option<Sizes>,
}

impl<'a, W: Work> Tenancy<'a, W> {
    pub(super) fn new(
        shared: &'a Shared<W>,
        station: &'a Station<W>,
        scope: Scope,
        debts: &'a mut Vec<Debt>,
    ) -> Self {
        Self {
            leaks: shared.faults.leaks(),
            slot: scope.place.worker.unwrap_or(0) % station.workers(),
            for_whom: None,
            shared,
            station,
            scope,
            held: None,
            live: Vec::new(),
            freed: Vec::new(),
            residents: Vec::new(),
            pinned: None,
            debts,
            phase_us: 0,
            refused: false,
            uses: None,
        }
    }

    /// Carries a plan out, once what stays for it is there.
    pub(super) fn carry_out(
        &mut self,
        plan: &Arc<Plan>,
        task: &Task,
        state: &mut W::State,
    ) -> Result<(), Miss> {
        let changed = self.shared.faults.changed(plan);
        let plan = changed.as_ref().unwrap_or(plan);
        self.pin(state)?;
        if !plan.is_resident() {
            self.pin_streamed(state)?;
        }
        for step in &plan.steps {
            if task.is_stopped() {
                return Err(Failure::Stopped.into());
            }
            self.step(step, plan, state)?;
        }
        Ok(())
    }

    pub(super) fn say(&self, what: What<'_>) {
        self.shared.tracer.event(&self.scope, what);
    }

    /// Makes host memory known to the device, before the lock.
    fn pin(&mut self, state: &W::State) -> Result<(), Failure> {
        let wanted = self.shared.work.pinned(state);
        let Some((addr, bytes)) = wanted.filter(|_| self.pinned.is_none()) else {
            return Ok(());
        };
        let rc = {
            let _order = self.station.in_order();
            let rc = self.station.device.pin(addr, bytes);
            self.say(What::HostReg { addr, bytes, rc });
            rc
        };
        if rc == 0 {
            self.pinned = Some(addr);
        }
        checked(rc, || "pinning host memory failed".to_owned())
    }

    pub(super) fn unpin(&mut self) -> Result<(), Failure> {
        let Some(addr) = self.pinned.take() else {
            return Ok(());
        };
        let _order = self.station.in_order();
        let rc = self.station.device.unpin(addr);
        self.say(What::HostUnreg { addr, rc });
        checked(rc, || "unpinning host memory failed".to_owned())
    }

    pub(super) fn step(
        &mut self,
        step: &PlanStep,
        plan: &Plan,
        state: &mut W::State,
    ) -> Result<(), Miss> {
        match &step.op {
            Op::Lock { .. } => {
                self.lock();
                Ok(())
            }
            Op::Unlock { .. } => {
                self.unlock();
                Ok(())
            }
            Op::MemGetInfo { .. } => {
                let _order = self.station.in_order();
                let info = self.station.device.info();
                let (free, total) = (info.free, info.total);
                self.say(What::MemInfo { free, total });
                Ok(())
            }
            Op::Malloc { id, bytes } => self.malloc(step.about, *id, *bytes),
            Op::Free { id } => Ok(self.free(*id, step.about)?),
            Op::Launch(_) | Op::CopyHtoD(_) | Op::CopyDtoH(_) => {
                Ok(self.launch(step, plan, state)?)
            }
            _ => Ok(self.wait(step, plan, state)?),
        }
    }

    pub(super) fn lock(&mut self) {
        let lock = || self.station.lock_name.as_str().into();
        self.say(What::LockWait { lock: lock() });
        self.held = Some(self.station.lock.acquire());
        self.say(What::LockAcq { lock: lock() });
        pay(self.shared, self.station, self.debts);
    }

    pub(super) fn unlock(&mut self) {
        if let Some(held) = self.held.take() {
            let lock = self.station.lock_name.as_str().into();
            // Written before it is given back, or the next one's line could stand first.
            self.say(What::LockRel { lock });
            drop(held);
        }
    }

    fn malloc(&mut self, buf: &'static str, local: u64, bytes: u64) -> Result<(), Miss> {
        let id = self.shared.next_id();
        let rc = {
            let _order = self.station.in_order();
            let faults = &self.shared.faults;
            self.refused = self.refused || faults.alloc_fails();
            let rc = if self.refused || faults.alloc_fails_once() {
                RC_OUT_OF_MEMORY
            } else {
                self.station.device.alloc(id, bytes)
            };
            let scope = self.for_whom.as_ref().filter(|_| rc != 0);
            let what = What::VramAlloc(Alloc {
                id,
                buf: buf.into(),
                bytes,
                api: "cudaMalloc".into(),
                stream: None,
                rc,
            });
            let scope = scope.unwrap_or(&self.scope);
            self.shared.tracer.event(scope, what);
            rc
        };
        if rc == RC_OUT_OF_MEMORY {
            let what = format!("out of memory: {buf} ({bytes} bytes): rc={rc}");
            return Err(Miss::Memory { id, what });
        }
        checked(rc, || format!("allocating {buf} ({bytes} bytes) failed"))?;
        self.live.push(Live {
            local,
            id,
            buf,
            bytes,
        });
        Ok(())
    }

    /// Frees a buffer. Without the lock it is a late one, which stays until the next tenure.
    fn free(&mut self, local: u64, buf: &'static str) -> Result<(), Failure> {
        let known = self.live.iter().position(|live| live.local == local);
        let live = known.map(|at| self.live.remove(at));
        match live {
            Some(live) if self.held.is_none() => {
                let scope = self.scope.clone();
                self.debts.push(Debt { scope, live });
                Ok(())
            }
            Some(live) => {
                let rc = release(self.shared, self.station, &self.scope, &live);
                self.freed.push(live);
                checked(rc, || format!("freeing {buf} failed"))
            }
            None => {
                // The device is asked all the same: the answer is its business.
                let freed = self.freed.iter().find(|live| live.local == local);
                let rc = freed.map_or(RC_INVALID, |live| {
                    release(self.shared, self.station, &self.scope, live)
                });
                checked(rc, || format!("freeing {buf} failed"))
            }
        }
    }

    fn launch(
        &mut self,
        step: &PlanStep,
        plan: &Plan,
        state: &mut W::State,
    ) -> Result<(), Failure> {
        let numbered = step.renumbered(|local| self.id_of(local));
        let start = self.shared.now_us();
        let is_kernel = step.kernel.is_some();
        if is_kernel {
            self.shared.faults.panic_at(Place::Worker);
        }
        let injected = is_kernel && (self.shared.faults.launch_fails() || self.leaks);
        let reply = if injected {
            Reply::failed(RC_INVALID, "injected")
        } else {
            self.station.device.execute(&numbered, plan, state)
        };
        if let Some(kernel) = step.kernel {
            let us = self.shared.now_us().saturating_sub(start);
            self.shared.drag(kernel.phase.name(), us);
        }
        self.say_launch(&numbered, reply.rc);
        if let Some(kernel) = step.kernel {
            let passed = self.shared.now_us().saturating_sub(start);
            self.phase_us += reply.device_us.unwrap_or(passed);
            if kernel.is_last() {
                let us = std::mem::take(&mut self.phase_us);
                self.shared.tracer.phase(&self.scope, step.about, us);
            }
        }
        checked(reply.rc, || {
            let why = reply.why.unwrap_or_default();
            format!("{} failed: {why}", step.about)
        })
    }

    fn say_launch(&self, step: &PlanStep, rc: i32) {
        let (op, touched) = match &step.op {
            Op::CopyHtoD(touched) => ("h2d", touched),
            Op::CopyDtoH(touched) => ("d2h", touched),
            Op::Launch(touched) => ("kernel", touched),
            _ => return,
        };
        self.say(What::Launch {
            op: op.into(),
            phase: step.about.into(),
            stream: stream(touched.stream),
            reads: touched.reads().to_vec(),
            writes: touched.writes().to_vec(),
            rc,
        });
    }

    /// Waits for the device, and whatever else has no lasting effect.
    fn wait(&mut self, step: &PlanStep, plan: &Plan, state: &mut W::State) -> Result<(), Failure> {
        let rc = self.station.device.execute(step, plan, state).rc;
        let sync = |scope: &'static str, on| What::Sync {
            scope: scope.into(),
            stream: on,
            event: None,
            rc,
        };
        match step.op {
            Op::StreamSync { stream: on } => self.say(sync("stream", Some(stream(on)))),
            Op::CtxSync => self.say(sync("device", None)),
            Op::EventRecord { event, stream: on } => self.say(What::EventRecord {
                event,
                stream: stream(on),
                rc,
            }),
            Op::StreamWait { event, stream: on } => self.say(What::StreamWait {
                event,
                stream: stream(on),
                rc,
            }),
            _ => {}
        }
        checked(rc, || format!("{} failed", step.op.name()))
    }

    pub(super) fn release_all(&mut self) {
        for live in std::mem::take(&mut self.live).iter().rev() {
            let rc = release(self.shared, self.station, &self.scope, live);
            debug_assert_eq!(rc, 0, "what is live can be freed");
        }
    }

    /// The id in the trace of a buffer of the plan, also of one that is gone.
    fn id_of(&self, local: u64) -> u64 {
        let local = match local {
            OWN_SLOT => OWN_SLOT + u64::from(self.slot),
            local => local,
        };
        let mut known = self.live.iter().chain(&self.residents).chain(&self.freed);
        known
            .find(|live| live.local == local)
            .map_or(0, |live| live.id)
    }
}

impl<W: Work> Drop for Tenancy<'_, W> {
    fn drop(&mut self) {
        if !self.leaks {
            self.release_all();
        }
        self.unlock();
        self.leave();
        // The code is in the trace; there is nobody left to tell.
        drop(self.unpin());
    }
}

/// Frees what earlier partitions owe.
pub(super) fn pay<W: Work>(shared: &Shared<W>, station: &Station<W>, debts: &mut Vec<Debt>) {
    for debt in debts.drain(..) {
        release(shared, station, &debt.scope, &debt.live);
    }
}

/// Frees an allocation and says so.
pub(super) fn release<W: Work>(
    shared: &Shared<W>,
    station: &Station<W>,
    scope: &Scope,
    live: &Live,
) -> i32 {
    let _order = station.in_order();
    let rc = station.device.free(live.id);
    let what = What::VramFree {
        id: live.id,
        buf: live.buf.into(),
        bytes: live.bytes,
        api: "cudaFree".into(),
        stream: None,
        rc,
    };
    shared.tracer.event(scope, what);
    rc
}

fn checked(rc: i32, what: impl FnOnce() -> String) -> Result<(), Failure> {
    if rc == 0 {
        return Ok(());
    }
    Err(Failure::Own(format!("{}: rc={rc}", what())))
}

fn stream(on: ops::Stream) -> Stream {
    match on {
        ops::Stream::Legacy => Stream::Legacy,
        ops::Stream::Id(number) => Stream::Id(u32::try_from(number).unwrap_or(u32::MAX)),
    }
}
