//! The device worker: takes the head of the queue, carries its plan out, hands it to a finisher.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tracefmt::event::What;

use super::interpret::{Debt, Tenancy, pay};
use super::sched::{Failure, Leg, Task};
use super::shared::{InFlight, SchedOf, Shared, panic_text};
use super::station::Station;
use crate::device::Work;
use crate::trace::Scope;

/// Works until no job is left and none will come.
pub(super) fn run<W: Work>(shared: &Shared<W>, station: &Station<W>, number: u32) {
    let mut worker = Worker {
        shared,
        station,
        number,
        debts: Vec::new(),
    };
    while let Some((task, flight)) = worker.next() {
        let scope = worker.scope_of(&task);
        worker.set_busy(Some(&task));
        let caught = catch_unwind(AssertUnwindSafe(|| worker.prove(&task, &scope, flight)));
        let made = caught.unwrap_or_else(|payload| {
            let text = panic_text(payload.as_ref());
            Err(Failure::Own(format!("device worker panicked: {text}")))
        });
        if let Err(failure) = &made {
            shared.report_failure(&scope, failure);
        }
        worker.set_busy(None);
        shared.settle(|sched, now_us| sched.end_leg(Leg::Device, task.key, made, now_us));
    }
    pay(shared, station, &mut worker.debts);
}

struct Worker<'a, W: Work> {
    shared: &'a Shared<W>,
    station: &'a Station<W>,
    number: u32,
    /// What a fault lets it owe the device.
    debts: Vec<Debt>,
}

impl<W: Work> Worker<'_, W> {
    fn next(&mut self) -> Option<(Task, InFlight<W>)> {
        if self.station.lock.queue() == 0 {
            // Nobody is on the device, so nobody can be harmed: what is owed is freed.
            pay(self.shared, self.station, &mut self.debts);
        }
        let take = |sched: &mut SchedOf<W>, now_us| {
            let taken = sched.start_device(now_us)?;
            // Under the lock: the order of these lines is the order of the queue.
            let scope = self.scope_of(&taken.0);
            self.shared.tracer.event(&scope, What::GpuPickup);
            Some(taken)
        };
        self.shared.wait_for(take, SchedOf::<W>::is_over)
    }

    fn scope_of(&self, task: &Task) -> Scope {
        let scope = Scope::of_partition(&task.id, task.key.partition);
        scope.on(self.station.gpu, self.number)
    }

    fn prove(
        &mut self,
        task: &Task,
        scope: &Scope,
        mut flight: InFlight<W>,
    ) -> Result<InFlight<W>, Failure> {
        let Self {
            shared, station, ..
        } = *self;
        if task.is_stopped() {
            return Err(Failure::Stopped);
        }
        let start = shared.now_us();
        shared.tracer.event(scope, What::GpuStart);
        let mut tenancy = Tenancy::new(shared, station, scope.clone(), &mut self.debts);
        tenancy.run(&flight.sizes, task, &mut flight.state)?;
        drop(tenancy);
        let gpu_ms = Some(shared.now_us().saturating_sub(start) / 1000);
        shared.tracer.event(scope, What::GpuEnd { gpu_ms });
        Ok(flight)
    }

    fn set_busy(&self, task: Option<&Task>) {
        let now_us = self.shared.now_us();
        let mut workers = self.shared.workers();
        if let Some(status) = workers.get_mut(self.number as usize) {
            status.busy = task.map(|task| (task.id.to_string(), task.key.partition, now_us));
        }
    }
}
