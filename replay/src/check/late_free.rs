//! `vram.late_free`: a buffer outlives its last use, or the lock under which it was used.
//!
//! An error if a request failed because of it, else an information; ranked by bytes × steps.
//! Caught: buffers late when a request fails whose cause is a late free; buffers still allocated
//! after their worker let go of its lock. Not caught: buffers that are late but freed before
//! the unlock while nobody asks for memory; buffers that belong to no partition, which are kept
//! on purpose.

use std::collections::BTreeMap;

use tracefmt::finding::{Code, OomCause, Severity};
use tracefmt::ops::Step;

use super::text::mib;
use super::{Drafted, Scene, cause, oom};
use crate::life::Buffer;

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut blamed: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for failure in scene.failures() {
        if failure.cause == OomCause::LateFree {
            for buffer in cause::late_at(scene, failure.place) {
                blamed.entry(buffer.made).or_default().push(failure.at);
            }
        }
    }
    let mut drafts: Vec<(u128, Drafted)> = Vec::new();
    for buffer in &scene.life.buffers {
        let mut victims = blamed.get(&buffer.made).cloned().unwrap_or_default();
        // What was seen to fail tells more than what went unseen.
        victims.sort_by_key(|at| (std::cmp::Reverse(scene.severity(*at)), *at));
        if !victims.is_empty() || outlives(scene, buffer) {
            drafts.push((weight(scene, buffer), draft(scene, buffer, victims)));
        }
    }
    drafts.sort_by_key(|(weight, drafted)| (std::cmp::Reverse(*weight), drafted.at));
    drafts.into_iter().map(|(_, drafted)| drafted).collect()
}

/// Whether a buffer of a partition is freed after its worker let go of the lock.
fn outlives(scene: &Scene<'_>, buffer: &Buffer) -> bool {
    let freed = buffer.freed.unwrap_or(0);
    let unlocked = buffer.unlocked.is_some_and(|unlocked| unlocked < freed);
    unlocked && !buffer.unrecorded && scene.is_of_a_partition(buffer)
}

/// Bytes × steps for which it was late.
fn weight(scene: &Scene<'_>, buffer: &Buffer) -> u128 {
    let end = buffer.freed.unwrap_or(scene.record.ran.len());
    let since = buffer.used.or(buffer.unlocked).unwrap_or(buffer.made);
    u128::from(buffer.bytes) * (end.saturating_sub(since) as u128)
}

fn draft(scene: &Scene<'_>, buffer: &Buffer, victims: Vec<usize>) -> Drafted {
    let name = scene.name(buffer);
    let severity = match victims.first() {
        Some(victim) => scene.severity(*victim),
        None => Severity::Info,
    };
    let shown = victims.first().copied().or_else(|| {
        let freed = buffer.freed?;
        Some(scene.record.ran.get(freed)?.at)
    });
    let at = shown.unwrap_or(buffer.at);
    let past = if buffer.unlocked.is_some() {
        "its lock"
    } else {
        "its last use"
    };
    let title = format!(
        "{name} ({}) of worker {} outlives {past}",
        mib(buffer.bytes),
        buffer.worker
    );
    let mut drafted = scene.draft(at, Code::VramLateFree, severity, title);
    let made = scene.schedule.steps.get(buffer.at);
    drafted.finding.worker = Some(buffer.worker);
    drafted.finding.partition = made.and_then(Step::partition);
    drafted.finding.job = made.and_then(|step| step.job().map(str::to_owned));
    drafted.finding.explanation = explanation(scene, buffer, &victims);
    drafted.finding.fix = Some(format!("Free {name} right after its last use."));
    drafted.explains = victims;
    drafted
}

fn explanation(scene: &Scene<'_>, buffer: &Buffer, victims: &[usize]) -> String {
    let name = scene.name(buffer);
    let last = buffer.used.and_then(|used| scene.step_at(used));
    let used = last.map_or_else(String::new, |(_, step)| {
        format!(", last used by {}", step.buf().unwrap_or(step.op.name()))
    });
    let when = match victims.first().and_then(|at| scene.schedule.steps.get(*at)) {
        Some(victim) => format!(
            ", when worker {} asks for {} ({}).",
            victim.worker.unwrap_or(0),
            Scene::subject(victim),
            mib(oom::requested(victim))
        ),
        None => " after it let go of the lock; nothing failed because of it.".to_owned(),
    };
    format!("Worker {} still holds {name}{used}{when}", buffer.worker)
}
