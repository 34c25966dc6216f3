//! The record of a run: what ran, in which order, with which answer, and the peak.

use tracefmt::ops::{Op, Schedule, Step};

use super::{Ending, Options, execute};
use crate::vram::Outcome;

/// One step that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    /// Which step of the schedule, from 0.
    pub at: usize,
    /// What came of it.
    pub outcome: Outcome,
    /// The result code that the model gave, before a recorded one won.
    pub predicted: u32,
    /// For a `memGetInfo` with a need: it would not fit.
    pub refused: bool,
}

impl Ran {
    /// Whether the step is an allocation that failed.
    pub fn is_failed_allocation(&self, step: &Step) -> bool {
        let allocates = matches!(step.op, Op::Malloc { .. } | Op::MallocAsync { .. });
        allocates && self.outcome.rc != 0
    }
}

/// The highest use of one card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Peak {
    /// Physical bytes in use, the baseline included.
    pub bytes: u64,
    /// The step after which they were.
    pub at: usize,
}

/// Everything that a run left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The steps that ran, in the order in which they did.
    pub ran: Vec<Ran>,
    /// How the workers ended.
    pub ending: Ending,
    /// The peak of each card.
    pub peaks: Vec<Peak>,
}

impl Record {
    /// Runs a schedule and keeps everything.
    pub fn of(schedule: &Schedule, options: &Options) -> Self {
        let gpus = &schedule.header.gpus;
        let baseline = |gpu: &tracefmt::ops::GpuSpec| Peak {
            bytes: gpu.baseline,
            at: 0,
        };
        let mut peaks: Vec<Peak> = gpus.iter().map(baseline).collect();
        let mut ran = Vec::with_capacity(schedule.steps.len());
        let ending = execute(schedule, options, |one| {
            ran.push(*one);
            let gpu = schedule.steps.get(one.at).map_or(0, gpu_of);
            if let (Some(peak), Some(spec)) = (peaks.get_mut(gpu), gpus.get(gpu)) {
                let used = spec.capacity.saturating_sub(one.outcome.free);
                if used > peak.bytes {
                    *peak = Peak {
                        bytes: used,
                        at: one.at,
                    };
                }
            }
        });
        Self { ran, ending, peaks }
    }

    /// Whether no allocation failed, swallowed ones included.
    pub fn passes(&self, schedule: &Schedule) -> bool {
        self.failed_allocations(schedule).next().is_none()
    }

    /// The allocations that failed, in the order in which they did: position in
    /// [`Record::ran`], and the step.
    pub fn failed_allocations<'a>(
        &'a self,
        schedule: &'a Schedule,
    ) -> impl Iterator<Item = (usize, &'a Ran, &'a Step)> {
        self.ran.iter().enumerate().filter_map(|(order, ran)| {
            let step = schedule.steps.get(ran.at)?;
            ran.is_failed_allocation(step).then_some((order, ran, step))
        })
    }
}

/// The card of a step, as an index.
pub(crate) fn gpu_of(step: &Step) -> usize {
    usize::try_from(step.gpu.unwrap_or(0)).unwrap_or(usize::MAX)
}
