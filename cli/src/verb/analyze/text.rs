//! An analysis in words and columns.

use analyze::model::{Analysis, GpuTime, IdleCause, IdleGap, PathStep, PhaseRow};

use crate::output::put;

/// What `cuzk analyze` prints: GPUs, idle time by cause, the longest gaps, phases, critical path.
pub(super) fn render(analysis: &Analysis, gaps: usize) -> String {
    let mut text = String::new();
    if analysis.gpus.is_empty() {
        text.push_str("no GPU work is in this log: no GPU_START line, no synthesis\n");
    }
    for gpu in &analysis.gpus {
        text.push_str(&gpu_block(gpu, gaps));
    }
    text.push_str(&phase_table(analysis));
    text.push_str(&path_tables(analysis));
    for finding in &analysis.findings {
        line(
            &mut text,
            format_args!("{}: {}", finding.code, finding.title),
        );
    }
    text
}

/// One line.
fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    put(text, what);
    text.push('\n');
}

fn seconds(ms: f64) -> String {
    format!("{:.3} s", ms / 1000.0)
}

fn gpu_block(gpu: &GpuTime, gaps: usize) -> String {
    let mut text = String::new();
    line(
        &mut text,
        format_args!("run {} gpu {}: {}", gpu.run, gpu.gpu, seconds(gpu.span_ms)),
    );
    let ways = [
        ("interval", gpu.busy_interval_ms, gpu.utilisation_interval),
        ("hold", gpu.busy_hold_ms, gpu.utilisation_hold),
        ("kernel", gpu.busy_kernel_ms, gpu.utilisation_kernel),
    ];
    for (way, ms, share) in ways {
        let percent = share * 100.0;
        line(
            &mut text,
            format_args!("  busy by {way:<10} {:>12}  {percent:>5.1} %", seconds(ms)),
        );
    }
    let idle = gpu.span_ms - gpu.busy_kernel_ms;
    line(
        &mut text,
        format_args!("  idle by kernel     {:>12}, by cause", seconds(idle)),
    );
    for cause in IdleCause::ALL {
        let ms = gpu.idle_by_cause_ms.get(cause);
        if ms > 0.0 {
            let percent = 100.0 * ms / gpu.span_ms;
            let name = cause.as_str();
            line(
                &mut text,
                format_args!("    {name:<17}{:>12}  {percent:>5.1} %", seconds(ms)),
            );
        }
    }
    for gap in longest(&gpu.idle, gaps) {
        let lines: Vec<String> = gap.lines.iter().map(u64::to_string).collect();
        line(
            &mut text,
            format_args!(
                "    gap {:>12} from {:>12}: {} ({}), lines {}",
                seconds(gap.ms),
                seconds(gap.start_ms),
                gap.cause.as_str(),
                super::super::words::confidence(gap.confidence),
                lines.join(", ")
            ),
        );
    }
    text.push_str(&beside(gpu));
    text
}

/// What else is to be known of the idle time: what has no job, no call, no room.
fn beside(gpu: &GpuTime) -> String {
    let mut text = String::new();
    if gpu.idle_no_job_ms > 0.0 {
        let ms = seconds(gpu.idle_no_job_ms);
        line(
            &mut text,
            format_args!("    of unattributed, {ms} while no job was open"),
        );
    }
    if gpu.holds_without_call > 0 {
        let tenures = match gpu.holds_without_call {
            1 => "1 recorded tenure of the lock has".to_owned(),
            n => format!("{n} recorded tenures of the lock have"),
        };
        line(
            &mut text,
            format_args!("    {tenures} no GPU_START: kernels in it count as idle time"),
        );
    }
    if gpu.idle_left_out > 0 {
        let listed = gpu.idle.len();
        let all = listed as u64 + gpu.idle_left_out;
        line(
            &mut text,
            format_args!("    the {listed} longest of {all} gaps are in --format json"),
        );
    }
    text
}

/// The longest gaps, in order of time.
fn longest(gaps: &[IdleGap], most: usize) -> Vec<&IdleGap> {
    let mut sorted: Vec<&IdleGap> = gaps.iter().collect();
    sorted.sort_by(|a, b| b.ms.total_cmp(&a.ms));
    sorted.truncate(most);
    sorted.sort_by(|a, b| a.start_ms.total_cmp(&b.start_ms));
    sorted
}

fn phase_table(analysis: &Analysis) -> String {
    let total = |row: &&PhaseRow| row.gpu.is_none() && row.worker.is_none();
    let rows: Vec<&PhaseRow> = analysis.phases.iter().filter(total).collect();
    let mut text = String::new();
    if rows.is_empty() {
        return text;
    }
    line(
        &mut text,
        format_args!(
            "\n{:<20} {:>7} {:>10} {:>10} {:>10} {:>9}  part of",
            "phase, ms", "n", "median", "p10", "p90", "mad"
        ),
    );
    for row in rows {
        let parent = row.nested_in.as_deref().unwrap_or("-");
        line(
            &mut text,
            format_args!(
                "{:<20} {:>7} {:>10.1} {:>10.1} {:>10.1} {:>9.1}  {parent}",
                row.phase, row.n, row.median_ms, row.p10_ms, row.p90_ms, row.mad_ms
            ),
        );
    }
    text
}

/// Steps of the critical path of a run shown; JSON has more.
const STEPS_SHOWN: usize = 12;

/// Runs whose path is shown.
const PATHS_SHOWN: usize = 8;

/// A path for each run.
fn path_tables(analysis: &Analysis) -> String {
    let mut text = String::new();
    let paths = || analysis.critical_path.chunk_by(|a, b| a.run == b.run);
    let count = paths().count();
    for steps in paths().take(PATHS_SHOWN) {
        path_table(analysis, steps, count > 1, &mut text);
    }
    if count > PATHS_SHOWN {
        let more = count - PATHS_SHOWN;
        let paths = if more == 1 { "path" } else { "paths" };
        let what = format_args!("\n{more} more {paths} are in --format json");
        line(&mut text, what);
    }
    if count > 0 {
        text.push('\n');
    }
    text
}

fn path_table(analysis: &Analysis, steps: &[PathStep], several: bool, text: &mut String) {
    let from = steps.len().saturating_sub(STEPS_SHOWN);
    let shown = steps.get(from..).unwrap_or_default();
    let Some(run) = steps.first().map(|step| step.run) else {
        return;
    };
    let cut = analysis.critical_path_left_out.iter();
    let left_out = cut.filter(|cut| cut.run == run).map(|cut| cut.steps).sum();
    let all = steps.len() as u64 + left_out;
    let of_run = if several {
        format!(" of run {run}")
    } else {
        String::new()
    };
    let part = if shown.len() as u64 == all {
        steps_of(all)
    } else {
        format!("last {} of {}", shown.len(), steps_of(all))
    };
    let head = format_args!(
        "\ncritical path{of_run}, {part}; slack: how much later it could have ended without moving \
         the end"
    );
    line(text, head);
    if left_out > 0 {
        let first = steps_of(left_out);
        line(
            text,
            format_args!("  the first {first} are not in --format json either"),
        );
    }
    for step in shown {
        let owner = match step.partition {
            Some(partition) => format!("{} partition {partition}", step.job),
            None => step.job.clone(),
        };
        line(
            text,
            format_args!(
                "  {:<14} {:>12} to {:>12}  slack {:>9.1} ms  {owner}",
                step.kind,
                seconds(step.start_ms),
                seconds(step.end_ms),
                step.slack_ms
            ),
        );
    }
}

fn steps_of(count: u64) -> String {
    if count == 1 {
        "1 step".to_owned()
    } else {
        format!("{count} steps")
    }
}
