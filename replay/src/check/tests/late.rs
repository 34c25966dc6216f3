//! Buffers that outlive their lock, and whose fault that is.

use super::*;

/// The same, freed before the unlock.
const IN_TIME: &str = "
    0 lock name=gpu partition=0
    0 malloc id=1 bytes=4G buf=d_a partition=0
    0 malloc id=2 bytes=8G buf=d_bc partition=0
    0 launch stream=1 writes=[1,2] buf=ntt partition=0
    0 free id=2 partition=0
    0 launch stream=1 reads=[1] buf=msm partition=0
    0 free id=1 partition=0
    0 unlock name=gpu partition=0
    1 lock name=gpu partition=1
    1 malloc id=3 bytes=4G buf=d_a partition=1
    1 malloc id=4 bytes=8G buf=d_bc partition=1
    1 free id=3 partition=1
    1 free id=4 partition=1
    1 unlock name=gpu partition=1";

#[test]
fn a_late_free_that_makes_a_request_fail_is_the_root_of_it() {
    let findings = find(LATE);
    let late = one(&findings, Code::VramLateFree);
    assert!(late.root && late.severity == Severity::Error);
    assert_eq!((late.worker, late.partition), (Some(0), Some(0)));
    assert!(
        late.title
            .contains("d_bc (8192 MiB) of worker 0 outlives its lock"),
        "{}",
        late.title
    );
    assert_eq!(late.evidence[0].line, 11, "the failing request");
    let oom = one(&findings, Code::VramOom);
    assert_eq!(oom.cause, Some(OomCause::LateFree));
    assert!(oom.caused_by.contains(&late.id), "{oom:#?}");
    assert!(
        oom.explanation.contains("20480 MiB wanted"),
        "{}",
        oom.explanation
    );
    let what_if = oom.what_if.as_ref().expect("a change that was run");
    assert!(what_if.passes);
    assert_eq!(what_if.change, "free:d_bc=after:last-use");
    assert_eq!(what_if.peak_bytes, 12 << 30);
    assert_eq!(one(&findings, Code::VramUnowned).severity, Severity::Error);
    assert_eq!(oom.reproduce.as_deref(), Some("cuzk replay case.jsonl"));
}

#[test]
fn the_same_schedule_freed_in_time_is_silent() {
    assert_eq!(codes(&find(IN_TIME)), []);
}

#[test]
fn what_only_a_rebuilt_schedule_suggests_is_a_warning() {
    let sick = schedule(LATE);
    let findings = find_in(&sick, Source::Profile);
    assert!(
        findings
            .iter()
            .all(|finding| finding.severity != Severity::Error && !finding.root)
    );
    let mut seen = sick;
    seen.steps[9].rc = Some(2);
    let findings = find_in(&seen, Source::Profile);
    assert!(
        one(&findings, Code::VramLateFree).root,
        "the log shows the failure"
    );
}
