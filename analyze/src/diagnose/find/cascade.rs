//! `run.cascade`: what was skipped or thrown away because its job had failed already.
//!
//! Information only: each line of it points back at an earlier failure. Counted are the engine's
//! own lines about skipping and discarding, and partitions whose events show the same; partitions
//! that were skipped before synthesis print no event, only the line.

use tracefmt::finding::{Code, PartitionRef, Severity};
use tracefmt::run::{LineRef, Outcome, Task, Trouble};

use super::super::classify::Topic;
use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let troubles: Vec<&Trouble> = scene.about(Topic::Consequence).collect();
    let dropped = |task: &&Task| matches!(task.outcome, Outcome::Skipped | Outcome::Discarded);
    let tasks: Vec<&Task> = scene.run.tasks.iter().filter(dropped).collect();
    let count = troubles.len().max(tasks.len());
    if count == 0 {
        return Vec::new();
    }
    let discarded = tasks
        .iter()
        .filter(|task| task.outcome == Outcome::Discarded)
        .count() as u64;
    let names: Vec<PartitionRef> = tasks.iter().map(|task| scene.name(task)).collect();
    let lines: Vec<LineRef> = if troubles.is_empty() {
        tasks
            .iter()
            .filter_map(|task| Some(task.pickup?.line))
            .collect()
    } else {
        troubles.iter().map(|trouble| trouble.line).collect()
    };
    let thrown = match discarded {
        0 => String::new(),
        n => format!(
            " {} had been proved in full and thrown away.",
            many(n, "partition")
        ),
    };
    vec![
        Draft::new(
            Code::RunCascade,
            Severity::Info,
            Role::Consequence,
            format!("{} skipped or thrown away", many(count as u64, "partition")),
        )
        .of_run(scene.run.index)
        .because(format!(
            "Their jobs had failed already, so the engine did not prove them, or dropped the \
             result.{thrown} They are not failures of their own."
        ))
        .fix("Nothing to do here; mend the failure that came first.")
        .counting(count)
        .about(names)
        .quoting(lines),
    ]
}
