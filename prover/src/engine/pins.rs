//! Host memory that streams through the devices: pinned before the first partition that reads it,
//! all of it or nothing, and unpinned when the engine stops. Every call is in the trace.
//!
//! A range is pinned once, for all devices: by the one whose partition came first, in whose name it
//! is unpinned.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tracefmt::event::What;

use super::interpret::Tenancy;
use super::sched::Failure;
use super::shared::Shared;
use super::station::Station;
use crate::device::{Streamed, Work};
use crate::plan::Plan;
use crate::trace::Scope;

/// What is pinned for good.
#[derive(Debug, Default)]
pub(super) struct Pins {
    kept: Mutex<Vec<Kept>>,
}

/// The ranges of an owner, and the device that they were pinned by.
#[derive(Debug)]
struct Kept {
    gpu: u32,
    streamed: Streamed,
}

impl Kept {
    fn is_of(&self, streamed: &Streamed) -> bool {
        let [own, other] = [&self.streamed, streamed].map(|of| std::sync::Arc::as_ptr(&of.owner));
        std::ptr::addr_eq(own, other)
    }
}

impl Pins {
    /// Transitions are whole when they return.
    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Work> Tenancy<'_, W> {
    /// Pins what streams for this partition, if no partition before it did. A range that cannot be
    /// pinned takes those before it along, or they could never be pinned again.
    pub(super) fn pin_streamed(&mut self, state: &W::State) -> Result<(), Failure> {
        let Some(streamed) = self.shared.work.streamed(state) else {
            return Ok(());
        };
        let mut kept = self.shared.pins.kept();
        if kept.iter().any(|kept| kept.is_of(&streamed)) {
            return Ok(());
        }
        let own = self.as_nobody();
        let mut pinned = Vec::new();
        let mut failed = None;
        for &(addr, bytes) in &streamed.ranges {
            let _order = self.station.in_order();
            let rc = self.station.device.pin(addr, bytes);
            let scope = if rc == 0 { &self.scope } else { &own };
            let what = What::HostReg { addr, bytes, rc };
            self.shared.tracer.event(scope, what);
            if rc != 0 {
                failed = Some((bytes, rc));
                break;
            }
            pinned.push(addr);
        }
        let result = match failed {
            None => {
                let gpu = self.station.gpu;
                kept.push(Kept { gpu, streamed });
                Ok(())
            }
            Some((bytes, rc)) => {
                for addr in pinned.iter().rev() {
                    unpin(self.shared, self.station, &self.scope, *addr);
                }
                Err(Failure::Own(format!(
                    "pinning {bytes} bytes that stream failed, and {} ranges before them were \
                     unpinned: rc={rc}; let more memory be locked (ulimit -l), or take a card with \
                     more room, on which more stays",
                    pinned.len()
                )))
            }
        };
        self.scope = own;
        result
    }

    /// Device memory that a plan counts for what streams and that is taken by it now: all of it or
    /// nothing.
    pub(super) fn pinned_bytes(&self, plan: &Plan, state: &W::State) -> u64 {
        let gpu = self.station.gpu;
        let kept = self.shared.pins.kept();
        let is_pinned = self.shared.work.streamed(state).is_some_and(|streamed| {
            let mut of_device = kept.iter().filter(|kept| kept.gpu == gpu);
            of_device.any(|kept| kept.is_of(&streamed))
        });
        if is_pinned { plan.pinning_bytes() } else { 0 }
    }
}

/// Unpins what was pinned by a device; no partition is left to read it.
pub(super) fn unpin_all<W: Work>(shared: &Shared<W>, station: &Station<W>, scope: &Scope) {
    let mut kept = shared.pins.kept();
    for own in kept.extract_if(.., |kept| kept.gpu == station.gpu) {
        for (addr, _) in own.streamed.ranges.iter().rev() {
            unpin(shared, station, scope, *addr);
        }
    }
}

fn unpin<W: Work>(shared: &Shared<W>, station: &Station<W>, scope: &Scope, addr: u64) {
    let _order = station.in_order();
    let rc = station.device.unpin(addr);
    // The code is in the trace; there is nobody left to tell.
    shared.tracer.event(scope, What::HostUnreg { addr, rc });
}
