//! One hand-built run for each cause of idle time, and properties over random schedules.

mod common;

use analyze::interval::reconstruct;
use analyze::model::{Analysis, GpuTime, IdleCause};
use analyze::{Options, analyze};
use common::{Part, Shape, Truth, simulate};
use proptest::prelude::*;

const OLD: [Shape; 4] = [Shape::Old, Shape::Registered, Shape::Locked, Shape::Own];

fn run(shape: Shape, parts: &[Part], machine: (u32, u32)) -> (Analysis, Vec<Truth>) {
    let (trace, truth) = simulate(shape, parts, 10, machine);
    (analyze(&trace, &Options::default()), truth)
}

fn near(found: f64, wanted_us: i64, tolerance_ms: f64) -> bool {
    (found - wanted_us as f64 / 1000.0).abs() <= tolerance_ms
}

/// Sums, bounds and order that hold for every analysis.
fn check(analysis: &Analysis) -> Result<(), TestCaseError> {
    for gpu in &analysis.gpus {
        let idle = gpu.idle_by_cause_ms.total();
        prop_assert!((idle - (gpu.span_ms - gpu.busy_kernel_ms)).abs() < 1e-6);
        let idle = gpu.idle_hold_by_cause_ms.total();
        prop_assert!((idle - (gpu.span_ms - gpu.busy_hold_ms)).abs() < 1e-6);
        prop_assert!(gpu.busy_kernel_ms <= gpu.busy_hold_ms + 1e-9);
        prop_assert!(gpu.busy_hold_ms <= gpu.busy_interval_ms + 1.0 * gpu_calls(analysis, gpu));
        let end = gpu.span_start_ms + gpu.span_ms;
        let mut last = gpu.span_start_ms;
        for gap in &gpu.idle {
            prop_assert!(gap.start_ms >= last - 1e-9 && gap.end_ms <= end + 1e-9);
            prop_assert!(gap.ms >= 1.0 && (gap.end_ms - gap.start_ms - gap.ms).abs() < 1e-6);
            last = gap.end_ms;
        }
    }
    for region in &analysis.regions {
        prop_assert!(region.start_ms < region.end_ms);
        for kernel in &region.kernels {
            prop_assert!(region.start_ms <= kernel[0] && kernel[1] <= region.end_ms);
        }
    }
    Ok(())
}

fn gpu_calls(analysis: &Analysis, gpu: &GpuTime) -> f64 {
    let of = analysis
        .regions
        .iter()
        .filter(|region| region.gpu == Some(gpu.gpu));
    of.count() as f64
}

#[test]
fn a_lone_partition_is_all_fill_and_drain() {
    for shape in OLD {
        let (analysis, truth) = run(shape, &[Part::default()], (1, 1));
        let gpu = &analysis.gpus[0];
        let t = truth[0];
        assert!(
            near(gpu.idle_by_cause_ms.fill, t.k_start, 30.0),
            "{shape:?} {gpu:?}"
        );
        assert!(
            near(gpu.idle_by_cause_ms.drain, t.end - t.k_end, 30.0),
            "{shape:?} {gpu:?}"
        );
        assert!(
            near(gpu.busy_kernel_ms, t.k_end - t.k_start, 5.0),
            "{shape:?} {gpu:?}"
        );
        assert!(
            near(gpu.busy_hold_ms, t.released - t.acquired, 30.0),
            "{shape:?} {gpu:?}"
        );
    }
}

#[test]
fn a_gap_without_a_partition_is_starvation() {
    let parts = [
        Part::default(),
        Part {
            synth_start: 20_000_000,
            ..Part::default()
        },
    ];
    for shape in OLD {
        let (analysis, truth) = run(shape, &parts, (1, 2));
        let wanted = 50_000_000 - truth[0].released;
        let found = analysis.gpus[0].idle_by_cause_ms.synthesis_starved;
        assert!(near(found, wanted, 20.0), "{shape:?} {found} {wanted}");
        let gap = &analysis.gpus[0]
            .idle
            .iter()
            .find(|gap| gap.cause == IdleCause::SynthesisStarved);
        assert_eq!(
            gap.unwrap().lines.len(),
            3,
            "the call before, the synthesis, the start"
        );
    }
}

#[test]
fn a_busy_worker_leaves_proofs_in_the_queue() {
    // The G2 MSM keeps the only worker long after the lock is free.
    let long = Part {
        b_g2: 9_000_000,
        ..Part::default()
    };
    for shape in [Shape::Locked, Shape::Own] {
        let (analysis, truth) = run(shape, &[long, long], (1, 1));
        let found = analysis.gpus[0].idle_by_cause_ms.queued_not_picked;
        let wanted = truth[0].end - truth[0].released;
        assert!(near(found, wanted, 5.0), "{shape:?} {found} {wanted}");
    }
}

#[test]
fn cpu_work_before_the_lock_is_named() {
    let parts = [
        Part::default(),
        Part {
            synth_start: 2_000_000,
            split: 5_000_000,
            ..Part::default()
        },
    ];
    for shape in OLD {
        let (analysis, truth) = run(shape, &parts, (1, 2));
        let free = truth[0].released.max(truth[1].start);
        let wanted = truth[1].request - free;
        let found = analysis.gpus[0].idle_by_cause_ms.pre_lock_cpu;
        assert!(near(found, wanted, 30.0), "{shape:?} {found} {wanted}");
    }
}

#[test]
fn waiting_for_the_cpu_under_the_lock_is_the_barrier() {
    let parts = [Part {
        prep: 4_000_000,
        ..Part::default()
    }; 3];
    for shape in OLD {
        let (analysis, truth) = run(shape, &parts, (1, 1));
        let wanted: i64 = truth.iter().map(|t| t.batch_start - t.ntt_end).sum();
        let found = analysis.gpus[0].idle_by_cause_ms.barrier_wait;
        assert!(near(found, wanted, 6.0), "{shape:?} {found} {wanted}");
        let row = analysis
            .phases
            .iter()
            .find(|row| row.phase == "barrier_wait")
            .unwrap();
        assert_eq!(row.n, 3, "the residual is a phase of its own");
        if shape != Shape::Own {
            assert_eq!(row.nested_in.as_deref(), Some("gpu_total"));
        }
    }
}

#[test]
fn a_handover_is_mutex_wait() {
    let parts = [Part::default(); 4];
    for shape in OLD {
        let (analysis, _) = run(shape, &parts, (1, 4));
        let causes = analysis.gpus[0].idle_by_cause_ms;
        let small = causes.mutex_wait + causes.unattributed;
        assert!(causes.mutex_wait > 3.0, "{shape:?} {causes:?}");
        assert!(small > 20.0 && small < 150.0, "{shape:?} {causes:?}");
        assert!(
            causes.pre_lock_cpu + causes.synthesis_starved < 1.0,
            "{shape:?} {causes:?}"
        );
    }
}

#[test]
fn a_trace_without_runs_is_an_empty_analysis() {
    let analysis = analyze(&tracefmt::run::Trace::default(), &Options::default());
    assert!(analysis.gpus.is_empty() && analysis.regions.is_empty());
    assert_eq!(analysis.schema, "cuzk.analysis/1");
}

fn part() -> impl Strategy<Value = Part> {
    (
        (0_i64..60_000_000, 1_000_000_i64..40_000_000),
        (300_i64..600_000, 600_000_i64..2_500_000),
        (300_000_i64..4_000_000, 100_000_i64..900_000),
        (
            400_000_i64..3_000_000,
            300_000_i64..900_000,
            20_000_i64..200_000,
        ),
    )
        .prop_map(
            |((synth_start, synth), (split, register), (prep, b_g2), (ntt, batch, tail))| Part {
                synth_start,
                synth,
                split,
                register,
                prep,
                b_g2,
                ntt,
                batch,
                tail,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_are_exact_and_times_stay_inside(
        parts in prop::collection::vec(part(), 1..24),
        gpus in 1_u32..3,
        per_gpu in 1_u32..4,
        shape in prop::sample::select(OLD.to_vec()),
    ) {
        let (trace, _) = simulate(shape, &parts, 5, (gpus, gpus * per_gpu));
        let floor = Options { gap_floor_ms: 1.0, ..Options::default() };
        check(&analyze(&trace, &floor))?;
    }

    /// What the log determines is found: the true start of the GPU thread, to some milliseconds,
    /// where lock lines or our own events give it.
    #[test]
    fn recorded_times_come_back(
        parts in prop::collection::vec(part(), 1..24),
        shape in prop::sample::select(vec![Shape::Locked, Shape::Own]),
    ) {
        let (trace, truth) = simulate(shape, &parts, 5, (1, 2));
        let all = reconstruct(&trace.runs[0]);
        for hold in &all.holds {
            let task = trace.runs[0].calls[hold.call as usize].task;
            let t = truth[task as usize];
            let allowed = if shape == Shape::Own { 0 } else { 6_000 };
            prop_assert!((hold.acquired - t.acquired).abs() <= allowed, "{:?} {:?}", hold, t);
            prop_assert!((hold.released - t.released).abs() <= allowed, "{:?} {:?}", hold, t);
        }
    }
}

#[test]
fn the_tenure_of_a_call_that_failed_is_told_as_that() {
    let event = |us: i64, name: &str, worker: u32, partition: u32, rest: &str| {
        format!(
            "TIMELINE,{},{name},j,gpu=0,worker={worker},partition={partition},t_us={us}{rest}\n",
            us / 1000
        )
    };
    let mut log = String::from(
        "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r,epoch_unix_us=1,build=b,device=d,\
         vram_total=1,vram_free=1\n\
         TIMELINE,0,SYNTH_START,j,partition=0,t_us=1\n",
    );
    let lock = ",lock=gpu0";
    // Worker 0 proves; worker 1 takes the lock and fails under it while worker 0 waits again.
    for (us, name, worker, partition, rest) in [
        (1_000, "GPU_START", 0, 0, ""),
        (2_000, "LOCK_ACQ", 0, 0, lock),
        (13_000, "LOCK_REL", 0, 0, lock),
        (14_000, "GPU_END", 0, 0, ",gpu_ms=13"),
        (14_100, "GPU_START", 1, 1, ""),
        (14_200, "LOCK_ACQ", 1, 1, lock),
        (14_300, "GPU_START", 0, 2, ""),
        (14_400, "LOCK_WAIT", 0, 2, lock),
        (54_000, "PARTITION_FAILED", 1, 1, ",error=x"),
        (55_000, "LOCK_REL", 1, 1, lock),
        (55_100, "LOCK_ACQ", 0, 2, lock),
        (66_000, "LOCK_REL", 0, 2, lock),
        (67_000, "GPU_END", 0, 2, ",gpu_ms=52"),
    ] {
        log += &event(us, name, worker, partition, rest);
        if name == "LOCK_ACQ" && partition != 1 {
            let end = us + 10_000;
            let line = format!(
                "CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=10 job=j gpu=0 worker={worker} \
                 partition={partition} t_us={end}\n"
            );
            log.push_str(&line);
        }
    }
    let source = tracefmt::Source::Bytes("a.log".to_owned(), log.into_bytes());
    let (trace, _) = tracefmt::read(&[source]).unwrap();
    let analysis = analyze(&trace, &Options::default());
    check(&analysis).unwrap();
    let gpu = &analysis.gpus[0];
    let causes = gpu.idle_by_cause_ms;
    assert!((causes.failed_holder - 40.8).abs() < 0.01, "{causes:?}");
    assert!(causes.mutex_wait < 2.0, "{causes:?}");
    let found = analysis.findings.iter().find(|f| f.title.contains("idle"));
    let title = &found.unwrap().title;
    assert!(
        title.ends_with("a call that failed held the lock"),
        "{title}"
    );
    assert!(
        gpu.idle
            .iter()
            .any(|gap| gap.cause == IdleCause::FailedHolder)
    );
}
