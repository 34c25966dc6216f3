//! The engine: jobs of several partitions on their way through synthesis, devices and checks.
//!
//! A job goes in by [`Engine::submit`] and comes out by [`Engine::wait`], verified or failed with
//! its reason. In between, each partition passes the same stations:
//!
//! ```text
//! submit -> waits -> synthesis worker -> queue -> device worker -> finisher -> verified
//!           by key   memory reserved     by key   plan over device  proof checked, memory back
//! ```
//!
//! Both waiting lines are strictly ordered by priority, then job, then partition ([`Key`]): the
//! head waits for memory rather than be overtaken. Who decides is a state machine without threads
//! or time (`sched`); workers carry out what it hands them. Memory of the host is reserved before
//! synthesis and given back when the buffers are gone. A worker's panic or error frees what it held
//! and fails its partition; the worker goes on with the next.
//!
//! What a proof is, the engine does not know: see [`crate::device::Work`].

mod fault;
mod finish;
mod ground;
mod interpret;
mod job;
mod pins;
mod sched;
mod settle;
mod shared;
mod spoiled;
mod start;
mod station;
mod status;
mod synth;
mod worker;

pub use fault::{BadFault, Fault, FaultCount, Injection};
pub use job::{JobEnd, JobReport, JobSpec, Key, PartState, Priority, SubmitError, Ticket};
pub use sched::Limits;
pub use spoiled::late_free_bytes;
pub use start::{Config, Engine, Shutdown, StartError};
pub use status::{JobStatus, QueueStatus, Status, Totals, WorkerStatus};

#[cfg(test)]
mod tests;
