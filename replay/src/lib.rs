//! Simulated VRAM, schedules, lifecycle checks, exploration and shrinking.

pub mod run;
pub mod vram;

#[cfg(test)]
mod testing;
