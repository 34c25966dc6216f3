//! `sched.never_ended` and `sched.duplicate`: partitions that wait for ever, or run twice.
//!
//! Caught: a worker that waits at a lock or a barrier when nothing else can run; a partition
//! that two workers work on. Not caught here: partitions lost before they reach the GPU, which
//! a schedule does not know; the log's own events tell.

use std::collections::BTreeMap;

use tracefmt::finding::Code;

use super::{Drafted, Scene};
use crate::run::Stop;

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut drafts: Vec<Drafted> = scene
        .record
        .ending
        .stopped
        .iter()
        .filter_map(|(worker, stop)| waits(scene, *worker, stop))
        .collect();
    drafts.extend(twice(scene));
    drafts
}

fn waits(scene: &Scene<'_>, worker: u32, stop: &Stop) -> Option<Drafted> {
    let (at, what) = match stop {
        Stop::Locked { at, name, holder } => (
            *at,
            format!("waits for {name}, which worker {holder} never releases"),
        ),
        Stop::Alone { at, name } => (*at, format!("waits at {name} for others that never come")),
        Stop::Lost { at, label } => (*at, format!("looks for {label}, which never comes")),
        Stop::Aborted(_) | Stop::Panicked(_) => return None,
    };
    let title = format!("worker {worker} {what}");
    Some(scene.draft(at, Code::SchedNeverEnded, scene.severity(at), title))
}

fn twice(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut seen: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    let mut drafts: BTreeMap<(&str, u32), Drafted> = BTreeMap::new();
    for (_, at, step, _) in scene.ran() {
        let Some(partition) = step.partition else {
            continue;
        };
        let key = (step.job.as_deref().unwrap_or(""), partition);
        let worker = step.worker.unwrap_or(0);
        let first = *seen.entry(key).or_insert(worker);
        if first != worker && !drafts.contains_key(&key) {
            let title =
                format!("partition {partition} is worked on by workers {first} and {worker}");
            let severity = scene.severity(at);
            drafts.insert(key, scene.draft(at, Code::SchedDuplicate, severity, title));
        }
    }
    drafts.into_values().collect()
}
