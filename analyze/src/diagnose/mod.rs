//! The diagnosis: what happened to the runs of a trace, what was the root cause, what followed
//! from it, and what to do. [`diagnose`] merges what the finders here see in the trace with the
//! findings of the analyzer and of replay; [`render`] puts it in words on about a screen.
//!
//! Pure functions of their arguments: no file is opened here. The trace holds no text of its
//! lines, so the lines that findings quote are asked for once, from a [`LineSource`].

mod cause;
mod classify;
mod cuda;
mod device;
mod doubt;
mod draft;
mod ending;
mod find;
mod lines;
mod merge;
mod model;
mod replayed;
mod scene;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;
mod verdict;

pub use ending::ending;
pub use lines::{LineSource, NoLines, ReadAgain};
pub use model::{
    BaselineRow, Diagnosis, InputRow, JobCounts, PartitionCounts, RunRow, SCHEMA, Verdict,
};
pub use text::render;

use tracefmt::finding::Finding;
use tracefmt::run::Trace;

use crate::model::Analysis;

/// A run and its analysis.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// What was read.
    pub trace: &'a Trace,
    /// What [`crate::model::Analysis`] says of it.
    pub analysis: &'a Analysis,
}

/// Everything that a diagnosis rests on.
#[derive(Clone)]
pub struct Question<'a> {
    /// The inputs in question.
    pub subject: Reading<'a>,
    /// A good run to compare phases with.
    pub baseline: Option<Reading<'a>>,
    /// What replay found, in the same trace; ids and root are given anew.
    pub replay: Vec<Finding>,
    /// Where the quoted lines come from.
    pub lines: &'a dyn LineSource,
}

impl std::fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Question")
            .field("inputs", &self.subject.trace.inputs.len())
            .field("runs", &self.subject.trace.runs.len())
            .field("baseline", &self.baseline.is_some())
            .field("replay", &self.replay.len())
            .finish_non_exhaustive()
    }
}

/// Says what happened, why, and what to do.
pub fn diagnose(question: &Question<'_>) -> Diagnosis {
    merge::diagnose(question)
}
