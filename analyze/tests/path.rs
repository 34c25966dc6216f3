//! Critical path and performance findings of simulated runs.

mod common;

use analyze::model::{Analysis, PathStep, StepsLeftOut};
use analyze::{Options, analyze};
use common::{Part, Shape, simulate};
use proptest::prelude::*;
use tracefmt::finding::Code;

fn run(parts: &[Part], machine: (u32, u32)) -> Analysis {
    let (trace, _) = simulate(Shape::Locked, parts, 10, machine);
    analyze(&trace, &Options::default())
}

/// Kinds of the steps; the epilogue of about a millisecond may vanish in the rounding.
fn kinds(steps: &[PathStep]) -> Vec<&str> {
    let long = steps
        .iter()
        .filter(|step| step.end_ms - step.start_ms > 2.0);
    long.map(|step| step.kind.as_str()).collect()
}

#[test]
fn one_partition_is_its_own_path() {
    let found = run(&[Part::default()], (1, 1));
    let path = &found.critical_path;
    assert_eq!(kinds(path), ["synthesis", "pre_lock_cpu", "gpu"]);
    let gpu = &found.gpus[0];
    assert!((path[0].start_ms - gpu.span_start_ms).abs() < 1.0);
    let end = gpu.span_start_ms + gpu.span_ms;
    assert!((path.last().unwrap().end_ms - end).abs() < 1.0);
}

#[test]
fn a_saturated_gpu_is_a_chain_of_holds() {
    let found = run(&[Part::default(); 6], (1, 6));
    let path = &found.critical_path;
    let holds = path.iter().filter(|step| step.kind == "gpu").count();
    assert_eq!(holds, 6, "{:?}", kinds(path));
    assert_eq!(path[0].kind, "synthesis");
    assert!(path.iter().all(|step| step.slack_ms < 15.0), "{path:?}");
}

#[test]
fn a_synthesis_slot_leads_to_the_one_before() {
    // One slot: each synthesis starts when the one before is over.
    let parts: Vec<Part> = (0..4)
        .map(|at| Part {
            synth_start: at * 30_002_000,
            ..Part::default()
        })
        .collect();
    let found = run(&parts, (1, 1));
    let names = kinds(&found.critical_path);
    let wanted = ["synthesis"; 4].into_iter().chain(["pre_lock_cpu", "gpu"]);
    assert_eq!(names, wanted.collect::<Vec<_>>());
    let partitions: Vec<_> = found
        .critical_path
        .iter()
        .filter(|step| step.kind == "synthesis")
        .filter_map(|step| step.partition)
        .collect();
    assert_eq!(partitions.get(..4), Some(&[0, 1, 2, 3][..]));
}

#[test]
fn a_busy_worker_is_on_the_path() {
    let long = Part {
        b_g2: 9_000_000,
        ..Part::default()
    };
    let found = run(&[long, long], (1, 1));
    let names = kinds(&found.critical_path);
    let call = ["pre_lock_cpu", "gpu", "finish"];
    let wanted: Vec<&str> = ["synthesis"].into_iter().chain(call).chain(call).collect();
    assert_eq!(names, wanted);
}

#[test]
fn syntheses_without_length_do_not_lead_in_a_circle() {
    let part = Part {
        synth: 0,
        ..Part::default()
    };
    let found = run(&[part; 3], (1, 1));
    assert!(kinds(&found.critical_path).contains(&"gpu"));
}

#[test]
fn the_path_can_be_cut_short() {
    let (trace, _) = simulate(Shape::Locked, &[Part::default(); 6], 10, (1, 6));
    let options = Options {
        steps_max: 3,
        ..Options::default()
    };
    let found = analyze(&trace, &options);
    let path = found.critical_path;
    assert!(
        path.len() == 3 && path.iter().any(|step| step.kind == "gpu"),
        "{path:?}"
    );
    let all = analyze(&trace, &Options::default());
    assert_eq!(all.critical_path_left_out, []);
    let more = (all.critical_path.len() - 3) as u64;
    let run = 0;
    assert_eq!(
        found.critical_path_left_out,
        [StepsLeftOut { run, steps: more }]
    );
}

#[test]
fn starvation_is_a_finding_that_says_how_much_is_missing() {
    let parts: Vec<Part> = (0..6)
        .map(|at| Part {
            synth_start: at * 10_000_000,
            ..Part::default()
        })
        .collect();
    let found = run(&parts, (1, 2));
    let idle = found
        .findings
        .iter()
        .find(|f| f.code == Code::PerfIdle)
        .unwrap();
    assert!(
        idle.title.contains("no synthesized partition was waiting"),
        "{}",
        idle.title
    );
    // 30 s of synthesis for 3.2 s of GPU.
    assert!(
        idle.fix.as_ref().unwrap().contains("about 10 syntheses"),
        "{:?}",
        idle.fix
    );
    assert!(!idle.evidence.is_empty() && idle.evidence[0].path == "sim.log");
    assert_eq!(idle.gpu, Some(0));
}

#[test]
fn a_busy_gpu_is_no_finding() {
    let found = run(&[Part::default(); 12], (1, 4));
    assert!(found.findings.is_empty(), "{:?}", found.findings);
}

/// Some forty syntheses, first one at a time, then eight; those last `crowded_us` and a little.
fn crowd(crowded_us: i64) -> Vec<Part> {
    let mut parts = Vec::new();
    for at in 0_i64..20 {
        let jitter = (at * 7919 % 13) * 40_000;
        parts.push(Part {
            synth_start: at * 31_000_000,
            synth: 29_000_000 + jitter,
            ..Part::default()
        });
    }
    for at in 0_i64..24 {
        let jitter = (at * 104_729 % 17) * 60_000;
        parts.push(Part {
            synth_start: 620_000_000 + at / 8 * 60_000_000,
            synth: crowded_us + jitter,
            ..Part::default()
        });
    }
    parts
}

#[test]
fn contention_is_found_when_it_is_there_and_only_then() {
    let of = |crowded_us: i64| {
        let found = run(&crowd(crowded_us), (1, 2)).findings;
        found
            .into_iter()
            .find(|finding| finding.code == Code::PerfContention)
    };
    let found = of(46_400_000).unwrap();
    assert!(found.title.contains("1.59x"), "{}", found.title);
    assert!(of(29_000_000).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Steps follow each other in time, end at the end, and none has negative slack.
    #[test]
    fn a_path_is_ordered_and_ends_at_the_end(
        parts in prop::collection::vec(
            (0_i64..40_000_000, 500_000_i64..30_000_000, 100_000_i64..4_000_000),
            1..20,
        ),
        gpus in 1_u32..3,
        per_gpu in 1_u32..3,
    ) {
        let parts: Vec<Part> = parts
            .into_iter()
            .map(|(synth_start, synth, ntt)| Part { synth_start, synth, ntt, ..Part::default() })
            .collect();
        let found = run(&parts, (gpus, gpus * per_gpu));
        let path = &found.critical_path;
        prop_assert!(!path.is_empty());
        let end = found.gpus.iter().map(|gpu| gpu.span_start_ms + gpu.span_ms).fold(0.0, f64::max);
        prop_assert!((path[path.len() - 1].end_ms - end).abs() < 5.0);
        for pair in path.windows(2) {
            prop_assert!(pair[0].start_ms <= pair[1].start_ms, "{:?}", path);
            prop_assert!(pair[0].end_ms <= pair[1].start_ms + 15.0, "{:?}", path);
        }
        for step in path {
            prop_assert!(step.slack_ms >= 0.0 && step.start_ms < step.end_ms);
        }
    }
}
