//! What a run's own calls teach about the times that no line prints: how long host memory takes
//! to register and to unregister, and what a phase usually lasts, for a line that was lost.

use tracefmt::run::Run;

use super::chain::release_of;
use super::estimate::{Call, PREPARE_US, TO_RELEASE_US};
use super::printed::SANE_US_MAX;

/// Calls looked at; the medians do not move beyond.
const CALLS_MAX: usize = 4096;

/// Learned durations in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    /// From the split to the request of the lock, where host memory is registered. Before any
    /// call teaches it: three vectors of 4 GiB at 251 ms each, as measured on a driver.
    pub(super) register: i64,
    /// From the release of the lock to the epilogue, where host memory is unregistered; before
    /// any call teaches it, three times 85 ms.
    pub(super) unregister: i64,
    /// Usual NTT and H MSM, batch addition, tail MSM; none in a log without timing lines.
    pub(super) usual: Option<[i64; 3]>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            register: 753_000,
            unregister: 255_000,
            usual: None,
        }
    }
}

impl Tuning {
    /// Learns from the calls of one GPU, in order of its lock.
    pub(super) fn of(run: &Run, order: &[u32]) -> Self {
        let mut tuning = Self::default();
        let mut usual = [const { Vec::new() }; 3];
        let mut unregister = Vec::new();
        for index in order.iter().take(CALLS_MAX) {
            let call = Call::of(run, *index as usize);
            let parts = [call.printed.ntt, call.printed.batch, call.printed.tail];
            for (list, part) in usual.iter_mut().zip(parts) {
                list.extend(part);
            }
            unregister.extend(unregister_of(&call));
        }
        let [ntt, batch, tail] = usual.map(median);
        tuning.usual = (ntt.is_some() || batch.is_some() || tail.is_some())
            .then(|| [ntt, batch, tail].map(Option::unwrap_or_default));
        if unregister.len() >= 3 {
            tuning.unregister = median(unregister).unwrap_or(tuning.unregister);
        }
        tuning.learn_register(run, order);
        tuning
    }

    /// Where a call is pinned down and found the lock free, its CPU work before it is known.
    fn learn_register(&mut self, run: &Run, order: &[u32]) {
        let mut register = Vec::new();
        let mut released = -SANE_US_MAX;
        for index in order.iter().take(CALLS_MAX) {
            let call = Call::of(run, *index as usize);
            let Some(start) = call.anchor(self, call.bounds()) else {
                released = SANE_US_MAX;
                continue;
            };
            let acquired = start - call.prepare_us();
            if call.printed.prestage.registered() && acquired > released + 20_000 {
                register.extend(call.split_end().map(|split| acquired - split));
            }
            released = release_of(&call, start);
        }
        if register.len() >= 3 {
            self.register = median(register).unwrap_or(self.register).max(0);
        }
    }
}

/// Unregistering of a call whose GPU thread is pinned down by the barrier.
fn unregister_of(call: &Call) -> Option<i64> {
    if !call.printed.prestage.registered() {
        return None;
    }
    let start = call.start_by_barrier()?;
    let released = start + call.kernel_us()? + TO_RELEASE_US;
    let us = call.epilogue_start()? - released;
    (0..10_000_000).contains(&us).then_some(us)
}

fn median(mut values: Vec<i64>) -> Option<i64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

const _: () = assert!(
    PREPARE_US > 0,
    "the lock is taken before the GPU thread starts"
);
