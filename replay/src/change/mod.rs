//! What if: a schedule under a changed rule.
//!
//! A change makes a new schedule out of a recorded one; recorded answers are dropped, since
//! nobody recorded the changed run. A change that changes nothing leaves the recorded run, with
//! its answers; one that is about something the schedule does not have is refused ([`objects()`]).
//! `origin` tells which step of the old schedule each step of
//! the new one was.

mod apply;
mod objects;
mod parse;

use tracefmt::ops::{OnError, Schedule};

use crate::life::Cuts;
use crate::run::{Options, Peak, Record};
use crate::vram::{Profile, RC_OUT_OF_MEMORY};

pub use apply::Changed;
pub use objects::{NoObject, objects};
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
    /// `trim=every-allocation`: as `sync=every-allocation`, and the pool is trimmed to nothing.
    TrimOften,
}

/// What came of a changed schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether no allocation failed.
    pub passes: bool,
    /// Ops that succeeded where only what came of their failure is recorded.
    pub unrecorded: u64,
    /// The peak of the fullest card.
    pub peak: Peak,
    /// Steps of the *old* schedule whose allocation failed, in order.
    pub failed: Vec<usize>,
    /// Of the failed allocations, those that the schedule carried on past.
    pub swallowed: u64,
    /// Whether the schedule that ran is another one than the recorded.
    pub is_changed: bool,
}

impl Change {
    /// Changes a schedule and runs it.
    pub fn run(&self, schedule: &Schedule, profile: Profile) -> Verdict {
        run_all(std::slice::from_ref(self), schedule, profile)
    }
}

/// Applies several changes, one after the other, and runs the result. Where they come to nothing,
/// what was recorded stands.
pub fn run_all(changes: &[Change], schedule: &Schedule, profile: Profile) -> Verdict {
    let (changed, driver) = applied(changes, schedule, profile);
    if driver == profile && changed.is_still(schedule) {
        let record = Record::of(schedule, &Options::recorded(profile));
        return verdict(&Changed::unchanged(schedule), &record, false);
    }
    let record = Record::of(&changed.schedule, &Options::hypothetical(driver));
    let mut verdict = verdict(&changed, &record, true);
    let cured = |at: &usize| !verdict.failed.contains(at);
    let kept: Vec<usize> = unexplained(schedule, profile).filter(cured).collect();
    verdict.passes &= kept.is_empty();
    verdict.failed.extend(kept);
    verdict.failed.sort_unstable();
    verdict
}

/// Requests recorded as failed for which the model has room: no change of the schedule is known to
/// help them, and dropping the answer is none.
fn unexplained(schedule: &Schedule, profile: Profile) -> impl Iterator<Item = usize> {
    let answered = schedule.steps.iter();
    let answered = answered
        .filter(|step| step.rc.is_some_and(|rc| rc == RC_OUT_OF_MEMORY))
        .count();
    let record = (answered > 0).then(|| Record::of(schedule, &Options::recorded(profile)));
    let failed = record.into_iter().flat_map(move |record| {
        let failed = record.failed_allocations(schedule);
        let failed = failed.filter(|(_, ran, _)| ran.predicted != RC_OUT_OF_MEMORY);
        failed.map(|(_, ran, _)| ran.at).collect::<Vec<usize>>()
    });
    failed.collect::<Vec<usize>>().into_iter()
}

/// Runs a schedule as it is without what was recorded of it: what the model alone says.
pub fn run_unanswered(schedule: &Schedule, profile: Profile) -> Verdict {
    let changed = Changed::unchanged(schedule);
    let record = Record::of(&changed.schedule, &Options::hypothetical(profile));
    verdict(&changed, &record, false)
}

/// The changed schedule, and the driver under which it runs.
pub fn applied(changes: &[Change], schedule: &Schedule, profile: Profile) -> (Changed, Profile) {
    let mut changed = Changed::unchanged(schedule);
    let mut driver = profile;
    for change in changes {
        if let Change::Driver(other) = change {
            driver = *other;
        }
        changed = changed.then(change, driver);
    }
    (changed, driver)
}

fn verdict(changed: &Changed, record: &Record, is_changed: bool) -> Verdict {
    let failed = record
        .failed_allocations(&changed.schedule)
        .filter_map(|(_, ran, _)| changed.origin.get(ran.at).copied().flatten())
        .collect();
    let swallowed = record
        .failed_allocations(&changed.schedule)
        .filter(|(_, _, step)| *step.on_error() == OnError::Ignore)
        .count();
    let peaks = record.peaks.iter().copied();
    Verdict {
        passes: record.passes(&changed.schedule),
        unrecorded: Cuts::of(&changed.schedule).passed(record).count() as u64,
        peak: peaks.max_by_key(|peak| peak.bytes).unwrap_or_default(),
        failed,
        swallowed: swallowed as u64,
        is_changed,
    }
}

/// Several changes in the syntax of the command line.
pub fn describe(changes: &[Change]) -> String {
    let texts: Vec<String> = changes.iter().map(ToString::to_string).collect();
    texts.join(",")
}

#[cfg(test)]
mod tests;
