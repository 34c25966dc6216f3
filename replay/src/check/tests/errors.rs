//! Errors of calls, and host memory that is pinned.

use super::*;

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
fn a_launch_with_a_bad_argument_fails_and_a_free_of_an_unknown_pointer_may_be_a_cut_log() {
    let launch = find("0 launch stream=1 rc=1");
    assert_eq!(codes(&launch), [(Code::CudaError, Severity::Error)]);
    assert_eq!(codes(&find("0 free id=9 rc=1 on_error=ignore")), []);
    assert_eq!(
        codes(&find("0 freeAsync id=9 stream=1 rc=1 on_error=ignore")),
        []
    );
}
