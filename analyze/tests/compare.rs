//! Two simulated runs side by side.

#![expect(clippy::unwrap_used, reason = "a missing row fails the test")]

mod common;

use analyze::compare;
use analyze::compare::PhaseComparison;
use common::{Part, Shape, simulate};
use tracefmt::run::Trace;

/// Twenty partitions with a little spread; the batch addition takes `batch_us`.
fn trace(shape: Shape, batch_us: i64) -> Trace {
    let parts: Vec<Part> = (0_i64..20)
        .map(|at| {
            let spread = |size: i64| (at * 37 % 11) * size;
            Part {
                synth_start: at * 2_000_000,
                ntt: 2_400_000 + spread(3_000),
                batch: batch_us + spread(1_000),
                tail: 120_000 + spread(300),
                ..Part::default()
            }
        })
        .collect();
    simulate(shape, &parts, 10, (1, 2)).0
}

fn row<'a>(rows: &'a [PhaseComparison], phase: &str) -> &'a PhaseComparison {
    rows.iter().find(|row| row.phase == phase).unwrap()
}

#[test]
fn a_slower_phase_stands_out_and_the_others_do_not() {
    let found = compare(&trace(Shape::Old, 640_000), &trace(Shape::Old, 864_000));
    assert!(found.comparable && found.reasons.is_empty());
    let batch = row(&found.phases, "batch_add");
    assert!((batch.ratio.unwrap() - 1.35).abs() < 0.01, "{batch:?}");
    assert!(batch.differs() && batch.low.unwrap() < 1.35 && batch.high.unwrap() > 1.34);
    assert_eq!((batch.a_n, batch.b_n), (20, 20));
    assert_eq!(batch.nested_in.as_deref(), Some("gpu_total"));
    for same in ["ntt_msm_h", "tail_msm", "prep_msm", "synth"] {
        assert!(!row(&found.phases, same).differs(), "{same}");
    }
    let names: Vec<&str> = found.phases.iter().map(|row| row.phase.as_str()).collect();
    assert!(names.is_sorted());
    assert_eq!(
        (found.throughput.a_proofs, found.throughput.b_proofs),
        (2, 2)
    );
    assert!(found.throughput.ratio.unwrap() <= 1.0);
}

#[test]
fn a_trace_equals_itself() {
    let one = trace(Shape::Locked, 640_000);
    let found = compare(&one, &one);
    assert!(found.comparable && found.differs.is_empty());
    for row in &found.phases {
        assert!(
            row.ratio.is_none_or(|ratio| (ratio - 1.0).abs() < 1e-9),
            "{row:?}"
        );
        assert!(!row.differs());
    }
    assert!((found.throughput.ratio.unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn another_shape_is_refused_with_both_values() {
    let (a, mut b) = (trace(Shape::Old, 640_000), trace(Shape::Old, 640_000));
    b.runs[0].config.domain = Some(1 << 26);
    assert!(
        compare(&a, &b).comparable,
        "a value on one side only refuses nothing"
    );
    let mut a = a;
    a.runs[0].config.domain = Some(1 << 27);
    let found = compare(&a, &b);
    assert!(!found.comparable && found.phases.is_empty());
    assert_eq!(
        found.reasons,
        ["domain differs: 134217728 in A, 67108864 in B"]
    );
    assert_eq!(found.differs, ["domain"]);
}

#[test]
fn partitions_and_gpus_are_part_of_the_shape() {
    let a = trace(Shape::Old, 640_000);
    let parts = [Part::default(); 16];
    let b = simulate(Shape::Old, &parts, 16, (2, 4)).0;
    let found = compare(&a, &b);
    let reasons = [
        "partitions differ: 10 in A, 16 in B",
        "gpus differ: 1 in A, 2 in B",
    ];
    assert_eq!(found.reasons, reasons);
}

#[test]
fn what_the_log_itself_calls_partitions_is_another_setting() {
    let parts = [Part::default(); 16];
    let mut a = trace(Shape::Old, 640_000);
    let mut b = simulate(Shape::Old, &parts, 16, (1, 2)).0;
    for (side, n) in [(&mut a, "10"), (&mut b, "16")] {
        side.runs[0].config.more = vec![("partitions".to_owned(), n.to_owned())];
    }
    let found = compare(&a, &b);
    assert_eq!(found.reasons, ["partitions differ: 10 in A, 16 in B"]);
    let named = found.settings.iter().map(|setting| setting.name.as_str());
    let named: Vec<&str> = named.filter(|name| name.contains("partitions")).collect();
    assert_eq!(named, ["partitions", "config.partitions"]);
}

#[test]
fn what_does_not_refuse_is_named() {
    let (mut a, mut b) = (trace(Shape::Old, 640_000), trace(Shape::Old, 640_000));
    a.runs[0].config.vram_bytes = Some(16 << 30);
    b.runs[0].config.vram_bytes = Some(24 << 30);
    a.runs[0].config.more = vec![("gpu_threads".to_owned(), "32".to_owned())];
    b.runs[0].config.more = vec![("gpu_threads".to_owned(), "64".to_owned())];
    let found = compare(&a, &b);
    assert!(found.comparable);
    assert_eq!(found.differs, ["vram", "gpu_threads"]);
}

#[test]
fn nothing_to_compare_is_refused() {
    let found = compare(&trace(Shape::Old, 640_000), &Trace::default());
    assert!(!found.comparable);
    assert_eq!(found.reasons, ["B holds no durations"]);
    assert_eq!(found.throughput.ratio, None);
}

#[test]
fn a_phase_that_is_mostly_zero_has_no_ratio() {
    let (mut a, b) = (trace(Shape::Own, 640_000), trace(Shape::Own, 640_000));
    for (index, task) in a.runs[0].tasks.iter_mut().enumerate() {
        task.synth_ms = Some(if index == 0 { 90_000 } else { 0 });
    }
    for (a, b) in [(&a, &b), (&b, &a)] {
        let found = compare(a, b);
        let synth = row(&found.phases, "synth");
        assert!(synth.a_n > 0 && synth.b_n > 0);
        assert_eq!((synth.ratio, synth.low, synth.high), (None, None, None));
    }
}

#[test]
fn several_runs_a_side_are_the_unit() {
    let several = |batch: [i64; 3]| {
        let mut all = trace(Shape::Old, batch[0]);
        for us in &batch[1..] {
            all.runs.extend(trace(Shape::Old, *us).runs);
        }
        all
    };
    let (a, b) = (
        several([640_000, 650_000, 645_000]),
        several([700_000, 705_000, 712_000]),
    );
    let found = compare(&a, &b);
    let batch = row(&found.phases, "batch_add");
    assert_eq!(batch.a_n, 60);
    assert!(
        batch.differs() && (batch.ratio.unwrap() - 1.09).abs() < 0.02,
        "{batch:?}"
    );
}
