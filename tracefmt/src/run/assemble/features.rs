//! What a run's lines are made of: the features by which its dialect is told.

use crate::event::EventKind;
use crate::run::MarkKind;

/// Messages of the log that only some versions of the engine print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Sign {
    /// `prestage_setup=ok` with the times of its steps.
    FinePrestage,
    /// `prestage_setup=fallback err=2`, which later versions suppress.
    FallbackOom,
    /// A prestage line between the first and the last kernel of another call.
    PrestageOutsideLock,
    /// `GPU_TIMING` or `FIN_TIMING` messages.
    GpuTiming,
    /// `buffer flight counters` messages.
    FlightCounters,
    /// A proof was assembled from partitions.
    Assembled,
    /// A self-check of a proof.
    SelfCheck,
    /// An event of the synthesis names a partition.
    Partitions,
    /// Two workers on one GPU.
    SharedGpu,
    /// The first line of a daemon.
    DaemonStart,
    /// Lines of the engine's own log.
    EngineLog,
    /// Such lines about jobs: a line for each job's end is to be expected.
    JobLog,
    /// Timing lines with a tag, or events that only our traces have.
    Own,
}

/// Counts of lines by kind, and signs seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    timing: [u32; 32],
    events: [u32; 32],
    signs: u32,
}

impl Features {
    pub(crate) fn timing(&mut self, kind: MarkKind) {
        if let Some(count) = self.timing.get_mut(kind as usize) {
            *count = count.saturating_add(1);
        }
    }

    pub(crate) fn event(&mut self, kind: EventKind) {
        if let Some(count) = self.events.get_mut(kind as usize) {
            *count = count.saturating_add(1);
        }
        if kind.is_own() {
            self.sign(Sign::Own);
        }
    }

    pub(crate) fn sign(&mut self, sign: Sign) {
        self.signs |= 1 << sign as u32;
    }

    pub(crate) fn has(&self, sign: Sign) -> bool {
        self.signs & (1 << sign as u32) != 0
    }

    /// How many timing lines of a kind there are.
    pub(crate) fn timings(&self, kind: MarkKind) -> u32 {
        self.timing.get(kind as usize).copied().unwrap_or(0)
    }

    /// How many events of a kind there are.
    pub(crate) fn events(&self, kind: EventKind) -> u32 {
        self.events.get(kind as usize).copied().unwrap_or(0)
    }

    /// How many timing lines there are.
    pub(crate) fn all_timings(&self) -> u32 {
        self.timing.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// How many events there are.
    pub(crate) fn all_events(&self) -> u32 {
        self.events.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_count() {
        let mut features = Features::default();
        for kind in MarkKind::ALL {
            features.timing(*kind);
        }
        for kind in EventKind::ALL {
            features.event(*kind);
        }
        assert!(
            MarkKind::ALL
                .iter()
                .all(|kind| features.timings(*kind) == 1)
        );
        assert!(
            EventKind::ALL
                .iter()
                .all(|kind| features.events(*kind) == 1)
        );
        assert!(features.has(Sign::Own) && !features.has(Sign::GpuTiming));
    }
}
