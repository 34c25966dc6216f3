//! Tables: utilisation, idle time by cause, phases, critical path, configuration, inputs.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::Ledger;
use crate::model::{Analysis, GpuTime, IdleCause, PathStep, PhaseRow};
use crate::plot::{Role, cause_words, duration};
use tracefmt::finding::Confidence;
use tracefmt::run::{Input, Run};

/// Steps of the critical path shown; the totals above count all.
const STEPS_MAX: usize = 60;

/// The three utilisations of a GPU as bars.
pub(super) fn utilisation(gpu: &GpuTime) -> Markup {
    let bars = [
        (
            "interval",
            "a prove call was open",
            gpu.utilisation_interval,
            gpu.busy_interval_ms,
            Role::Call,
        ),
        (
            "hold",
            "the GPU lock was held",
            gpu.utilisation_hold,
            gpu.busy_hold_ms,
            Role::Hold,
        ),
        (
            "kernel",
            "kernels ran",
            gpu.utilisation_kernel,
            gpu.busy_kernel_ms,
            Role::Kernel,
        ),
    ];
    html! {
        table class="bars" {
            caption { "GPU " (gpu.gpu) " was busy, of " (duration(gpu.span_ms)) }
            tbody {
                @for (name, words, share, ms, role) in bars {
                    tr {
                        th scope="row" { (name) " " span class="quiet" { (words) } }
                        td class="bar" { (bar(share, role)) }
                        td class="n" { (percent(share)) }
                        td class="n quiet" { (duration(ms)) }
                    }
                }
            }
        }
    }
}

/// Idle time by cause: sums to the span less the kernels.
pub(super) fn idle(gpu: &GpuTime) -> Markup {
    let mut rows: Vec<(IdleCause, f64)> = IdleCause::ALL
        .into_iter()
        .map(|cause| (cause, gpu.idle_by_cause_ms.get(cause)))
        .filter(|(_, ms)| *ms > 0.0)
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total = gpu.idle_by_cause_ms.total();
    // The longest bar is the largest cause: against the span most would be a pixel wide.
    let most = rows.first().map_or(1.0, |(_, ms)| *ms);
    let span = gpu.span_ms.max(f64::MIN_POSITIVE);
    html! {
        table class="bars" {
            caption { "GPU " (gpu.gpu) " was idle for " (duration(total)) ", by cause" }
            tbody {
                @for (cause, ms) in rows {
                    tr {
                        th scope="row" {
                            (cause_words(cause)) " " code class="quiet" { (cause.as_str()) }
                        }
                        td class="bar" { (bar(ms / most, Role::of_cause(cause))) }
                        td class="n" { (percent(ms / span)) }
                        td class="n quiet" { (duration(ms)) }
                    }
                }
            }
        }
    }
}

fn bar(share: f64, role: Role) -> Markup {
    let width = (share * 100.0).clamp(0.0, 100.0);
    let style = format!("width:{width:.2}%;background:var(--{})", role.css());
    html! { span class="fill" style=(style) {} }
}

fn percent(share: f64) -> String {
    if share.is_finite() {
        format!("{:.1} %", share * 100.0)
    } else {
        "?".to_owned()
    }
}

/// Phases over all GPUs and workers; those by GPU and worker folded.
pub(super) fn phases(analysis: &Analysis) -> Markup {
    let (totals, parts): (Vec<&PhaseRow>, Vec<&PhaseRow>) = analysis
        .phases
        .iter()
        .partition(|row| row.gpu.is_none() && row.worker.is_none());
    html! {
        section id="phases" {
            h2 { "Phases" }
            @if totals.is_empty() {
                p class="quiet" { "The log has no timing lines." }
            } @else {
                (phase_table(&totals, false))
                p class="quiet" {
                    "MAD is the median absolute deviation. A phase that is a part of another is \
                     contained in it: never add the two."
                }
            }
            @if !parts.is_empty() {
                details {
                    summary { "By GPU and worker" }
                    (phase_table(&parts, true))
                }
            }
        }
    }
}

fn phase_table(rows: &[&PhaseRow], placed: bool) -> Markup {
    html! {
        div class="scroll" { table class="grid" {
            thead { tr {
                th { "phase" }
                @if placed { th { "GPU" } th { "worker" } }
                th class="n" { "n" } th class="n" { "median" }
                th class="n" { "p10" } th class="n" { "p90" } th class="n opt" { "MAD" }
                th class="opt" { "part of" }
            } }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" { (row.phase) }
                        @if placed {
                            td { (number(row.gpu)) } td { (number(row.worker)) }
                        }
                        td class="n" { (row.n) }
                        td class="n" { (duration(row.median_ms)) }
                        td class="n" { (duration(row.p10_ms)) }
                        td class="n" { (duration(row.p90_ms)) }
                        td class="n opt" { (duration(row.mad_ms)) }
                        td class="opt" { (row.nested_in.as_deref().unwrap_or("")) }
                    }
                }
            }
        } }
    }
}

fn number(value: Option<u32>) -> String {
    value.map_or_else(|| "all".to_owned(), |value| value.to_string())
}

/// Runs whose path is shown.
const PATHS_MAX: usize = 8;

/// Where the time from a submission to the last proof of each run went.
pub(super) fn critical_path(analysis: &Analysis) -> Markup {
    let paths = || analysis.critical_path.chunk_by(|a, b| a.run == b.run);
    let count = paths().count();
    html! {
        section id="path" {
            h2 { "Critical path" }
            @if count == 0 {
                p class="quiet" { "The log does not say enough for one." }
            } @else {
                p {
                    "A proof could not have ended earlier unless one of these became shorter. "
                    "Slack is how much later a step could have ended without moving the end."
                }
                @for steps in paths().take(PATHS_MAX) {
                    (one_path(analysis, steps, count > 1))
                }
                @if count > PATHS_MAX {
                    p class="quiet" { "Those of other runs are in the JSON output." }
                }
            }
        }
    }
}

fn one_path(analysis: &Analysis, steps: &[PathStep], several: bool) -> Markup {
    let mut by_kind: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
    for step in steps {
        let slot = by_kind.entry(&step.kind).or_default();
        *slot = (slot.0 + step.end_ms - step.start_ms, slot.1 + 1);
    }
    let mut kinds: Vec<(&str, (f64, u32))> = by_kind.into_iter().collect();
    kinds.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let total: f64 = kinds.iter().map(|(_, (ms, _))| ms).sum();
    let run = steps.first().map_or(0, |step| step.run);
    let cut = analysis.critical_path_left_out.iter();
    let left_out = cut.filter(|cut| cut.run == run).map(|cut| cut.steps);
    let left_out: u64 = left_out.sum();
    html! {
        @if several { h3 { "Run " (run) } }
        @if left_out > 0 {
            p class="quiet" { "Without its first " (left_out) " steps." }
        }
        table class="bars" {
            tbody {
                @for (kind, (ms, count)) in &kinds {
                    tr {
                        th scope="row" {
                            (kind) " " span class="quiet" { "× " (count) }
                        }
                        td class="bar" { (bar(ms / total, Role::Hold)) }
                        td class="n" { (percent(ms / total)) }
                        td class="n quiet" { (duration(*ms)) }
                    }
                }
            }
        }
        details {
            summary { "Steps in order of time" }
            (path_table(steps))
        }
    }
}

fn path_table(steps: &[PathStep]) -> Markup {
    html! {
        div class="scroll" { table class="grid" {
            thead { tr {
                th { "step" } th { "job" } th class="n" { "partition" }
                th class="n" { "at" } th class="n" { "took" } th class="n" { "slack" }
            } }
            tbody {
                @for step in steps.iter().take(STEPS_MAX) {
                    tr {
                        th scope="row" { (step.kind) }
                        td class="id" { (step.job) }
                        td class="n" { (step.partition.map_or(String::new(), |n| n.to_string())) }
                        td class="n" { (format!("{:.0} ms", step.start_ms)) }
                        td class="n" { (duration(step.end_ms - step.start_ms)) }
                        td class="n" { (duration(step.slack_ms)) }
                    }
                }
            }
        } }
        @if steps.len() > STEPS_MAX {
            p class="quiet" { (steps.len() - STEPS_MAX) " more are in the JSON output." }
        }
    }
}

/// What the log says of machine and configuration.
pub(super) fn config(run: &Run) -> Markup {
    let config = &run.config;
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut say = |key: &str, value: String| rows.push((key.to_owned(), value));
    let sure = match run.dialect.confidence {
        Confidence::Certain => "certain",
        Confidence::Inferred => "inferred",
        Confidence::Ambiguous => "ambiguous",
    };
    say(
        "log dialect",
        format!("{} ({sure}: {})", run.dialect.name, run.dialect.why),
    );
    if let Some(device) = &config.device {
        say("device", device.clone());
    }
    if let Some(size) = config.vram_bytes {
        say("device memory", bytes(size));
    }
    if let Some(free) = config.free_bytes {
        say("free at the first partition", bytes(free));
    }
    let gpus: Vec<String> = config.gpus.iter().map(|gpu| format!("GPU {gpu}")).collect();
    if !gpus.is_empty() {
        say("GPUs", format!("{}: {}", gpus.len(), gpus.join(", ")));
    }
    say("GPU workers", config.workers.to_string());
    if let Some(domain) = config.domain {
        let power = domain
            .is_power_of_two()
            .then(|| format!(" = 2^{}", domain.ilog2()));
        say(
            "domain",
            format!("{domain}{} elements", power.unwrap_or_default()),
        );
    }
    if let Some(lot) = config.lot_of_memory {
        say("lot_of_memory", if lot { "yes" } else { "no" }.to_owned());
    }
    if let Some(build) = &config.build {
        say("build", build.clone());
    }
    rows.extend(config.more.iter().cloned());
    html! {
        details class="config" {
            summary { "Configuration of the run" }
            dl {
                @for (key, value) in &rows {
                    div { dt { (key) } dd { (value) } }
                }
            }
        }
    }
}

/// The inputs and what their bytes are.
pub(super) fn inputs(inputs: &[Input], ledgers: &[Ledger]) -> Markup {
    html! {
        section id="inputs" {
            h2 { "Inputs" }
            @for (n, input) in inputs.iter().enumerate() {
                h3 class="path" { (input.path) }
                p class="quiet" {
                    (input.lines) " lines, " (bytes(input.bytes))
                    @if input.file_bytes != input.bytes {
                        " (" (bytes(input.file_bytes)) " on disk)"
                    }
                }
                @if let Some(ledger) = ledgers.get(n) { (classes(ledger)) }
            }
        }
    }
}

fn classes(ledger: &Ledger) -> Markup {
    let total: u64 = ledger.classes.iter().map(|(_, _, bytes)| bytes).sum();
    html! {
        div class="scroll" { table class="grid" {
            thead { tr {
                th { "class of line" } th class="n" { "lines" }
                th class="n" { "bytes" } th class="n" { "share" }
            } }
            tbody {
                @for (class, lines, size) in &ledger.classes {
                    tr {
                        th scope="row" { (class) }
                        td class="n" { (lines) }
                        td class="n" { (size) }
                        td class="n" { (percent(*size as f64 / total.max(1) as f64)) }
                    }
                }
            }
        } }
    }
}

/// A size with its binary unit.
pub(super) fn bytes(size: u64) -> String {
    let mut value = size as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            let digits = usize::from(unit != "B" && value < 100.0);
            return format!("{value:.digits$} {unit}");
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units() {
        for (size, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (103_555, "101 KiB"),
            (17_094_934_528, "15.9 GiB"),
            (1 << 50, "1024.0 TiB"),
        ] {
            assert_eq!(bytes(size), expected);
        }
    }
}
