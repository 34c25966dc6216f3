//! Checks: one invariant a file, each a pure function of a [`Scene`].
//!
//! A check makes findings without ids; [`all`] runs every check, orders what they found by the
//! step that shows it, numbers it and names the root. Severity and confidence come from the
//! [`Source`] of the schedule: what was recorded is certain; what a rebuilt schedule suggests is
//! at most a warning, unless the log itself shows that the step failed.

mod beyond;
mod cause;
mod errors;
mod host;
mod late_free;
mod leak;
mod lock_order;
mod locks;
mod misuse;
mod never_retired;
mod oom;
mod reuse;
mod root;
mod scene;
mod sched;
mod stale_error;
mod text;
mod unowned;

pub(crate) use lock_order::{every_order_passes, is_undecided};
pub use oom::Failure;
pub(crate) use scene::{REBUILT_BY, recovered};
pub use scene::{Scene, Source, shell_word};

use tracefmt::finding::{Code, Finding, Severity};

/// A finding and the step that shows it first.
#[derive(Debug, Clone, PartialEq)]
pub struct Drafted {
    /// Index into the schedule's steps.
    pub at: usize,
    /// The finding, without id and root.
    pub finding: Finding,
    /// Steps whose findings this one explains.
    pub explains: Vec<usize>,
    /// The step whose failure this one follows from.
    pub follows: Option<usize>,
}

impl Drafted {
    /// Adds what it means and what to do.
    fn says(mut self, explanation: &str, fix: &str) -> Self {
        explanation.clone_into(&mut self.finding.explanation);
        self.finding.fix = Some(fix.to_owned());
        self
    }
}

/// The checks, in no order that matters.
const CHECKS: [fn(&Scene<'_>) -> Vec<Drafted>; 14] = [
    late_free::check,
    oom::check,
    leak::check,
    misuse::check,
    reuse::check,
    stale_error::check,
    unowned::check,
    never_retired::check,
    host::check,
    locks::check,
    lock_order::check,
    errors::check,
    sched::check,
    beyond::check,
];

/// Runs every check. Findings come in order of the step that shows them, numbered from `f0`,
/// with at most one root: the earliest error that follows from no other.
pub fn all(scene: &Scene<'_>) -> Vec<Finding> {
    let drafts = CHECKS.iter().flat_map(|check| check(scene)).collect();
    root::number(drafts)
}

/// What is found about pinned host memory: code and severity.
pub(crate) fn pinned(scene: &Scene<'_>) -> Vec<(Code, Severity)> {
    let found = host::check(scene).into_iter();
    let found = found.map(|drafted| (drafted.finding.code, drafted.finding.severity));
    found.collect()
}

#[cfg(test)]
mod tests;
