//! Golden timing snapshots, the statistics behind them, and the merge gate.
//!
//! [`stats`] holds pure functions over slices; everything that compares timings, here and in the
//! plots, calls them, so that a gate and a picture can never disagree.

pub mod stats;
