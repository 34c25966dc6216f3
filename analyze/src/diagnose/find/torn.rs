//! `run.torn_lines`: lines into which another writer wrote.
//!
//! Information: repaired lines are used like any other; lost ones may be events that other
//! findings then miss. It says nothing of lines that were never written.

use tracefmt::finding::{Code, Severity};
use tracefmt::run::{LineRef, RunEnd};

use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let run = scene.run;
    // The line that a cut log ends with is told by `run.truncated`.
    let cut = matches!(run.end, RunEnd::Cut | RunEnd::Restarted) || run.damage.is_some();
    let whole = |line: &LineRef| !cut || *line != run.last;
    let lost: Vec<LineRef> = run.torn.lost.iter().copied().filter(whole).collect();
    let repaired = run.torn.repaired.len();
    if repaired + lost.len() == 0 {
        return Vec::new();
    }
    let torn = many((repaired + lost.len()) as u64, "torn line");
    let lost_words = match lost.len() {
        0 => "none was lost".to_owned(),
        n => format!("{n} could not be completed and may hide events"),
    };
    vec![
        Draft::new(
            Code::RunTornLines,
            Severity::Info,
            Role::Beside,
            format!("{torn}: {repaired} repaired, {} lost", lost.len()),
        )
        .of_run(run.index)
        .because(format!(
            "Several writers share the log, and the engine writes a line in up to nine pieces, so \
             lines of other writers land inside. {repaired} were put together again; {lost_words}."
        ))
        .fix("Nothing to do for the diagnosis. A trace of this project's own prover does not tear.")
        .counting(repaired + lost.len())
        .quoting(lost.iter().chain(&run.torn.repaired).copied()),
    ]
}
