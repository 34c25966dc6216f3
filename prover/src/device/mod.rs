//! Devices: who executes the ops of a plan.
//!
//! A [`Device`] executes one op at a time and answers with a result code as a driver would; it
//! knows nothing of jobs, order or traces. [`Work`] is what the engine proves: how a partition is
//! synthesised, what a kernel computes, how a proof is put together and checked. [`CpuDevice`] runs
//! the kernels on the processor and accounts the same buffers as a card would ([`Memory`]), so that
//! an allocation can fail here as it does there. The lock that workers take around a device is
//! [`DeviceLock`].

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
pub mod groth16;
mod lock;
mod memory;
mod open;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::plan::{Kernel, Plan, PlanStep, Sizes};

pub use cpu::CpuDevice;
#[cfg(feature = "cuda")]
pub use cuda::CudaDevice;
pub use lock::{DeviceLock, Held};
pub(crate) use memory::pin_cost;
pub use memory::{
    Memory, PIN_BYTES_PER_GIB, RC_INVALID, RC_OUT_OF_MEMORY, RC_REGISTERED, RC_UNREGISTERED,
};
pub use open::{Backend, Devices, STAND_IN_BYTES, Wanted};

/// Host memory that devices read again for every partition, because they have no room for it.
#[derive(Clone)]
pub struct Streamed {
    /// Address and length of what is worth pinning.
    pub ranges: Vec<(u64, u64)>,
    /// Who owns it: kept while it is pinned. Ranges with one owner are the same ranges.
    pub owner: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Streamed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Streamed")
            .field("ranges", &self.ranges)
            .finish_non_exhaustive()
    }
}

/// What an engine proves: everything about a proof that is no scheduling.
pub trait Work: Send + Sync + 'static {
    /// One partition that is to be proved.
    type Circuit: Send + 'static;
    /// A partition on its way, from synthesis to the assembled proof; holds the large buffers.
    type State: Send + 'static;
    /// The proof of a partition.
    type Proof: Clone + Send + 'static;

    /// How large the partition is; a plan is made of this.
    fn sizes(&self, circuit: &Self::Circuit) -> Sizes;

    /// Host memory that the partition takes from synthesis to its end, in bytes.
    fn host_bytes(&self, circuit: &Self::Circuit) -> u64;

    /// Makes the witness and what follows from it.
    ///
    /// # Errors
    /// Why the circuit cannot be satisfied, in words.
    fn synthesize(&self, circuit: Self::Circuit) -> Result<Self::State, String>;

    /// Host memory of the state that is read by the device: address and length.
    fn pinned(&self, _state: &Self::State) -> Option<(u64, u64)> {
        None
    }

    /// Host memory that is read anew for every partition by a plan that streams: pinned once,
    /// before the first of them, and unpinned when the engine stops.
    fn streamed(&self, _state: &Self::State) -> Option<Streamed> {
        None
    }

    /// Runs a kernel on the processor.
    ///
    /// # Errors
    /// Why it cannot, in words.
    fn kernel(&self, kernel: Kernel, state: &mut Self::State) -> Result<(), String>;

    /// Forgets what kernels have computed: the partition's plan begins anew.
    fn again(&self, state: &mut Self::State);

    /// Puts the proof together once all kernels have run.
    ///
    /// # Errors
    /// What is missing, in words.
    fn assemble(&self, state: &mut Self::State) -> Result<Self::Proof, String>;

    /// Whether the proof holds for the public inputs of its partition.
    ///
    /// # Errors
    /// Why it cannot be checked, in words.
    fn verify(&self, state: &Self::State, proof: &Self::Proof) -> Result<bool, String>;

    /// Why a proof of this state can only be wrong, in words, if that can be told.
    fn blame(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// Another proof that does not hold: what an injected fault reports instead.
    fn spoil(&self, proof: &Self::Proof) -> Self::Proof;
}

/// What a device says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Info {
    /// Its name.
    pub name: String,
    /// Its memory, bytes.
    pub total: u64,
    /// What of it is free now, bytes.
    pub free: u64,
    /// The most that was ever in use, bytes.
    pub peak: u64,
    /// Versions of what drives it, for the head of a trace: `cuda`, `driver`.
    pub software: Vec<(&'static str, String)>,
}

/// What a device answers to an op.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// Result code, 0 for success, else as CUDA numbers them.
    pub rc: i32,
    /// What went wrong, in words.
    pub why: Option<String>,
    /// Device time of a launch by the device's own clock, microseconds; without it the caller's
    /// clock has to do.
    pub device_us: Option<u64>,
}

impl Reply {
    /// Success.
    pub const OK: Self = Self {
        rc: 0,
        why: None,
        device_us: None,
    };

    /// A failure with its code.
    pub fn failed(rc: i32, why: impl Into<String>) -> Self {
        Self {
            rc,
            why: Some(why.into()),
            device_us: None,
        }
    }
}

/// Executes ops. Several workers may call at once; the order of memory ops is theirs to keep.
pub trait Device<W: Work>: Send + Sync + fmt::Debug {
    /// Name and memory.
    fn info(&self) -> Info;

    /// Whether allocations are better kept than made anew, see
    /// [`Room::keep`](crate::plan::Room::keep).
    fn is_slow_to_allocate(&self) -> bool;

    /// Executes a step of a plan, its ids renumbered to those of the trace.
    fn execute(&self, step: &PlanStep, plan: &Plan, state: &mut W::State) -> Reply;

    /// Allocates; the code is that of the driver.
    fn alloc(&self, id: u64, bytes: u64) -> i32;

    /// Frees an allocation. The code is that of the driver.
    fn free(&self, id: u64) -> i32;

    /// Pins host memory. The code is that of the driver.
    fn pin(&self, addr: u64, bytes: u64) -> i32;

    /// Unpins host memory. The code is that of the driver.
    fn unpin(&self, addr: u64) -> i32;
}
