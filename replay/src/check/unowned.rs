//! `vram.unowned`: a live buffer whose owner holds no lock, while another worker allocates.
//!
//! An error if that allocation failed because of it. Caught: buffers of partitions, in
//! schedules that use locks at all. Not caught: buffers that belong to no partition, which are
//! shared or cached on purpose. One finding a
//! buffer, about the failure if there was one.

use std::collections::BTreeMap;

use tracefmt::finding::{Code, OomCause, Severity};
use tracefmt::ops::{Op, Step};

use super::text::mib;
use super::{Drafted, Scene};
use crate::life::{Buffer, Locks};

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    if !scene.has_locks() {
        return Vec::new();
    }
    let mut locks = Locks::default();
    let mut told: BTreeMap<usize, Drafted> = BTreeMap::new();
    let of_partitions = |buffer: &&Buffer| !buffer.unrecorded && scene.is_of_a_partition(buffer);
    // In order of their making: what is to come, and what has come and is not freed.
    let mut coming = scene.life.buffers.iter().filter(of_partitions).peekable();
    let mut live: Vec<&Buffer> = Vec::new();
    for (place, at, step, _) in scene.ran() {
        let worker = step.worker.unwrap_or(0);
        match &step.op {
            Op::Lock { name } => {
                locks.take(worker, name);
            }
            Op::Unlock { name } => {
                locks.release(worker, name);
            }
            Op::Malloc { .. } | Op::MallocAsync { .. } => {
                while let Some(made) = coming.next_if(|buffer| buffer.made < place) {
                    live.push(made);
                }
                live.retain(|buffer| buffer.is_live_at(place));
                for buffer in unowned(&live, &locks, step) {
                    let failed = told.get(&buffer.made).map(|told| told.finding.severity);
                    if failed.is_none_or(|severity| severity < Severity::Error) {
                        let new = draft(scene, buffer, at, step);
                        if failed.is_none_or(|severity| severity < new.finding.severity) {
                            told.insert(buffer.made, new);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    told.into_values().collect()
}

/// Of live buffers, those of other workers on the card of a step whose owners hold no lock.
fn unowned<'a>(
    live: &'a [&'a Buffer],
    locks: &'a Locks<'a>,
    step: &'a Step,
) -> impl Iterator<Item = &'a Buffer> + 'a {
    live.iter().copied().filter(move |buffer| {
        buffer.worker != step.worker.unwrap_or(0)
            && buffer.gpu == step.gpu.unwrap_or(0)
            && locks.of(buffer.worker).is_empty()
    })
}

fn draft(scene: &Scene<'_>, buffer: &Buffer, at: usize, step: &Step) -> Drafted {
    let blamed = scene.failures().iter().find(|failure| {
        let cause = failure.cause;
        failure.at == at && matches!(cause, OomCause::LateFree | OomCause::ConcurrentPeak)
    });
    let severity = blamed.map_or(Severity::Warning, |_| scene.severity(at));
    let name = scene.name(buffer);
    let title = format!(
        "{name} ({}) of worker {} is held without a lock while worker {} allocates",
        mib(buffer.bytes),
        buffer.worker,
        step.worker.unwrap_or(0)
    );
    let mut drafted = scene.draft(at, Code::VramUnowned, severity, title);
    drafted.finding.explanation = format!(
        "The lock is meant to let one worker have the card; worker {} keeps {} of it outside.",
        buffer.worker,
        mib(buffer.bytes)
    );
    drafted.finding.evidence.extend(scene.evidence(buffer.at));
    drafted.finding.fix = Some(format!("Allocate and free {name} inside the lock."));
    drafted
}
