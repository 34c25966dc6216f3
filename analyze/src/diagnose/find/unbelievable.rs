//! `run.time_unbelievable`: a time or a duration that no clock gives, such as one next to the end
//! of the number's range.
//!
//! A warning: whatever figure it enters means nothing. It does not see times that are wrong and
//! look possible.

use tracefmt::finding::{Code, Severity};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let lines = &scene.run.unbelieved;
    if lines.count == 0 {
        return Vec::new();
    }
    let have = if lines.count == 1 { "has" } else { "have" };
    vec![
        Draft::new(
            Code::RunTimeUnbelievable,
            Severity::Warning,
            Role::Beside,
            format!(
                "{} {have} a time that is not believable",
                many(lines.count, "line")
            ),
        )
        .of_run(scene.run.index)
        .because(
            "The time or duration is longer than some 18 thousand years and is cut to that. \
             Spans, idle time and phases that it enters mean nothing."
                .to_owned(),
        )
        .fix(
            "See what wrote these lines: a counter that ran over, or a value below zero that was \
             printed without its sign. `cuzk trace lint` lists them.",
        )
        .counting(usize::try_from(lines.count).unwrap_or(usize::MAX))
        .quoting(lines.lines.iter().copied()),
    ]
}
