//! `run.torn_lines`: lines into which another writer wrote.
//!
//! Information: repaired lines are used like any other; lost ones may be events that other
//! findings then miss. It says nothing of lines that were never written.

use tracefmt::finding::{Code, Severity};

use super::super::draft::{Draft, Role};
use super::super::scene::Scene;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let torn = &scene.run.torn;
    let (repaired, lost) = (torn.repaired.len(), torn.lost.len());
    if repaired + lost == 0 {
        return Vec::new();
    }
    let lost_words = match lost {
        0 => "none was lost".to_owned(),
        n => format!("{n} could not be completed and may hide events"),
    };
    vec![
        Draft::new(
            Code::RunTornLines,
            Severity::Info,
            Role::Beside,
            format!(
                "{} torn lines: {repaired} repaired, {lost} lost",
                repaired + lost
            ),
        )
        .of_run(scene.run.index)
        .because(format!(
            "Several writers share the log, and the engine writes a line in up to nine pieces, so \
             lines of other writers land inside. {repaired} were put together again; {lost_words}."
        ))
        .fix("Nothing to do for the diagnosis. A trace of this project's own prover does not tear.")
        .counting(repaired + lost)
        .quoting(torn.lost.iter().chain(&torn.repaired).copied()),
    ]
}
