//! A plan as a schedule for `replay`: several partitions on several workers of one card.

use tracefmt::ops::{DEFAULT_DRIVER, GpuSpec, Header, Op, Schedule, Step};

use super::{Plan, PlanStep};

/// Ids of one partition's buffers in a schedule.
const IDS: u64 = 16;

impl Plan {
    /// The schedule of so many partitions, dealt out to the workers in turn, on a card of
    /// `capacity` bytes of which `baseline` are in use by others. Partitions follow one another as
    /// the lock makes them.
    pub fn schedule(&self, partitions: u32, workers: u32, card: GpuSpec) -> Schedule {
        let workers = workers.max(1);
        let header = Header {
            gpus: vec![card],
            driver: DEFAULT_DRIVER.to_owned(),
            workers: u64::from(workers),
            ..Header::one_gpu(0, 0)
        };
        let mut steps = Vec::with_capacity(self.steps.len() * partitions as usize);
        for partition in 0..partitions {
            let base = u64::from(partition) * IDS;
            for step in &self.steps {
                let mut made = Step::new(renumbered(&step.op, |id| base + id));
                made.worker = Some(partition % workers);
                made.partition = Some(partition);
                made.job = Some("plan".to_owned());
                made.buf = (!step.about.is_empty()).then(|| step.about.to_owned());
                steps.push(made);
            }
        }
        Schedule::new(header, steps)
    }
}

impl PlanStep {
    /// The same step with ids of another numbering.
    #[must_use]
    pub fn renumbered(&self, number: impl Fn(u64) -> u64) -> Self {
        Self {
            op: renumbered(&self.op, number),
            ..self.clone()
        }
    }
}

fn renumbered(op: &Op, number: impl Fn(u64) -> u64) -> Op {
    let mut op = op.clone();
    match &mut op {
        Op::Malloc { id, .. }
        | Op::MallocAsync { id, .. }
        | Op::Free { id }
        | Op::FreeAsync { id, .. } => *id = number(*id),
        Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) => {
            for id in work.reads.iter_mut().chain(&mut work.writes) {
                *id = number(*id);
            }
        }
        _ => {}
    }
    op
}
