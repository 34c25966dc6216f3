//! Checks: one invariant a file, each a pure function of a [`Scene`].
//!
//! A check makes findings without ids; [`all`] runs every check, orders what they found by the
//! step that shows it, numbers it and names the root. Severity and confidence come from the
//! [`Source`] of the schedule: what was recorded is certain; what a rebuilt schedule suggests is
//! at most a warning, unless the log itself shows that the step failed.

mod errors;
mod host;
mod late_free;
mod leak;
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

pub use oom::Failure;
pub use scene::{Scene, Source, shell_word};

use std::cmp::Reverse;

use tracefmt::finding::{Code, Finding, OomCause, Severity};

/// A finding and the step that shows it first.
#[derive(Debug, Clone, PartialEq)]
pub struct Drafted {
    /// Index into the schedule's steps.
    pub at: usize,
    /// The finding, without id and root.
    pub finding: Finding,
    /// Steps whose findings this one explains.
    pub explains: Vec<usize>,
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
const CHECKS: [fn(&Scene<'_>) -> Vec<Drafted>; 12] = [
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
    errors::check,
    sched::check,
];

/// The worst finding of this code, the earliest of several: its severity and the cause of the
/// failed allocation, if it is one.
pub fn worst(scene: &Scene<'_>, code: Code) -> Option<(Severity, Option<OomCause>)> {
    let drafts = CHECKS.iter().flat_map(|check| check(scene));
    let of_code = drafts.filter(|drafted| drafted.finding.code == code);
    let worst = of_code.min_by_key(|drafted| (Reverse(drafted.finding.severity), drafted.at))?;
    Some((worst.finding.severity, worst.finding.cause))
}

/// Whether some check finds something of this code.
pub fn shows(scene: &Scene<'_>, code: Code) -> bool {
    worst(scene, code).is_some()
}

/// Runs every check. Findings come in order of the step that shows them, numbered from `f0`,
/// with at most one root: the earliest error.
pub fn all(scene: &Scene<'_>) -> Vec<Finding> {
    let drafts = CHECKS.iter().flat_map(|check| check(scene)).collect();
    root::number(drafts)
}

#[cfg(test)]
mod tests;
