//! Runs with pieces missing or broken: the analysis still adds up.

mod common;

use analyze::diagnose::{NoLines, Question, Reading, diagnose, render};
use analyze::interval::{Hold, reconstruct};
use analyze::{Options, analyze, compare};
use common::{Part, Shape, simulate};
use proptest::prelude::*;
use tracefmt::finding::{Code, Confidence};
use tracefmt::run::{At, Outcome, Run};

/// What happens to one partition's lines.
#[derive(Clone, Copy, Debug)]
enum Harm {
    NoEnd,
    Failed,
    NoSynthesisEnd,
    NoPickup,
    NoStart,
    Far(i64),
    NoGpu,
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        Just(Harm::NoEnd),
        Just(Harm::Failed),
        Just(Harm::NoSynthesisEnd),
        Just(Harm::NoPickup),
        Just(Harm::NoStart),
        prop::sample::select(vec![i64::MIN, -1, 0, 1 << 50, i64::MAX]).prop_map(Harm::Far),
        Just(Harm::NoGpu),
    ]
}

fn mangle(run: &mut Run, at: usize, harm: Harm) {
    let task = &mut run.tasks[at];
    let far = |at: &mut Option<At>, us: i64| {
        if let Some(at) = at {
            at.us = us;
        }
    };
    match harm {
        Harm::NoEnd => {
            task.gpu_end = None;
            task.outcome = Outcome::Proving;
        }
        Harm::Failed => {
            task.gpu_end = None;
            task.outcome = Outcome::Failed;
        }
        Harm::NoSynthesisEnd => task.synth_end = None,
        Harm::NoPickup => (task.pickup, task.queued) = (None, None),
        Harm::NoStart => task.gpu_start = None,
        Harm::Far(us) => {
            far(&mut task.synth_start, us);
            far(&mut task.gpu_end, us);
            far(&mut task.queued, us);
        }
        Harm::NoGpu => {
            task.gpu = None;
            run.config.gpus.clear();
            run.config.gpu_of_worker.clear();
            for call in &mut run.calls {
                call.gpu = None;
            }
        }
    }
}

fn part() -> impl Strategy<Value = Part> {
    (
        0_i64..40_000_000,
        500_000_i64..30_000_000,
        100_000_i64..4_000_000,
    )
        .prop_map(|(synth_start, synth, prep)| Part {
            synth_start,
            synth,
            prep,
            ..Part::default()
        })
}

/// Numbers as no daemon prints them: no sum, and no table as long as a number says.
#[test]
fn a_log_of_absurd_numbers_is_analyzed() {
    let (far, most) = (u64::MAX / 1000, u32::MAX);
    let run = |run: u32| {
        format!(
            "TIMELINE,0,TRACE_START,,t_us=0,version=1,run={run},epoch_unix_us=1,build=b,device=d,\
             vram_total=1,vram_free=1\n\
             TIMELINE,0,SYNTH_START,j,partition={most},t_us=0\n\
             TIMELINE,1,GPU_START,j,gpu={most},worker={most},partition={most},t_us=1\n\
             TIMELINE,{far},GPU_END,j,gpu={most},worker={most},partition={most},t_us={},gpu_ms={far}\n",
            u64::MAX
        )
    };
    let mut log: String = (0..24).map(run).collect();
    let counts = "=== Batch Summary ===\ncompleted: 18446744073709551615\n\
                  failed: 18446744073709551615\n";
    log.push_str(counts);
    let source = tracefmt::Source::Bytes("log".to_owned(), log.into_bytes());
    let (trace, _) = tracefmt::read(&[source]).unwrap();
    assert_eq!(trace.runs.len(), 24);
    let analysis = analyze(&trace, &Options::default());
    let subject = Reading {
        trace: &trace,
        analysis: &analysis,
    };
    let said = diagnose(&Question {
        subject,
        baseline: None,
        replay: Vec::new(),
        lines: &NoLines,
    });
    assert!(!render(&said, &analysis).is_empty());
    assert!(
        compare(&trace, &trace)
            .throughput
            .a_per_minute
            .unwrap_or(0.0)
            >= 0.0
    );
}

/// What follows a hold whose end was lost does not wait for that end.
#[test]
fn a_call_behind_a_hold_without_an_end_has_its_own_times() {
    let first = Part {
        synth_start: 11_733_269,
        synth: 11_164_138,
        prep: 778_211,
        ..Part::default()
    };
    let other = Part {
        synth_start: 0,
        synth: 500_000,
        prep: 100_000,
        ..Part::default()
    };
    let (mut trace, _) = simulate(Shape::Old, &[first, other, other], 5, (1, 2));
    let run = &mut trace.runs[0];
    for lost in [12, 17, 18, 19] {
        run.marks.assign(lost, None, Confidence::Certain, &[]);
    }
    run.index_marks();
    mangle(run, 2, Harm::NoEnd);
    for hold in reconstruct(&trace.runs[0]).holds {
        assert!(hold.acquired <= hold.released, "{hold:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_left_still_adds_up(
        parts in prop::collection::vec(part(), 1..12),
        shape in prop::sample::select(vec![
            Shape::Old, Shape::Registered, Shape::Locked, Shape::Own,
        ]),
        harms in prop::collection::vec((any::<prop::sample::Index>(), harm()), 0..6),
        lost in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ambiguous in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let (mut trace, _) = simulate(shape, &parts, 5, (1, 2));
        let run = &mut trace.runs[0];
        let marks = run.marks.len();
        for index in lost {
            run.marks.assign(index.index(marks), None, Confidence::Certain, &[]);
        }
        for index in ambiguous {
            let at = index.index(marks);
            let owner = run.marks.get(at).and_then(|mark| mark.call());
            run.marks.assign(at, owner, Confidence::Ambiguous, &[0, 1]);
        }
        run.index_marks();
        for (index, harm) in harms {
            mangle(run, index.index(parts.len()), harm);
        }
        let all = reconstruct(&trace.runs[0]);
        let by_time = |hold: &Hold| (hold.gpu, hold.acquired);
        prop_assert!(all.holds.is_sorted_by_key(by_time), "{:?}", all.holds);
        for hold in &all.holds {
            prop_assert!(hold.ready <= hold.request, "{:?}", hold);
            prop_assert!(hold.request <= hold.acquired, "{:?}", hold);
            prop_assert!(hold.acquired <= hold.released, "{:?}", hold);
        }
        let found = analyze(&trace, &Options::default());
        for gpu in &found.gpus {
            let wide = 1e-6 + gpu.span_ms * 1e-12;
            let idle = gpu.span_ms - gpu.busy_kernel_ms;
            prop_assert!((gpu.idle_by_cause_ms.total() - idle).abs() <= wide, "{:?}", gpu);
            let idle = gpu.span_ms - gpu.busy_hold_ms;
            prop_assert!((gpu.idle_hold_by_cause_ms.total() - idle).abs() <= wide, "{:?}", gpu);
            prop_assert!(gpu.busy_kernel_ms <= gpu.busy_hold_ms + wide, "{:?}", gpu);
        }
        let reading = Reading { trace: &trace, analysis: &found };
        let said = diagnose(&Question {
            subject: reading,
            baseline: Some(reading),
            replay: Vec::new(),
            lines: &NoLines,
        });
        let slower = said.findings.iter().any(|f| f.code == Code::PerfPhaseRegression);
        prop_assert!(!slower, "a run is not slower than itself");
        prop_assert!(!render(&said, &found).is_empty());
        let itself = compare(&trace, &trace);
        prop_assert!(itself.differs.is_empty());
    }
}
