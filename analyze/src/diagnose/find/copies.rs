//! `run.doubled_lines`: the same lines stand in the log more than once, as two shippers of one log,
//! or two overlapping pieces of it, leave them.
//!
//! Told from events of partitions that come again with the very same time; one that comes again
//! with another time is `sched.duplicate`. Such events count once. It does not see lines of logs
//! without such events.

use tracefmt::finding::{Code, Severity};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let run = scene.run;
    let copies = run.copies;
    if copies.events == 0 {
        return Vec::new();
    }
    let events = many(copies.events, "event");
    let (title, counted) = if copies.all {
        (
            "The lines of the log are there twice".to_owned(),
            "Each of them counts once; lines of libraries that do not follow their double count \
             twice.",
        )
    } else {
        (
            format!("{events} of partitions stand in the log more than once"),
            "They count once; other lines that are doubled with them may count twice.",
        )
    };
    vec![
        Draft::new(
            Code::RunDoubledLines,
            Severity::Warning,
            Role::Beside,
            title,
        )
        .of_run(run.index)
        .because(format!(
            "{events} of partitions come again with the very same time: the same lines, not \
                 the same work. Two shippers write to this log, or pieces of it overlap. {counted}"
        ))
        .fix("Read the log as one of the writers wrote it.")
        .counting(usize::try_from(copies.events).unwrap_or(usize::MAX))
        .quoting([run.first]),
    ]
}
