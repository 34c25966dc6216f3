//! Plans with a fault in them, and the memory on which a late free shows.

use tracefmt::ops::Op;

use crate::plan::{Plan, PlanError, PlanStep, Room, Sizes};

/// Device memory, beside that of others, on which a late free fails an allocation whatever the
/// plan: by the smallest one a partition has room beside a late buffer of its own, and none beside
/// that of another worker as well. None for a domain that has no plan.
pub fn late_free_bytes(sizes: &Sizes, workers: u32) -> Option<u64> {
    let room = Room {
        workers,
        ..Room::of(0)
    };
    let Err(PlanError::TooSmall { needed, .. }) = Plan::new(sizes, room) else {
        return None;
    };
    let room = Room {
        bytes: needed,
        ..room
    };
    let mut plan = Plan::new(sizes, room).ok()?;
    free_late(&mut plan, LATE);
    let late = plan.steps.iter().find_map(|step| match step.op {
        Op::Malloc { bytes, .. } if step.about == LATE => Some(bytes),
        _ => None,
    });
    // The last block of a card is never given out, so what just fits is too small.
    Some(plan.held_bytes().saturating_add(late?))
}

/// The buffer that a late free is about.
pub(super) const LATE: &str = "d_bc";

fn free_of(plan: &Plan, buf: &str) -> Option<usize> {
    let frees = |step: &PlanStep| matches!(step.op, Op::Free { .. }) && step.about == buf;
    plan.steps.iter().position(frees)
}

/// Moves the free of a buffer behind everything else, the unlock included.
pub(super) fn free_late(plan: &mut Plan, buf: &str) {
    if let Some(at) = free_of(plan, buf) {
        let step = plan.steps.remove(at);
        plan.steps.push(step);
    }
}

/// Frees a buffer twice.
pub(super) fn repeat_free(plan: &mut Plan, buf: &str) {
    if let Some((at, step)) = free_of(plan, buf).and_then(|at| Some((at, plan.steps.get(at)?))) {
        let again = step.clone();
        plan.steps.insert(at + 1, again);
    }
}

/// Moves the free of a buffer before the last launch.
pub(super) fn free_early(plan: &mut Plan, buf: &str) {
    let launch = plan.steps.iter().rposition(|step| step.kernel.is_some());
    if let Some((at, launch)) = free_of(plan, buf).zip(launch) {
        let step = plan.steps.remove(at);
        plan.steps.insert(launch, step);
    }
}
