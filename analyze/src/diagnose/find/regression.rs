//! `perf.phase_regression`: phases that take longer than in a good run that the user named.
//!
//! One run a side, so the partitions are the evidence: the interval knows the spread within the
//! two runs, but not what differs between two runs of the same build. A phase therefore counts as
//! slower only when the lower end of its interval is above [`RATIO_MIN`]. Waits (for a lock, at a
//! barrier, in a queue) depend on what else ran and are left to the idle causes; phases that
//! contain others are slower because a part is, and follow from it. Runs of different work
//! (domain, partitions, GPUs) are not compared at all.

use std::collections::{BTreeMap, BTreeSet};

use golden::stats::{PhaseRatio, compare_phase, median};
use tracefmt::finding::{Code, Severity};
use tracefmt::run::{Job, LineRef, Run, Trace};

use super::super::draft::{Draft, Role};
use super::super::model::BaselineRow;
use super::super::{Question, Reading};

/// A phase is slower when the lower end of the interval of its ratio is above this.
const RATIO_MIN: f64 = 1.05;

/// Fewest partitions a side.
const PARTITIONS_MIN: usize = 5;

/// Least difference of the medians, milliseconds: old engines print whole milliseconds.
const EXCESS_MS_MIN: f64 = 2.0;

/// Phases that are waits, or whose length is set by what else runs.
const WAITS: [&str; 8] = [
    "mutex_wait",
    "barrier_wait",
    "queue",
    "queue_wait",
    "pre_lock_cpu",
    "setup_to_split",
    "split_vectors",
    "async_dealloc",
];

/// Phases that contain others, for analyses that do not say so themselves.
const WHOLES: [&str; 6] = [
    "gpu_total",
    "mutex_held",
    "total_start_fn",
    "pre_destructor",
    "gpu",
    "gpu_ms",
];

struct Slower {
    phase: String,
    whole: bool,
    ratio: PhaseRatio,
    before_ms: f64,
    after_ms: f64,
}

impl Slower {
    fn excess_ms(&self) -> f64 {
        self.after_ms - self.before_ms
    }
}

/// Compares the question's inputs with its baseline, if it has one.
pub(crate) fn find(question: &Question<'_>) -> (Vec<Draft>, Option<BaselineRow>) {
    let Some(baseline) = question.baseline else {
        return (Vec::new(), None);
    };
    let subject = question.subject;
    let before = by_phase(baseline);
    let after = by_phase(subject);
    let mut differs = differences(baseline.trace, subject.trace);
    if before.is_empty() || after.is_empty() {
        differs.push("no timed partitions on one side".to_owned());
    }
    let row = BaselineRow {
        paths: baseline
            .trace
            .inputs
            .iter()
            .map(|input| input.path.clone())
            .collect(),
        comparable: differs.is_empty(),
        differs,
    };
    if !row.comparable {
        return (Vec::new(), Some(row));
    }
    let wholes = wholes(subject);
    let mut slower: Vec<Slower> = after
        .iter()
        .filter_map(|(phase, after)| compare(phase, before.get(phase)?, after, &wholes))
        .collect();
    slower.sort_by(|a, b| (a.whole.cmp(&b.whole)).then(b.excess_ms().total_cmp(&a.excess_ms())));
    let part = slower
        .first()
        .filter(|first| !first.whole)
        .map(|first| first.phase.clone());
    let drafts = slower
        .iter()
        .map(|slower| draft(subject.trace, slower, part.as_deref(), &row.paths))
        .collect();
    (drafts, Some(row))
}

/// Times of every phase, in the order of the regions.
fn by_phase(reading: Reading<'_>) -> BTreeMap<String, Vec<f64>> {
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for region in &reading.analysis.regions {
        for (phase, ms) in region.phases.iter() {
            times.entry(phase.to_owned()).or_default().push(ms);
        }
    }
    times
}

/// Phases that contain another one.
fn wholes(reading: Reading<'_>) -> BTreeSet<String> {
    let nested = reading.analysis.phases.iter();
    let nested = nested.filter_map(|row| row.nested_in.clone());
    nested.chain(WHOLES.map(str::to_owned)).collect()
}

/// What makes two traces different work.
fn differences(a: &Trace, b: &Trace) -> Vec<String> {
    let mut differs = Vec::new();
    let mut compare = |what: &str, a: Option<String>, b: Option<String>| {
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            differs.push(format!("{what}: {a} in the baseline, {b} here"));
        }
    };
    let (a, b) = (last_run(a), last_run(b));
    let text = |value: Option<u64>| value.map(|value| value.to_string());
    compare(
        "domain",
        text(a.and_then(|r| r.config.domain)),
        text(b.and_then(|r| r.config.domain)),
    );
    compare(
        "device",
        a.and_then(|r| r.config.device.clone()),
        b.and_then(|r| r.config.device.clone()),
    );
    compare("GPUs", a.and_then(gpus), b.and_then(gpus));
    compare(
        "partitions of a job",
        a.and_then(partitions),
        b.and_then(partitions),
    );
    differs
}

fn last_run(trace: &Trace) -> Option<&Run> {
    trace.runs.iter().rev().find(|run| !run.jobs.is_empty())
}

fn gpus(run: &Run) -> Option<String> {
    let count = run.config.gpus.len();
    (count > 0).then(|| count.to_string())
}

/// Sizes of the complete jobs, sorted, each once.
fn partitions(run: &Run) -> Option<String> {
    let size = |job: &Job| job.tasks.len();
    let complete = |job: &&Job| job.outcome == tracefmt::run::JobOutcome::Completed;
    let sizes: BTreeSet<usize> = run.jobs.iter().filter(complete).map(size).collect();
    let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn compare(phase: &str, a: &[f64], b: &[f64], wholes: &BTreeSet<String>) -> Option<Slower> {
    if WAITS.contains(&phase) || a.len().min(b.len()) < PARTITIONS_MIN {
        return None;
    }
    let ratio = compare_phase(a, b)?;
    let mid = |times: &[f64]| {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        median(&mut times)
    };
    let slower = Slower {
        phase: phase.to_owned(),
        whole: wholes.contains(phase),
        ratio,
        before_ms: mid(a)?,
        after_ms: mid(b)?,
    };
    (ratio.low > RATIO_MIN && slower.excess_ms() >= EXCESS_MS_MIN).then_some(slower)
}

fn draft(trace: &Trace, slower: &Slower, part: Option<&str>, paths: &[String]) -> Draft {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let PhaseRatio {
        ratio,
        low,
        high,
        n_a,
        n_b,
        ..
    } = slower.ratio;
    let follows = part.filter(|_| slower.whole);
    let role = if follows.is_some() {
        Role::Consequence
    } else {
        Role::Primary
    };
    let because = follows.map_or_else(String::new, |part| {
        format!(" It contains {part}, which is slower by itself.")
    });
    let run = last_run(trace);
    let mut draft = Draft::new(
        Code::PerfPhaseRegression,
        Severity::Error,
        role,
        format!(
            "Phase {} is {:.1} % slower than in the baseline",
            slower.phase,
            percent(ratio)
        ),
    )
    .of_run(run.map_or(0, |run| run.index))
    .because(format!(
        "Median {:.1} ms in {}, {:.1} ms here: {:+.1} % with a 95 % interval from {:+.1} to {:+.1} \
         %, over {n_a} and {n_b} partitions.{because}",
        slower.before_ms,
        paths.join(", "),
        slower.after_ms,
        percent(ratio),
        percent(low),
        percent(high),
    ))
    .fix(format!(
        "Look at what changed in {} between the two builds and configurations; `cuzk compare` \
         shows all phases side by side. One run a side cannot tell the build from the machine, so \
         repeat both before you revert anything.",
        slower.phase
    ));
    if let Some(run) = run {
        draft.lines = slowest(run, &slower.phase);
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
