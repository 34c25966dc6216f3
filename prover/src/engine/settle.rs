//! How a partition comes to a device and, where there is no room for it, back with a smaller plan.
//!
//! What its size shares on the device is brought by the first partition that needs it, after what
//! has to go for it was freed. An allocation that fails for want of memory ends the attempt, not
//! the partition: what it holds is freed, the memory that the device truly has is looked up, and
//! the next smaller plan that fits begins anew, until none is left.

use std::sync::Arc;

use tracefmt::event::What;

use super::interpret::{Live, Miss, Tenancy, release};
use super::pins;
use super::sched::{Failure, Task};
use super::shared::Shared;
use super::station::Station;
use crate::device::Work;
use crate::plan::{Plan, Sizes};
use crate::trace::Scope;

/// How often a partition falls back at most; there are fewer plans than this for any size.
const FALLBACKS_MAX: u32 = 32;

impl<W: Work> Tenancy<'_, W> {
    /// Carries the plan of a size out, or a smaller one; between two ops it looks whether the job
    /// was given up.
    pub(super) fn run(
        &mut self,
        sizes: &Sizes,
        task: &Task,
        state: &mut W::State,
    ) -> Result<(), Failure> {
        let mut fallbacks = 0;
        loop {
            let (plan, made) = self.attempt(sizes, task, state)?;
            let failure = match made {
                Ok(()) => return self.unpin(),
                Err(Miss::Memory { id, what }) => {
                    if fallbacks < FALLBACKS_MAX && self.falls_back(&plan, state, id) {
                        fallbacks += 1;
                        self.shared.work.again(state);
                        continue;
                    }
                    Failure::Own(what)
                }
                Err(Miss::Failed(failure)) => failure,
            };
            if fallbacks > 0 {
                // A smaller plan did not help: who comes next has the first one.
                self.station.ground().forget(sizes);
            }
            return Err(failure);
        }
    }

    /// The plan that the size has now, and what came of it.
    fn attempt(
        &mut self,
        sizes: &Sizes,
        task: &Task,
        state: &mut W::State,
    ) -> Result<(Arc<Plan>, Result<(), Miss>), Failure> {
        let station = self.station;
        let begin = station.begin(sizes);
        let (turn, begin) = begin.map_err(|error| Failure::Own(error.to_string()))?;
        let plan = begin.plan;
        if begin.there.is_some() {
            self.uses = Some(*sizes);
        }
        self.clear(&begin.gone);
        let made = match begin.there {
            Some(there) => {
                self.residents = there;
                Ok(())
            }
            None => self.bring(&plan, state),
        };
        drop(turn);
        let made = made.and_then(|()| self.carry_out(&plan, task, state));
        Ok((plan, made))
    }

    /// Frees what nobody uses any more.
    fn clear(&mut self, gone: &[Live]) {
        if !gone.is_empty() {
            let own = self.as_nobody();
            self.lock();
            for live in gone.iter().rev() {
                // The code is in the trace; what came of it shows where memory is asked for.
                release(self.shared, self.station, &self.scope, live);
            }
            self.unlock();
            self.scope = own;
        }
    }

    /// Brings what all partitions of the size share: the first one does it for all, and a failure
    /// of it is that partition's.
    fn bring(&mut self, plan: &Arc<Plan>, state: &mut W::State) -> Result<(), Miss> {
        let own = self.as_nobody();
        self.for_whom = Some(own.clone());
        let mut steps = plan.residents.iter();
        let brought = steps.try_for_each(|step| self.step(step, plan, state));
        if brought.is_ok() {
            self.residents = std::mem::take(&mut self.live);
            self.station.ground().brought(plan, self.residents.clone());
            self.uses = Some(*plan.sizes());
        } else {
            self.release_all();
        }
        self.scope = own;
        self.for_whom = None;
        brought
    }

    /// What follows is nobody's, until the scope that is returned is put back.
    pub(super) fn as_nobody(&mut self) -> Scope {
        let mut scope = self.scope.clone();
        (scope.job, scope.place.partition) = ("".into(), None);
        std::mem::replace(&mut self.scope, scope)
    }

    /// Leaves the device for the next smaller plan that fits; false where there is none, and then
    /// nothing has changed but that the partition's buffers are freed.
    fn falls_back(&mut self, plan: &Arc<Plan>, state: &W::State, id: u64) -> bool {
        if self.leaks {
            return false;
        }
        self.release_all();
        let free = {
            let _order = self.station.in_order();
            let info = self.station.device.info();
            let (free, total) = (info.free, info.total);
            self.say(What::MemInfo { free, total });
            free
        };
        // What this partition's plan pinned is in what a smaller one needs.
        let left = free.saturating_add(self.pinned_bytes(plan, state));
        let found = self.station.ground().fall_back(plan, left);
        let Some((smaller, free)) = found else {
            return false;
        };
        self.say(What::PlanFallback {
            id,
            free,
            need: smaller.peak_bytes(),
            plan: smaller.name().into(),
        });
        self.shared.sched().ended.fallbacks += 1;
        self.unlock();
        self.leave();
        self.freed.clear();
        self.phase_us = 0;
        true
    }

    /// Uses what stays on the device no longer.
    pub(super) fn leave(&mut self) {
        self.residents.clear();
        if let Some(sizes) = self.uses.take() {
            self.station.leave(&sizes);
        }
    }
}

/// Frees what stayed on a device for all partitions, and unpins what streamed; nobody uses it any
/// more.
pub(super) fn vacate<W: Work>(shared: &Shared<W>, station: &Station<W>) {
    let mut scope = Scope::of_job(&"".into());
    scope.place.gpu = Some(station.gpu);
    pins::unpin_all(shared, station, &scope);
    let all = station.ground().clear();
    for live in &all {
        release(shared, station, &scope, live);
    }
}
