//! `vram.oom`, `vram.swallowed_oom` and `host.over_budget`: an allocation failed.
//!
//! A card of the schedule that says `"memory":"host"` stands for the budget of host memory; the
//! rules are those of a card.
//!
//! The cause is found by trial: the first change of the schedule under which this very request
//! succeeds names it. So the cause is what would have to change, and `what_if` holds a change
//! that was run and under which nothing fails.
//!
//! Caught: every failed request that ran. Not caught: requests that a guard (`memGetInfo` with a
//! need) kept from being made, and failures after a sticky error.

use tracefmt::finding::{Code, OomCause, Severity, WhatIf};
use tracefmt::ops::{OnError, Op, Step};

use super::text::{buffers, mib};
use super::{Drafted, Scene};
use crate::change::{Change, FreeAt, Verdict, describe, run_all};
use crate::life::Buffer;
use crate::minimum::minimum;
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
    /// A change under which nothing fails.
    pub what_if: Option<WhatIf>,
}

/// Finds and explains the failed requests of a run; those of one buffer name alike.
pub(super) fn failures(scene: &Scene<'_>) -> Vec<Failure> {
    let mut reasons: Vec<(Option<&str>, OomCause, Option<WhatIf>)> = Vec::new();
    let mut failures = Vec::new();
    for (place, ran, step) in scene.record.failed_allocations(scene.schedule) {
        if ran.outcome.rc != RC_OUT_OF_MEMORY {
            continue;
        }
        let buf = step.buf.as_deref();
        if !reasons.iter().any(|(known, ..)| *known == buf) && reasons.len() < EXPLAINED_MAX {
            let (cause, what_if) = explain(scene, place, ran.at);
            reasons.push((buf, cause, what_if));
        }
        let known = reasons
            .iter()
            .find(|(known, ..)| *known == buf)
            .or(reasons.last());
        if let Some((_, cause, what_if)) = known {
            failures.push(Failure {
                place,
                at: ran.at,
                cause: *cause,
                what_if: what_if.clone(),
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
    let swallowed = step.on_error == OnError::Ignore;
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
    let capacity = scene
        .schedule
        .header
        .gpus
        .get(crate::run::record::gpu_of(step));
    let capacity = capacity.map_or(0, |gpu| gpu.capacity);
    let free = scene
        .record
        .ran
        .get(place)
        .map_or(0, |ran| ran.outcome.free);
    let used = capacity.saturating_sub(free);
    let what = if swallowed { "fails unseen" } else { "fails" };
    let title = format!(
        "out of {memory}: {name} ({}) {what}: {}",
        mib(bytes),
        why(cause)
    );
    let mut drafted = scene.draft(at, code, scene.severity(at), title);
    if swallowed && scene.source == super::Source::Profile {
        drafted.finding.severity = Severity::Warning;
    }
    drafted.finding.cause = Some(cause);
    drafted.finding.explanation = format!(
        "{name} needs {}; {} of {} are in use: {} wanted. Allocated at that moment: {}.",
        mib(bytes),
        mib(used),
        mib(capacity),
        mib(used.saturating_add(bytes)),
        buffers(scene, &live),
    );
    drafted.finding.fix = Some(fix(cause).to_owned());
    drafted.finding.what_if.clone_from(&failure.what_if);
    Some(drafted)
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
    }
}

/// Tries changes, from the least intrusive on, until one lets the request at `at` succeed.
fn explain(scene: &Scene<'_>, place: usize, at: usize) -> (OomCause, Option<WhatIf>) {
    let late = late_at(scene, place);
    let leaks = !late.is_empty() && late.iter().all(|buffer| buffer.freed.is_none());
    let held = if leaks {
        OomCause::Leak
    } else {
        OomCause::LateFree
    };
    let trials: [(OomCause, Vec<Change>); 6] = [
        (OomCause::UnobservedFree, vec![Change::Sync]),
        (OomCause::UnobservedFree, vec![Change::SyncOften]),
        (OomCause::PoolRetained, vec![Change::Trim]),
        (held, late_frees(scene, &late, &FreeAt::LastUse)),
        (held, late_frees(scene, &late, &FreeAt::BeforeUnlock)),
        (OomCause::ConcurrentPeak, vec![Change::OneWorker]),
    ];
    for (cause, changes) in &trials {
        if changes.is_empty() {
            continue;
        }
        let verdict = run_all(changes, scene.schedule, scene.profile);
        if !verdict.failed.contains(&at) {
            return (*cause, passing(scene, changes, &verdict, &trials));
        }
    }
    (OomCause::Capacity, larger_card(scene))
}

/// The changes that free earlier what is late at a failing request, one per buffer name, the
/// largest first.
fn late_frees(scene: &Scene<'_>, late: &[Buffer], at: &FreeAt) -> Vec<Change> {
    let mut names: Vec<(u64, String)> = Vec::new();
    for buffer in late {
        let made = scene.schedule.steps.get(buffer.at);
        let name = made.and_then(|step| step.buf.clone());
        let name = name.unwrap_or_else(|| "*".to_owned());
        match names.iter_mut().find(|(_, known)| *known == name) {
            Some((bytes, _)) => *bytes += buffer.bytes,
            None => names.push((buffer.bytes, name)),
        }
    }
    names.sort_by(|a, b| b.cmp(a));
    let free = |(_, buf)| Change::Free {
        buf,
        at: at.clone(),
    };
    names.into_iter().map(free).collect()
}

/// The buffers that are allocated but late at a place, on the card of its step. What belongs to
/// no partition, where others do, is kept on purpose.
pub(super) fn late_at(scene: &Scene<'_>, place: usize) -> Vec<Buffer> {
    let gpu = scene.step_at(place).and_then(|(_, step)| step.gpu);
    let some = scene.has_partitions();
    let late =
        |buffer: &&Buffer| buffer.is_late_at(place) && (!some || scene.is_of_a_partition(buffer));
    let live = scene.life.live_at(place, gpu.unwrap_or(0));
    live.filter(late).copied().collect()
}

/// A change under which nothing fails: the one that helped the request, or it with others.
fn passing(
    scene: &Scene<'_>,
    changes: &[Change],
    verdict: &Verdict,
    trials: &[(OomCause, Vec<Change>)],
) -> Option<WhatIf> {
    if verdict.passes {
        return Some(what_if(changes, verdict));
    }
    for (_, more) in trials.iter().filter(|(_, more)| more.as_slice() != changes) {
        let both: Vec<Change> = changes.iter().chain(more).cloned().collect();
        let verdict = run_all(&both, scene.schedule, scene.profile);
        if verdict.passes {
            return Some(what_if(&both, &verdict));
        }
    }
    larger_card(scene)
}

fn what_if(changes: &[Change], verdict: &Verdict) -> WhatIf {
    WhatIf {
        change: describe(changes),
        passes: verdict.passes,
        peak_bytes: verdict.peak.bytes,
    }
}

fn larger_card(scene: &Scene<'_>) -> Option<WhatIf> {
    let bytes = minimum(scene.schedule, scene.profile)?.bytes;
    let changes = [Change::Vram(bytes)];
    let verdict = run_all(&changes, scene.schedule, scene.profile);
    verdict.passes.then(|| what_if(&changes, &verdict))
}
