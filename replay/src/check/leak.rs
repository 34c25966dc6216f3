//! `vram.leak`, `vram.leak_on_error`, `vram.leak_on_panic`: memory that nobody frees.
//!
//! Caught: a buffer of a partition that is still allocated at the end, although its worker went
//! on to other work or came to its last op; the code says whether the worker failed or died in
//! between. Not caught: buffers that belong to no partition (caches are kept on purpose), and
//! buffers in use when a log was cut, whose worker had more to do.

use tracefmt::finding::Code;

use super::text::mib;
use super::{Drafted, Scene};
use crate::life::Buffer;
use crate::run::Stop;

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let kept = |buffer: &&Buffer| buffer.freed.is_none() && scene.is_of_a_partition(buffer);
    scene
        .life
        .buffers
        .iter()
        .filter(kept)
        .filter_map(|buffer| draft(scene, buffer))
        .collect()
}

fn draft(scene: &Scene<'_>, buffer: &Buffer) -> Option<Drafted> {
    let stopped = &scene.record.ending.stopped;
    let stop = stopped.iter().find(|(worker, _)| *worker == buffer.worker);
    let (code, at, how) = match stop {
        Some((_, Stop::Panicked(at))) => (Code::VramLeakOnPanic, *at, "its worker panicked"),
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
    let late = scene
        .failures()
        .iter()
        .filter(|failure| buffer.is_late_at(failure.place));
    drafted.explains = late.map(|failure| failure.at).collect();
    Some(drafted)
}

/// The first failed op of the buffer's partition and worker after it was made.
fn failure_after(scene: &Scene<'_>, buffer: &Buffer) -> Option<usize> {
    let made = scene.schedule.steps.get(buffer.at)?;
    scene
        .ran()
        .skip(buffer.made + 1)
        .find_map(|(_, at, step, rc)| {
            let same = step.worker == made.worker && step.partition == made.partition;
            (same && step.job == made.job && rc != 0).then_some(at)
        })
}

/// Whether the worker is done with the buffer's partition: it let go of the lock, or went on to
/// another partition, or has no lock to let go of.
fn is_over(scene: &Scene<'_>, buffer: &Buffer) -> bool {
    let Some(made) = scene.schedule.steps.get(buffer.at) else {
        return false;
    };
    let elsewhere = |(_, _, step, _): (usize, usize, &tracefmt::ops::Step, u32)| {
        step.worker == made.worker && (step.partition != made.partition || step.job != made.job)
    };
    buffer.unlocked.is_some()
        || !buffer.under_lock
        || scene.ran().skip(buffer.made + 1).any(elsewhere)
}
