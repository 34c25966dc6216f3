//! Simulated VRAM, schedules, lifecycle checks, exploration and shrinking.

pub mod vram;
