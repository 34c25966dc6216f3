//! The finisher: puts the proof of a partition together, checks it, and lets its memory go. Runs
//! beside the device workers, so that no device waits for a check.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tracefmt::event::What;

use super::fault::Place;
use super::sched::{Failure, Task};
use super::shared::{InFlight, SchedOf, Shared, panic_text};
use crate::device::Work;
use crate::trace::Scope;

/// Works until no job is left and none will come.
pub(super) fn run<W: Work>(shared: &Shared<W>) {
    let next = || shared.wait_for(SchedOf::<W>::start_finish, SchedOf::<W>::is_over);
    while let Some((task, flight)) = next() {
        let scope = Scope::of_partition(&task.id, task.key.partition);
        // The partition's memory goes with `flight`, whatever happens, before its end is known.
        let caught = catch_unwind(AssertUnwindSafe(|| finish(shared, &task, &scope, flight)));
        let made = caught.unwrap_or_else(|payload| {
            let text = panic_text(payload.as_ref());
            Err(Failure::Own(format!("finishing panicked: {text}")))
        });
        if let Err(failure) = &made {
            shared.report_failure(&scope, failure);
        }
        shared.settle(|sched, now_us| sched.end_finish(task.key, made, now_us));
    }
}

fn finish<W: Work>(
    shared: &Shared<W>,
    task: &Task,
    scope: &Scope,
    mut flight: InFlight<W>,
) -> Result<W::Proof, Failure> {
    if task.is_stopped() {
        return Err(Failure::Stopped);
    }
    shared.faults.panic_at(Place::Finisher);
    let Shared { work, tracer, .. } = shared;
    let assembled = tracer.timed(scope, "assemble", || work.assemble(&mut flight.state));
    let mut proof =
        assembled.map_err(|why| Failure::Own(format!("assembly of the proof failed: {why}")))?;
    if shared.faults.spoils_proof() {
        proof = work.spoil(&proof);
    }
    let start = shared.now_us();
    let verdict = work.verify(&flight.state, &proof);
    shared.drag("verify", shared.now_us().saturating_sub(start));
    tracer.phase(scope, "verify", shared.now_us().saturating_sub(start));
    match verdict {
        Ok(true) => {
            tracer.event(scope, What::ProofOk { all: false });
            Ok(proof)
        }
        Ok(false) => {
            tracer.event(scope, What::ProofBad { all: false });
            let blame = work.blame(&flight.state);
            let blame = blame.map_or_else(String::new, |why| format!(": {why}"));
            Err(Failure::Own(format!("the proof does not verify{blame}")))
        }
        Err(why) => Err(Failure::Own(format!("the proof cannot be checked: {why}"))),
    }
}
