//! The synthesis worker: takes the head of the line with its memory, makes the witness, queues it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tracefmt::event::What;

use super::fault::Place;
use super::sched::{Failure, Leg, Task};
use super::shared::{InFlight, Raw, Reservation, SchedOf, Shared, panic_text};
use crate::device::Work;
use crate::trace::Scope;

/// Works until no partition will ever wait again.
pub(super) fn run<W: Work>(shared: &Arc<Shared<W>>) {
    let take = |sched: &mut SchedOf<W>, now_us| {
        let taken = sched.start_synth(now_us)?;
        // Under the lock: the order of these lines is the order of the line.
        let scope = scope_of(&taken.0);
        let (kind, snap) = (None, false);
        shared.tracer.event(&scope, What::SynthStart { kind, snap });
        Some(taken)
    };
    let next = || shared.wait_for(take, SchedOf::<W>::synth_is_over);
    while let Some((task, raw, bytes)) = next() {
        let scope = scope_of(&task);
        let reservation = Reservation::new(bytes, shared);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            synthesize(shared, &task, &scope, raw, reservation)
        }));
        let made = caught.unwrap_or_else(|payload| {
            let text = panic_text(payload.as_ref());
            Err(Failure::Own(format!("synthesis panicked: {text}")))
        });
        match &made {
            Ok(_) => shared
                .tracer
                .event(&scope, What::GpuQueue { monolithic: false }),
            Err(failure) => shared.report_failure(&scope, failure),
        }
        shared.settle(|sched, now_us| sched.end_leg(Leg::Synthesis, task.key, made, now_us));
    }
}

fn scope_of(task: &Task) -> Scope {
    Scope::of_partition(&task.id, task.key.partition)
}

fn synthesize<W: Work>(
    shared: &Arc<Shared<W>>,
    task: &Task,
    scope: &Scope,
    raw: Raw<W>,
    reservation: Reservation<W>,
) -> Result<InFlight<W>, Failure> {
    if task.is_stopped() {
        return Err(Failure::Stopped);
    }
    let start = shared.now_us();
    shared.faults.panic_at(Place::Synthesis);
    if shared.faults.synth_fails() {
        let why = "synthesis failed: a constraint is not satisfied (injected)";
        return Err(Failure::Own(why.to_owned()));
    }
    let (circuit, sizes) = raw;
    let state = shared
        .work
        .synthesize(circuit)
        .map_err(|why| Failure::Own(format!("synthesis failed: {why}")))?;
    shared.drag("synth", shared.now_us().saturating_sub(start));
    let us = shared.now_us().saturating_sub(start);
    let synth_ms = Some(us / 1000);
    shared.tracer.event(
        scope,
        What::SynthEnd {
            synth_ms,
            snap: false,
        },
    );
    Ok(InFlight {
        state,
        sizes,
        reservation,
    })
}
