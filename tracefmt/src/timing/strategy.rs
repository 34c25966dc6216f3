//! Random timing lines for property tests and fuzz seeds (feature `proptest`).

use proptest::option;
use proptest::prelude::*;

use super::{Tag, Timing, TimingWhat as W};
use crate::event::strategy::{place, text};

/// Any timing line, with and without our tag.
pub fn timing() -> impl Strategy<Value = Timing<'static>> {
    let tag =
        (text(), place(), any::<u64>()).prop_map(|(job, place, t_us)| Tag { job, place, t_us });
    (what(), option::of(tag)).prop_map(|(what, tag)| Timing { what, tag })
}

/// Milliseconds as the old clocks give them: small, and now and then absurd.
fn ms() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0_i64..100_000, 1 => any::<i64>()]
}

/// A count; the C side has no more than 63 bits of anything.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0_u64..100_000, 1 => 0_u64..=i64::MAX.unsigned_abs()]
}

/// What a timing line reports, every shape about equally often.
pub fn what() -> impl Strategy<Value = W<'static>> {
    prop_oneof![call(), gpu_thread(), memory(), free_form()]
}

/// What the calling thread and its helpers report.
fn call() -> impl Strategy<Value = W<'static>> {
    prop_oneof![
        (ms(), ms()).prop_map(|(split_ms, setup_ms)| W::SplitVectors { split_ms, setup_ms }),
        (ms(), ms()).prop_map(|(pre_lock_cpu_ms, mutex_wait_ms)| W::PreLock {
            pre_lock_cpu_ms,
            mutex_wait_ms
        }),
        (ms(), ms()).prop_map(|(held_ms, total_start_fn_ms)| W::MutexHeld {
            held_ms,
            total_start_fn_ms
        }),
        (ms(), ms()).prop_map(|(epilogue_ms, pre_destructor_ms)| W::Epilogue {
            epilogue_ms,
            pre_destructor_ms
        }),
        ms().prop_map(|ms| W::PrepMsm { ms }),
        (ms(), count()).prop_map(|(ms, num_circuits)| W::BG2Msm { ms, num_circuits }),
        ms().prop_map(|ms| W::AsyncDealloc { ms }),
    ]
}

/// What the GPU's thread reports.
fn gpu_thread() -> impl Strategy<Value = W<'static>> {
    prop_oneof![
        (any::<u32>(), ms()).prop_map(|(gpu_tid, ms)| W::NttMsmH { gpu_tid, ms }),
        (any::<u32>(), ms()).prop_map(|(gpu_tid, ms)| W::BarrierWait { gpu_tid, ms }),
        (any::<u32>(), ms()).prop_map(|(gpu_tid, ms)| W::BatchAdd { gpu_tid, ms }),
        (any::<u32>(), ms(), ms()).prop_map(|(gpu_tid, ms, gpu_total_ms)| W::TailMsm {
            gpu_tid,
            ms,
            gpu_total_ms
        }),
        [ms(), ms(), ms(), ms(), ms(), ms(), ms()].prop_map(
            |[alloc, kernels, coset, init, invoke, dtor, total]| W::NttH {
                d_b_alloc_ms: alloc,
                ntt_kernels_ms: kernels,
                coset_intt_sync_ms: coset,
                msm_init_ms: init,
                msm_invoke_ms: invoke,
                msm_dtor_ms: dtor,
                total_ms: total,
            }
        ),
    ]
}

/// Memory set-up.
fn memory() -> impl Strategy<Value = W<'static>> {
    let parts = option::of([ms(), ms(), ms(), ms(), ms()]);
    prop_oneof![
        ms().prop_map(|err| W::HostRegisterFallback { err }),
        [count(), count(), count(), count(), count()].prop_map(
            |[free_mib, usable_mib, need_da_mib, need_dbc_mib, total_mib]| W::PrestageVram {
                free_mib,
                usable_mib,
                need_da_mib,
                need_dbc_mib,
                total_mib,
            }
        ),
        Just(W::PrestageSkip),
        (count(), any::<bool>(), parts).prop_map(|(domain, lot_of_memory, parts_ms)| {
            W::PrestageOk {
                domain,
                lot_of_memory,
                parts_ms,
            }
        }),
        ms().prop_map(|err| W::PrestageFallback { err }),
        any::<u32>().prop_map(|gpu| W::PoolThresholdMax { gpu }),
        (any::<u64>(), any::<u32>()).prop_map(|(mib, gpu)| W::DaCache { mib, gpu }),
    ]
}

/// Our own form, and a shape of a later version.
fn free_form() -> impl Strategy<Value = W<'static>> {
    prop_oneof![
        (text(), count()).prop_map(|(name, us)| W::Phase { name, us }),
        "new_[a-z_]{1,12}=[0-9a-z]{0,5}( [a-z]{1,3}=[0-9]{1,3}){0,2}"
            .prop_map(|text| W::Other { text: text.into() }),
    ]
}
