//! Changes in text, and what they do to a schedule.

use super::*;
use crate::testing::schedule;
use crate::vram::{H200_580, STRICT};

/// Two workers on 16 GiB; worker 0 frees its 8 GiB only after the unlock.
const LATE: &str = "
    0 lock name=gpu
    0 malloc id=1 bytes=8G buf=d_bc partition=0
    0 launch stream=1 writes=[1] buf=ntt
    0 launch stream=1 buf=msm
    0 unlock name=gpu
    1 lock name=gpu
    1 malloc id=2 bytes=12G buf=d_bc partition=1
    1 launch stream=1 writes=[2] buf=ntt
    0 free id=1
    1 unlock name=gpu
    1 free id=2";

fn verdict(change: &str, lines: &str) -> Verdict {
    let change: Change = change.parse().expect(change);
    change.run(&schedule(lines), H200_580)
}

#[test]
fn every_change_reads_as_it_writes() {
    for text in [
        "free:d_bc=after:last-use",
        "free:*=after:ntt",
        "free:d_a=before:unlock",
        "workers=1",
        "vram=24GiB",
        "baseline=1609MiB",
        "margin=1000",
        "driver=strict",
        "sync=every-partition",
        "sync=every-allocation",
        "trim=every-partition",
        "trim=every-allocation",
    ] {
        let change: Change = text.parse().expect(text);
        assert_eq!(change.to_string(), text);
    }
    let margin: Change = "margin=0".parse().expect("zero");
    assert_eq!(margin, Change::Margin(0));
}

#[test]
fn what_is_no_change_is_refused_with_the_forms_that_are() {
    for text in [
        "",
        "vram",
        "vram=big",
        "vram=99999999999GiB",
        "workers=2",
        "driver=rtx",
    ] {
        let error = text.parse::<Change>().expect_err(text).to_string();
        assert!(error.contains("expected"), "{error}");
    }
    let error = "free:x=now"
        .parse::<Change>()
        .expect_err("no place")
        .to_string();
    assert!(error.contains("after:last-use"), "{error}");
}

#[test]
fn an_earlier_free_makes_room() {
    let schedule = schedule(LATE);
    let before = run_all(&[], &schedule, H200_580);
    assert_eq!(
        (before.passes, before.failed.as_slice()),
        (false, [6].as_slice())
    );
    for change in [
        "free:d_bc=after:last-use",
        "free:d_bc=after:ntt",
        "free:d_bc=after:msm",
        "free:d_bc=before:unlock",
        "workers=1",
        "vram=24GiB",
    ] {
        assert!(verdict(change, LATE).passes, "{change}");
    }
    let after = verdict("free:d_bc=after:ntt", LATE);
    assert_eq!(after.peak.bytes, 12 << 30);
    assert!(
        !verdict("free:d_a=after:last-use", LATE).passes,
        "another buffer"
    );
    assert!(
        !verdict("free:d_bc=after:nothing", LATE).passes,
        "no such launch"
    );
}

#[test]
fn a_free_is_never_made_later_than_it_was() {
    let lines = "0 malloc id=1 bytes=1G buf=b
                 0 launch stream=1 reads=[1] buf=k
                 0 free id=1
                 0 launch stream=1 buf=k
                 0 malloc id=2 bytes=15G";
    assert!(verdict("free:b=after:k", lines).passes);
}

#[test]
fn a_leak_is_mended_by_a_free_that_was_not_there() {
    let lines = "0 malloc id=1 bytes=9G buf=b
                 0 launch stream=1 reads=[1]
                 0 malloc id=2 bytes=9G buf=b";
    assert!(!run_all(&[], &schedule(lines), H200_580).passes);
    assert!(verdict("free:b=after:last-use", lines).passes);
}

#[test]
fn synchronising_and_trimming_help_where_frees_are_unobserved() {
    let lines = "0 mallocAsync id=1 bytes=8G stream=1 partition=0
                 0 freeAsync id=1 stream=1 partition=0
                 0 malloc id=2 bytes=12G partition=1";
    assert!(!run_all(&[], &schedule(lines), H200_580).passes);
    assert!(verdict("sync=every-partition", lines).passes);
    assert!(verdict("trim=every-partition", lines).passes);
    let strict = [Change::Driver(STRICT), Change::Sync];
    assert!(
        run_all(&strict, &schedule(lines), H200_580).passes,
        "threshold 0 lets go"
    );
    assert_eq!(describe(&strict), "driver=strict,sync=every-partition");
}

#[test]
fn margin_and_baseline_reach_the_guard() {
    let lines = "0 memGetInfo need=15G margin=0 on_error=fallback:slow
                 0 malloc id=1 bytes=15G
                 0 label name=slow";
    assert_eq!(verdict("margin=512MiB", lines).peak.bytes, 15 << 30);
    assert_eq!(verdict("margin=2GiB", lines).peak.bytes, 0);
    assert_eq!(verdict("baseline=2GiB", lines).peak.bytes, 2 << 30);
}

#[test]
fn a_buffer_that_only_the_changed_schedule_makes_is_freed_early_too() {
    let lines = "0 malloc id=1 bytes=9G buf=b
                 0 launch stream=1 reads=[1]
                 0 malloc id=2 bytes=9G buf=b on_error=fallback:end
                 0 launch stream=1 reads=[2]
                 0 malloc id=3 bytes=9G buf=c
                 0 free id=2
                 0 label name=end
                 0 free id=1";
    assert!(verdict("free:b=after:last-use", lines).passes);
}
