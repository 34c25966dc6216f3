//! Golden timing snapshots, the statistics behind them, and the merge gate.
//!
//! Data flow: files -> [`samples`] -> evidence (one median a run and phase) -> verdict. The
//! verdict is a value; [`stats`] holds the pure functions under it, shared with the plots, so
//! that a gate and a picture can never disagree.

mod error;
pub mod key;
pub mod samples;
pub mod stats;

pub use error::GoldenError;
pub use key::Key;
