//! Why a request failed, and where the schedule does not say.

use super::*;

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
