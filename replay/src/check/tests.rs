//! Each check on a sick schedule and on its healthy twin, which must stay silent.

use tracefmt::finding::{OomCause, Severity};

use super::*;
use crate::testing::{schedule, with_header};
use crate::vram::H200_580;

fn find_in(schedule: &tracefmt::ops::Schedule, source: Source) -> Vec<Finding> {
    let profile = crate::vram::Profile::named(&schedule.header.driver).unwrap_or(H200_580);
    all(&Scene::new(schedule, source, profile, "case.jsonl"))
}

fn find(lines: &str) -> Vec<Finding> {
    find_in(&schedule(lines), Source::Events)
}

fn codes(findings: &[Finding]) -> Vec<(Code, Severity)> {
    findings
        .iter()
        .map(|finding| (finding.code, finding.severity))
        .collect()
}

fn one(findings: &[Finding], code: Code) -> &Finding {
    let mut matching = findings.iter().filter(|finding| finding.code == code);
    let first = matching
        .next()
        .unwrap_or_else(|| panic!("no {code} in {findings:#?}"));
    assert!(matching.next().is_none(), "more than one {code}");
    first
}

/// Worker 0's `d_bc` outlives the lock; worker 1 asks for its own.
const LATE: &str = "
    0 lock name=gpu partition=0
    0 malloc id=1 bytes=4G buf=d_a partition=0
    0 malloc id=2 bytes=8G buf=d_bc partition=0
    0 launch stream=1 writes=[1,2] buf=ntt partition=0
    0 launch stream=1 reads=[1] buf=msm partition=0
    0 free id=1 partition=0
    0 unlock name=gpu partition=0
    1 lock name=gpu partition=1
    1 malloc id=3 bytes=4G buf=d_a partition=1
    1 malloc id=4 bytes=8G buf=d_bc partition=1
    1 unlock name=gpu partition=1
    0 free id=2 partition=0";

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
    seen.steps[9].truth.rc = Some(2);
    let findings = find_in(&seen, Source::Profile);
    assert!(
        one(&findings, Code::VramLateFree).root,
        "the log shows the failure"
    );
}

/// A schedule whose one request fails, and why.
fn cause_of(lines: &str) -> (OomCause, Finding) {
    let findings = find(lines);
    let oom = one(&findings, Code::VramOom).clone();
    assert!(
        oom.what_if.as_ref().is_some_and(|what_if| what_if.passes),
        "{oom:#?}"
    );
    (oom.cause.expect("a cause"), oom)
}

#[test]
fn every_cause_of_an_oom_is_told_apart() {
    let cases = [
        (OomCause::Capacity, "0 malloc id=1 bytes=17G buf=big"),
        (
            OomCause::UnobservedFree,
            "0 mallocAsync id=1 bytes=8G stream=1 partition=0
             0 freeAsync id=1 stream=1 partition=0
             0 malloc id=2 bytes=12G partition=1
             0 free id=2 partition=1",
        ),
        (
            OomCause::Leak,
            "0 malloc id=1 bytes=9G buf=b partition=0
             0 launch stream=1 reads=[1] partition=0
             0 malloc id=2 bytes=9G buf=b partition=1",
        ),
        (
            OomCause::ConcurrentPeak,
            "0 malloc id=1 bytes=9G buf=b partition=0
             1 malloc id=2 bytes=9G buf=b partition=1
             0 launch stream=1 reads=[1] partition=0
             0 free id=1 partition=0
             1 free id=2 partition=1",
        ),
    ];
    for (cause, lines) in cases {
        assert_eq!(cause_of(lines).0, cause, "{lines}");
    }
}

#[test]
fn a_pool_that_keeps_pages_is_blamed_where_the_driver_does_not_reclaim() {
    let lines = "0 setThreshold bytes=18446744073709551615
                 0 mallocAsync id=1 bytes=8G stream=1 partition=0
                 0 freeAsync id=1 stream=1 partition=0
                 0 ctxSync
                 0 malloc id=2 bytes=12G partition=1
                 0 free id=2 partition=1";
    let strict = r#"{"schema":"cuzk.ops/1","capacity":17179869184,"driver":"strict"}"#;
    let findings = find_in(&with_header(strict, lines), Source::Events);
    let oom = one(&findings, Code::VramOom);
    assert_eq!(oom.cause, Some(OomCause::PoolRetained));
    assert_eq!(codes(&find(lines)), [], "this driver reclaims");
}

#[test]
fn an_oom_that_the_schedule_carries_on_past_is_swallowed() {
    let lines = "0 malloc id=1 bytes=12G buf=d_abc
                 0 mallocAsync id=2 bytes=5G stream=1 buf=h_temp on_error=ignore
                 0 free id=1";
    let findings = find(lines);
    assert_eq!(
        one(&findings, Code::VramSwallowedOom).severity,
        Severity::Error
    );
    let rebuilt = find_in(&schedule(lines), Source::Profile);
    assert_eq!(
        one(&rebuilt, Code::VramSwallowedOom).severity,
        Severity::Warning
    );
}

#[test]
fn a_stale_error_is_one_that_an_older_call_left() {
    let sick = "0 mallocAsync id=1 bytes=99G stream=1 on_error=ignore
                0 malloc id=2 bytes=1
                0 getLastError on_error=ignore
                0 getLastError";
    let findings = find(sick);
    assert_eq!(one(&findings, Code::VramStaleError).evidence.len(), 2);
    let fresh = "0 mallocAsync id=1 bytes=99G stream=1 on_error=ignore
                 0 getLastError on_error=ignore";
    assert!(
        !find(fresh)
            .iter()
            .any(|finding| finding.code == Code::VramStaleError)
    );
}

#[test]
fn leaks_are_told_apart_by_how_the_owner_ended() {
    let leak = "0 malloc id=1 bytes=1G buf=b partition=0";
    assert_eq!(codes(&find(leak)), [(Code::VramLeak, Severity::Error)]);
    let error = "0 malloc id=1 bytes=1G buf=b partition=0
                 0 launch stream=1 rc=98 partition=0
                 0 free id=1 partition=0";
    one(&find(error), Code::VramLeakOnError);
    let panic = "0 malloc id=1 bytes=1G buf=b partition=0
                 0 panic partition=0";
    one(&find(panic), Code::VramLeakOnPanic);
    for healthy in [
        "0 malloc id=1 bytes=1G buf=b partition=0
         0 panic partition=0 unwind=true",
        "0 malloc id=1 bytes=1G buf=cache",
        "0 lock name=gpu
         0 malloc id=1 bytes=1G buf=b partition=0",
    ] {
        let leaks = |finding: &Finding| finding.code.as_str().starts_with("vram.leak");
        assert!(!find(healthy).iter().any(leaks), "{healthy}");
    }
}

#[test]
fn frees_and_uses_of_what_is_gone_are_found() {
    let twice = "0 malloc id=1 bytes=1
                 0 free id=1
                 0 free id=1 on_error=ignore";
    assert_eq!(
        codes(&find(twice)),
        [(Code::VramDoubleFree, Severity::Error)]
    );
    let late = "0 malloc id=1 bytes=1
                0 free id=1
                1 launch stream=1 reads=[1]";
    assert_eq!(
        codes(&find(late)),
        [(Code::VramUseAfterFree, Severity::Error)]
    );
    let foreign = "0 free id=1 on_error=ignore
                   0 launch stream=1 reads=[7]";
    assert_eq!(codes(&find(foreign)), [], "a cut log");
}

#[test]
fn memory_given_back_under_running_work_is_found_and_an_event_makes_it_right() {
    let sick = "0 mallocAsync id=1 bytes=1G stream=1
                0 launch stream=1 reads=[1] buf=msm
                0 freeAsync id=1 stream=2";
    assert_eq!(
        codes(&find(sick)),
        [(Code::VramEarlyReuse, Severity::Error)]
    );
    for between in [
        "0 eventRecord event=1 stream=1\n0 streamWait stream=2 event=1",
        "0 streamSync stream=1",
        "0 ctxSync",
        "0 eventRecord event=1 stream=1\n0 eventSync event=1",
    ] {
        let lines = sick.replacen("0 freeAsync", &format!("{between}\n0 freeAsync"), 1);
        assert_eq!(codes(&find(&lines)), [], "{between}");
    }
    let own = sick.replace("stream=2", "stream=1");
    assert_eq!(codes(&find(&own)), [], "one stream is in order");
}

#[test]
fn frees_on_a_stream_that_nobody_waits_for_never_come_back() {
    let round = |id: u64| {
        format!(
            "0 malloc id={id} bytes=4G buf=d_a partition={id}
             0 freeAsync id={id} stream=legacy partition={id}
             0 streamSync stream=1\n"
        )
    };
    let sick: String = (1..=5).map(round).collect();
    let findings = find(&sick);
    let never = one(&findings, Code::VramFreeNeverRetired);
    assert!(never.root, "{findings:#?}");
    assert_eq!(
        one(&findings, Code::VramOom).cause,
        Some(OomCause::UnobservedFree)
    );
    let healthy = sick.replace("streamSync stream=1", "streamSync stream=legacy");
    assert_eq!(codes(&find(&healthy)), []);
}

#[test]
fn pinned_memory_is_judged_by_what_the_worker_does() {
    let stale = "0 hostRegister addr=4096 bytes=100
                 0 hostUnmap addr=4096 bytes=100
                 0 hostMap addr=4096 bytes=100
                 0 hostRegister addr=4096 bytes=100 on_error=ignore";
    assert_eq!(
        codes(&find(stale)),
        [(Code::HostStaleRegistration, Severity::Warning)]
    );
    let double = "0 hostRegister addr=4096 bytes=100
                  0 hostRegister addr=4100 bytes=1";
    assert_eq!(
        codes(&find(double)),
        [(Code::HostDoubleRegister, Severity::Error)]
    );
    let unknown = "0 hostUnregister addr=4096 on_error=ignore";
    assert_eq!(
        codes(&find(unknown)),
        [(Code::HostUnregisterUnknown, Severity::Warning)]
    );
    let healthy = "0 hostRegister addr=4096 bytes=100
                   0 hostUnregister addr=4096
                   0 hostUnmap addr=4096 bytes=100
                   0 hostRegister addr=4096 bytes=100";
    assert_eq!(codes(&find(healthy)), []);
}

#[test]
fn two_locks_for_one_card_are_no_lock() {
    let sick = "0 lock name=mem
                0 malloc id=1 bytes=1G
                1 lock name=compute
                1 launch stream=1
                0 free id=1
                0 unlock name=mem
                1 unlock name=compute";
    assert_eq!(
        codes(&find(sick)),
        [(Code::LockTwoHolders, Severity::Error)]
    );
    let healthy = sick.replace("compute", "mem");
    assert_eq!(codes(&find(&healthy)), []);
}

#[test]
fn locks_in_both_orders_are_found_without_a_deadlock_and_with_one() {
    let lucky = "0 lock name=a
                 0 lock name=b
                 0 unlock name=b
                 0 unlock name=a
                 1 lock name=b
                 1 lock name=a
                 1 unlock name=a
                 1 unlock name=b";
    assert_eq!(codes(&find(lucky)), [(Code::LockOrder, Severity::Error)]);
    let dead = "0 lock name=a
                1 lock name=b
                0 lock name=b
                1 lock name=a";
    let findings = find(dead);
    one(&findings, Code::LockOrder);
    assert!(
        findings
            .iter()
            .any(|finding| finding.code == Code::SchedNeverEnded)
    );
    let healthy = lucky.replace(
        "1 lock name=b\n                 1 lock name=a",
        "1 lock name=a\n                 1 lock name=b",
    );
    assert_eq!(codes(&find(&healthy)), []);
    let again = "0 lock name=a\n0 lock name=a";
    assert!(
        find(again)
            .iter()
            .any(|finding| finding.code == Code::LockOrder)
    );
}

#[test]
fn locks_without_a_partner_are_warned_of() {
    let warning = [(Code::LockUnbalanced, Severity::Warning)];
    assert_eq!(codes(&find("0 unlock name=a")), warning);
    assert_eq!(codes(&find("0 lock name=a\n0 ctxSync")), warning);
    let failed = "0 lock name=a\n0 malloc id=1 bytes=99G";
    let unbalanced = |finding: &Finding| finding.code == Code::LockUnbalanced;
    assert!(!find(failed).iter().any(unbalanced), "it stopped");
}

#[test]
fn other_errors_are_named_once_and_a_sticky_one_ends_it() {
    let plain = "0 launch stream=1 rc=98 on_error=ignore
                 0 launch stream=1 rc=98 on_error=ignore";
    assert_eq!(codes(&find(plain)), [(Code::CudaError, Severity::Error)]);
    let sticky = "0 launch stream=1 rc=700 on_error=ignore
                  0 malloc id=1 bytes=1 on_error=ignore
                  0 ctxSync on_error=ignore";
    assert_eq!(
        codes(&find(sticky)),
        [(Code::CudaStickyError, Severity::Error)]
    );
}

#[test]
fn a_partition_belongs_to_one_worker() {
    let sick = "0 ctxSync job=j partition=1
                1 ctxSync job=j partition=1
                1 ctxSync job=j partition=1";
    assert_eq!(
        codes(&find(sick)),
        [(Code::SchedDuplicate, Severity::Error)]
    );
    let healthy = "0 ctxSync job=j partition=1\n1 ctxSync job=k partition=1";
    assert_eq!(codes(&find(healthy)), []);
}

#[test]
fn at_most_one_finding_is_root_and_ids_are_in_order() {
    let findings = find(LATE);
    assert_eq!(findings.iter().filter(|finding| finding.root).count(), 1);
    for (index, finding) in findings.iter().enumerate() {
        assert_eq!(finding.id, format!("f{index}"));
    }
}
