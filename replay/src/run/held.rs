//! Who holds which device memory, for workers that free it when they die.

use tracefmt::ops::{Op, Step};

use crate::vram::Machine;

/// Live allocations as (owner, card, id), oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Held<O>(Vec<(O, Option<u32>, u64)>);

impl<O: Copy + PartialEq> Held<O> {
    /// A step of an owner ran.
    pub(crate) fn track(&mut self, owner: O, step: &Step, rc: u32) {
        match (&step.op, rc) {
            (Op::Malloc { id, .. } | Op::MallocAsync { id, .. }, 0) => {
                self.0.push((owner, step.gpu, *id));
            }
            (Op::Free { id } | Op::FreeAsync { id, .. }, 0) => {
                self.0
                    .retain(|(_, gpu, held)| (*gpu, *held) != (step.gpu, *id));
            }
            _ => {}
        }
    }

    /// Frees what an owner holds, youngest first, as destructors do; `worker` is who frees it.
    pub(crate) fn unwind(&mut self, owner: O, worker: Option<u32>, machine: &mut Machine) {
        let mine: Vec<_> = self.0.extract_if(.., |held| held.0 == owner).collect();
        for (_, gpu, id) in mine.into_iter().rev() {
            let mut free = Step::new(Op::Free { id });
            (free.worker, free.gpu) = (worker, gpu);
            machine.apply(&free);
        }
    }

    /// Bytes that the list takes.
    pub(crate) fn size_bytes(&self) -> usize {
        self.0.capacity() * size_of::<(O, Option<u32>, u64)>()
    }
}
