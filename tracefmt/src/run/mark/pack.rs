//! How the values of each kind of timing line lie in a [`Mark`] and beside it.

use std::borrow::Cow;

use super::{Mark, MarkKind, MarkStore};
use crate::timing::TimingWhat;

impl MarkStore {
    pub(super) fn pack(&mut self, what: &TimingWhat<'_>) -> (MarkKind, [i32; 2], u32) {
        match PlainMark::of(what) {
            Some(plain) => (plain.kind, plain.values, plain.extra),
            None => self.pack_rare(what),
        }
    }

    fn pack_rare(&mut self, what: &TimingWhat<'_>) -> (MarkKind, [i32; 2], u32) {
        match what {
            TimingWhat::PrestageVram {
                free_mib,
                usable_mib,
                need_da_mib,
                need_dbc_mib,
                total_mib,
            } => {
                let sizes = [free_mib, usable_mib, need_da_mib, need_dbc_mib, total_mib];
                let sizes = sizes.map(|mib| i64::try_from(*mib).unwrap_or(i64::MAX));
                (MarkKind::PrestageVram, [0; 2], self.store_extras(&sizes))
            }
            TimingWhat::PrestageOk {
                domain,
                lot_of_memory,
                parts_ms,
            } => {
                let domain = i64::try_from(*domain).unwrap_or(i64::MAX);
                let fine = i64::from(parts_ms.is_some());
                let extra = self.store_extras(&[domain, i64::from(*lot_of_memory), fine]);
                let total = parts_ms.map_or(0, |parts| fit(parts[4]));
                if let Some(parts) = parts_ms {
                    self.store_extras(parts);
                }
                (MarkKind::PrestageOk, [total, 0], extra)
            }
            TimingWhat::HostRegisterFallback { err } => (MarkKind::HostRegister, [0, fit(*err)], 0),
            TimingWhat::PrestageFallback { err } => (MarkKind::PrestageFallback, [0, fit(*err)], 0),
            TimingWhat::PoolThresholdMax { gpu } => (MarkKind::PoolThreshold, [0; 2], *gpu),
            TimingWhat::DaCache { mib, gpu } => {
                let mib = i64::try_from(*mib).unwrap_or(i64::MAX);
                (MarkKind::DaCache, [0, fit(mib)], *gpu)
            }
            TimingWhat::NttH {
                d_b_alloc_ms,
                ntt_kernels_ms,
                coset_intt_sync_ms,
                msm_init_ms,
                msm_invoke_ms,
                msm_dtor_ms,
                total_ms,
            } => {
                let parts = [
                    *d_b_alloc_ms,
                    *ntt_kernels_ms,
                    *coset_intt_sync_ms,
                    *msm_init_ms,
                    *msm_invoke_ms,
                    *msm_dtor_ms,
                ];
                let extra = self.store_extras(&parts);
                (MarkKind::NttH, [fit(*total_ms), 0], extra)
            }
            TimingWhat::Phase { name, us } => {
                let us = i64::try_from(*us).unwrap_or(i64::MAX);
                let low = u32::try_from(us & 0xffff_ffff).unwrap_or(0);
                let high = i32::try_from(us >> 32).unwrap_or(i32::MAX);
                (
                    MarkKind::Phase,
                    [low.cast_signed(), high],
                    self.store_name(name),
                )
            }
            TimingWhat::Other { text } => (MarkKind::Other, [0; 2], self.store_name(text)),
            _ => (MarkKind::PrestageSkip, [0; 2], 0),
        }
    }
}

/// A timing line of one of the kinds whose values need no room beside it and that tell of no
/// trouble: most lines of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainMark {
    /// What kind of line.
    pub(crate) kind: MarkKind,
    pub(super) values: [i32; 2],
    pub(super) extra: u32,
}

impl PlainMark {
    /// A line with its two values as a [`Mark`] keeps them.
    #[inline]
    pub(crate) const fn new(kind: MarkKind, values: [i32; 2]) -> Self {
        Self {
            kind,
            values,
            extra: 0,
        }
    }

    /// The same line of a GPU thread that stands beside the two values.
    #[inline]
    pub(crate) const fn of_thread(self, thread: u32) -> Self {
        Self {
            extra: thread,
            ..self
        }
    }

    /// The line, if it is of such a kind.
    #[inline]
    pub(crate) fn of(what: &TimingWhat<'_>) -> Option<Self> {
        let pair = |a: i64, b: i64| [fit(a), fit(b)];
        let (kind, values, extra) = match *what {
            TimingWhat::SplitVectors { split_ms, setup_ms } => {
                (MarkKind::SplitVectors, pair(split_ms, setup_ms), 0)
            }
            TimingWhat::PreLock {
                pre_lock_cpu_ms,
                mutex_wait_ms,
            } => (MarkKind::PreLock, pair(pre_lock_cpu_ms, mutex_wait_ms), 0),
            TimingWhat::NttMsmH { gpu_tid, ms } => {
                (MarkKind::NttMsmH, pair(ms, i64::from(gpu_tid)), 0)
            }
            TimingWhat::BarrierWait { gpu_tid, ms } => {
                (MarkKind::BarrierWait, pair(ms, i64::from(gpu_tid)), 0)
            }
            TimingWhat::BatchAdd { gpu_tid, ms } => {
                (MarkKind::BatchAdd, pair(ms, i64::from(gpu_tid)), 0)
            }
            TimingWhat::TailMsm {
                gpu_tid,
                ms,
                gpu_total_ms,
            } => (MarkKind::TailMsm, pair(ms, gpu_total_ms), gpu_tid),
            TimingWhat::MutexHeld {
                held_ms,
                total_start_fn_ms,
            } => (MarkKind::MutexHeld, pair(held_ms, total_start_fn_ms), 0),
            TimingWhat::PrepMsm { ms } => (MarkKind::PrepMsm, pair(ms, 0), 0),
            TimingWhat::BG2Msm { ms, num_circuits } => (
                MarkKind::BG2Msm,
                pair(ms, i64::try_from(num_circuits).unwrap_or(i64::MAX)),
                0,
            ),
            TimingWhat::Epilogue {
                epilogue_ms,
                pre_destructor_ms,
            } => (MarkKind::Epilogue, pair(epilogue_ms, pre_destructor_ms), 0),
            TimingWhat::AsyncDealloc { ms } => (MarkKind::AsyncDealloc, pair(ms, 0), 0),
            _ => return None,
        };
        Some(Self {
            kind,
            values,
            extra,
        })
    }
}

/// Durations beyond 24 days are cut; none is real.
fn fit(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX })
}

pub(super) fn unpack<'a>(store: &'a MarkStore, mark: &Mark) -> TimingWhat<'a> {
    let (a, b) = (i64::from(mark.values[0]), i64::from(mark.values[1]));
    let gpu_tid = u32::try_from(b).unwrap_or(0);
    match mark.kind {
        MarkKind::SplitVectors => TimingWhat::SplitVectors {
            split_ms: a,
            setup_ms: b,
        },
        MarkKind::HostRegister => TimingWhat::HostRegisterFallback { err: b },
        MarkKind::PreLock => TimingWhat::PreLock {
            pre_lock_cpu_ms: a,
            mutex_wait_ms: b,
        },
        MarkKind::NttMsmH => TimingWhat::NttMsmH { gpu_tid, ms: a },
        MarkKind::BarrierWait => TimingWhat::BarrierWait { gpu_tid, ms: a },
        MarkKind::BatchAdd => TimingWhat::BatchAdd { gpu_tid, ms: a },
        MarkKind::TailMsm => TimingWhat::TailMsm {
            gpu_tid: mark.extra,
            ms: a,
            gpu_total_ms: b,
        },
        MarkKind::MutexHeld => TimingWhat::MutexHeld {
            held_ms: a,
            total_start_fn_ms: b,
        },
        MarkKind::PrepMsm => TimingWhat::PrepMsm { ms: a },
        MarkKind::BG2Msm => TimingWhat::BG2Msm {
            ms: a,
            num_circuits: u64::try_from(b).unwrap_or(0),
        },
        MarkKind::Epilogue => TimingWhat::Epilogue {
            epilogue_ms: a,
            pre_destructor_ms: b,
        },
        MarkKind::AsyncDealloc => TimingWhat::AsyncDealloc { ms: a },
        MarkKind::PrestageSkip => TimingWhat::PrestageSkip,
        MarkKind::PrestageFallback => TimingWhat::PrestageFallback { err: b },
        MarkKind::PoolThreshold => TimingWhat::PoolThresholdMax { gpu: mark.extra },
        MarkKind::DaCache => TimingWhat::DaCache {
            mib: u64::try_from(b).unwrap_or(0),
            gpu: mark.extra,
        },
        MarkKind::PrestageVram | MarkKind::PrestageOk | MarkKind::NttH => unpack_long(store, mark),
        MarkKind::Phase => TimingWhat::Phase {
            name: Cow::Borrowed(store.text(mark)),
            us: u64::try_from(mark.us()).unwrap_or(0),
        },
        MarkKind::Other => TimingWhat::Other {
            text: Cow::Borrowed(store.text(mark)),
        },
    }
}

fn unpack_long<'a>(store: &'a MarkStore, mark: &Mark) -> TimingWhat<'a> {
    let long = |len| {
        let values = store.extras(mark, len);
        move |at: usize| values.get(at).copied().unwrap_or(0)
    };
    match mark.kind {
        MarkKind::PrestageVram => {
            let values = long(5);
            let mib = |at| u64::try_from(values(at)).unwrap_or(0);
            TimingWhat::PrestageVram {
                free_mib: mib(0),
                usable_mib: mib(1),
                need_da_mib: mib(2),
                need_dbc_mib: mib(3),
                total_mib: mib(4),
            }
        }
        MarkKind::PrestageOk => {
            let (head, parts) = (long(3), long(8));
            TimingWhat::PrestageOk {
                domain: u64::try_from(head(0)).unwrap_or(0),
                lot_of_memory: head(1) != 0,
                parts_ms: (head(2) != 0).then(|| std::array::from_fn(|at| parts(at + 3))),
            }
        }
        _ => {
            let values = long(6);
            TimingWhat::NttH {
                d_b_alloc_ms: values(0),
                ntt_kernels_ms: values(1),
                coset_intt_sync_ms: values(2),
                msm_init_ms: values(3),
                msm_invoke_ms: values(4),
                msm_dtor_ms: values(5),
                total_ms: i64::from(mark.values[0]),
            }
        }
    }
}
