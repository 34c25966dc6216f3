//! Simulated VRAM, schedules, lifecycle checks, exploration and shrinking.
//!
//! A schedule ([`tracefmt::ops`]) is run ([`run`]) over simulated memory ([`vram`]); what it did
//! to its buffers is read off ([`life`]) and judged ([`check`]); what would help is tried
//! ([`change`], [`minimum`]); [`report`] puts it together. Schedules come from files, from events
//! of our own traces ([`events`]), or are rebuilt for old logs ([`lifecycle`]); [`log`] picks.
//! [`explore`] tries all orders, [`shrink`] leaves the core, [`quiet`] judges a schedule that is
//! too long to keep.

pub mod change;
pub mod check;
pub mod events;
pub mod explore;
pub mod life;
pub mod lifecycle;
pub mod log;
pub mod minimum;
pub mod quiet;
pub mod report;
pub mod run;
pub mod shrink;
pub mod vram;

#[cfg(test)]
mod testing;
