//! One file a verb: arguments, one library call, printing.

pub mod completions;
pub mod man;
pub mod trace;
