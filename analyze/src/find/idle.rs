//! `perf.idle`: where the largest part of a GPU's idle time comes from, and what to do about it.

use tracefmt::finding::{Code, Confidence, Finding, Severity};

use super::{Sight, median};
use crate::analysis::Options;
use crate::model::{GpuTime, IdleCause};

/// Causes inside the run; the beginning and the end are the price of starting.
const INNER: [IdleCause; 7] = [
    IdleCause::SynthesisStarved,
    IdleCause::QueuedNotPicked,
    IdleCause::MutexWait,
    IdleCause::PreLockCpu,
    IdleCause::BarrierWait,
    IdleCause::FailedHolder,
    IdleCause::Unattributed,
];

/// The finding of one GPU, if its largest inner cause takes enough of the span.
pub fn idle(sight: &Sight<'_>, row: &GpuTime, options: &Options) -> Option<Finding> {
    let by_cause = |cause: IdleCause| row.idle_by_cause_ms.get(cause);
    let cause = INNER
        .into_iter()
        .max_by(|a, b| by_cause(*a).total_cmp(&by_cause(*b)))?;
    let idle_ms = by_cause(cause);
    if idle_ms < options.idle_share_min * row.span_ms || row.busy_kernel_ms <= 0.0 {
        return None;
    }
    let share = 100.0 * idle_ms / row.span_ms;
    let title = format!(
        "GPU {} idle {share:.0} % of the run: {}",
        row.gpu,
        what(cause)
    );
    let mut finding = Finding::new(
        Code::PerfIdle,
        Severity::Warning,
        confidence(sight, row.gpu),
        title,
    );
    finding.run = Some(row.run);
    finding.gpu = Some(row.gpu);
    finding.explanation = explanation(row, cause, idle_ms);
    finding.fix = Some(fix(sight, row, cause));
    finding.count = row
        .idle
        .iter()
        .filter(|gap| gap.cause == cause)
        .count()
        .max(1) as u64;
    let mut longest: Vec<_> = row.idle.iter().filter(|gap| gap.cause == cause).collect();
    longest.sort_by(|a, b| b.ms.total_cmp(&a.ms));
    let input = sight.run.first.input();
    let lines = longest.iter().take(3).flat_map(|gap| &gap.lines);
    finding.evidence = lines
        .filter_map(|line| {
            let line = u32::try_from(*line).ok()?;
            sight.evidence(tracefmt::run::LineRef::new(input, line))
        })
        .collect();
    Some(finding)
}

fn confidence(sight: &Sight<'_>, gpu: u32) -> Confidence {
    let holds = sight.all.of_gpu(gpu).iter();
    let certain = holds
        .filter(|hold| hold.locked())
        .all(|hold| hold.confidence == Confidence::Certain);
    if certain {
        Confidence::Certain
    } else {
        Confidence::Inferred
    }
}

const fn what(cause: IdleCause) -> &'static str {
    match cause {
        IdleCause::Fill => "the first partition was not there yet",
        IdleCause::Drain => "the last kernel was over",
        IdleCause::SynthesisStarved => "no synthesized partition was waiting for it",
        IdleCause::QueuedNotPicked => "partitions waited in the queue and no worker took one",
        IdleCause::MutexWait => "the lock was changing hands",
        IdleCause::PreLockCpu => "the next partition was still at its CPU work before the lock",
        IdleCause::BarrierWait => "its thread waited for the CPU to prepare the MSMs",
        IdleCause::FailedHolder => "a call that failed held the lock",
        IdleCause::Unattributed => "set-up under the lock, or no cause that the log shows",
    }
}

fn explanation(row: &GpuTime, cause: IdleCause, idle_ms: f64) -> String {
    let s = |ms: f64| ms / 1000.0;
    format!(
        "Kernels ran for {:.1} s of {:.1} s ({:.1} %), though the lock was held for {:.1} %. \
         {:.1} s of the idle time are `{}`; before the first kernel {:.1} s passed, after the \
         last one {:.1} s.",
        s(row.busy_kernel_ms),
        s(row.span_ms),
        100.0 * row.utilisation_kernel,
        100.0 * row.utilisation_hold,
        s(idle_ms),
        cause.as_str(),
        s(row.idle_by_cause_ms.fill),
        s(row.idle_by_cause_ms.drain),
    )
}

fn fix(sight: &Sight<'_>, row: &GpuTime, cause: IdleCause) -> String {
    match cause {
        IdleCause::SynthesisStarved => starved_fix(sight, row),
        IdleCause::QueuedNotPicked => "Give the GPU another worker (gpu_workers_per_device), so \
             that one can take the next partition while another finishes its CPU work."
            .to_owned(),
        IdleCause::PreLockCpu => "Let the CPU work before the lock (splitting, registering host \
             memory) overlap with another partition's kernels: one more worker a GPU, or host \
             memory that stays registered."
            .to_owned(),
        IdleCause::BarrierWait => "Make prep_msm faster or start it earlier: more threads for it, \
             fewer syntheses beside it; look at the prep_msm row of the phases."
            .to_owned(),
        IdleCause::FailedHolder => {
            "Mend what failed first. A call that gives the lock back as soon \
             as it fails costs the others less."
                .to_owned()
        }
        IdleCause::MutexWait => "Shorten what the holder does under the lock before and after its \
             kernels; more workers do not help."
            .to_owned(),
        _ => "Compare mutex_held with gpu_total: what lies between them is set-up under the lock \
             (device synchronisation, trimming, allocation) that could be moved out of it or kept."
            .to_owned(),
    }
}

/// How many syntheses would have to run at once to keep the GPUs fed.
fn starved_fix(sight: &Sight<'_>, row: &GpuTime) -> String {
    let tasks = sight.run.tasks.iter();
    let lengths =
        tasks.filter_map(|task| Some(task.synth_end?.us as f64 - task.synth_start?.us as f64));
    let synth = median(&mut lengths.collect::<Vec<_>>());
    let holds = sight
        .all
        .of_gpu(row.gpu)
        .iter()
        .filter(|hold| !hold.kernels.is_empty());
    let holds = holds.map(|hold| (hold.released - hold.acquired) as f64);
    let hold = median(&mut holds.collect::<Vec<_>>());
    let Some((synth, hold)) = synth.zip(hold).filter(|(_, hold)| *hold > 0.0) else {
        return "Start more syntheses at once, or submit more jobs at a time.".to_owned();
    };
    let gpus = sight.all.gpus.len() as f64;
    format!(
        "A partition takes {:.1} s to synthesize and holds the GPU for {:.2} s, so about {:.0} \
         syntheses must be under way at any time to keep {} busy: raise the number of partitions \
         synthesized at once, submit jobs before the ones before them end, or make synthesis \
         faster.",
        synth / 1e6,
        hold / 1e6,
        (gpus * synth / hold).ceil(),
        if gpus > 1.0 { "all GPUs" } else { "the GPU" },
    )
}
