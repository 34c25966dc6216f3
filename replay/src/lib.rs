//! Simulated VRAM, schedules, lifecycle checks, exploration and shrinking.

pub mod change;
pub mod check;
pub mod explore;
pub mod life;
pub mod lifecycle;
pub mod minimum;
pub mod report;
pub mod run;
pub mod shrink;
pub mod vram;

#[cfg(test)]
mod testing;
