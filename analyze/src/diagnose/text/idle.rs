//! GPU time in the text report: a line per GPU with its idle time by cause, longest first.

use super::WIDTH;
use super::wrap::{GLUE, put, wrap};
use crate::model::{Analysis, GpuTime, IdleCause};

/// Most GPUs that get a line of their own.
const GPUS_MAX: usize = 8;

/// Causes below this share of the idle time are not named.
const SHARE_MIN: f64 = 0.01;

pub(super) fn section(analysis: &Analysis, out: &mut String) {
    let timed: Vec<&GpuTime> = analysis
        .gpus
        .iter()
        .filter(|gpu| gpu.span_ms > 0.0)
        .collect();
    if timed.is_empty() {
        return;
    }
    out.push_str("\nGPU time:\n");
    for gpu in timed.iter().take(GPUS_MAX) {
        out.push_str(&wrap(
            &sentence(gpu),
            &format!("  run {} gpu {}: ", gpu.run, gpu.gpu),
            "    ",
            WIDTH,
        ));
    }
    if timed.len() > GPUS_MAX {
        put(out, &format!("  ... and {} more", timed.len() - GPUS_MAX));
    }
}

fn sentence(gpu: &GpuTime) -> String {
    let idle = gpu.idle_by_cause_ms.total();
    let mut causes: Vec<(IdleCause, f64)> = IdleCause::ALL
        .into_iter()
        .map(|cause| (cause, gpu.idle_by_cause_ms.get(cause)))
        .filter(|(_, ms)| idle > 0.0 && *ms >= idle * SHARE_MIN)
        .collect();
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let causes: Vec<String> = causes
        .iter()
        .map(|(cause, ms)| {
            format!(
                "{} {} ({:.0}{GLUE}%)",
                cause.as_str(),
                seconds(*ms),
                ms / idle * 100.0
            )
        })
        .collect();
    let by = if causes.is_empty() {
        String::new()
    } else {
        format!(": {}", causes.join(", "))
    };
    format!(
        "kernels ran {:.1}{GLUE}% of {}, a partition was on it {:.1}{GLUE}%; idle {}{by}",
        gpu.utilisation_kernel * 100.0,
        seconds(gpu.span_ms),
        gpu.utilisation_interval * 100.0,
        seconds(idle),
    )
}

/// Milliseconds as seconds, or as milliseconds when short.
fn seconds(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{ms:.0}{GLUE}ms")
    } else {
        format!("{:.1}{GLUE}s", ms / 1000.0)
    }
}
