//! `vram.oom`, `vram.swallowed_oom` and `host.over_budget`: an allocation failed.
//!
//! A card of the schedule that says `"memory":"host"` stands for the budget of host memory; the
//! rules are those of a card.
//!
//! The cause is found by trial ([`super::cause`]): the first change of the schedule under which
//! this very request succeeds names it. So the cause is what would have to change, and `what_if`
//! holds a change that was run and under which nothing fails. A request that failed although the
//! model has room for it is not explained by the schedule, and the finding says so.
//!
//! Caught: every failed request that ran. Not caught: requests that a guard (`memGetInfo` with a
//! need) kept from being made, and failures after a sticky error.

use tracefmt::finding::{Code, Confidence, OomCause, Severity, WhatIf};
use tracefmt::ops::{OnError, Op, Step};

use super::cause::{Reason, explain, is_unexplained};
use super::text::{buffers, mib};
use super::{Drafted, Scene, recovered};
use crate::life::Buffer;
use crate::vram::RC_OUT_OF_MEMORY;

/// How many failures are explained by trial; later ones follow the first of their kind.
const EXPLAINED_MAX: usize = 3;

/// A failed request, why it failed, and what would help.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Position in the record.
    pub place: usize,
    /// Index of the step.
    pub at: usize,
    /// Why.
    pub cause: OomCause,
    /// Whether trials single the cause out; ambiguous otherwise.
    pub tried: bool,
    /// A change under which nothing fails.
    pub what_if: Option<WhatIf>,
}

/// Finds and explains the failed requests of a run; those of one buffer name alike, but for those
/// that the model has room for.
pub(super) fn failures(scene: &Scene<'_>) -> Vec<Failure> {
    let mut reasons: Vec<((Option<&str>, bool), Reason)> = Vec::new();
    let mut failures = Vec::new();
    for (place, ran, step) in scene.record.failed_allocations(scene.schedule) {
        if ran.outcome.rc != RC_OUT_OF_MEMORY {
            continue;
        }
        let unexplained = is_unexplained(scene, place);
        let kind = (step.buf(), unexplained);
        let same = |(known, _): &&((Option<&str>, bool), Reason)| known.1 == unexplained;
        let alike = reasons.iter().filter(same).count();
        if !reasons.iter().any(|(known, _)| *known == kind) && alike < EXPLAINED_MAX {
            reasons.push((kind, explain(scene, place, ran.at)));
        }
        let exact = reasons.iter().find(|(known, _)| *known == kind);
        let known = exact.or_else(|| reasons.iter().rfind(same));
        if let Some((_, reason)) = known {
            failures.push(Failure {
                place,
                at: ran.at,
                cause: reason.cause,
                tried: reason.tried,
                what_if: reason.what_if.clone(),
            });
        }
    }
    failures
}

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let failures = scene.failures().iter();
    failures
        .filter_map(|failure| draft(scene, failure))
        .collect()
}

fn draft(scene: &Scene<'_>, failure: &Failure) -> Option<Drafted> {
    let Failure {
        place, at, cause, ..
    } = *failure;
    let step = scene.schedule.steps.get(at)?;
    let swallowed = *step.on_error() == OnError::Ignore;
    let of_host = scene.is_host(step);
    let code = match (of_host, swallowed) {
        (true, _) => Code::HostOverBudget,
        (false, true) => Code::VramSwallowedOom,
        (false, false) => Code::VramOom,
    };
    let memory = if of_host { "host memory" } else { "memory" };
    let bytes = requested(step);
    let name = Scene::subject(step);
    let live: Vec<Buffer> = scene
        .life
        .live_at(place, step.gpu.unwrap_or(0))
        .copied()
        .collect();
    let capacity = scene.capacity(step);
    let free = scene
        .record
        .ran
        .get(place)
        .map_or(0, |ran| ran.outcome.free);
    let used = capacity.saturating_sub(free);
    let what = how(step);
    let why = match cause {
        OomCause::Unexplained => format!("not explained by the schedule, {} were free", mib(free)),
        _ => why(cause).to_owned(),
    };
    let title = format!("out of {memory}: {name} ({}) {what}: {why}", mib(bytes));
    let mut drafted = scene.draft(at, code, scene.severity(at), title);
    if swallowed && scene.source == super::Source::Profile {
        drafted.finding.severity = Severity::Warning;
    }
    drafted.finding.cause = Some(cause);
    if !failure.tried || live.iter().any(|buffer| buffer.unrecorded) {
        drafted.finding.confidence = Confidence::Ambiguous;
    }
    drafted.finding.explanation = if cause == OomCause::Unexplained {
        format!(
            "{name} needs {}, and {} of {} were free by all that the schedule shows: the call \
             failed for a reason outside it. Allocated at that moment: {}.",
            mib(bytes),
            mib(free),
            mib(capacity),
            buffers(scene, &live),
        )
    } else {
        format!(
            "{name} needs {}; {} of {} are in use: {} wanted. Allocated at that moment: {}.",
            mib(bytes),
            mib(used),
            mib(capacity),
            mib(used.saturating_add(bytes)),
            buffers(scene, &live),
        )
    };
    drafted.finding.fix = Some(fix(cause).to_owned());
    drafted.finding.what_if.clone_from(&failure.what_if);
    Some(drafted)
}

/// How a request fails.
fn how(step: &Step) -> &'static str {
    if *step.on_error() == OnError::Ignore {
        "fails unseen"
    } else if recovered(step) {
        "fails, a smaller plan is taken"
    } else {
        "fails"
    }
}

/// The bytes that a step asks for.
pub(super) fn requested(step: &Step) -> u64 {
    match step.op {
        Op::Malloc { bytes, .. } | Op::MallocAsync { bytes, .. } => bytes,
        _ => 0,
    }
}

fn why(cause: OomCause) -> &'static str {
    match cause {
        OomCause::Capacity => "the card is too small for the schedule",
        OomCause::LateFree => "a buffer past its last use is still allocated",
        OomCause::UnobservedFree => "freed memory that no synchronisation has observed",
        OomCause::PoolRetained => "idle pages that the pool keeps",
        OomCause::Leak => "memory that nobody frees",
        OomCause::ConcurrentPeak => "several workers hold their own share at once",
        OomCause::Unexplained => "not explained by the schedule",
    }
}

fn fix(cause: OomCause) -> &'static str {
    match cause {
        OomCause::Capacity => "Use a larger card, or split the work into smaller pieces.",
        OomCause::LateFree => "Free the buffer right after its last use, before the unlock.",
        OomCause::UnobservedFree => {
            "Synchronise the freeing stream, or the device, before the request."
        }
        OomCause::PoolRetained => "Synchronise and trim the pool before the request.",
        OomCause::Leak => "Free the buffer, on error paths too.",
        OomCause::ConcurrentPeak => {
            "Allocate inside the lock, or let fewer workers share the card."
        }
        OomCause::Unexplained => {
            "Look for what the log does not show: another process on the card, a limit set from \
             outside, a card or a use by others other than assumed, a fault of the driver."
        }
    }
}
