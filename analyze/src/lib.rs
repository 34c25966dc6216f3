//! What a run did with its GPUs, and why they sat idle: intervals, idle gaps with their causes,
//! phases, critical path, comparison of two runs, diagnosis, plots and reports.

pub mod analysis;
pub mod diagnose;
pub mod find;
pub mod idle;
pub mod interval;
pub mod model;
pub mod path;
pub mod phase;

pub use analysis::{Options, analyze};
pub use diagnose::diagnose;

#[cfg(test)]
mod schema_check;
