//! Why a request failed: the first change of the schedule under which it succeeds says so.
//!
//! A trial proves something only where the schedule as it is makes the request fail. Where the
//! model has room for a request that failed all the same, no change is needed for it to succeed,
//! and none names a cause: the failure is not explained by the schedule. Where the model agrees
//! that the request fails, but only after recorded answers that it would not have given, the cause
//! is read off what was allocated, and is ambiguous.

use tracefmt::finding::{OomCause, WhatIf};

use super::Scene;
use crate::change::{Change, FreeAt, Verdict, describe, run_all, run_unanswered};
use crate::life::Buffer;
use crate::minimum::minimum;
use crate::vram::RC_OUT_OF_MEMORY;

/// What is known of why a request failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reason {
    pub(super) cause: OomCause,
    /// Whether trials single it out.
    pub(super) tried: bool,
    /// A change under which nothing fails.
    pub(super) what_if: Option<WhatIf>,
}

/// Whether the model has room for a request that was recorded as failed.
pub(super) fn is_unexplained(scene: &Scene<'_>, place: usize) -> bool {
    let ran = scene.record.ran.get(place);
    ran.is_some_and(|ran| ran.predicted != RC_OUT_OF_MEMORY)
}

/// Why the request of step `at`, which ran at `place`, failed.
pub(super) fn explain(scene: &Scene<'_>, place: usize, at: usize) -> Reason {
    if is_unexplained(scene, place) {
        return Reason {
            cause: OomCause::Unexplained,
            tried: false,
            // A change would only drop the recorded answer.
            what_if: None,
        };
    }
    let late = late_at(scene, place);
    let leaks = !late.is_empty() && late.iter().all(|buffer| !buffer.is_freed_after(place));
    let held = if leaks {
        OomCause::Leak
    } else {
        OomCause::LateFree
    };
    let trials: [(OomCause, Vec<Change>); 7] = [
        (OomCause::UnobservedFree, vec![Change::Sync]),
        (OomCause::UnobservedFree, vec![Change::SyncOften]),
        (OomCause::PoolRetained, vec![Change::Trim]),
        (OomCause::PoolRetained, vec![Change::TrimOften]),
        (held, late_frees(scene, &late, &FreeAt::LastUse)),
        (held, late_frees(scene, &late, &FreeAt::BeforeUnlock)),
        (OomCause::ConcurrentPeak, vec![Change::OneWorker]),
    ];
    let unchanged = run_unanswered(scene.schedule, scene.profile);
    if !unchanged.failed.contains(&at) {
        return Reason {
            cause: by_what_is_live(scene, place, (!late.is_empty()).then_some(held)),
            tried: false,
            what_if: None,
        };
    }
    for (cause, changes) in &trials {
        if changes.is_empty() {
            continue;
        }
        let verdict = run_all(changes, scene.schedule, scene.profile);
        if !verdict.failed.contains(&at) {
            return Reason {
                cause: *cause,
                tried: true,
                what_if: passing(scene, changes, &verdict, &trials),
            };
        }
    }
    Reason {
        cause: OomCause::Capacity,
        tried: true,
        what_if: larger_card(scene),
    }
}

/// A cause without a trial: what is late, else what others hold, else the card.
fn by_what_is_live(scene: &Scene<'_>, place: usize, held: Option<OomCause>) -> OomCause {
    let step = scene.step_at(place).map(|(_, step)| step);
    let (worker, gpu) = step.map_or((0, 0), |step| {
        (step.worker.unwrap_or(0), step.gpu.unwrap_or(0))
    });
    let mut live = scene.life.live_at(place, gpu);
    let of_others = live.any(|buffer| buffer.worker != worker);
    held.unwrap_or(if of_others {
        OomCause::ConcurrentPeak
    } else {
        OomCause::Capacity
    })
}

/// The changes that free earlier what is late at a failing request, one per buffer name, the
/// largest first.
fn late_frees(scene: &Scene<'_>, late: &[Buffer], at: &FreeAt) -> Vec<Change> {
    let mut names: Vec<(u64, String)> = Vec::new();
    for buffer in late {
        let made = scene.schedule.steps.get(buffer.at);
        let name = made.and_then(|step| step.buf().map(str::to_owned));
        let name = name.unwrap_or_else(|| "*".to_owned());
        match names.iter_mut().find(|(_, known)| *known == name) {
            Some((bytes, _)) => *bytes = bytes.saturating_add(buffer.bytes),
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
    let first = what_if(changes, verdict);
    if first.passes {
        return Some(first);
    }
    // One that is only known up to where the run was recorded is better than none.
    let mut known = (first.unrecorded > 0).then_some(first);
    for (_, more) in trials.iter().filter(|(_, more)| more.as_slice() != changes) {
        let both: Vec<Change> = changes.iter().chain(more).cloned().collect();
        let verdict = run_all(&both, scene.schedule, scene.profile);
        let tried = what_if(&both, &verdict);
        if tried.passes {
            return Some(tried);
        }
        known = known.or((tried.unrecorded > 0).then_some(tried));
    }
    larger_card(scene).or(known)
}

fn what_if(changes: &[Change], verdict: &Verdict) -> WhatIf {
    WhatIf {
        change: describe(changes),
        passes: verdict.passes && verdict.unrecorded == 0,
        peak_bytes: verdict.peak.bytes,
        unrecorded: if verdict.passes {
            verdict.unrecorded
        } else {
            0
        },
    }
}

fn larger_card(scene: &Scene<'_>) -> Option<WhatIf> {
    let bytes = minimum(scene.schedule, scene.profile)?.bytes;
    let changes = [Change::Vram(bytes)];
    let verdict = run_all(&changes, scene.schedule, scene.profile);
    // How much more it would have asked for is not recorded.
    Some(what_if(&changes, &verdict)).filter(|card| card.passes)
}
