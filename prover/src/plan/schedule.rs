//! A plan as a schedule for `replay`: several partitions on several workers of one card.

use tracefmt::ops::{DEFAULT_DRIVER, GpuSpec, Header, Op, Schedule, Step};

use super::build::{FIRST_RESIDENT, FIRST_SLOT};
use super::{Plan, PlanStep};

/// Ids of a partition's own buffers are so many apart, beyond those that all share.
const IDS: u64 = 64;

impl Plan {
    /// The schedule of so many partitions, dealt out to the workers in turn, on a card of
    /// `capacity` bytes of which `baseline` are in use by others. Partitions follow one another as
    /// the lock makes them; what a worker does before the lock, it does as soon as it can.
    pub fn schedule(&self, partitions: u32, workers: u32, card: GpuSpec) -> Schedule {
        let workers = workers.max(1);
        let header = Header {
            gpus: vec![card],
            driver: DEFAULT_DRIVER.to_owned(),
            workers: u64::from(workers),
            ..Header::one_gpu(0, 0)
        };
        let lock = |step: &PlanStep| matches!(step.op, Op::Lock { .. });
        let locked = self.steps.iter().position(lock).unwrap_or(0);
        let (ahead, rest) = self.steps.split_at(locked);
        let mut steps: Vec<Step> = self.residents.iter().map(|step| made(step, 0, 0)).collect();
        let of = |part: &[PlanStep], partition: u32| -> Vec<Step> {
            let mut steps = Vec::new();
            if partition < partitions {
                for step in part {
                    let mut step = made(step, partition, partition % workers);
                    step.set_partition(Some(partition));
                    step.set_job(Some("plan"));
                    steps.push(step);
                }
            }
            steps
        };
        steps.extend(self.pins());
        for partition in 0..workers {
            steps.extend(of(ahead, partition));
        }
        for partition in 0..partitions {
            steps.extend(of(rest, partition));
            steps.extend(of(ahead, partition.saturating_add(workers)));
        }
        for step in self.pins().iter().rev() {
            if let Op::HostRegister { addr, .. } = step.op {
                steps.push(by_first_worker(Op::HostUnregister { addr }));
            }
        }
        for step in self.vacate() {
            steps.push(made(&step, 0, 0));
        }
        Schedule::new(header, steps)
    }

    /// Host memory that streams is pinned before the first partition; where it lies is made up.
    fn pins(&self) -> Vec<Step> {
        let mut end = 0_u64;
        let pinned = self.sizes.streamed_ranges().filter(|_| !self.is_resident());
        let pin = |bytes: u64| {
            let addr = end;
            end += bytes;
            by_first_worker(Op::HostRegister { addr, bytes })
        };
        pinned.filter(|bytes| *bytes > 0).map(pin).collect()
    }

    /// The frees of what outlives the partitions.
    pub fn vacate(&self) -> Vec<PlanStep> {
        let free = |step: &PlanStep| match step.op {
            Op::Malloc { id, .. } => Some(PlanStep {
                op: Op::Free { id },
                ..step.clone()
            }),
            _ => None,
        };
        self.residents.iter().rev().filter_map(free).collect()
    }
}

fn by_first_worker(op: Op) -> Step {
    let mut step = Step::new(op);
    step.worker = Some(0);
    step
}

fn made(step: &PlanStep, partition: u32, worker: u32) -> Step {
    let base = (u64::from(partition) + 1) * IDS;
    let number = |id| match id {
        FIRST_SLOT => FIRST_SLOT + u64::from(worker),
        id if id >= FIRST_RESIDENT => id,
        id => base + id,
    };
    let mut made = Step::new(step.renumbered(number).op);
    made.worker = Some(worker);
    made.set_buf((!step.about.is_empty()).then_some(step.about));
    made
}

impl PlanStep {
    /// The same step with ids of another numbering.
    #[must_use]
    pub fn renumbered(&self, number: impl Fn(u64) -> u64) -> Self {
        let mut made = self.clone();
        match &mut made.op {
            Op::Malloc { id, .. } | Op::Free { id } => *id = number(*id),
            Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) => work.rename(number),
            _ => {}
        }
        made
    }
}
