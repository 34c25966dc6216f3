//! Buffers of which exploration can tell that they are used or freed after they were freed.
//!
//! A state knows what is allocated, and how far each worker is: a buffer whose owner is past its
//! allocation and that is not allocated was freed. That holds for names that one worker gives, and
//! always comes to give; not for those that a way around (`fallback:`) passes over, nor for what
//! belongs to no partition where others do: such a buffer is shared on purpose, and what orders its
//! free after the uses of others, the end of a thread, is not in a schedule.

use rustc_hash::FxHashMap;
use tracefmt::ops::{OnError, Op, Step};

use super::plan::Plan;

/// The buffers, by card and id.
#[derive(Debug, Default)]
pub(super) struct Owned {
    /// The owner, and the place behind its first allocation; none for names that cannot be told.
    owners: FxHashMap<(u32, u64), Option<(usize, usize)>>,
}

impl Owned {
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let is_of_one = |step: &Step| step.partition().is_some() || step.job().is_some();
        let some = plan.schedule.steps.iter().any(is_of_one);
        let mut owned = Self::default();
        for (worker, program) in plan.programs.iter().enumerate() {
            let mut passed = 0;
            for place in 0..program.len() {
                let Some((_, step)) = plan.step(worker, place) else {
                    continue;
                };
                if let OnError::Fallback(label) = step.on_error() {
                    passed = passed.max(plan.seek(worker, place, label));
                }
                let (Op::Malloc { id, bytes } | Op::MallocAsync { id, bytes, .. }) = step.op else {
                    continue;
                };
                let told = bytes > 0 && place >= passed && (!some || is_of_one(step));
                let this = told.then_some((worker, place + 1));
                let known = owned.owners.entry((step.gpu.unwrap_or(0), id));
                known
                    .and_modify(|known| {
                        let same = known.filter(|(owner, _)| told && *owner == worker);
                        *known = same;
                    })
                    .or_insert(this);
            }
        }
        owned
    }

    pub(super) fn owner(&self, gpu: u32, id: u64) -> Option<(usize, usize)> {
        self.owners.get(&(gpu, id)).copied().flatten()
    }
}
