//! `perf.phase_regression`: phases that take longer than in a good run that the user named.
//!
//! One run a side, so the partitions are the evidence: the interval knows the spread within the
//! two runs, but not what differs between two runs of the same build. A phase therefore counts as
//! slower only when the lower end of its interval is above [`RATIO_MIN`]. Waits (for a lock, at a
//! barrier, in a queue) depend on what else ran and are left to the idle causes; phases that
//! contain others are slower because a part is, and follow from it. Runs of different work
//! (domain, partitions, GPUs) are not compared at all.

use std::collections::BTreeSet;

use tracefmt::finding::{Code, Severity};
use tracefmt::run::{LineRef, Run, Trace};

use super::super::Question;
use super::super::draft::{Draft, Role};
use super::super::model::BaselineRow;
use crate::compare::{Comparison, PhaseComparison, compare};

/// A phase is slower when the lower end of the interval of its ratio is above this.
const RATIO_MIN: f64 = 1.05;

/// Fewest durations a side.
const SAMPLES_MIN: u64 = 5;

/// Least difference of the medians, milliseconds: old engines print whole milliseconds.
const EXCESS_MS_MIN: f64 = 2.0;

/// Phases that are waits, or whose length is set by what else runs.
const WAITS: [&str; 6] = [
    "mutex_wait",
    "barrier_wait",
    "pre_lock_cpu",
    "setup_to_split",
    "split_vectors",
    "async_dealloc",
];

/// A phase that is slower for certain.
struct Slower<'a> {
    phase: &'a PhaseComparison,
    /// It contains another phase of the comparison.
    whole: bool,
    ratio: f64,
    low: f64,
    a_ms: f64,
    b_ms: f64,
}

/// Compares the question's inputs with its baseline, if it has one.
pub(crate) fn find(question: &Question<'_>) -> (Vec<Draft>, Option<BaselineRow>) {
    let Some(baseline) = question.baseline else {
        return (Vec::new(), None);
    };
    let trace = question.subject.trace;
    let comparison = compare(baseline.trace, trace);
    let row = BaselineRow {
        paths: comparison.inputs.first().cloned().unwrap_or_default(),
        comparable: comparison.comparable,
        differs: comparison.reasons.clone(),
    };
    let mut slower = slower(&comparison);
    let excess = |slower: &Slower<'_>| slower.b_ms - slower.a_ms;
    slower.sort_by(|a, b| a.whole.cmp(&b.whole).then(excess(b).total_cmp(&excess(a))));
    let part = slower.first().filter(|first| !first.whole);
    let part = part.map(|first| first.phase.phase.clone());
    let drafts = slower
        .iter()
        .map(|slower| draft(trace, slower, part.as_deref(), &row.paths))
        .collect();
    (drafts, Some(row))
}

fn slower(comparison: &Comparison) -> Vec<Slower<'_>> {
    let wholes: BTreeSet<&str> = comparison
        .phases
        .iter()
        .filter_map(|phase| phase.nested_in.as_deref())
        .collect();
    comparison
        .phases
        .iter()
        .filter(|phase| !WAITS.contains(&phase.phase.as_str()))
        .filter(|phase| phase.a_n.min(phase.b_n) >= SAMPLES_MIN)
        .filter_map(|phase| {
            Some(Slower {
                phase,
                whole: wholes.contains(phase.phase.as_str()),
                ratio: phase.ratio?,
                low: phase.low?,
                a_ms: phase.a_ms?,
                b_ms: phase.b_ms?,
            })
        })
        .filter(|slower| slower.low > RATIO_MIN && slower.b_ms - slower.a_ms >= EXCESS_MS_MIN)
        .collect()
}

fn draft(trace: &Trace, slower: &Slower<'_>, part: Option<&str>, paths: &[String]) -> Draft {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let phase = slower.phase;
    let follows = part.filter(|_| slower.whole);
    let role = if follows.is_some() {
        Role::Consequence
    } else {
        Role::Primary
    };
    let because = follows.map_or_else(String::new, |part| {
        format!(" It contains other phases, of which {part} is slower by itself.")
    });
    let high = phase
        .high
        .map_or_else(String::new, |high| format!(" to {:+.1}", percent(high)));
    let run = trace.runs.iter().rev().find(|run| !run.marks.is_empty());
    let mut draft = Draft::new(
        Code::PerfPhaseRegression,
        Severity::Error,
        role,
        format!(
            "Phase {} is {:.1} % slower than in the baseline",
            phase.phase,
            percent(slower.ratio)
        ),
    )
    .of_run(run.map_or(0, |run| run.index))
    .because(format!(
        "Median {:.1} ms in {}, {:.1} ms here: {:+.1} % with a 95 % interval from {:+.1}{high} %, \
         over {} and {} partitions.{because}",
        slower.a_ms,
        paths.join(", "),
        slower.b_ms,
        percent(slower.ratio),
        percent(slower.low),
        phase.a_n,
        phase.b_n,
    ))
    .fix(format!(
        "Look at what changed in {} between the two builds and configurations; `cuzk compare` \
         shows all phases side by side. One run a side cannot tell the build from the machine, so \
         repeat both before you revert anything.",
        phase.phase
    ));
    if let Some(run) = run {
        draft.lines = slowest(run, &phase.phase);
    }
    draft
}

/// The lines of the three longest times of a phase.
fn slowest(run: &Run, phase: &str) -> Vec<LineRef> {
    let marks = run
        .marks
        .iter()
        .filter(|mark| run.marks.name(mark) == phase);
    let mut lines: Vec<(i64, LineRef)> = marks.map(|mark| (mark.us(), mark.line())).collect();
    lines.sort_by_key(|(us, line)| (std::cmp::Reverse(*us), *line));
    lines.into_iter().take(3).map(|(_, line)| line).collect()
}
