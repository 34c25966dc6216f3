//! The processor as a device: kernels run where they are launched, memory is an account.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracefmt::ops::{Op, Work as Touched};

use super::{Device, Info, Memory, RC_INVALID, Reply, Work};
use crate::plan::Kernel;

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
        if memory.holds(&touched.reads) && memory.holds(&touched.writes) {
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
        }
    }

    fn execute(&self, op: &Op, kernel: Option<Kernel>, state: &mut W::State) -> Reply {
        let code = |rc, why: &str| match rc {
            0 => Reply::OK,
            rc => Reply::failed(rc, why),
        };
        match op {
            Op::Malloc { id, bytes } | Op::MallocAsync { id, bytes, .. } => {
                code(self.memory().alloc(*id, *bytes), "out of memory")
            }
            Op::Free { id } | Op::FreeAsync { id, .. } => {
                code(self.memory().free(*id), "no such allocation")
            }
            Op::HostRegister { addr, bytes } => {
                code(self.memory().pin(*addr, *bytes), "already registered")
            }
            Op::HostUnregister { addr } => code(self.memory().unpin(*addr), "not registered"),
            Op::CopyHtoD(touched) | Op::CopyDtoH(touched) => self.touches(touched),
            Op::Launch(touched) => {
                let reply = self.touches(touched);
                match kernel {
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

    fn free(&self, id: u64) -> i32 {
        self.memory().free(id)
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
