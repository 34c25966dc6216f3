//! A device with what its workers share: the lock, the order of memory ops, the plans.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::{Device, DeviceLock, Work};
use crate::plan::{Plan, PlanError, Sizes};

#[derive(Debug)]
pub(super) struct Station<W: Work> {
    /// Ordinal of the device.
    pub(super) gpu: u32,
    pub(super) device: Arc<dyn Device<W>>,
    pub(super) lock: DeviceLock,
    /// The name of the lock in traces.
    pub(super) lock_name: String,
    /// What was free when the engine started: plans are made for this, not for what happens to be
    /// free, so that partitions of one size have one plan.
    available: u64,
    plans: Mutex<BTreeMap<Sizes, Arc<Plan>>>,
    order: Mutex<()>,
}

impl<W: Work> Station<W> {
    pub(super) fn new(gpu: u32, device: Arc<dyn Device<W>>) -> Self {
        Self {
            gpu,
            available: device.info().free,
            device,
            lock: DeviceLock::new(),
            lock_name: format!("gpu{gpu}"),
            plans: Mutex::default(),
            order: Mutex::default(),
        }
    }

    /// The plan for partitions of a size.
    pub(super) fn plan(&self, sizes: &Sizes) -> Result<Arc<Plan>, PlanError> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(sizes) {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(Plan::new(sizes, self.available)?);
        plans.insert(*sizes, Arc::clone(&plan));
        Ok(plan)
    }

    /// Held around a memory op and its event, so that traces have them in the device's order.
    pub(super) fn in_order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
