//! The part of a long schedule that shows its first failure.
//!
//! What was freed again before the failure, and was quiet until then, has no part in it: the same
//! request fails beside the same buffers without it. So the part holds, in their order, the ops
//! that made and last used what is live at the failure, the locks that are held or that such a
//! buffer outlives, the failing op, and what follows it: all ops for a while, and of those after
//! them only the frees and unlocks of what the part holds. Whether the request really fails in
//! the part as it did in the whole is checked when it is judged ([`super::Quiet::judge`]).

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::ops::{Op, Schedule, Step, Work};

/// How many ops behind the failure are kept whatever they are.
const TAIL_OPS: usize = 4096;

/// Picks the part out of a second reading.
#[derive(Debug)]
pub struct Short {
    /// Steps before the failure that belong to the part.
    before: BTreeSet<usize>,
    /// The failing step.
    failing: usize,
    /// Names of what is live in the part: card and id.
    live: BTreeSet<(u32, u64)>,
    /// Locks that a worker holds in the part.
    held: BTreeMap<(u32, Box<str>), usize>,
    /// Whether something was met that takes the whole.
    unsure: bool,
    /// How many steps behind the failure were left out.
    left_out: u64,
    schedule: Schedule,
    /// Which step of the whole each step of the part is.
    origin: Vec<usize>,
}

/// A part that is complete.
pub(super) struct Part {
    pub(super) schedule: Schedule,
    pub(super) origin: Vec<usize>,
    /// The place of the failing step in it.
    pub(super) failing: usize,
    /// How many steps behind the failure were left out.
    pub(super) left_out: u64,
}

impl Short {
    pub(super) fn new(
        header: tracefmt::ops::Header,
        before: BTreeSet<usize>,
        failing: usize,
        live: BTreeSet<(u32, u64)>,
    ) -> Self {
        Self {
            before,
            failing,
            live,
            held: BTreeMap::new(),
            unsure: false,
            left_out: 0,
            schedule: Schedule::new(header, Vec::new()),
            origin: Vec::new(),
        }
    }

    /// Takes the step of this index, which stands on a line, if it belongs to the part.
    pub fn offer(&mut self, at: usize, line: u64, mut step: Step) {
        if at < self.failing {
            if !self.before.contains(&at) {
                return;
            }
            if let Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) = &mut step.op {
                self.keep_live(step.gpu.unwrap_or(0), work);
            }
        } else if at > self.failing.saturating_add(TAIL_OPS) && !self.ends(&step) {
            self.left_out += 1;
            return;
        }
        self.follow(at, &step);
        self.schedule.steps.push(step);
        self.schedule.lines.push(line);
        self.origin.push(at);
    }

    /// Leaves only what lives in the part.
    fn keep_live(&self, gpu: u32, work: &mut Work) {
        work.retain(|id| self.live.contains(&(gpu, id)));
    }

    /// Whether a step frees or unlocks what the part holds.
    fn ends(&self, step: &Step) -> bool {
        match &step.op {
            Op::Free { id } | Op::FreeAsync { id, .. } => {
                self.live.contains(&(step.gpu.unwrap_or(0), *id))
            }
            Op::Unlock { name } => self
                .held
                .contains_key(&(step.worker.unwrap_or(0), name.clone())),
            _ => false,
        }
    }

    fn follow(&mut self, at: usize, step: &Step) {
        let gpu = step.gpu.unwrap_or(0);
        let worker = step.worker.unwrap_or(0);
        match &step.op {
            Op::Malloc { id, .. } | Op::MallocAsync { id, .. } if at > self.failing => {
                self.live.insert((gpu, *id));
            }
            Op::Free { id } | Op::FreeAsync { id, .. } => {
                self.live.remove(&(gpu, *id));
            }
            Op::Lock { name } => {
                self.held.insert((worker, name.clone()), at);
            }
            Op::Unlock { name } => {
                self.held.remove(&(worker, name.clone()));
            }
            Op::Barrier { .. } => self.unsure = true,
            _ => {}
        }
    }

    /// The part; none if it takes the whole.
    pub(super) fn finish(self) -> Option<Part> {
        let failing = self.origin.iter().position(|at| *at == self.failing)?;
        (!self.unsure).then_some(Part {
            schedule: self.schedule,
            origin: self.origin,
            failing,
            left_out: self.left_out,
        })
    }
}
