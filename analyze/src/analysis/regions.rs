//! Holds as the result shows them, with their owner, phases and lines.

use std::sync::Arc;

use rayon::prelude::*;
use tracefmt::finding::Confidence;
use tracefmt::run::{MarkKind, Run, Task};

use super::gpu::ms;
use crate::interval::{Hold, Reconstruction};
use crate::model::{Candidate, KnownPhase, PhaseTimes, Region};
use tracefmt::phase::{each_of, residual_ms};

/// Appends the regions of a run, sorted by start.
pub(super) fn add(run: &Run, all: &Reconstruction, regions: &mut Vec<Region>) {
    let mut order: Vec<&Hold> = all.holds.iter().filter(|hold| hold.locked()).collect();
    order.sort_by_key(|hold| (hold.acquired, hold.gpu));
    let jobs: Vec<Arc<str>> = run.jobs.iter().map(|job| job.id.as_str().into()).collect();
    let one = |hold: &Hold| region(run, all, &jobs, hold);
    regions.par_extend(order.into_par_iter().map(one));
}

fn region(run: &Run, all: &Reconstruction, jobs: &[Arc<str>], hold: &Hold) -> Region {
    let call = hold.call as usize;
    let own = run.calls.get(call);
    let task = own.and_then(|own| run.tasks.get(own.task as usize));
    let job = task.and_then(|task| jobs.get(task.job as usize));
    let worker = |task: &Task| own.and_then(|own| own.worker).or(task.worker);
    let kernels = all.kernels_of(hold).iter();
    let others = others(run, hold);
    Region {
        run: run.index,
        job: job.cloned().unwrap_or_default(),
        partition: task.and_then(|task| task.partition),
        worker: task.and_then(worker),
        gpu: Some(hold.gpu),
        start_ms: ms(hold.acquired),
        end_ms: ms(hold.released),
        kernels: kernels.map(|span| [ms(span.start), ms(span.end)]).collect(),
        confidence: hold.confidence,
        candidates: others
            .iter()
            .filter_map(|other| owner(run, *other))
            .collect(),
        phases: phases(run, call),
        lines: lines(run, call),
    }
}

/// Line numbers of a call's timing lines, in a list of just that size.
fn lines(run: &Run, call: usize) -> Box<[u32]> {
    let mut lines = Vec::with_capacity(run.marks_len(call));
    lines.extend(run.marks_of(call).map(|mark| mark.line().line));
    lines.into_boxed_slice()
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
            others.extend(run.marks.candidates(&mark));
        }
    }
    others.sort_unstable();
    others.dedup();
    others.retain(|other| *other != hold.call);
    others
}

fn phases(run: &Run, call: usize) -> PhaseTimes {
    let mut table = [None; KnownPhase::COUNT];
    let mut add = |phase: KnownPhase, ms: f32| {
        if let Some(sum) = table.get_mut(phase.index()) {
            *sum = Some(sum.unwrap_or(0.0) + ms);
        }
    };
    let mut own = false;
    for mark in run.marks_of(call) {
        own |= mark.kind() == MarkKind::Phase;
        each_of(&run.marks, &mark, |phase, ms| add(phase, ms as f32));
    }
    if let Some(wait) = residual_ms(run, call) {
        add(KnownPhase::BARRIER_WAIT, wait as f32);
    }
    let mut times = PhaseTimes::of_known(&table);
    if own {
        let marks = run.marks_of(call);
        for mark in marks.filter(|mark| mark.kind() == MarkKind::Phase) {
            times.add(run.marks.name(&mark), mark.us() as f64 / 1000.0);
        }
    }
    times
}
