//! Tables of timing lines and what they say.

use std::borrow::Cow;

use super::*;
use TimingWhat as W;

fn what(line: &str) -> TimingWhat<'_> {
    let timing = parse_timing(line.as_bytes());
    assert_eq!(timing.tag, None, "{line}");
    timing.what
}

/// Every shape behind `CUZK_TIMING: `, ours included.
const SHAPES: &[(&str, W<'_>)] = &[
    (
        "split_vectors_ms=0 setup_to_split_ms=-381",
        W::SplitVectors {
            split_ms: 0,
            setup_ms: -381,
        },
    ),
    (
        "host_register=fallback err=712",
        W::HostRegisterFallback { err: 712 },
    ),
    (
        "pre_lock_cpu_ms=3 mutex_wait_ms=1201",
        W::PreLock {
            pre_lock_cpu_ms: 3,
            mutex_wait_ms: 1201,
        },
    ),
    (
        "prestage_vram free_mib=14775 usable_mib=14263 need_da_mib=4096 \
             need_dbc_mib=8192 total_mib=12288",
        W::PrestageVram {
            free_mib: 14775,
            usable_mib: 14263,
            need_da_mib: 4096,
            need_dbc_mib: 8192,
            total_mib: 12288,
        },
    ),
    ("prestage_setup=skip_vram", W::PrestageSkip),
    (
        "prestage_setup=ok domain=134217728 lot_of_memory=1",
        W::PrestageOk {
            domain: 1 << 27,
            lot_of_memory: true,
            parts_ms: None,
        },
    ),
    (
        "prestage_setup=ok domain=134217728 lot_of_memory=0 sync_ms=1 trim_ms=2 \
             alloc_ms=3 upload_ms=4 total_ps_ms=10",
        W::PrestageOk {
            domain: 1 << 27,
            lot_of_memory: false,
            parts_ms: Some([1, 2, 3, 4, 10]),
        },
    ),
    (
        "prestage_setup=fallback err=2",
        W::PrestageFallback { err: 2 },
    ),
    (
        "set pool release threshold to MAX on gpu 3",
        W::PoolThresholdMax { gpu: 3 },
    ),
    (
        "d_a_cache allocated 4096 MiB on gpu 1",
        W::DaCache { mib: 4096, gpu: 1 },
    ),
    (
        "gpu_tid=0 ntt_msm_h_ms=845",
        W::NttMsmH {
            gpu_tid: 0,
            ms: 845,
        },
    ),
    (
        "gpu_tid=0 barrier_wait_ms=1",
        W::BarrierWait { gpu_tid: 0, ms: 1 },
    ),
    (
        "gpu_tid=7 batch_add_ms=656",
        W::BatchAdd {
            gpu_tid: 7,
            ms: 656,
        },
    ),
    (
        "gpu_tid=0 tail_msm_ms=86 gpu_total_ms=1588",
        W::TailMsm {
            gpu_tid: 0,
            ms: 86,
            gpu_total_ms: 1588,
        },
    ),
    (
        "mutex_held_ms=4 total_start_fn_ms=5",
        W::MutexHeld {
            held_ms: 4,
            total_start_fn_ms: 5,
        },
    ),
    ("prep_msm_ms=2734", W::PrepMsm { ms: 2734 }),
    (
        "b_g2_msm_ms=712 num_circuits=1",
        W::BG2Msm {
            ms: 712,
            num_circuits: 1,
        },
    ),
    (
        "epilogue_ms=2 pre_destructor_ms=3640",
        W::Epilogue {
            epilogue_ms: 2,
            pre_destructor_ms: 3640,
        },
    ),
    ("async_dealloc_ms=-4", W::AsyncDealloc { ms: -4 }),
    (
        "phase=ntt%20h ms=3 us=3456",
        W::Phase {
            name: Cow::Borrowed("ntt h"),
            us: 3456,
        },
    ),
    (
        "phase=ntt ms=3",
        W::Phase {
            name: Cow::Borrowed("ntt"),
            us: 3000,
        },
    ),
];

#[test]
fn every_shape_with_and_without_a_tag() {
    for (body, expected) in SHAPES {
        assert_eq!(what(&format!("CUZK_TIMING: {body}")), *expected);
        let line = format!("CUZK_TIMING: {body} job=a%20b gpu=1 worker=2 t_us=77");
        let timing = parse_timing(line.as_bytes());
        let place = Place {
            gpu: Some(1),
            worker: Some(2),
            partition: None,
        };
        let tag = Tag {
            job: "a b".into(),
            place,
            t_us: 77,
        };
        let expected = expected.clone();
        assert_eq!(
            timing,
            Timing {
                what: expected,
                tag: Some(tag)
            }
        );
    }
}

#[test]
fn the_ntt_line_has_units_behind_its_values() {
    let line = "CUZK_NTT_H: d_b_alloc=1ms ntt_kernels=200ms coset_intt_sync=30ms msm_init=4ms \
                msm_invoke=500ms msm_dtor=6ms total=-1ms";
    let expected = TimingWhat::NttH {
        d_b_alloc_ms: 1,
        ntt_kernels_ms: 200,
        coset_intt_sync_ms: 30,
        msm_init_ms: 4,
        msm_invoke_ms: 500,
        msm_dtor_ms: 6,
        total_ms: -1,
    };
    assert_eq!(what(line), expected);
    let cut = "CUZK_NTT_H: d_b_alloc=1ms ntt_kernels=200";
    assert!(matches!(what(cut), TimingWhat::Other { .. }));
}

#[test]
fn what_no_version_printed_is_kept() {
    for body in [
        "",
        "CU...",
        "gpu_tid=0",
        "gpu_tid=0 ntt_msm_h_ms=",
        "gpu_tid=0 ntt_msm_h_ms=5x",
        "gpu_tid=0  ntt_msm_h_ms=5",
        "gpu_tid=-1 ntt_msm_h_ms=5",
        "prep_msm_ms=99999999999999999999",
        "prestage_setup=maybe",
        "prestage_vram free_mib=-1 usable_mib=1 need_da_mib=1 need_dbc_mib=1 total_mib=1",
        "d_a_cache allocated 5 GiB on gpu 0",
        "new_thing_ms=5",
    ] {
        let line = format!("CUZK_TIMING: {body}");
        assert_eq!(
            what(&line),
            TimingWhat::Other { text: body.into() },
            "{body}"
        );
    }
}

#[test]
fn half_a_tag_is_no_tag() {
    let line = "CUZK_TIMING: prep_msm_ms=5 job=a gpu=0 worker=1";
    assert!(matches!(what(line), TimingWhat::Other { .. }));
    let line = "CUZK_TIMING: prep_msm_ms=5 job=a gpu=x t_us=5";
    assert!(matches!(what(line), TimingWhat::Other { .. }));
}
