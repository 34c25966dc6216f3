//! `run.unread_events`: `TIMELINE` lines that hold no event, since a field or a key that the event
//! needs is missing.
//!
//! A warning: whatever those lines would have said is missing from every other finding and figure.

use tracefmt::finding::{Code, Severity};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let unread = &scene.run.unread;
    if unread.count == 0 {
        return Vec::new();
    }
    let lines = many(unread.count, "TIMELINE line");
    vec![
        Draft::new(
            Code::RunUnreadEvents,
            Severity::Warning,
            Role::Beside,
            format!("{lines} cannot be read"),
        )
        .of_run(scene.run.index)
        .because(
            "A field or a key that the event needs is missing, or is no number. What these lines \
             say counts nowhere: a partition may seem lost, or a time may be missing, because of \
             them."
                .to_owned(),
        )
        .fix(
            "See docs/trace-format.md for what each event needs; `cuzk trace lint` lists the \
             lines. If another tool wrote or filtered them, compare with the log as it was \
             written.",
        )
        .counting(usize::try_from(unread.count).unwrap_or(usize::MAX))
        .quoting(unread.lines.iter().copied()),
    ]
}
