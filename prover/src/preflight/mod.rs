//! Is the machine ready for a benchmark: the old daemon gone, the port free, GPU memory back at its
//! baseline and still, the binary the one just built.
//!
//! A fixed sleep after a kill is how a benchmark comes to measure the memory of the process before
//! it. [`Preflight`] is fed with what a [`Machine`] shows, poll by poll, and says for each check
//! whether it holds and what it waits for. It reads no clock and never sleeps: the caller polls.
//!
//! It does not judge the noise of the machine (other load, clocks, temperature).

mod check;
mod linux;
mod report;

#[cfg(test)]
mod tests;

pub use check::{Check, Preflight, Settings, State};
pub use linux::Linux;
pub use report::{Line, Report};

use std::path::{Path, PathBuf};

/// A process that would disturb the benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its command line, arguments separated by blanks.
    pub command: String,
}

/// Memory in use on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuMemory {
    /// Ordinal of the device.
    pub gpu: u32,
    /// MiB in use by whomever.
    pub used_mib: u64,
    /// MiB in all.
    pub total_mib: u64,
}

/// When files were last changed, in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The binary.
    pub binary_ms: u64,
    /// The source changed last, and when.
    pub newest_source: Option<(PathBuf, u64)>,
}

/// What the checks look at. A question that cannot be answered says why.
pub trait Machine {
    /// Running daemons of the kind that serves the port.
    ///
    /// # Errors
    /// Why processes cannot be listed.
    fn daemons(&self) -> Result<Vec<Process>, String>;

    /// Whether a listener can be bound to the loopback port.
    ///
    /// # Errors
    /// Why it cannot be tried, other than that the port is taken.
    fn port_is_free(&self, port: u16) -> Result<bool, String>;

    /// Memory in use, device by device; empty where there is no device.
    ///
    /// # Errors
    /// Why the driver does not answer.
    fn gpu_memory(&self) -> Result<Vec<GpuMemory>, String>;

    /// When the binary and the sources beside it were changed.
    ///
    /// # Errors
    /// Which file cannot be read.
    fn built(&self, binary: &Path, sources: &Path) -> Result<Built, String>;
}
