//! Holds as the result shows them, with their owner, phases and lines.

use std::borrow::Cow;

use tracefmt::finding::Confidence;
use tracefmt::run::{MarkKind, Run};

use super::gpu::ms;
use crate::interval::{Hold, Reconstruction};
use crate::model::{Candidate, PhaseTimes, Region};
use crate::phase::{each_of, residual_ms};

/// Appends the regions of a run, sorted by start.
pub(super) fn add(run: &Run, all: &Reconstruction, regions: &mut Vec<Region>) {
    let mut order: Vec<&Hold> = all.holds.iter().filter(|hold| hold.locked()).collect();
    order.sort_by_key(|hold| (hold.acquired, hold.gpu));
    regions.reserve(order.len());
    regions.extend(order.into_iter().map(|hold| region(run, all, hold)));
}

fn region(run: &Run, all: &Reconstruction, hold: &Hold) -> Region {
    let call = hold.call as usize;
    let owner = owner(run, hold.call).unwrap_or_else(|| Candidate {
        job: String::new(),
        partition: None,
        worker: None,
    });
    let kernels = all.kernels_of(hold).iter();
    let others = others(run, hold);
    Region {
        run: run.index,
        job: owner.job,
        partition: owner.partition,
        worker: owner.worker,
        gpu: Some(hold.gpu),
        start_ms: ms(hold.acquired),
        end_ms: ms(hold.released),
        kernels: kernels.map(|span| [ms(span.start), ms(span.end)]).collect(),
        confidence: hold.confidence,
        candidates: others
            .iter()
            .filter_map(|other| owner_of(run, *other))
            .collect(),
        phases: phases(run, call),
        lines: run
            .marks_of(call)
            .map(|mark| u64::from(mark.line().line))
            .collect(),
    }
}

fn owner_of(run: &Run, call: u32) -> Option<Candidate> {
    owner(run, call)
}

fn owner(run: &Run, call: u32) -> Option<Candidate> {
    let call = run.calls.get(call as usize)?;
    let task = run.tasks.get(call.task as usize)?;
    let job = run.jobs.get(task.job as usize)?;
    Some(Candidate {
        job: job.id.clone(),
        partition: task.partition,
        worker: call.worker.or(task.worker),
    })
}

/// Other calls that the lines under the lock could belong to, sorted.
fn others(run: &Run, hold: &Hold) -> Vec<u32> {
    let mut others = Vec::new();
    if hold.confidence == Confidence::Certain {
        return others;
    }
    for mark in run.marks_of(hold.call as usize) {
        let locked = matches!(
            mark.kind(),
            MarkKind::NttMsmH | MarkKind::BatchAdd | MarkKind::TailMsm | MarkKind::BarrierWait
        );
        if locked && mark.confidence() == Confidence::Ambiguous {
            others.extend(run.marks.candidates(mark));
        }
    }
    others.sort_unstable();
    others.dedup();
    others.retain(|other| *other != hold.call);
    others
}

fn phases(run: &Run, call: usize) -> PhaseTimes {
    let mut times = PhaseTimes::with_capacity(12);
    for mark in run.marks_of(call) {
        if mark.kind() == MarkKind::Phase {
            let name = run.marks.name(mark);
            times.add(Cow::Owned(name.to_owned()), mark.us() as f64 / 1000.0);
        } else {
            each_of(&run.marks.what(mark), |name, ms| times.add(name, ms));
        }
    }
    if let Some(wait) = residual_ms(run, call) {
        times.add("barrier_wait", wait);
    }
    times
}
