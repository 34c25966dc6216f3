//! `sched.duplicate`: the same partition of the same job, twice.
//!
//! Found from events that came once more than they may, with another time than before: with the
//! same one, they are the same lines (`copies`). The engine's assembler panics on a
//! partition that it has already; work is paid twice either way. It does not see a whole job that
//! was submitted twice under two ids.

use tracefmt::finding::{Code, Severity};
use tracefmt::run::Task;

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let tasks: Vec<&Task> = scene
        .run
        .tasks
        .iter()
        .filter(|task| task.repeats > 0)
        .collect();
    if tasks.is_empty() {
        return Vec::new();
    }
    let lines = tasks.iter().flat_map(|task| {
        [task.gpu_end, task.gpu_start, task.pickup, task.synth_start]
            .into_iter()
            .flatten()
            .map(|at| at.line)
            .take(1)
    });
    vec![
        Draft::new(
            Code::SchedDuplicate,
            Severity::Error,
            Role::Primary,
            format!(
                "{} ran more than once",
                many(tasks.len() as u64, "partition")
            ),
        )
        .of_run(scene.run.index)
        .because(
            "Events that a partition has once stand in the log twice for the same job and \
             partition: it was dispatched again while the first was on its way, or a job id was \
             used for two jobs."
                .to_owned(),
        )
        .fix("Give every job an id of its own; look for a retry that does not cancel the first.")
        .counting(tasks.len())
        .about(tasks.iter().map(|task| scene.name(task)))
        .quoting(lines),
    ]
}
