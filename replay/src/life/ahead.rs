//! What a run that stopped would still have done to a buffer.
//!
//! A worker whose op fails for good runs no further, and one that waits for others may wait for
//! ever; what stands in the schedule after that is no less known. Up to the moment at which its
//! worker gave up, a buffer with a use ahead is needed, and one with a free ahead is no leak; from
//! then on it is what the run left behind.

use std::collections::BTreeMap;

use tracefmt::ops::{Op, Schedule, Step};

use super::Life;
use crate::run::{Record, Stop};

/// Steps of the schedule that did not run, as far as they are about one buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ahead {
    /// The place at which their worker gave up.
    pub until: usize,
    /// The last one that uses it.
    pub used: Option<usize>,
    /// The one that frees it.
    pub freed: Option<usize>,
    /// The first unlock of its owner after the last use.
    pub unlock: Option<usize>,
}

/// Where each worker that did not come to its end stopped: the place, and its first step that did
/// not run. One that only waits has not given up.
fn stops(record: &Record) -> BTreeMap<u32, (usize, usize)> {
    let place = |at: usize| record.ran.iter().position(|ran| ran.at == at);
    let stopped = record.ending.stopped.iter();
    let stops = stopped.filter_map(|(worker, stop)| match stop {
        Stop::Aborted(at) => Some((*worker, (place(*at)?, at + 1))),
        Stop::Locked { at, .. } | Stop::Alone { at, .. } => Some((*worker, (usize::MAX, *at))),
        Stop::Panicked(_) | Stop::Lost { .. } => None,
    });
    stops.collect()
}

/// Notes for each buffer that is still allocated what lies ahead of it.
pub(super) fn look(schedule: &Schedule, record: &Record, life: &mut Life) {
    let stops = stops(record);
    let Some(first) = stops.values().map(|(_, from)| *from).min() else {
        return;
    };
    let mut live: BTreeMap<(u32, u64), usize> = BTreeMap::new();
    for (index, buffer) in life.buffers.iter().enumerate() {
        if buffer.freed.is_none() && !buffer.unrecorded {
            live.insert((buffer.gpu, buffer.id), index);
        }
    }
    for (at, step) in schedule.steps.iter().enumerate().skip(first) {
        let stop = stops.get(&step.worker.unwrap_or(0));
        if let Some((until, _)) = stop.filter(|(_, from)| *from <= at) {
            note(life, &mut live, (at, step), *until);
        }
    }
}

fn note(
    life: &mut Life,
    live: &mut BTreeMap<(u32, u64), usize>,
    (at, step): (usize, &Step),
    until: usize,
) {
    let gpu = step.gpu.unwrap_or(0);
    let mut ahead = |index: Option<usize>, set: fn(&mut Ahead, usize)| {
        let buffer = index.and_then(|index| life.buffers.get_mut(index));
        if let Some(buffer) = buffer {
            let ahead = buffer.ahead.get_or_insert_default();
            ahead.until = until;
            set(ahead, at);
        }
    };
    match &step.op {
        Op::Malloc { id, .. } | Op::MallocAsync { id, .. } => {
            live.remove(&(gpu, *id));
        }
        Op::Free { id } | Op::FreeAsync { id, .. } => {
            ahead(live.remove(&(gpu, *id)), |ahead, at| ahead.freed = Some(at));
        }
        Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) => {
            for id in work.ids() {
                ahead(live.get(&(gpu, id)).copied(), |ahead, at| {
                    (ahead.used, ahead.unlock) = (Some(at), None);
                });
            }
        }
        Op::Unlock { .. } => {
            let worker = step.worker.unwrap_or(0);
            for index in live.values() {
                let buffer = life.buffers.get_mut(*index);
                let mine = buffer.filter(|buffer| buffer.worker == worker);
                if let Some(buffer) = mine {
                    let ahead = buffer.ahead.get_or_insert_default();
                    ahead.until = until;
                    ahead.unlock = ahead.unlock.or(Some(at));
                }
            }
        }
        _ => {}
    }
}
