//! The processor as a device: kernels run where they are launched, memory is an account.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracefmt::ops::{Op, Work as Touched};

use super::{Device, Info, Memory, RC_INVALID, Reply, Work};
use crate::plan::{Plan, PlanStep};

/// Runs the kernels of a [`Work`] on the processor against an account of device memory.
pub struct CpuDevice<W> {
    work: Arc<W>,
    memory: Mutex<Memory>,
}

impl<W: Work> CpuDevice<W> {
    /// A device with so many bytes of memory, of which `baseline` are in use by others.
    pub fn new(work: Arc<W>, capacity: u64, baseline: u64) -> Self {
        Self {
            work,
            memory: Mutex::new(Memory::new(capacity, baseline)),
        }
    }

    /// Bytes that allocations hold now.
    pub fn held_bytes(&self) -> u64 {
        self.memory().held_bytes()
    }

    /// The most bytes ever in use.
    pub fn peak_bytes(&self) -> u64 {
        self.memory().peak_bytes()
    }

    /// Host ranges that are pinned now.
    pub fn pinned_ranges(&self) -> usize {
        self.memory().pinned_ranges()
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work on buffers that are not there is refused, as a card would crash on it.
    fn touches(&self, touched: &Touched) -> Reply {
        let memory = self.memory();
        if memory.holds(touched.reads()) && memory.holds(touched.writes()) {
            return Reply::OK;
        }
        Reply::failed(RC_INVALID, "it touches a buffer that is not allocated")
    }
}

impl<W: Work> Device<W> for CpuDevice<W> {
    fn info(&self) -> Info {
        let memory = self.memory();
        Info {
            name: "cpu".to_owned(),
            total: memory.capacity(),
            free: memory.free_bytes(),
            peak: memory.peak_bytes(),
            software: Vec::new(),
        }
    }

    /// It is an account only.
    fn is_slow_to_allocate(&self) -> bool {
        false
    }

    fn execute(&self, step: &PlanStep, _plan: &Plan, state: &mut W::State) -> Reply {
        match &step.op {
            Op::CopyHtoD(touched) | Op::CopyDtoH(touched) => self.touches(touched),
            Op::Launch(touched) => {
                let reply = self.touches(touched);
                match step.kernel {
                    Some(kernel) if reply.rc == 0 => self
                        .work
                        .kernel(kernel, state)
                        .map_or_else(|why| Reply::failed(RC_INVALID, why), |()| Reply::OK),
                    _ => reply,
                }
            }
            // Kernels have run when they were launched: there is nothing to wait for.
            _ => Reply::OK,
        }
    }

    fn alloc(&self, id: u64, bytes: u64) -> i32 {
        self.memory().alloc(id, bytes)
    }

    fn free(&self, id: u64) -> i32 {
        self.memory().free(id)
    }

    fn pin(&self, addr: u64, bytes: u64) -> i32 {
        self.memory().pin(addr, bytes)
    }

    fn unpin(&self, addr: u64) -> i32 {
        self.memory().unpin(addr)
    }
}

impl<W> fmt::Debug for CpuDevice<W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CpuDevice")
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}
