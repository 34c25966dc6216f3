//! Failed device calls of our own traces as lines of trouble: allocations, registrations,
//! launches and synchronisations carry their result code, and a code other than 0 is an error
//! line by itself. A call whose partition ended all the same counts as passed over; an allocation
//! that a smaller plan made good is none: what made it fail, replay says.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::event::What;
use tracefmt::run::{DeviceEvent, Outcome, Run, Trouble, TroubleClass};

/// The failed calls of a run, in file order.
pub(crate) fn failures(run: &Run) -> Vec<Trouble> {
    let events = run.device_events.iter();
    let fallbacks = events.filter_map(|event| match event.what {
        What::PlanFallback { id, .. } => Some(id),
        _ => None,
    });
    let fallbacks: BTreeSet<u64> = fallbacks.collect();
    let fell_back =
        |what: &What<'_>| matches!(what, What::VramAlloc(one) if fallbacks.contains(&one.id));
    let failed: Vec<(&DeviceEvent, i32, String)> = run
        .device_events
        .iter()
        .filter_map(|event| {
            let (rc, what) = call(&event.what)?;
            (rc != 0).then(|| (event, rc, format!("{what} failed with {rc}")))
        })
        .collect();
    if failed.is_empty() {
        return Vec::new();
    }
    let tasks: BTreeMap<(u32, Option<u32>), u32> = (0_u32..)
        .zip(&run.tasks)
        .map(|(at, task)| ((task.job, task.partition), at))
        .collect();
    let trouble = |(event, rc, text): (&DeviceEvent, i32, String)| {
        let key = event.job.map(|job| (job, event.place.partition));
        let task = key.and_then(|key| tasks.get(&key).copied());
        let outcome = task.and_then(|task| run.tasks.get(task as usize));
        let outcome = outcome.map(|task| task.outcome);
        if fell_back(&event.what) && outcome != Some(Outcome::Failed) {
            return None;
        }
        let passed = outcome == Some(Outcome::Completed);
        Some(Trouble {
            kind: if passed {
                TroubleClass::Fallback
            } else {
                TroubleClass::Cuda
            },
            line: event.at.line,
            us: Some(event.at.us),
            code: Some(rc),
            text,
            job: event.job,
            task,
        })
    };
    failed.into_iter().filter_map(trouble).collect()
}

/// Result code of a device call, and what it was.
fn call(what: &What<'_>) -> Option<(i32, String)> {
    Some(match what {
        What::VramAlloc(alloc) => (
            alloc.rc,
            format!("{} of {} ({} bytes)", alloc.api, alloc.buf, alloc.bytes),
        ),
        What::VramFree { buf, api, rc, .. } => (*rc, format!("{api} of {buf}")),
        What::HostReg { addr, bytes, rc } => (*rc, format!("pinning {bytes} bytes at {addr:#x}")),
        What::HostUnreg { addr, rc } => (*rc, format!("unpinning at {addr:#x}")),
        What::Sync { scope, rc, .. } => (*rc, format!("synchronising the {scope}")),
        What::EventRecord { event, rc, .. } => (*rc, format!("recording event {event}")),
        What::StreamWait { event, rc, .. } => (*rc, format!("waiting for event {event}")),
        What::Launch { op, phase, rc, .. } => (*rc, format!("{op} of phase {phase}")),
        What::PoolTrim { rc, .. } => (*rc, "trimming the pool".to_owned()),
        _ => return None,
    })
}
