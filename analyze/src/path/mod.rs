//! The critical path of a run: from a submission to the last proof, through whatever each step
//! had to wait for: its own synthesis, a free synthesis slot, the worker's call before, or the
//! holder of the lock before.
//!
//! Slack is computed for every step of every call, backwards from the end of the run: how much
//! later it could have ended if everything behind it had started as late as possible. On the path
//! it is close to zero; it is not where a wait has no reason that a log can show.

mod late;
mod walk;

use tracefmt::run::Run;

use crate::interval::Reconstruction;
use crate::model::PathStep;

/// Steps from a submission to the last `GPU_END` of the run, in order of time; at most `steps_max`,
/// the earliest ones are left out.
pub fn critical_path(run: &Run, all: &Reconstruction, steps_max: usize) -> Vec<PathStep> {
    let late = late::Late::of(run, all);
    let mut steps = walk::walk(run, all, &late, steps_max);
    steps.reverse();
    steps
}
