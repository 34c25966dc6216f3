//! Buffers that are never freed, freed twice, or used and reused when they are gone.

use super::*;

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
