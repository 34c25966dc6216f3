//! One file a verb: arguments, one library call, printing.

pub mod analyze;
pub mod compare;
pub mod completions;
pub mod diagnose;
pub mod man;
pub mod replay;
mod replayed;
mod report;
pub mod trace;
mod words;
