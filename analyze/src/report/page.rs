//! The page around the parts: head, verdict, one section a run, footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Figure, RUNS_MAX, Report, figures, findings, tables};
use crate::diagnose::{BaselineRow, Verdict};
use crate::model::GpuTime;
use crate::plot::{Theme, css, duration};
use tracefmt::run::{JobOutcome, Outcome, Run, RunEnd};

const STYLE: &str = include_str!("style.css");
pub(super) const SCRIPT: &str = include_str!("hover.js");

/// The document.
pub(super) fn whole(report: &Report<'_>, runs: &[Markup]) -> Markup {
    let found = report.diagnosis.findings.as_slice();
    let more = report.trace.runs.len().saturating_sub(RUNS_MAX);
    html! {
        (DOCTYPE)
        html lang="en" {
            (about(&title(report)))
            body {
                main {
                    (head(report))
                    (findings::root(found))
                    @if !found.is_empty() { (findings::others(found)) }
                    @for run in runs { (run) }
                    @if more > 0 {
                        p class="quiet" { "The inputs hold " (more) " more runs." }
                    }
                    (tables::phases(report.analysis))
                    (tables::critical_path(report.analysis))
                    (tables::inputs(&report.trace.inputs, report.ledgers))
                }
                footer {
                    "Made by cuzk. Times count from the start of the run, as the log's "
                    "TIMELINE lines do; lines count from 1."
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

fn title(report: &Report<'_>) -> String {
    let paths = report.trace.inputs.iter().map(|input| input.path.as_str());
    let paths: Vec<&str> = paths.collect();
    let word = report.diagnosis.headline().to_lowercase();
    format!("{word}: {}", paths.join(", "))
}

/// The head of a document.
pub(super) fn about(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            style { (PreEscaped(colours())) (PreEscaped(STYLE)) }
        }
    }
}

fn colours() -> String {
    let (light, dark) = (css(Theme::Light), css(Theme::Dark));
    format!(":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n")
}

fn head(report: &Report<'_>) -> Markup {
    let diagnosis = report.diagnosis;
    let class = match diagnosis.verdict {
        Verdict::Verified if diagnosis.exit_code() == 0 => "good",
        Verdict::Verified | Verdict::CompleteUnverified | Verdict::Silent => "unsure",
        Verdict::Truncated | Verdict::Failed => "bad",
    };
    let paths = report.trace.inputs.iter().map(|input| input.path.as_str());
    html! {
        header class=(class) {
            p class="eyebrow" {
                @for (n, path) in paths.enumerate() {
                    @if n > 0 { ", " }
                    span class="path" { (path) }
                }
            }
            h1 { span class="word" { (diagnosis.headline().to_lowercase()) } }
            p class="sentence" { (diagnosis.summary) }
            @if let Some(baseline) = &diagnosis.baseline { (compared(baseline)) }
        }
    }
}

fn compared(baseline: &BaselineRow) -> Markup {
    html! {
        p class="quiet" {
            "Compared with " span class="path" { (baseline.paths.join(", ")) }
            @if !baseline.comparable { ", which is not comparable" }
            @if !baseline.differs.is_empty() { "; differs in " (baseline.differs.join(", ")) }
            "."
        }
    }
}

/// The section of one run.
pub(super) fn run(report: &Report<'_>, run: &Run, own: &[Figure]) -> Markup {
    let gpus = report
        .analysis
        .gpus
        .iter()
        .filter(|gpu| gpu.run == run.index);
    let gpus: Vec<&GpuTime> = gpus.collect();
    let several = report.trace.runs.len() > 1;
    let (waterfall, others) = own.split_at(own.len().min(1));
    let extra = if run.index == 0 { report.figures } else { &[] };
    html! {
        section class="run" {
            h2 { @if several { "Run " (run.index) } @else { "The run" } }
            (figures_of(run, &gpus))
            @for figure in waterfall { (figures::show(figure)) }
            @for figure in extra { (figures::show(figure)) }
            @if !gpus.is_empty() {
                div class="pair" {
                    div { h3 { "GPU time, three ways" }
                        @for gpu in &gpus { (tables::utilisation(gpu)) } }
                    div { h3 { "Idle time by cause" }
                        @for gpu in &gpus { (tables::idle(gpu)) } }
                }
            }
            @for figure in others { (figures::show(figure)) }
            (tables::config(run))
        }
    }
}

/// The row of key figures.
fn figures_of(run: &Run, gpus: &[&GpuTime]) -> Markup {
    let completed = run
        .jobs
        .iter()
        .filter(|j| j.outcome == JobOutcome::Completed)
        .count();
    let proofs = run
        .jobs
        .iter()
        .filter(|j| matches!(j.verified, Some((true, _))))
        .count();
    let done = run
        .tasks
        .iter()
        .filter(|t| t.outcome == Outcome::Completed)
        .count();
    let span = gpus.iter().map(|gpu| gpu.span_ms).fold(0.0, f64::max);
    let kernel = gpus.iter().map(|gpu| gpu.utilisation_kernel).sum::<f64>();
    let kernel = kernel / gpus.len().max(1) as f64;
    let mut cells = vec![
        (
            format!("{completed} of {}", run.jobs.len()),
            "jobs completed",
        ),
        (
            format!("{done} of {}", run.tasks.len()),
            "partitions proved",
        ),
        (format!("{proofs} of {}", run.jobs.len()), "proofs verified"),
    ];
    if !gpus.is_empty() {
        cells.push((duration(span), "from first synthesis to the end"));
        cells.push((format!("{:.1} %", kernel * 100.0), "of it kernels ran"));
    }
    cells.push((end(run.end).to_owned(), "end of the log"));
    html! {
        dl class="figures" {
            @for (value, words) in &cells {
                div { dt { (words) } dd { (value) } }
            }
        }
    }
}

const fn end(end: RunEnd) -> &'static str {
    match end {
        RunEnd::Complete => "complete",
        RunEnd::Cut => "cut off",
        RunEnd::Restarted => "daemon restarted",
        RunEnd::Open => "jobs open",
        RunEnd::Aborted => "aborted",
    }
}
