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
    let drafted = scene.draft(at, Code::SchedNeverEnded, scene.severity(at), title);
    let (meaning, fix) = match stop {
        Stop::Locked { .. } => (
            "What stands after this op never runs.",
            "Let the holder release the lock on every path, and take several in one order.",
        ),
        Stop::Alone { .. } => (
            "Fewer workers come to the barrier than it waits for; what stands after it never runs.",
            "Let the barrier wait for as many workers as come to it, on every path.",
        ),
        _ => (
            "An op failed and its way around leads to a label that does not stand after it.",
            "Put the label behind the op in the ops of the same worker.",
        ),
    };
    Some(drafted.says(meaning, fix))
}

fn twice(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut seen: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    let mut drafts: BTreeMap<(&str, u32), Drafted> = BTreeMap::new();
    for (_, at, step, _) in scene.ran() {
        let Some(partition) = step.partition() else {
            continue;
        };
        let key = (step.job().unwrap_or(""), partition);
        let worker = step.worker.unwrap_or(0);
        let first = *seen.entry(key).or_insert(worker);
        if first != worker && !drafts.contains_key(&key) {
            let title =
                format!("partition {partition} is worked on by workers {first} and {worker}");
            let severity = scene.severity(at);
            let drafted = scene.draft(at, Code::SchedDuplicate, severity, title);
            let drafted = drafted.says(
                "The work is done twice, and one of the results is thrown away.",
                "Hand each partition out once.",
            );
            drafts.insert(key, drafted);
        }
    }
    drafts.into_values().collect()
}
