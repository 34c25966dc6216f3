//! Each check on a sick schedule and on its healthy twin, which must stay silent.

use tracefmt::finding::{Code, Confidence, OomCause, Severity};

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
    // Within one partition, too.
    let inside = lines.replace("partition=1", "partition=0");
    let findings = find_in(&with_header(strict, &inside), Source::Events);
    let oom = one(&findings, Code::VramOom);
    assert_eq!(oom.cause, Some(OomCause::PoolRetained));
    let cure = oom
        .what_if
        .as_ref()
        .map(|what_if| (what_if.change.as_str(), what_if.passes));
    assert_eq!(cure, Some(("trim=every-allocation", true)));
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

/// Worker 0 gives up and leaves its buffer to worker 1, who has no room beside it.
#[test]
fn what_a_failure_leaves_behind_is_the_root_of_what_fails_by_it_later() {
    let found = find(
        "0 malloc id=1 bytes=9G buf=d_a partition=0
         0 launch stream=1 writes=[1] rc=98 partition=0
         1 malloc id=2 bytes=9G buf=d_a partition=1
         1 free id=2 partition=1
         0 free id=1 partition=0",
    );
    let leak = one(&found, Code::VramLeakOnError);
    assert!(leak.root, "{found:#?}");
    assert_eq!(one(&found, Code::VramOom).cause, Some(OomCause::Leak));
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
fn a_lock_held_in_common_or_a_worker_alone_makes_a_deadlock_impossible() {
    let of = |worker: u32, locks: &str| {
        let all = |op: &str| {
            let names = locks.split(' ');
            let lines = names.map(|name| format!("{worker} {op} name={name}"));
            lines.collect::<Vec<String>>().join("\n")
        };
        format!("{}\n{}\n", all("lock"), all("unlock"))
    };
    let gated = |first, second| codes(&find(&(of(0, first) + &of(1, second))));
    let order = [(Code::LockOrder, Severity::Error)];
    assert_eq!(gated("G A B", "G B A"), []);
    assert_eq!(gated("A B", "G B A"), order, "one of them only");
    assert_eq!(gated("G A B", "H B A"), order, "gates of their own");
    let both = [order[0], order[0]];
    assert_eq!(gated("A G B", "B G A"), both, "A and G, B and G");
    let alone = "0 lock name=A\n0 lock name=B\n0 unlock name=B\n0 unlock name=A
                 0 lock name=B\n0 lock name=A\n0 unlock name=A\n0 unlock name=B";
    assert_eq!(find(alone), []);
}

#[test]
fn three_locks_in_a_circle_are_one_finding() {
    let of = |(worker, first, second): (u32, &str, &str)| {
        format!(
            "{worker} lock name={first}\n{worker} lock name={second}
             {worker} unlock name={second}\n{worker} unlock name={first}\n"
        )
    };
    let lines: String = [(0, "a", "b"), (1, "b", "c"), (2, "c", "a")]
        .map(of)
        .concat();
    let found = find(&lines);
    assert_eq!(one(&found, Code::LockOrder).evidence.len(), 3);
    assert!(found[0].title.contains("a, b and c"), "{}", found[0].title);
}

/// Both got `gpu` by the record, and worker 1 has no room for its own.
const TWO_HOLDERS: &str = "
    0 lock name=gpu rc=0 partition=0
    1 lock name=gpu rc=0 partition=1
    0 malloc id=1 bytes=9G buf=d_a rc=0 partition=0
    1 malloc id=2 bytes=9G buf=d_a rc=2 on_error=ignore partition=1
    1 unlock name=gpu partition=1
    0 free id=1 rc=0 partition=0
    0 unlock name=gpu partition=0";

#[test]
fn a_lock_that_two_workers_got_is_the_root_of_what_fails_under_it() {
    let found = find(TWO_HOLDERS);
    let two = one(&found, Code::LockTwoHolders);
    assert!(two.root && two.severity == Severity::Error, "{found:#?}");
    assert_eq!((two.count, two.evidence.len()), (1, 2));
    let oom = one(&found, Code::VramSwallowedOom);
    assert_eq!(oom.cause, Some(OomCause::ConcurrentPeak));
    assert_eq!(
        (&oom.caused_by, oom.confidence),
        (&vec![two.id.clone()], Confidence::Certain)
    );
    assert!(oom.what_if.as_ref().is_some_and(|what_if| what_if.passes));
    // It is an error where nothing fails, too; and `lock` without an answer waits.
    let small = TWO_HOLDERS.replace("9G", "1G").replace("rc=2", "rc=0");
    assert_eq!(
        one(&find(&small), Code::LockTwoHolders).severity,
        Severity::Error
    );
    let wants = TWO_HOLDERS
        .replace("gpu rc=0", "gpu")
        .replace("rc=2", "rc=0");
    let wants = wants.replace("1 unlock", "1 free id=2 partition=1\n1 unlock");
    assert_eq!(find(&wants), []);
}

#[test]
fn a_release_that_is_not_recorded_makes_no_second_holder() {
    let lost = "0 lock name=gpu rc=0 partition=0
                0 malloc id=1 bytes=1G partition=0
                0 free id=1 partition=0
                1 lock name=gpu rc=0 partition=1
                1 malloc id=2 bytes=1G partition=1
                1 free id=2 partition=1
                1 unlock name=gpu partition=1
                0 lock name=gpu rc=0 partition=2
                0 unlock name=gpu partition=2";
    let warning = [(Code::LockUnbalanced, Severity::Warning)];
    assert_eq!(codes(&find(lost)), warning);
    let two_lines = lost.replace("0 lock name=gpu rc=0 partition=2\n", "");
    assert_eq!(codes(&find(&two_lines)), []);
    // A log that is cut while both work: the first still had it.
    let cut = "0 lock name=gpu rc=0 partition=0
               1 lock name=gpu rc=0 partition=1
               0 launch stream=1 partition=0";
    assert!(one(&find(cut), Code::LockTwoHolders).root);
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
fn memory_that_is_given_back_while_registered_is_warned_of() {
    let left = "0 hostRegister addr=4096 bytes=100
                0 hostUnmap addr=4096 bytes=100";
    let found = find(left);
    let stale = one(&found, Code::HostStaleRegistration);
    assert_eq!(
        (stale.severity, stale.count, stale.evidence.len()),
        (Severity::Warning, 1, 2)
    );
    let in_turn = "0 hostRegister addr=4096 bytes=100
                   0 hostUnregister addr=4096
                   0 hostUnmap addr=4096 bytes=100";
    assert_eq!(find(in_turn), []);
}

#[test]
fn a_record_of_more_than_the_card_has_is_warned_of_once() {
    let two = "0 malloc id=1 bytes=12G buf=d_a rc=0
               0 malloc id=2 bytes=12G buf=d_b rc=0
               0 malloc id=3 bytes=1G buf=d_c rc=0
               0 free id=3 rc=0\n0 free id=2 rc=0\n0 free id=1 rc=0";
    let found = find(two);
    let beyond = one(&found, Code::VramBeyondCard);
    assert_eq!(beyond.severity, Severity::Warning);
    assert!(beyond.title.contains("24576 MiB"), "{}", beyond.title);
    // The model is stricter than the card by its headroom: that is no contradiction.
    let full = "0 malloc id=1 bytes=16G rc=0\n0 free id=1 rc=0";
    assert_eq!(find(full), []);
}

#[test]
fn what_a_sticky_error_leaves_behind_follows_from_it() {
    let found = find(
        "0 malloc id=1 bytes=1G rc=0 partition=0
         0 launch stream=1 writes=[1] rc=0 partition=0
         0 streamSync stream=1 rc=700 partition=0
         0 free id=1 rc=700 partition=0
         1 malloc id=2 bytes=1G rc=700 partition=1",
    );
    let sticky = one(&found, Code::CudaStickyError);
    assert!(
        sticky.root && sticky.explanation.contains("IllegalAddress"),
        "{found:#?}"
    );
    let leak = one(&found, Code::VramLeakOnError);
    assert_eq!(leak.caused_by, std::slice::from_ref(&sticky.id));
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

#[test]
fn a_request_that_the_model_has_room_for_is_not_explained_by_the_schedule() {
    // A free that nothing observes and a late buffer lie about; neither is to blame.
    let lines = "0 lock name=gpu partition=0
                 0 malloc id=1 bytes=1G buf=d_a partition=0
                 0 freeAsync id=1 stream=legacy partition=0
                 0 malloc id=2 bytes=1G buf=d_b partition=0
                 0 unlock name=gpu partition=0
                 1 lock name=gpu partition=1
                 1 malloc id=3 bytes=1G buf=d_c partition=1 rc=2
                 1 unlock name=gpu partition=1
                 0 free id=2 partition=0";
    let findings = find(lines);
    let oom = one(&findings, Code::VramOom);
    assert_eq!(oom.cause, Some(OomCause::Unexplained));
    assert_eq!(oom.confidence, Confidence::Ambiguous);
    assert!(oom.root, "{findings:#?}");
    assert!(oom.title.contains("14336 MiB were free"), "{}", oom.title);
    assert_eq!(oom.what_if, None, "dropping the answer is no cure");
    for other in &findings {
        assert_eq!(other.severity == Severity::Error, other.root, "{other:#?}");
    }
}

#[test]
fn a_failure_behind_answers_that_the_model_would_not_give_has_an_ambiguous_cause() {
    // The card took more than it holds; what fails after that fails in the model too, but no
    // trial can show why.
    let lines = "0 malloc id=1 bytes=12G partition=0
                 0 malloc id=2 bytes=8G partition=0 rc=0
                 0 launch stream=1 reads=[1,2] partition=0
                 1 malloc id=3 bytes=1G partition=1 rc=2
                 0 launch stream=1 reads=[1,2] partition=0
                 0 free id=1 partition=0
                 0 free id=2 partition=0";
    let findings = find(lines);
    let oom = one(&findings, Code::VramOom);
    assert_eq!(oom.confidence, Confidence::Ambiguous, "{oom:#?}");
    assert_ne!(oom.cause, Some(OomCause::UnobservedFree));
}

#[test]
fn one_refused_request_does_not_hide_the_cause_of_the_next() {
    let refused = "2 malloc id=9 bytes=1G buf=d_bc partition=7 rc=2 on_error=ignore";
    let findings = find(&format!("{refused}{LATE}"));
    let causes: Vec<_> = findings
        .iter()
        .filter_map(|finding| finding.cause)
        .collect();
    assert_eq!(
        causes,
        [OomCause::Unexplained, OomCause::LateFree],
        "{findings:#?}"
    );
}

#[test]
fn a_launch_with_a_bad_argument_fails_and_a_free_of_an_unknown_pointer_may_be_a_cut_log() {
    let launch = find("0 launch stream=1 rc=1");
    assert_eq!(codes(&launch), [(Code::CudaError, Severity::Error)]);
    assert_eq!(codes(&find("0 free id=9 rc=1 on_error=ignore")), []);
    assert_eq!(
        codes(&find("0 freeAsync id=9 stream=1 rc=1 on_error=ignore")),
        []
    );
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
        step.truth = tracefmt::ops::Truth::default();
    }
    assert_eq!(find_in(&larger, Source::Events), []);
    let request = crate::report::Request::events("case.jsonl");
    let report = crate::report::replay(&larger, &request).expect("a known driver");
    let unrecorded = (report.verdict, report.unrecorded);
    assert_eq!(unrecorded, (crate::report::Verdict::Unrecorded, 2));
}

#[test]
fn an_id_that_is_allocated_twice_loses_the_first_buffer() {
    let twice = find("0 malloc id=1 bytes=1G buf=d_a\n0 malloc id=1 bytes=2G buf=d_b\n0 free id=1");
    let leak = one(&twice, Code::VramLeak);
    assert!(
        leak.root && leak.title.contains("d_a (1024 MiB)"),
        "{}",
        leak.title
    );
    let lines: Vec<u64> = leak.evidence.iter().map(|evidence| evidence.line).collect();
    assert_eq!(lines, [3, 2]);
    let in_turn = "0 malloc id=1 bytes=1G\n0 free id=1\n0 malloc id=1 bytes=2G\n0 free id=1";
    assert_eq!(find(in_turn), []);
}
