//! A device with what its workers share: the lock, the order of memory ops, the plans, and what
//! stays on the device from one partition to the next.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::ground::{Begin, Ground};
use super::interpret::Live;
use crate::device::{Device, DeviceLock, Held, Work};
use crate::plan::{Plan, PlanError, Room, Sizes};

#[derive(Debug)]
pub(super) struct Station<W: Work> {
    /// Ordinal of the device.
    pub(super) gpu: u32,
    pub(super) device: Arc<dyn Device<W>>,
    pub(super) lock: DeviceLock,
    /// The name of the lock in traces.
    pub(super) lock_name: String,
    workers: u32,
    ground: Mutex<Ground<Live>>,
    /// Somebody left the device.
    left: Condvar,
    /// Who wants to begin, in order of arrival: nobody overtakes one that waits for others to
    /// leave. Taken before the device's lock, and never by who holds that.
    line: DeviceLock,
    order: Mutex<()>,
}

impl<W: Work> Station<W> {
    /// A device for so many workers; `repeats` as in [`Room`].
    pub(super) fn new(gpu: u32, device: Arc<dyn Device<W>>, workers: u32, repeats: bool) -> Self {
        let room = Room {
            repeats,
            bytes: device.info().free,
            workers,
            keep: device.is_slow_to_allocate(),
        };
        Self {
            gpu,
            device,
            lock: DeviceLock::new(),
            lock_name: format!("gpu{gpu}"),
            workers,
            ground: Mutex::new(Ground::new(room)),
            left: Condvar::new(),
            line: DeviceLock::new(),
            order: Mutex::default(),
        }
    }

    /// Workers on the device.
    pub(super) const fn workers(&self) -> u32 {
        self.workers
    }

    /// The plan for partitions of a size.
    pub(super) fn plan(&self, sizes: &Sizes) -> Result<Arc<Plan>, PlanError> {
        self.ground().plan(sizes)
    }

    /// Waits for its turn to begin. It lasts as long as what is returned with it.
    pub(super) fn begin(&self, sizes: &Sizes) -> Result<(Held<'_>, Begin<Live>), PlanError> {
        let turn = self.line.acquire();
        let mut ground = self.ground();
        loop {
            if let Some(begin) = ground.begin(sizes)? {
                return Ok((turn, begin));
            }
            ground = self
                .left
                .wait(ground)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A partition has left the device.
    pub(super) fn leave(&self, sizes: &Sizes) {
        self.ground().leave(sizes);
        self.left.notify_all();
    }

    /// The plans, and what stays. Transitions are whole when they return.
    pub(super) fn ground(&self) -> MutexGuard<'_, Ground<Live>> {
        self.ground.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held around a memory op and its event, so that traces have them in the device's order.
    pub(super) fn in_order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
