//! What a run did with its GPUs, and why they sat idle: intervals, idle gaps with their causes,
//! phases, critical path, comparison of two runs, diagnosis, plots and reports.

pub mod analysis;
pub mod compare;
pub mod diagnose;
pub mod error;
pub mod export;
pub mod find;
pub mod foreign;
#[cfg(feature = "frames")]
pub mod frames;
pub mod idle;
pub mod interval;
pub mod lanes;
pub mod model;
pub mod path;
pub mod phase;
#[cfg(feature = "plots")]
pub mod plot;
#[cfg(feature = "plots")]
pub mod report;
#[cfg(test)]
mod schema_check;
#[cfg(test)]
mod schema_tests;
pub mod vram;
pub mod wall;

pub use analysis::{Options, analyze};
pub use compare::compare;
pub use diagnose::diagnose;
