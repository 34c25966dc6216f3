//! Our own traces: lock events and ends of phases carry their time, so a hold is read off.

use std::collections::BTreeMap;

use tracefmt::event::What;
use tracefmt::finding::Confidence;
use tracefmt::run::{DeviceEvent, Mark, MarkKind, Run};

use super::chain::{Place, Stretches};
use super::{OPEN_END, Span, Uncalled, sane};

/// Phases that are no kernels, or hold others.
const NOT_KERNELS: [&str; 14] = [
    "gpu_total",
    "gpu_ms",
    "mutex_held",
    "mutex_wait",
    "pre_lock",
    "pre_lock_cpu",
    "prestage",
    "setup",
    "split_vectors",
    "prep_msm",
    "b_g2_msm",
    "epilogue",
    "async_dealloc",
    "synth",
];

/// Lock times of a call as recorded.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    wait: Option<i64>,
    acquired: Option<i64>,
    released: Option<i64>,
}

/// The recorded lock events of a run by call.
#[derive(Debug)]
pub(super) struct Records<'a> {
    run: &'a Run,
    by_call: Vec<(u32, Times)>,
    /// Tenures whose call is not in the log.
    pub(super) uncalled: Vec<Uncalled>,
}

impl<'a> Records<'a> {
    /// Joins the GPU lock's events to the calls: by job and partition, the last call that had
    /// started. Empty for the old dialects.
    pub(super) fn of(run: &'a Run) -> Self {
        let mut records = Self {
            run,
            by_call: Vec::new(),
            uncalled: Vec::new(),
        };
        if run.device_events.is_empty() {
            return records;
        }
        let calls = started(run);
        let mut times = vec![Times::default(); run.calls.len()];
        let mut taken: BTreeMap<Owner, &DeviceEvent> = BTreeMap::new();
        for event in &run.device_events {
            let key = (event.job, event.place.partition);
            let last = calls.partition_point(|(k, us, _)| (*k, *us) <= (key, event.at.us));
            let found = last.checked_sub(1).and_then(|at| calls.get(at));
            let Some((_, _, call)) = found.filter(|(k, _, _)| *k == key) else {
                records.uncalled.extend(uncalled(&mut taken, event));
                continue;
            };
            let Some(times) = times.get_mut(*call as usize) else {
                continue;
            };
            match &event.what {
                What::LockWait { lock } if is_gpu(lock) => times.wait = Some(sane(event.at.us)),
                What::LockAcq { lock } if is_gpu(lock) => times.acquired = Some(sane(event.at.us)),
                What::LockRel { lock } if is_gpu(lock) => times.released = Some(sane(event.at.us)),
                _ => {}
            }
        }
        let with_lock = |(_, times): &(u32, Times)| times.acquired.is_some();
        records.by_call = (0_u32..).zip(times).filter(with_lock).collect();
        records
    }

    /// The recorded hold of a call, if its lock events are there.
    ///
    /// A release that is missing though another call took the lock behind it (`may_hold_on` is
    /// false) is put at the end of its last phase.
    pub(super) fn place(&self, call: usize, may_hold_on: bool) -> Option<Place> {
        let key = u32::try_from(call).ok()?;
        let at = self.by_call.binary_search_by_key(&key, |(call, _)| *call);
        let (_, times) = self.by_call.get(at.ok()?)?;
        let acquired = times.acquired?;
        let ends = self.run.marks_of(call).map(|mark| sane(mark.after_us()));
        let lost = || ends.max().map_or(acquired, |end| end.max(acquired)) + 1;
        let released = match times.released {
            Some(us) => us,
            None if may_hold_on => OPEN_END,
            None => lost(),
        };
        let hold = Span::new(acquired, released)?;
        let phases = self
            .run
            .marks_of(call)
            .filter_map(|mark| ended(self.run, &mark));
        let (mut kernels, mut barrier, mut prepared) = (Vec::new(), None, acquired);
        for (name, phase) in phases {
            let Some(phase) = phase.and(hold) else {
                continue;
            };
            match name {
                "barrier_wait" => barrier = Some(phase),
                "prestage" | "setup" => prepared = phase.end,
                _ if !NOT_KERNELS.contains(&name) => kernels.push(phase),
                _ => {}
            }
        }
        kernels.sort_unstable();
        Some(Place {
            request: times.wait.unwrap_or(acquired).min(acquired),
            acquired,
            prepared,
            released,
            kernels: Stretches::Many(kernels),
            barrier,
            confidence: Confidence::Certain,
        })
    }
}

/// The tenure of a job without a call that an event ends.
fn uncalled<'a>(
    taken: &mut BTreeMap<Owner, &'a DeviceEvent>,
    event: &'a DeviceEvent,
) -> Option<Uncalled> {
    let key = (Some(event.job?), event.place.partition);
    match &event.what {
        What::LockAcq { lock } if is_gpu(lock) => {
            taken.insert(key, event);
            None
        }
        What::LockRel { lock } if is_gpu(lock) => {
            let from = taken.remove(&key)?;
            Some(Uncalled {
                gpu: event.place.gpu.unwrap_or(0),
                span: Span::new(sane(from.at.us), sane(event.at.us))?,
                line: from.at.line,
            })
        }
        _ => None,
    }
}

/// Job and partition, as both calls and events give them.
type Owner = (Option<u32>, Option<u32>);

/// Calls by owner and start.
fn started(run: &Run) -> Vec<(Owner, i64, u32)> {
    let mut calls: Vec<_> = (0_u32..)
        .zip(&run.calls)
        .filter_map(|(index, call)| {
            let task = run.tasks.get(call.task as usize)?;
            Some(((Some(task.job), task.partition), call.start.us, index))
        })
        .collect();
    calls.sort_unstable();
    calls
}

/// Whether a lock is that of a device.
fn is_gpu(lock: &str) -> bool {
    ["gpu", "device", "cuda"]
        .iter()
        .any(|word| lock.starts_with(word))
}

/// Name and stretch of a phase whose end the line itself gives.
fn ended<'a>(run: &'a Run, mark: &Mark) -> Option<(&'a str, Span)> {
    let at = sane(mark.after_us());
    if mark.after_us() != mark.before_us() {
        return None;
    }
    let timed = matches!(
        mark.kind(),
        MarkKind::Phase
            | MarkKind::NttMsmH
            | MarkKind::BatchAdd
            | MarkKind::BarrierWait
            | MarkKind::TailMsm
    );
    let span = Span::new(at.saturating_sub(mark.us()), at).filter(|_| timed)?;
    Some((run.marks.name(mark), span))
}
