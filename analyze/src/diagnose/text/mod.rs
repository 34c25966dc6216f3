//! A diagnosis as plain text: verdict in one line, root cause with its lines and what to do, what
//! followed from it, what else was found, idle time by cause, a line per run. No colour; text is
//! wrapped at [`WIDTH`] columns; only the verdict, quoted log lines and the runs may be longer.

mod idle;
mod wrap;

use std::collections::BTreeSet;

use tracefmt::finding::{Code, Confidence, Evidence, Finding, Severity};

use super::model::{Diagnosis, InputRow, RunRow};
use super::scene::many;
use crate::foreign;
use crate::model::Analysis;
use wrap::{clip, put, wrap};

/// Columns of the text.
const WIDTH: usize = 100;

/// Most root causes that are told, one a run.
const ROOTS_MAX: usize = 2;

/// Most quoted lines of the root cause.
const ROOT_LINES_MAX: usize = 5;

/// Most quoted lines of another finding.
const OTHER_LINES_MAX: usize = 2;

/// Most consequences of the roots that are told, a line each.
const FOLLOWERS_MAX: usize = 12;

/// Columns of a quoted line.
const QUOTE_WIDTH: usize = 120;

/// Most findings that are told besides the root.
const OTHERS_MAX: usize = 6;

/// Columns of the line of a run.
const RUN_WIDTH: usize = 160;

/// Most runs that get a line of their own.
const RUNS_MAX: usize = 12;

/// What `cuzk diagnose` prints.
pub fn render(diagnosis: &Diagnosis, analysis: &Analysis) -> String {
    let mut out = String::new();
    let head = diagnosis.headline();
    put(&mut out, &format!("{head}: {}.", diagnosis.summary));
    baseline(diagnosis, &mut out);
    roots(diagnosis, &mut out);
    followers(diagnosis, &mut out);
    others(diagnosis, &mut out);
    idle::section(analysis, &mut out);
    runs(diagnosis, &mut out);
    out.push_str(&foreign::section(&diagnosis.foreign));
    out
}

fn baseline(diagnosis: &Diagnosis, out: &mut String) {
    let Some(row) = &diagnosis.baseline else {
        return;
    };
    let paths = row.paths.join(", ");
    let differs = row.differs.join("; ");
    let slower = diagnosis
        .findings
        .iter()
        .filter(|finding| finding.code == Code::PerfPhaseRegression)
        .count() as u64;
    let said = match (row.comparable, slower) {
        (false, _) => format!("Not compared with {paths}: {differs}."),
        (true, 0) => format!("Compared with {paths}: no phase is clearly slower."),
        (true, n) => format!("Compared with {paths}: {} slower.", many(n, "phase")),
    };
    out.push_str(&wrap(&said, "", "  ", WIDTH));
}

fn roots(diagnosis: &Diagnosis, out: &mut String) {
    let roots: Vec<&Finding> = diagnosis.findings.iter().filter(|f| f.root).collect();
    for root in roots.iter().take(ROOTS_MAX) {
        in_full(diagnosis, root, out);
    }
    if roots.len() > ROOTS_MAX {
        let rest = many((roots.len() - ROOTS_MAX) as u64, "more run");
        put(
            out,
            &format!("\n... and {rest} with a root cause; --format json has all"),
        );
    }
}

/// The root cause: title, explanation, quoted lines, what to do.
fn in_full(diagnosis: &Diagnosis, finding: &Finding, out: &mut String) {
    let run = if diagnosis.runs.len() > 1 {
        finding
            .run
            .map_or_else(String::new, |run| format!(" of run {run}"))
    } else {
        String::new()
    };
    put(
        out,
        &format!("\nROOT CAUSE{run}: {}  [{}]", finding.title, label(finding)),
    );
    if let Some(place) = place(finding) {
        put(out, &format!("  {place}"));
    }
    out.push_str(&wrap(&finding.explanation, "  ", "  ", WIDTH));
    quotes(diagnosis, finding, ROOT_LINES_MAX, out);
    what_next(finding, out);
}

fn what_next(finding: &Finding, out: &mut String) {
    if let Some(fix) = &finding.fix {
        out.push_str(&wrap(fix, "  Next: ", "        ", WIDTH));
    }
    if let Some(what_if) = &finding.what_if {
        let passes = what_if.said();
        let mib = what_if.peak_bytes >> 20;
        put(
            out,
            &format!("  What if {}: {passes}, peak {mib} MiB", what_if.change),
        );
    }
    if let Some(command) = &finding.reproduce {
        put(out, &format!("  Again: {command}"));
    }
}

fn label(finding: &Finding) -> String {
    let sure = match finding.confidence {
        Confidence::Certain => "",
        Confidence::Inferred => ", inferred",
        Confidence::Ambiguous => ", ambiguous",
    };
    format!("{}{sure}", finding.code)
}

/// Job, partition, worker and GPU, where known.
fn place(finding: &Finding) -> Option<String> {
    let number = |name: &str, value: Option<u32>| value.map(|value| format!("{name} {value}"));
    let parts: Vec<String> = [
        finding.job.as_ref().map(|job| format!("job {job}")),
        number("partition", finding.partition),
        number("worker", finding.worker),
        number("gpu", finding.gpu),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("first in {}", parts.join(", ")))
}

/// The quoted lines, with the input's name when there are several.
fn quotes(diagnosis: &Diagnosis, finding: &Finding, max: usize, out: &mut String) {
    for Evidence { path, line, text } in finding.evidence.iter().take(max) {
        let only = |input: &InputRow| diagnosis.inputs.len() == 1 && input.path == *path;
        let at = if diagnosis.inputs.iter().any(only) {
            line.to_string()
        } else {
            format!("{path}:{line}")
        };
        put(out, &clip(&format!("    {at}: {text}"), QUOTE_WIDTH));
    }
}

/// Findings that follow from a root cause, a line each.
fn followers(diagnosis: &Diagnosis, out: &mut String) {
    let roots = diagnosis.findings.iter().filter(|finding| finding.root);
    let follow: Vec<&Finding> = roots.flat_map(|root| following(diagnosis, root)).collect();
    if follow.is_empty() {
        return;
    }
    put(out, "\nFollowed from it:");
    for finding in follow.iter().take(FOLLOWERS_MAX) {
        follower(diagnosis, finding, "  ", out);
    }
    more(follow.len(), FOLLOWERS_MAX, out);
}

/// Findings that name this one as their cause.
fn following<'a>(
    diagnosis: &'a Diagnosis,
    cause: &'a Finding,
) -> impl Iterator<Item = &'a Finding> {
    let findings = diagnosis.findings.iter();
    findings.filter(|finding| finding.caused_by.contains(&cause.id))
}

fn follower(diagnosis: &Diagnosis, finding: &Finding, indent: &str, out: &mut String) {
    let run = run_of(diagnosis, finding);
    put(
        out,
        &titled(&format!("{indent}{run}{}", finding.title), finding),
    );
}

/// A line that ends with the finding's code, which is never cut.
fn titled(line: &str, finding: &Finding) -> String {
    let label = label(finding);
    let room = QUOTE_WIDTH.saturating_sub(label.len() + 4);
    format!("{}  [{label}]", clip(line, room))
}

fn run_of(diagnosis: &Diagnosis, finding: &Finding) -> String {
    if diagnosis.runs.len() > 1 {
        finding
            .run
            .map_or_else(String::new, |run| format!("run {run}: "))
    } else {
        String::new()
    }
}

fn more(all: usize, shown: usize, out: &mut String) {
    if all > shown {
        let rest = many((all - shown) as u64, "more finding");
        put(out, &format!("  ... and {rest}; --format json has all"));
    }
}

/// Findings that stand by themselves.
fn others(diagnosis: &Diagnosis, out: &mut String) {
    let alone: Vec<&Finding> = diagnosis
        .findings
        .iter()
        .filter(|finding| !finding.root && finding.caused_by.is_empty())
        .collect();
    if alone.is_empty() {
        return;
    }
    // Findings of one code in several runs are told once; the first speaks for the others.
    let mut told: Vec<(&Finding, BTreeSet<Option<u32>>)> = Vec::new();
    for finding in alone {
        let same = |first: &Finding| {
            (first.code, first.severity) == (finding.code, finding.severity)
                && first.run != finding.run
        };
        match told.iter_mut().find(|(first, _)| same(first)) {
            Some((_, runs)) => {
                runs.insert(finding.run);
            }
            None => told.push((finding, BTreeSet::new())),
        }
    }
    put(out, "\nAlso found:");
    for (finding, runs) in told.iter().take(OTHERS_MAX) {
        other(diagnosis, finding, runs.len() as u64, out);
    }
    more(told.len(), OTHERS_MAX, out);
}

fn other(diagnosis: &Diagnosis, finding: &Finding, more: u64, out: &mut String) {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    let run = run_of(diagnosis, finding);
    let also = if more == 0 {
        String::new()
    } else {
        format!(", and in {}", many(more, "more run"))
    };
    let line = format!("  {severity}: {run}{}{also}", finding.title);
    put(out, &titled(&line, finding));
    // Beside a root cause they are only mentioned, so that it stays on the screen.
    let brief = diagnosis.root.is_some() && finding.severity < Severity::Error;
    if !brief && finding.severity > Severity::Info {
        out.push_str(&wrap(&finding.explanation, "    ", "    ", WIDTH));
        quotes(diagnosis, finding, OTHER_LINES_MAX, out);
        if let Some(fix) = &finding.fix {
            out.push_str(&wrap(fix, "    Next: ", "          ", WIDTH));
        }
    }
    for finding in following(diagnosis, finding).take(OTHERS_MAX) {
        follower(diagnosis, finding, "    with it: ", out);
    }
}

/// A line per run.
fn runs(diagnosis: &Diagnosis, out: &mut String) {
    if diagnosis.runs.is_empty() {
        return;
    }
    out.push_str("\nRuns:\n");
    for row in diagnosis.runs.iter().take(RUNS_MAX) {
        put(out, &clip(&run_line(row), RUN_WIDTH));
    }
    if diagnosis.runs.len() > RUNS_MAX {
        put(
            out,
            &format!("  ... and {} more", diagnosis.runs.len() - RUNS_MAX),
        );
    }
}

fn run_line(row: &RunRow) -> String {
    let (jobs, parts) = (row.jobs, row.partitions);
    let sure = match row.dialect_confidence {
        Confidence::Certain => "",
        Confidence::Inferred => " (inferred)",
        Confidence::Ambiguous => " (a guess)",
    };
    let what = if jobs.total == 0 {
        "no jobs".to_owned()
    } else {
        let cancelled = |count: u64| match count {
            0 => String::new(),
            n => format!(", {n} cancelled"),
        };
        format!(
            "jobs {} of {} ok, {} failed{}, {} open, {} verified; partitions {} ok, {} failed{}, \
             {} open",
            jobs.completed,
            jobs.total,
            jobs.failed,
            cancelled(jobs.cancelled),
            jobs.open,
            jobs.verified,
            parts.completed,
            parts.failed,
            cancelled(parts.cancelled),
            parts.open,
        )
    };
    let dialect = match row.dialect.as_str() {
        "unknown" => "unknown engine".to_owned(),
        name => format!("{name}{sure}"),
    };
    let (first, last) = (row.first_line, row.last_line);
    format!(
        "  {}: {dialect}, {what}; lines {first}-{last} of {}",
        row.run, row.path
    )
}
