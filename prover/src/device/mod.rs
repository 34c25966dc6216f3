//! Devices: who executes the ops of a plan.
//!
//! A [`Device`] executes one op at a time and answers with a result code as a driver would; it
//! knows nothing of jobs, order or traces. [`Work`] is what the engine proves: how a partition is
//! synthesised, what a kernel computes, how a proof is put together and checked. [`CpuDevice`] runs
//! the kernels on the processor and accounts the same buffers as a card would ([`Memory`]), so that
//! an allocation can fail here as it does there. The lock that workers take around a device is
//! [`DeviceLock`].

mod cpu;
pub mod groth16;
mod lock;
mod memory;

use std::fmt;

use tracefmt::ops::Op;

use crate::plan::{Kernel, Sizes};

pub use cpu::CpuDevice;
pub use lock::{DeviceLock, Held};
pub use memory::{Memory, RC_INVALID, RC_OUT_OF_MEMORY, RC_REGISTERED, RC_UNREGISTERED};

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

    /// Runs a kernel on the processor.
    ///
    /// # Errors
    /// Why it cannot, in words.
    fn kernel(&self, kernel: Kernel, state: &mut Self::State) -> Result<(), String>;

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

    /// Another proof that does not hold: what an injected fault reports instead.
    fn spoil(&self, proof: &Self::Proof) -> Self::Proof;
}

/// What a device says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Its name.
    pub name: String,
    /// Its memory, bytes.
    pub total: u64,
    /// What of it is free now, bytes.
    pub free: u64,
}

/// What a device answers to an op.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// Result code, 0 for success, else as CUDA numbers them.
    pub rc: i32,
    /// What went wrong, in words.
    pub why: Option<String>,
}

impl Reply {
    /// Success.
    pub const OK: Self = Self { rc: 0, why: None };

    /// A failure with its code.
    pub fn failed(rc: i32, why: impl Into<String>) -> Self {
        Self {
            rc,
            why: Some(why.into()),
        }
    }
}

/// Executes ops. Several workers may call at once; the order of memory ops is theirs to keep.
pub trait Device<W: Work>: Send + Sync + fmt::Debug {
    /// Name and memory.
    fn info(&self) -> Info;

    /// Executes an op; `kernel` says what a launch computes, on which state.
    fn execute(&self, op: &Op, kernel: Option<Kernel>, state: &mut W::State) -> Reply;

    /// Frees an allocation outside any plan, after a failure. The code is that of the driver.
    fn free(&self, id: u64) -> i32;

    /// Unpins host memory outside any plan, after a failure.
    fn unpin(&self, addr: u64) -> i32;
}
