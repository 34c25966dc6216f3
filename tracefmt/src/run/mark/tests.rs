//! Packing and unpacking of every kind of timing line.

use super::*;

fn every_shape() -> Vec<TimingWhat<'static>> {
    let mut shapes = vec![
        TimingWhat::SplitVectors {
            split_ms: 381,
            setup_ms: 382,
        },
        TimingWhat::HostRegisterFallback { err: 712 },
        TimingWhat::PreLock {
            pre_lock_cpu_ms: 481,
            mutex_wait_ms: 1374,
        },
        TimingWhat::PrestageVram {
            free_mib: 14775,
            usable_mib: 14263,
            need_da_mib: 4096,
            need_dbc_mib: 8192,
            total_mib: 12288,
        },
        TimingWhat::PrestageSkip,
        TimingWhat::PrestageOk {
            domain: 1 << 40,
            lot_of_memory: true,
            parts_ms: None,
        },
        TimingWhat::PrestageOk {
            domain: 1 << 27,
            lot_of_memory: false,
            parts_ms: Some([1, 2, -3, 4, 5]),
        },
        TimingWhat::PrestageFallback { err: 2 },
        TimingWhat::PoolThresholdMax { gpu: 3 },
        TimingWhat::DaCache { mib: 4096, gpu: 1 },
        TimingWhat::NttH {
            d_b_alloc_ms: 11,
            ntt_kernels_ms: 224,
            coset_intt_sync_ms: 59,
            msm_init_ms: 5,
            msm_invoke_ms: 259,
            msm_dtor_ms: 12,
            total_ms: 588,
        },
    ];
    shapes.extend(later_shapes());
    shapes
}

fn later_shapes() -> Vec<TimingWhat<'static>> {
    vec![
        TimingWhat::NttMsmH {
            gpu_tid: 1,
            ms: 590,
        },
        TimingWhat::BarrierWait { gpu_tid: 1, ms: 0 },
        TimingWhat::BatchAdd {
            gpu_tid: 2,
            ms: 335,
        },
        TimingWhat::TailMsm {
            gpu_tid: 2,
            ms: 86,
            gpu_total_ms: 1015,
        },
        TimingWhat::MutexHeld {
            held_ms: 1020,
            total_start_fn_ms: 2876,
        },
        TimingWhat::PrepMsm { ms: 1174 },
        TimingWhat::BG2Msm {
            ms: 512,
            num_circuits: 10,
        },
        TimingWhat::Epilogue {
            epilogue_ms: -2,
            pre_destructor_ms: 3257,
        },
        TimingWhat::AsyncDealloc { ms: 631 },
        TimingWhat::Phase {
            name: "ntt".into(),
            us: 5_000_000_123,
        },
        TimingWhat::Phase {
            name: "msm".into(),
            us: 3_000_000_000,
        },
        TimingWhat::Other {
            text: "gpu_tid=0 new_ms=7".into(),
        },
    ]
}

#[test]
fn every_shape_comes_back_as_it_went_in() {
    let mut store = MarkStore::default();
    for (at, what) in every_shape().iter().enumerate() {
        let line = LineRef::new(2, 100 + u32::try_from(at).unwrap());
        assert_eq!(store.push(what, line, (5, 9)), at);
        let mark = store.get(at).unwrap();
        assert_eq!(&store.what(&mark), what);
        assert_eq!(mark.line(), line);
        assert_eq!((mark.after_us(), mark.before_us()), (5, 9));
        assert_eq!(mark.call(), None);
        if !matches!(what, TimingWhat::Other { .. }) && !what.name().starts_with("prestage") {
            assert_eq!(store.name(&mark), what.name());
        }
    }
    // The first shapes are still whole after all the others went in.
    for (mark, what) in store.iter().zip(every_shape()) {
        assert_eq!(store.what(&mark), what);
    }
}

#[test]
fn durations_come_out_in_both_units() {
    let mut store = MarkStore::default();
    let line = LineRef::default();
    let old = store.push(&TimingWhat::PrepMsm { ms: 7 }, line, (0, 0));
    let own = store.push(
        &TimingWhat::Phase {
            name: "prep".into(),
            us: 3_000_000_999,
        },
        line,
        (0, 0),
    );
    assert_eq!(store.get(old).unwrap().us(), 7000);
    assert_eq!(store.get(own).unwrap().us(), 3_000_000_999);
    assert_eq!(store.get(own).unwrap().ms(), 3_000_000);
}

#[test]
fn windows_without_an_end_are_open() {
    let mut store = MarkStore::default();
    let what = TimingWhat::PrestageSkip;
    for (window, read) in [
        ((3, i64::MAX), (3, i64::MAX)),
        ((3, 3), (3, 3)),
        ((9, 3), (9, 9)),
        ((0, 1 << 40), (0, i64::MAX)),
        ((-5, 5), (-5, 5)),
    ] {
        let at = store.push(&what, LineRef::default(), window);
        let mark = store.get(at).unwrap();
        assert_eq!((mark.after_us(), mark.before_us()), read, "{window:?}");
    }
}

#[test]
fn candidates_are_kept_only_when_there_is_a_choice() {
    let mut store = MarkStore::default();
    for _ in 0..3 {
        store.push(
            &TimingWhat::PrepMsm { ms: 1 },
            LineRef::default(),
            (0, i64::MAX),
        );
    }
    store.assign(0, Some(4), Confidence::Certain, &[]);
    store.assign(1, Some(4), Confidence::Ambiguous, &[4, 7, 9]);
    store.assign(2, Some(1), Confidence::Ambiguous, &[1, 2]);
    store.assign(99, Some(1), Confidence::Certain, &[]);
    let sets: Vec<_> = store
        .iter()
        .map(|m| store.candidates(&m).to_vec())
        .collect();
    assert_eq!(sets, [vec![], vec![4, 7, 9], vec![1, 2]]);
    assert_eq!(store.get(0).unwrap().call(), Some(4));
    assert_eq!(store.get(0).unwrap().confidence(), Confidence::Certain);
}
