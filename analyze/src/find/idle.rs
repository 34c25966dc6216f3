//! `perf.idle`: where the largest part of a GPU's idle time comes from, and what to do about it.

use tracefmt::finding::{Code, Confidence, Finding, Severity};

use super::{Sight, length, median};
use crate::analysis::Options;
use crate::model::{GpuTime, IdleCause};

/// What the largest part of the idle time comes from: a cause, or the part of those without one in
/// which no job was open.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    cause: IdleCause,
    no_job: bool,
    ms: f64,
}

impl Share {
    fn of(row: &GpuTime, cause: IdleCause) -> Self {
        let ms = row.idle_by_cause_ms.get(cause);
        let no_job = if cause == IdleCause::Unattributed {
            row.idle_no_job_ms
        } else {
            0.0
        };
        Self {
            cause,
            no_job: false,
            ms: ms - no_job,
        }
    }

    const fn without_job(row: &GpuTime) -> Self {
        Self {
            cause: IdleCause::Unattributed,
            no_job: true,
            ms: row.idle_no_job_ms,
        }
    }
}

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
    let shares = INNER.into_iter().map(|cause| Share::of(row, cause));
    let largest = shares
        .chain([Share::without_job(row)])
        .max_by(|a, b| a.ms.total_cmp(&b.ms))?;
    let (cause, idle_ms) = (largest.cause, largest.ms);
    if idle_ms < options.idle_share_min * row.span_ms || row.busy_kernel_ms <= 0.0 {
        return None;
    }
    let share = 100.0 * idle_ms / row.span_ms;
    let title = format!(
        "GPU {} idle {share:.0} % of the run: {}",
        row.gpu,
        if largest.no_job {
            "no job was open"
        } else {
            what(cause)
        }
    );
    let mut finding = Finding::new(
        Code::PerfIdle,
        Severity::Warning,
        confidence(sight, row.gpu),
        title,
    );
    finding.run = Some(row.run);
    finding.gpu = Some(row.gpu);
    finding.explanation = explanation(row, largest);
    finding.fix = Some(if largest.no_job {
        "Submit the next job before the one before it ends, or judge the machine by the time in \
         which it had one."
            .to_owned()
    } else {
        fix(sight, row, cause)
    });
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
    if certain && sight.all.uncalled_of(gpu).next().is_none() {
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

fn explanation(row: &GpuTime, largest: Share) -> String {
    let ms = |ms: f64| length(ms * 1000.0);
    let said = format!(
        "Kernels ran for {} of {} ({:.1} %), though the lock was held for {:.1} %. {} of the idle \
         time are `{}`{}; before the first kernel {} passed, after the last one {}.",
        ms(row.busy_kernel_ms),
        ms(row.span_ms),
        100.0 * row.utilisation_kernel,
        100.0 * row.utilisation_hold,
        ms(largest.ms),
        largest.cause.as_str(),
        if largest.no_job {
            ", since no job was open"
        } else {
            ""
        },
        ms(row.idle_by_cause_ms.fill),
        ms(row.idle_by_cause_ms.drain),
    );
    let tenures = match row.holds_without_call {
        0 => return said,
        1 => "1 recorded tenure of the lock has".to_owned(),
        lost => format!("{lost} recorded tenures of the lock have"),
    };
    format!("{said} {tenures} no GPU_START in the log: kernels that ran in it count as idle time.")
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
        "A partition takes {} to synthesize and holds the GPU for {}, so about {:.0} \
         syntheses must be under way at any time to keep {} busy: raise the number of partitions \
         synthesized at once, submit jobs before the ones before them end, or make synthesis \
         faster.",
        length(synth),
        length(hold),
        (gpus * synth / hold).ceil(),
        if gpus > 1.0 { "all GPUs" } else { "the GPU" },
    )
}
