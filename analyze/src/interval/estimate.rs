//! The one unknown of a call, the start of its GPU thread, and the equations for it.
//!
//! Let `s` be `GPU_START`, `e` `GPU_END`, and durations as printed. In order of trust:
//! 1. lock lines (newest versions): the lock is taken at `s + pre_lock_cpu + mutex_wait`;
//! 2. barrier: if the GPU thread waited at it, the wait ended with the CPU's preparation, at
//!    `s + setup + prep_msm`, so the thread started `barrier_wait + ntt_msm_h` earlier;
//! 3. end: if the G2 MSM was over by then, the call ended `epilogue` after the lock was given
//!    back, and host memory was unregistered in between.
//!
//! An equation whose answer lies outside the windows of the call's lines is not used. The
//! constants below are the small steps that no line prints; together they are the 12 to 22 ms
//! that a change of workers is published to cost.

use tracefmt::run::{At, Outcome, Run};

use super::printed::{HALF_MS, Prestage, Printed, SANE_US_MAX, Window, sane};
use super::tuning::Tuning;

/// From `GPU_START` to the entry of the call.
const ENTRY_US: i64 = 300;
/// From the lock to the start of the GPU thread, device preparation aside.
pub(super) const PREPARE_US: i64 = 4_000;
/// Device preparation under the lock, where its duration is not printed (published: 18 ms).
const PRESTAGE_US: i64 = 18_000;
/// From the end of the GPU thread to the release of the lock.
pub(super) const TO_RELEASE_US: i64 = 6_000;
/// From the release to the epilogue where nothing is unregistered.
const TO_EPILOGUE_US: i64 = 900;
/// Epilogue where it is not printed.
const EPILOGUE_US: i64 = 1_000;
/// The shortest barrier wait that is taken for one and not for rounding.
const BARRIER_US_MIN: i64 = 5_000;
/// How far time stamps of neighbouring lines may be out of order.
const STAMP_SLOP_US: i64 = 3_000;

/// A call with what its lines say.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) index: usize,
    pub(super) printed: Printed,
    pub(super) ready: Option<At>,
    pub(super) start: Option<At>,
    /// `GPU_START` of its partition, which a call that was repeated shares with the others.
    pub(super) started: Option<At>,
    pub(super) end: Option<At>,
    pub(super) outcome: Outcome,
}

fn sane_at(at: At) -> At {
    At {
        us: sane(at.us),
        ..at
    }
}

impl Call {
    pub(super) fn of(run: &Run, index: usize) -> Self {
        let call = run.calls.get(index);
        let task = call.and_then(|call| run.tasks.get(call.task as usize));
        Self {
            index,
            printed: Printed::of(run, index),
            ready: task
                .and_then(|task| task.pickup.or(task.gpu_start))
                .map(sane_at),
            start: call.map(|call| sane_at(call.start)),
            started: task.and_then(|task| task.gpu_start).map(sane_at),
            end: task.and_then(|task| task.gpu_end).map(sane_at),
            outcome: task.map(|task| task.outcome).unwrap_or_default(),
        }
    }

    /// Entry of the call.
    pub(super) fn entry(&self) -> Option<i64> {
        Some(self.start?.us + HALF_MS + ENTRY_US)
    }

    /// End of splitting the assignment, where CPU preparation starts.
    pub(super) fn split_end(&self) -> Option<i64> {
        Some(self.entry()? + self.printed.setup.unwrap_or(HALF_MS))
    }

    /// When the epilogue started.
    pub(super) fn epilogue_start(&self) -> Option<i64> {
        let epilogue = self.printed.epilogue.unwrap_or(EPILOGUE_US);
        Some(self.end?.us + HALF_MS - epilogue)
    }

    /// From the start of the GPU thread to its end, the barrier wait included.
    pub(super) fn kernel_us(&self) -> Option<i64> {
        let printed = &self.printed;
        let parts = printed.ntt? + printed.batch? + printed.tail?;
        Some(parts + printed.barrier_wait())
    }

    /// From the lock to the start of the GPU thread.
    pub(super) fn prepare_us(&self) -> i64 {
        if let Some(slack) = self.lock_slack() {
            return slack * 2 / 5;
        }
        PREPARE_US + self.prestage_us()
    }

    /// Preparation of device memory under the lock.
    pub(super) fn prestage_us(&self) -> i64 {
        match self.printed.prestage {
            Prestage::None => 0,
            _ => self.printed.prestage_us.unwrap_or(PRESTAGE_US),
        }
    }

    /// Lock tenure less the GPU thread, where both are printed.
    fn lock_slack(&self) -> Option<i64> {
        let slack = self.printed.held? - self.printed.total?;
        (slack >= 0).then_some(slack)
    }

    /// Start of the GPU thread by the best equation that the windows allow.
    pub(super) fn anchor(&self, tuning: &Tuning, (low, high): (i64, i64)) -> Option<i64> {
        let allowed = |start: &i64| (low - STAMP_SLOP_US..=high + STAMP_SLOP_US).contains(start);
        self.start_by_lock()
            .filter(allowed)
            .or_else(|| self.start_by_barrier().filter(allowed))
            .or_else(|| self.start_by_end(tuning).filter(allowed))
    }

    fn start_by_lock(&self) -> Option<i64> {
        Some(self.acquired_by_lock()? + self.prepare_us())
    }

    /// When the lock was taken, from the lines of the newest versions.
    pub(super) fn acquired_by_lock(&self) -> Option<i64> {
        Some(self.entry()? + self.printed.pre_lock? + self.printed.mutex_wait?)
    }

    /// The wait at the barrier ended when the CPU was ready.
    pub(super) fn start_by_barrier(&self) -> Option<i64> {
        let wait = self.printed.barrier_wait();
        if wait < BARRIER_US_MIN {
            return None;
        }
        Some(self.split_end()? + self.printed.prep? - wait - self.printed.ntt?)
    }

    /// The call's end less everything behind the GPU thread.
    fn start_by_end(&self, tuning: &Tuning) -> Option<i64> {
        let epilogue = self.epilogue_start()?;
        let cpu_end = self.split_end()? + self.printed.prep? + self.printed.b_g2?;
        if cpu_end + 5_000 > epilogue {
            return None;
        }
        let behind = if self.printed.prestage.registered() {
            tuning.unregister
        } else {
            TO_EPILOGUE_US
        };
        Some(epilogue - behind - TO_RELEASE_US - self.kernel_us()?)
    }

    /// Earliest and latest start of the GPU thread that the lines' windows allow.
    pub(super) fn bounds(&self) -> (i64, i64) {
        let printed = &self.printed;
        let wait = printed.barrier_wait();
        let to_batch = printed.ntt.map(|ntt| ntt + wait);
        let to_tail = to_batch.zip(printed.batch).map(|(a, b)| a + b);
        let lines = [
            (printed.ntt_at, printed.ntt),
            (printed.barrier_at, to_batch),
            (printed.batch_at, to_tail),
            (printed.tail_at, self.kernel_us()),
        ];
        let prepare = self.prepare_us();
        let mut low = self.split_end().map_or(-SANE_US_MAX, |us| us + prepare);
        let last = self.epilogue_start().zip(self.kernel_us());
        let mut high = last.map_or(SANE_US_MAX, |(end, us)| end - us);
        // Printed somewhere between the lock and the start of the GPU thread.
        if let Some(Window { after, before }) = printed.acquired_at {
            low = low.max(after - STAMP_SLOP_US);
            high = high.min(before + prepare + STAMP_SLOP_US);
        }
        for (window, offset) in lines {
            if let Some((Window { after, before }, offset)) = window.zip(offset) {
                low = low.max(after - offset - STAMP_SLOP_US);
                high = high.min(before - offset + STAMP_SLOP_US);
            }
        }
        (low, high)
    }
}
