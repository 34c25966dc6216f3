//! The daemon: the engine behind gRPC, with metrics and a page that shows the pipeline.
//!
//! [`Daemon`] joins an engine, the [`Kinds`] of proof that it serves, and a [`listen::Listener`].
//! The interface on the wire is that of `proto/cuzk/v1/proving.proto`.

mod daemon;
mod jobs;
mod kinds;
pub mod listen;
mod metrics;
mod opening;
mod page;
mod parameters;
mod rehearsal;
mod run;
#[cfg(feature = "filecoin")]
mod sectors;
mod service;
mod view;
pub mod wire;

#[cfg(test)]
mod browser_tests;
#[cfg(test)]
mod daemon_tests;
#[cfg(test)]
mod ending_tests;
#[cfg(test)]
mod listen_tests;
#[cfg(test)]
#[path = "../../../analyze/src/schema_check.rs"]
mod schema_check;
#[cfg(all(test, feature = "filecoin"))]
mod sectors_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod wire_tests;

pub use daemon::{Daemon, Ended, Settings};
pub use kinds::{Kinds, Loaded, Refusal, kind_of, word};
pub use rehearsal::Rehearsal;
pub use run::{Certificate, Place, ServeError, run};
#[cfg(feature = "filecoin")]
pub use sectors::Sectors;
