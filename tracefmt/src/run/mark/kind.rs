//! The kind of a typed timing line.

use super::MarkKind;
use crate::timing::TimingWhat;

impl MarkKind {
    /// The kind of a timing line.
    pub const fn of(what: &TimingWhat<'_>) -> Self {
        match what {
            TimingWhat::SplitVectors { .. } => Self::SplitVectors,
            TimingWhat::HostRegisterFallback { .. } => Self::HostRegister,
            TimingWhat::PreLock { .. } => Self::PreLock,
            TimingWhat::PrestageVram { .. } => Self::PrestageVram,
            TimingWhat::PrestageSkip => Self::PrestageSkip,
            TimingWhat::PrestageOk { .. } => Self::PrestageOk,
            TimingWhat::PrestageFallback { .. } => Self::PrestageFallback,
            TimingWhat::PoolThresholdMax { .. } => Self::PoolThreshold,
            TimingWhat::DaCache { .. } => Self::DaCache,
            TimingWhat::NttH { .. } => Self::NttH,
            TimingWhat::NttMsmH { .. } => Self::NttMsmH,
            TimingWhat::BarrierWait { .. } => Self::BarrierWait,
            TimingWhat::BatchAdd { .. } => Self::BatchAdd,
            TimingWhat::TailMsm { .. } => Self::TailMsm,
            TimingWhat::MutexHeld { .. } => Self::MutexHeld,
            TimingWhat::PrepMsm { .. } => Self::PrepMsm,
            TimingWhat::BG2Msm { .. } => Self::BG2Msm,
            TimingWhat::Epilogue { .. } => Self::Epilogue,
            TimingWhat::AsyncDealloc { .. } => Self::AsyncDealloc,
            TimingWhat::Phase { .. } => Self::Phase,
            TimingWhat::Other { .. } => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{LineRef, MarkStore};

    #[test]
    fn agrees_with_what_the_store_keeps() {
        let lines: [&[u8]; 6] = [
            b"CUZK_TIMING: prep_msm_ms=3",
            b"CUZK_TIMING: prestage_setup=skip_vram",
            b"CUZK_TIMING: prestage_setup=fallback err=2",
            b"CUZK_TIMING: gpu_tid=0 tail_msm_ms=1 gpu_total_ms=2",
            b"CUZK_TIMING: host_register=fallback err=712",
            b"CUZK_TIMING: something=else",
        ];
        for line in lines {
            let timing = crate::grammar::parse_timing(line);
            let mut store = MarkStore::default();
            let at = store.push(&timing.what, LineRef::default(), (0, 0));
            assert_eq!(store.get(at).unwrap().kind(), MarkKind::of(&timing.what));
        }
    }
}
