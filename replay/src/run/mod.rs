//! Runs a schedule: each worker's ops in their order, the workers against each other as
//! recorded, as far as locks and barriers allow.
//!
//! A `lock` with a recorded `rc` of 0 says that its worker got the lock there: it has it, whoever
//! else does. Any other says that the worker wants it.
//!
//! A worker that has to wait does so, and the others go on; so a changed schedule runs too,
//! although nobody recorded it. A worker whose op fails stops, goes on, or goes to its fallback,
//! as the op says. A worker that stops lets go of its locks, as a guard does when the stack
//! unwinds; memory it keeps, unless it panics with `unwind`.
//!
//! This module decides what runs and keeps the record; what the record means is decided by
//! [`crate::check`].

mod actors;
mod held;
pub(crate) mod record;

use tracefmt::ops::{OnError, Schedule, Step};

use crate::vram::{Machine, Outcome, Profile};
use actors::{Actors, Turn};

pub(crate) use actors::got;
pub use actors::{Ending, Stop};
pub(crate) use held::Held;
pub use record::{Peak, Ran, Record};

/// How a schedule is run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The driver.
    pub profile: Profile,
    /// Whether a recorded result code wins over the model's: yes for what really ran, no for
    /// a changed schedule.
    pub trust_truth: bool,
}

impl Options {
    /// Options for a recorded schedule.
    pub fn recorded(profile: Profile) -> Self {
        Self {
            profile,
            trust_truth: true,
        }
    }

    /// Options for a schedule that was changed, or never ran.
    pub fn hypothetical(profile: Profile) -> Self {
        Self {
            profile,
            trust_truth: false,
        }
    }
}

/// Runs a schedule and hands each step that ran to `observe`, in the order in which they ran.
///
/// Who holds what matters only once a worker unwinds, and few do: the first that does has the
/// schedule run again with an account of it. What was told by then happens again as it did, and is
/// not told twice.
pub fn execute(schedule: &Schedule, options: &Options, mut observe: impl FnMut(&Ran)) -> Ending {
    let mut told = 0_u64;
    let ending = Runner::new(schedule, options, None, |ran: &Ran| {
        told += 1;
        observe(ran);
    })
    .run();
    ending.unwrap_or_else(|| {
        let mut ran = 0;
        let held = Some(Held::default());
        let again = Runner::new(schedule, options, held, |step: &Ran| {
            ran += 1;
            if ran > told {
                observe(step);
            }
        });
        again.run().unwrap_or_default()
    })
}

struct Runner<'a, F> {
    schedule: &'a Schedule,
    options: &'a Options,
    machine: Machine,
    actors: Actors<'a>,
    /// By worker, if an account is kept.
    held: Option<Held<u32>>,
    /// A worker unwinds, and no account is kept: nothing runs any more.
    is_lost: bool,
    observe: F,
}

impl<'a, F: FnMut(&Ran)> Runner<'a, F> {
    fn new(
        schedule: &'a Schedule,
        options: &'a Options,
        held: Option<Held<u32>>,
        observe: F,
    ) -> Self {
        Self {
            schedule,
            options,
            machine: Machine::new(options.profile, &schedule.header),
            actors: Actors::default(),
            held,
            is_lost: false,
            observe,
        }
    }

    /// Runs all; none if that takes an account of who holds what.
    fn run(mut self) -> Option<Ending> {
        for at in 0..self.schedule.steps.len() {
            self.arrive(at);
            if self.is_lost {
                return None;
            }
        }
        Some(self.actors.into_ending())
    }

    /// A step's turn has come in the recorded order.
    fn arrive(&mut self, at: usize) {
        let Some(step) = self.schedule.steps.get(at) else {
            return;
        };
        let worker = step.worker.unwrap_or(0);
        if self.actors.postpone(worker, at) {
            return;
        }
        self.take(worker, at, step);
        self.wake();
    }

    /// Runs what had to wait and need not any more.
    fn wake(&mut self) {
        while !self.is_lost
            && let Some((worker, at)) = self.actors.next_ready()
        {
            if let Some(at) = at
                && let Some(step) = self.schedule.steps.get(at)
            {
                self.note(at, self.idle_outcome(step), 0, false);
            }
            while !self.is_lost
                && let Some(at) = self.actors.next_postponed(worker)
            {
                if let Some(step) = self.schedule.steps.get(at) {
                    self.take(worker, at, step);
                }
            }
        }
    }

    /// Runs one step of a worker that is not waiting.
    fn take(&mut self, worker: u32, at: usize, step: &'a Step) {
        match self.actors.turn(worker, at, step) {
            Turn::Skip | Turn::Wait => {}
            Turn::Done => self.note(at, self.idle_outcome(step), 0, false),
            Turn::Panic { unwind } => {
                if unwind {
                    let Some(held) = &mut self.held else {
                        self.is_lost = true;
                        return;
                    };
                    held.unwind(worker, Some(worker), &mut self.machine);
                }
                self.note(at, self.idle_outcome(step), 0, false);
                self.actors.stop(worker, Stop::Panicked(at));
            }
            Turn::Call => self.call(worker, at, step),
        }
    }

    fn call(&mut self, worker: u32, at: usize, step: &'a Step) {
        let mut outcome = self.machine.apply(step);
        let predicted = outcome.rc;
        if let Some(rc) = step.rc.filter(|_rc| self.options.trust_truth)
            && rc != predicted
        {
            outcome = self.machine.adopt(step, rc);
        }
        if let Some(held) = &mut self.held {
            held.track(worker, step, outcome.rc);
        }
        let refused = refuses(step, outcome);
        self.note(at, outcome, predicted, refused);
        if outcome.rc != 0 || refused {
            match step.on_error() {
                OnError::Ignore => {}
                OnError::Abort => self.actors.stop(worker, Stop::Aborted(at)),
                OnError::Fallback(label) => self.actors.seek(worker, at, label),
            }
        }
    }

    fn idle_outcome(&self, step: &Step) -> Outcome {
        let device = self.machine.device(step.gpu.unwrap_or(0));
        Outcome {
            rc: 0,
            free: device.map_or(0, crate::vram::Device::free_bytes),
            pool_reserved: device.map_or(0, crate::vram::Device::pool_reserved_bytes),
        }
    }

    fn note(&mut self, at: usize, outcome: Outcome, predicted: u32, refused: bool) {
        (self.observe)(&Ran {
            at,
            outcome,
            predicted,
            refused,
        });
    }
}

/// Whether a `memGetInfo` says that what is needed will not fit.
pub(crate) fn refuses(step: &Step, outcome: Outcome) -> bool {
    step.op.room().is_some_and(|room| outcome.free < room)
}

#[cfg(test)]
mod tests;
