//! What is known of a worker that failed, and of what it would have done.

use super::*;

/// What runs after the request that fails, `READS` by the last kernel.
const STOPPED: &str = "
    0 malloc id=1 bytes=8G buf=d_a partition=0
    0 launch stream=1 reads=[1] writes=[1] buf=ntt partition=0
    0 streamSync stream=1 partition=0
    0 malloc id=2 bytes=9G buf=d_b partition=0
    0 launch stream=1 reads=[READS] writes=[2] buf=msm partition=0
    0 streamSync stream=1 partition=0
    0 free id=2 partition=0
    0 free id=1 partition=0";

#[test]
fn what_is_needed_after_a_failure_is_no_leak_and_no_late_free() {
    let found = find(&STOPPED.replace("READS", "1,2"));
    let oom = one(&found, Code::VramOom);
    assert!(
        oom.root && oom.cause == Some(OomCause::Capacity),
        "{found:#?}"
    );
    let what_if = oom.what_if.as_ref().expect("a larger card");
    assert!(what_if.change.starts_with("vram=") && what_if.passes);
    let leak = one(&found, Code::VramLeakOnError);
    assert_eq!(leak.caused_by, std::slice::from_ref(&oom.id));
    // To free it before its last use is no cure.
    let schedule = schedule(&STOPPED.replace("READS", "1,2"));
    for at in ["after:last-use", "before:unlock", "after:msm"] {
        let change = format!("free:d_a={at}").parse().expect("a change");
        let verdict = crate::change::run_all(&[change], &schedule, H200_580);
        assert!(!verdict.passes, "{at}");
    }
}

#[test]
fn what_is_not_needed_after_a_failure_but_freed_is_late() {
    let found = find(&STOPPED.replace("READS", "2"));
    let late = one(&found, Code::VramLateFree);
    assert!(late.root, "{found:#?}");
    let oom = one(&found, Code::VramOom);
    assert_eq!(oom.cause, Some(OomCause::LateFree));
    assert!(oom.what_if.as_ref().is_some_and(|what_if| what_if.passes));
    let unfreed = STOPPED
        .replace("READS", "2")
        .replace("\n    0 free id=1 partition=0", "");
    let found = find(&unfreed);
    let leak = one(&found, Code::VramLeak);
    assert!(leak.root, "{found:#?}");
    assert_eq!(one(&found, Code::VramOom).cause, Some(OomCause::Leak));
}

/// Two partitions die at their request for `d_s`; a third may be whole.
fn died(third: &str) -> String {
    let mut lines = String::new();
    for (worker, base) in [(0, 1), (1, 2)] {
        let part = "W lock name=gpu partition=W
             W malloc id=B1 bytes=6G buf=d_w partition=W
             W launch stream=1 writes=[B1] buf=quotient partition=W
             W malloc id=B2 bytes=12G buf=d_s partition=W rc=2 on_error=fallback:outW
             W label name=outW partition=W
             W free id=B1 partition=W
             W unlock name=gpu partition=W\n"
            .replace("=B", &format!("={base}"))
            .replace("[B", &format!("[{base}"))
            .replace('W', &worker.to_string());
        lines.push_str(&part);
    }
    lines + third
}

#[test]
fn the_last_recorded_use_in_a_partition_that_died_is_no_last_use() {
    let late = |found: &[Finding]| {
        let mut late = found.iter().filter(|one| one.code == Code::VramLateFree);
        late.any(|one| one.severity == Severity::Error)
    };
    assert!(!late(&find(&died(""))), "nobody knows what comes next");
    let whole = |last: &str| {
        let third = "0 malloc id=31 bytes=6G buf=d_w partition=2
             0 launch stream=1 writes=[31] buf=quotient partition=2
             0 malloc id=32 bytes=2G buf=d_s partition=2
             0 launch stream=1 reads=[31] buf=LAST partition=2
             0 free id=32 partition=2
             0 free id=31 partition=2"
            .replace("LAST", last);
        find(&died(&third))
    };
    assert!(!late(&whole("msm")), "the whole one used it later");
    assert!(late(&whole("quotient")), "so did nobody");
    let given_up = "0 malloc id=31 bytes=6G buf=d_w partition=2
         0 launch stream=1 writes=[31] buf=quotient partition=2
         0 free id=31 partition=2";
    assert!(!late(&find(&died(given_up))), "it never came that far");
}

#[test]
fn what_a_partition_gave_up_to_begin_anew_was_not_late() {
    let anew = "0 malloc id=1 bytes=6G buf=d_w partition=0
         0 launch stream=1 writes=[1] buf=quotient partition=0
         0 malloc id=2 bytes=12G buf=d_s partition=0 rc=2 on_error=fallback:out
         0 label name=out partition=0
         0 free id=1 partition=0
         0 malloc id=3 bytes=1G buf=d_w partition=0
         0 launch stream=1 writes=[3] buf=quotient partition=0
         0 malloc id=4 bytes=12G buf=d_s partition=0
         0 launch stream=1 reads=[3] writes=[4] buf=msm partition=0
         0 free id=4 partition=0
         0 free id=3 partition=0";
    let late = |lines: &str| {
        let mut found = find(lines).into_iter();
        found.any(|one| one.code == Code::VramLateFree)
    };
    assert!(!late(anew), "msm uses d_w in the second attempt");
    assert!(late(&anew.replace("reads=[3] ", "")), "now nothing does");
}

#[test]
fn what_was_not_recorded_beyond_a_failure_is_no_leak_on_a_larger_card() {
    let mut larger = schedule(&died(""));
    larger.header.gpus[0].capacity = 64 << 30;
    for step in &mut larger.steps {
        step.set_truth(tracefmt::ops::Truth::default());
    }
    assert_eq!(find_in(&larger, Source::Events), []);
    let request = crate::report::Request::events("case.jsonl");
    let report = crate::report::replay(&larger, &request).expect("a known driver");
    let unrecorded = (report.verdict, report.unrecorded);
    assert_eq!(unrecorded, (crate::report::Verdict::Unrecorded, 2));
}
