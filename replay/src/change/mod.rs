//! What if: a schedule under a changed rule.
//!
//! A change makes a new schedule out of a recorded one; recorded answers are dropped, since
//! nobody recorded the changed run. `origin` tells which step of the old schedule each step of
//! the new one was.

mod apply;
mod parse;

use tracefmt::ops::{OnError, Schedule};

use crate::run::{Options, Peak, Record};
use crate::vram::Profile;

pub use apply::Changed;
pub use parse::{BadChange, bytes};

/// Where a buffer is freed instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FreeAt {
    /// `after:last-use`: right after the last launch or copy that names it.
    LastUse,
    /// `after:<name>`: right after the last launch of this name (`buf`) by its worker before
    /// its free.
    After(String),
    /// `before:unlock`: right before its worker lets go of the lock.
    BeforeUnlock,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `free:<buf>=<where>`: buffers of this name (`*` for all) are freed earlier.
    Free {
        /// The buffers' name.
        buf: String,
        /// Where they are freed.
        at: FreeAt,
    },
    /// `workers=1`: one partition after the other, in order of their first op.
    OneWorker,
    /// `vram=24GiB`: cards of another size.
    Vram(u64),
    /// `baseline=1GiB`: another use by others.
    Baseline(u64),
    /// `driver=strict`: another driver.
    Driver(Profile),
    /// `margin=512MiB`: another margin in every `memGetInfo` with a need.
    Margin(u64),
    /// `sync=every-partition`: the context is synchronised before a partition's first
    /// allocation.
    Sync,
    /// `sync=every-allocation`: the context is synchronised before every allocation.
    SyncOften,
    /// `trim=every-partition`: as `sync=every-partition`, and the pool is trimmed to nothing.
    Trim,
}

/// What came of a changed schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether no allocation failed.
    pub passes: bool,
    /// The peak of the fullest card.
    pub peak: Peak,
    /// Steps of the *old* schedule whose allocation failed, in order.
    pub failed: Vec<usize>,
    /// Of the failed allocations, those that the schedule carried on past.
    pub swallowed: u64,
}

impl Change {
    /// Changes a schedule and runs it.
    pub fn run(&self, schedule: &Schedule, profile: Profile) -> Verdict {
        run_all(std::slice::from_ref(self), schedule, profile)
    }
}

/// Applies several changes, one after the other, and runs the result.
pub fn run_all(changes: &[Change], schedule: &Schedule, profile: Profile) -> Verdict {
    let mut changed = Changed::unchanged(schedule);
    let mut profile = profile;
    for change in changes {
        if let Change::Driver(driver) = change {
            profile = *driver;
        }
        changed = changed.then(change, profile);
    }
    let record = Record::of(&changed.schedule, &Options::hypothetical(profile));
    let failed = record
        .failed_allocations(&changed.schedule)
        .filter_map(|(_, ran, _)| changed.origin.get(ran.at).copied().flatten())
        .collect();
    let swallowed = record
        .failed_allocations(&changed.schedule)
        .filter(|(_, _, step)| step.on_error == OnError::Ignore)
        .count();
    Verdict {
        passes: record.passes(&changed.schedule),
        peak: record
            .peaks
            .iter()
            .copied()
            .max_by_key(|peak| peak.bytes)
            .unwrap_or_default(),
        failed,
        swallowed: swallowed as u64,
    }
}

/// Several changes in the syntax of the command line.
pub fn describe(changes: &[Change]) -> String {
    let texts: Vec<String> = changes.iter().map(ToString::to_string).collect();
    texts.join(",")
}

#[cfg(test)]
mod tests;
