//! The interpreter: carries a plan out on a device, op by op, every return code checked.
//!
//! Whatever ends a plan (its last op, a failed one, a stop, a panic), what the partition held is
//! freed, then the lock is given back: [`Tenancy`] does so when it is dropped.

use std::sync::Arc;

use tracefmt::event::{Alloc, Stream, What};
use tracefmt::ops::{self, Op};

use super::fault::Place;
use super::sched::{Failure, Task};
use super::shared::Shared;
use super::station::Station;
use crate::device::{Held, RC_INVALID, RC_OUT_OF_MEMORY, Reply, Work};
use crate::plan::{Kernel, Plan, PlanStep};
use crate::trace::Scope;

/// An allocation of a partition.
#[derive(Debug, Clone)]
struct Live {
    /// Its id in the plan.
    local: u64,
    /// Its id in the trace.
    id: u64,
    buf: &'static str,
    bytes: u64,
}

/// A buffer that a fault keeps beyond its time.
#[derive(Debug)]
pub(super) struct Debt {
    scope: Scope,
    live: Live,
}

/// A partition's stay on a device.
pub(super) struct Tenancy<'a, W: Work> {
    shared: &'a Shared<W>,
    station: &'a Station<W>,
    scope: Scope,
    held: Option<Held<'a>>,
    live: Vec<Live>,
    /// What was freed in time; a use or a second free of it shows as what it is.
    freed: Vec<Live>,
    pinned: Option<u64>,
    /// Buffers of earlier partitions that the next tenure frees.
    debts: &'a mut Vec<Debt>,
    /// Start of the phase whose launches are not all done.
    phase_us: Option<u64>,
    /// Whether a fault lets a launch fail and leaks what is held.
    leaks: bool,
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
            shared,
            station,
            scope,
            held: None,
            live: Vec::new(),
            freed: Vec::new(),
            pinned: None,
            debts,
            phase_us: None,
        }
    }

    /// Carries the plan out; between two ops it looks whether the job was given up.
    pub(super) fn run(
        &mut self,
        plan: &Arc<Plan>,
        task: &Task,
        state: &mut W::State,
    ) -> Result<(), Failure> {
        let changed = self.shared.faults.changed(plan);
        let steps = changed.as_ref().map_or(&plan.steps, |plan| &plan.steps);
        self.pin(state)?;
        for step in steps {
            if task.is_stopped() {
                return Err(Failure::Stopped);
            }
            self.step(step, state)?;
        }
        self.unpin()
    }

    fn say(&self, what: What<'_>) {
        self.shared.tracer.event(&self.scope, what);
    }

    /// Makes host memory known to the device, before the lock.
    fn pin(&mut self, state: &mut W::State) -> Result<(), Failure> {
        let Some((addr, bytes)) = self.shared.work.pinned(state) else {
            return Ok(());
        };
        let op = Op::HostRegister { addr, bytes };
        let rc = {
            let _order = self.station.in_order();
            let rc = self.station.device.execute(&op, None, state).rc;
            self.say(What::HostReg { addr, bytes, rc });
            rc
        };
        if rc == 0 {
            self.pinned = Some(addr);
        }
        checked(rc, || "pinning host memory failed".to_owned())
    }

    fn unpin(&mut self) -> Result<(), Failure> {
        let Some(addr) = self.pinned.take() else {
            return Ok(());
        };
        let _order = self.station.in_order();
        let rc = self.station.device.unpin(addr);
        self.say(What::HostUnreg { addr, rc });
        checked(rc, || "unpinning host memory failed".to_owned())
    }

    fn step(&mut self, step: &PlanStep, state: &mut W::State) -> Result<(), Failure> {
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
            Op::Malloc { id, bytes } => self.malloc(step.about, *id, *bytes, state),
            Op::Free { id } => self.free(*id, step.about),
            Op::Launch(_) | Op::CopyHtoD(_) | Op::CopyDtoH(_) => self.launch(step, state),
            other => self.wait(other, state),
        }
    }

    fn lock(&mut self) {
        let lock = || self.station.lock_name.as_str().into();
        self.say(What::LockWait { lock: lock() });
        self.held = Some(self.station.lock.acquire());
        self.say(What::LockAcq { lock: lock() });
        pay(self.shared, self.station, self.debts);
    }

    fn unlock(&mut self) {
        if let Some(held) = self.held.take() {
            let lock = self.station.lock_name.as_str().into();
            // Written before it is given back, or the next one's line could stand first.
            self.say(What::LockRel { lock });
            drop(held);
        }
    }

    fn malloc(
        &mut self,
        buf: &'static str,
        local: u64,
        bytes: u64,
        state: &mut W::State,
    ) -> Result<(), Failure> {
        let id = self.shared.next_id();
        let rc = {
            let _order = self.station.in_order();
            let rc = if self.shared.faults.alloc_fails() {
                RC_OUT_OF_MEMORY
            } else {
                let op = Op::Malloc { id, bytes };
                self.station.device.execute(&op, None, state).rc
            };
            self.say(What::VramAlloc(Alloc {
                id,
                buf: buf.into(),
                bytes,
                api: "cudaMalloc".into(),
                stream: None,
                rc,
            }));
            rc
        };
        checked(rc, || format!("out of memory: {buf} ({bytes} bytes)"))?;
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

    fn launch(&mut self, step: &PlanStep, state: &mut W::State) -> Result<(), Failure> {
        let numbered = step.renumbered(|local| self.id_of(local));
        let start = self.shared.now_us();
        let since = *self.phase_us.get_or_insert(start);
        let is_kernel = step.kernel.is_some();
        if is_kernel {
            self.shared.faults.panic_at(Place::Worker);
        }
        let injected = is_kernel && (self.shared.faults.launch_fails() || self.leaks);
        let reply = if injected {
            Reply::failed(RC_INVALID, "injected")
        } else {
            let device = &self.station.device;
            device.execute(&numbered.op, step.kernel, state)
        };
        if let Some(kernel) = step.kernel {
            let us = self.shared.now_us().saturating_sub(start);
            self.shared.drag(kernel.phase.name(), us);
        }
        self.say_launch(&numbered, reply.rc);
        if step.kernel.is_some_and(Kernel::is_last) {
            let us = self.shared.now_us().saturating_sub(since);
            self.shared.tracer.phase(&self.scope, step.about, us);
            self.phase_us = None;
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
            reads: touched.reads.clone(),
            writes: touched.writes.clone(),
            rc,
        });
    }

    /// Waits for the device, and whatever else has no lasting effect.
    fn wait(&mut self, op: &Op, state: &mut W::State) -> Result<(), Failure> {
        let reply = self.station.device.execute(op, None, state);
        let rc = reply.rc;
        let (scope, on) = match op {
            Op::StreamSync { stream: on } => ("stream", Some(stream(*on))),
            Op::CtxSync => ("device", None),
            _ => return checked(rc, || format!("{} failed", op.name())),
        };
        self.say(What::Sync {
            scope: scope.into(),
            stream: on,
            event: None,
            rc,
        });
        checked(rc, || format!("waiting for the {scope} failed"))
    }

    /// The id in the trace of a buffer of the plan, also of one that is gone.
    fn id_of(&self, local: u64) -> u64 {
        let mut known = self.live.iter().chain(&self.freed);
        known
            .find(|live| live.local == local)
            .map_or(0, |live| live.id)
    }
}

impl<W: Work> Drop for Tenancy<'_, W> {
    fn drop(&mut self) {
        if !self.leaks {
            for live in std::mem::take(&mut self.live).iter().rev() {
                let rc = release(self.shared, self.station, &self.scope, live);
                debug_assert_eq!(rc, 0, "what is live can be freed");
            }
        }
        self.unlock();
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

fn release<W: Work>(shared: &Shared<W>, station: &Station<W>, scope: &Scope, live: &Live) -> i32 {
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
