//! The critical path of a run: from a submission to the last proof, through whatever each step
//! had to wait for: its own synthesis, a free synthesis slot, the worker's call before, or the
//! holder of the lock before; of several, the one that ended last.
//!
//! Each step comes once, and begins where the one before it ends: what lies between two events of
//! which one allowed the other is a step of its own. Where the log's clock is coarse, as in the old
//! dialects, events of one moment are printed in any order; our own traces are taken at their word.
//!
//! Slack is computed for every step of every call, backwards from the end of the run: how much
//! later it could have ended if everything behind it had started as late as possible. On the path
//! it is close to zero; it is not where a wait has no reason that a log can show.

mod late;
mod walk;

use tracefmt::run::Run;

use crate::interval::Reconstruction;
use crate::model::PathStep;

/// The critical path of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriticalPath {
    /// In order of time.
    pub steps: Vec<PathStep>,
    /// How many more there are before them.
    pub left_out: u64,
}

/// Steps from a submission to the last end of a job or call of the run, in order of time; at most
/// `steps_max`, the earliest ones are left out.
pub fn critical_path(run: &Run, all: &Reconstruction, steps_max: usize) -> CriticalPath {
    let late = late::Late::of(run, all, walk::tick_us(run));
    let mut path = walk::walk(run, all, &late, steps_max);
    path.steps.reverse();
    path
}
