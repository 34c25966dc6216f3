//! Golden timing snapshots, the statistics behind them, and the merge gate.
//!
//! Data flow: files -> [`samples`] -> evidence (one median a run and phase) -> verdict. The
//! verdict is a value; [`stats`] holds the pure functions under it, shared with the plots, so
//! that a gate and a picture can never disagree.

mod error;
pub mod evidence;
pub mod gate;
pub mod history;
pub mod key;
mod percent;
pub mod problem;
pub mod render;
pub mod samples;
pub mod snapshot;
pub mod stats;
pub mod verbs;
pub mod verdict;

pub use error::GoldenError;
pub use key::Key;
