//! `vram.leak`, `vram.leak_on_error`, `vram.leak_on_panic`: memory that nobody frees.
//!
//! Caught: a buffer of a partition that is still allocated at the end, although its worker went
//! on to other work or came to its last op; the code says whether the worker failed or died in
//! between, by what the schedule still held for it. A buffer that only the failure left behind
//! follows from it, unless a later request fails by it. Caught as well: a buffer whose id is
//! allocated again while it is live. Not caught: buffers that belong to no partition (caches are
//! kept on purpose), and buffers in use when a log was cut, whose worker had more to do.

use tracefmt::finding::{Code, OomCause};

use super::text::mib;
use super::{Drafted, Scene};
use crate::life::{Buffer, Misuse};
use crate::run::Stop;

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let lost = scene.life.lost.iter();
    let lost: Vec<Drafted> = lost
        .filter_map(|misuse| overwritten(scene, misuse))
        .collect();
    let is_lost = |buffer: &Buffer| {
        scene
            .life
            .lost
            .iter()
            .any(|misuse| is(scene, misuse, buffer))
    };
    let kept = |buffer: &&Buffer| {
        buffer.freed.is_none() && !buffer.unrecorded && scene.is_of_a_partition(buffer)
    };
    scene
        .life
        .buffers
        .iter()
        .filter(kept)
        .filter(|buffer| !is_lost(buffer))
        .filter_map(|buffer| draft(scene, buffer))
        .chain(lost)
        .collect()
}

fn is(scene: &Scene<'_>, misuse: &Misuse, buffer: &Buffer) -> bool {
    let lost = scene.life.buffers.get(misuse.buffer);
    lost.is_some_and(|lost| lost.made == buffer.made)
}

/// A buffer whose id was given to another while it was allocated.
fn overwritten(scene: &Scene<'_>, misuse: &Misuse) -> Option<Drafted> {
    let buffer = scene.life.buffers.get(misuse.buffer)?;
    let (at, _) = scene.step_at(misuse.place)?;
    let (name, id) = (scene.name(buffer), buffer.id);
    let title = format!(
        "{name} ({}) of worker {} leaks: its id {id} is allocated again while it is live",
        mib(buffer.bytes),
        buffer.worker
    );
    let mut drafted = scene.draft(at, Code::VramLeak, scene.severity(at), title);
    drafted.finding.evidence.extend(scene.evidence(buffer.at));
    Some(drafted.says(
        "From here on the id means the second allocation, and nothing frees the first.",
        "Free the first before the second, or give the second an id of its own.",
    ))
}

fn draft(scene: &Scene<'_>, buffer: &Buffer) -> Option<Drafted> {
    let stopped = &scene.record.ending.stopped;
    let stop = stopped.iter().find(|(worker, _)| *worker == buffer.worker);
    let (code, at, how) = match stop {
        Some((_, Stop::Panicked(at))) => (Code::VramLeakOnPanic, *at, "its worker panicked"),
        Some((_, Stop::Aborted(at))) if is_never_freed(scene, buffer, *at) => {
            (Code::VramLeak, buffer.at, "it is never freed")
        }
        Some((_, Stop::Aborted(at))) => (Code::VramLeakOnError, *at, "its worker failed"),
        Some(_) => return None,
        None => match failure_after(scene, buffer) {
            Some(at) => (Code::VramLeakOnError, at, "an op of its worker failed"),
            None if is_over(scene, buffer) => (Code::VramLeak, buffer.at, "it is never freed"),
            None => return None,
        },
    };
    let name = scene.name(buffer);
    let worker = buffer.worker;
    let title = format!(
        "{name} ({}) of worker {worker} leaks: {how}",
        mib(buffer.bytes)
    );
    let mut drafted = scene.draft(at, code, scene.severity(at), title);
    drafted.finding.explanation =
        format!("{name} was allocated by worker {worker} and is still allocated at the end.");
    drafted.finding.fix = Some(format!(
        "Let {name} be freed by its owner on every path, also when a call fails."
    ));
    let of_it = |cause| matches!(cause, OomCause::Leak | OomCause::LateFree);
    let failures = scene.failures().iter();
    let late = failures.filter(|failure| {
        let is_left = !buffer.is_freed_after(failure.place);
        of_it(failure.cause) && is_left && buffer.is_late_at(failure.place)
    });
    drafted.explains = late.map(|failure| failure.at).collect();
    // What nothing fails by is only left behind by the failure before it.
    let is_left = code == Code::VramLeakOnError && drafted.explains.is_empty();
    drafted.follows = is_left.then_some(at);
    if code == Code::VramLeak && drafted.explains.is_empty() {
        // It shows at the end only: what failed before is no consequence.
        drafted.at = scene.schedule.steps.len();
    }
    Some(drafted)
}

/// Whether a buffer whose worker stopped at a step would not have been freed by the rest of the
/// schedule either. Where nothing comes after the failure, that is not known.
fn is_never_freed(scene: &Scene<'_>, buffer: &Buffer, stopped: usize) -> bool {
    let rest = scene.schedule.steps.iter().skip(stopped + 1);
    let mut of_worker = rest.filter(|step| step.worker.unwrap_or(0) == buffer.worker);
    of_worker.next().is_some() && buffer.ahead.is_none_or(|ahead| ahead.freed.is_none())
}

/// The first failed op of the buffer's partition and worker after it was made.
fn failure_after(scene: &Scene<'_>, buffer: &Buffer) -> Option<usize> {
    let made = scene.schedule.steps.get(buffer.at)?;
    scene
        .ran()
        .skip(buffer.made + 1)
        .find_map(|(_, at, step, rc)| {
            let same = step.worker == made.worker && step.partition() == made.partition();
            (same && step.job() == made.job() && rc != 0).then_some(at)
        })
}

/// Whether the worker is done with the buffer's partition: it let go of the lock, or went on to
/// another partition, or has no lock to let go of.
fn is_over(scene: &Scene<'_>, buffer: &Buffer) -> bool {
    let Some(made) = scene.schedule.steps.get(buffer.at) else {
        return false;
    };
    let elsewhere = |(_, _, step, _): (usize, usize, &tracefmt::ops::Step, u32)| {
        step.worker == made.worker
            && (step.partition() != made.partition() || step.job() != made.job())
    };
    buffer.unlocked.is_some()
        || !buffer.under_lock
        || scene.ran().skip(buffer.made + 1).any(elsewhere)
}
