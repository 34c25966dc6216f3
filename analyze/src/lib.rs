//! What a run did with its GPUs, and why they sat idle: intervals, idle gaps with their causes,
//! phases, critical path, comparison of two runs, diagnosis, plots and reports.

pub mod diagnose;
pub mod model;
#[cfg(test)]
mod schema_check;

pub use diagnose::diagnose;
