//! The trace language of a proving engine: typed events, grammar, reader, writer, span pairing,
//! schedules.
//!
//! Data flow: bytes -> lines (`scan`) -> records ([`record`], made by `grammar`) -> runs
//! ([`run`]) ; and back through `writer`.
//! What a run asks of the card is a schedule of [`ops`]. Findings of every tool are
//! [`finding::Finding`]s.

pub mod cuda;
pub mod event;
pub mod finding;
pub mod foreign;
pub mod grammar;
pub mod input;
pub mod lint;
pub mod ops;
pub mod phase;
pub mod pieces;
pub mod record;
pub mod run;
pub mod scan;
pub mod select;
pub mod timing;
pub mod writer;

pub use run::{ReadError, Source, read};

/// Version of the trace format that `TRACE_START` carries.
pub const VERSION: u32 = 1;
