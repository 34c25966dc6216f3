//! Who runs, who waits, who stops; and that the record says so.

use tracefmt::ops::Schedule;

use super::*;
use crate::testing;
use crate::vram::H200_580;

fn schedule(lines: &[&str]) -> Schedule {
    testing::schedule(&lines.join("\n"))
}

fn run(schedule: &Schedule) -> (Vec<usize>, Record) {
    let record = Record::of(schedule, &Options::recorded(H200_580));
    (record.ran.iter().map(|ran| ran.at).collect(), record)
}

#[test]
fn a_worker_waits_for_a_lock_and_the_order_follows() {
    let schedule = schedule(&[
        "0 lock name=gpu",
        "1 lock name=gpu",
        "1 malloc id=1 bytes=5",
        "0 malloc id=2 bytes=5",
        "0 unlock name=gpu",
        "0 malloc id=3 bytes=5",
    ]);
    let (order, record) = run(&schedule);
    assert_eq!(order, [0, 3, 4, 1, 2, 5]);
    assert_eq!(record.ending.held, [("gpu".to_owned(), 1)]);
    assert!(record.ending.stopped.is_empty());
}

#[test]
fn an_aborted_worker_runs_no_further_and_lets_go_of_its_lock() {
    let schedule = schedule(&[
        "0 lock name=gpu",
        "1 lock name=gpu",
        "0 malloc id=1 bytes=99999999999",
        "0 malloc id=2 bytes=5",
        "1 malloc id=3 bytes=5",
    ]);
    let (order, record) = run(&schedule);
    assert_eq!(order, [0, 2, 1, 4]);
    assert_eq!(record.ending.stopped, [(0, Stop::Aborted(2))]);
    assert!(!record.passes(&schedule));
}

#[test]
fn a_fallback_goes_on_at_its_label_and_an_ignored_failure_at_once() {
    let schedule = schedule(&[
        "0 malloc id=1 bytes=99999999999 on_error=fallback:slow",
        "0 malloc id=2 bytes=5",
        "0 label name=fast",
        "0 label name=slow",
        "0 malloc id=3 bytes=99999999999 on_error=ignore",
        "0 malloc id=4 bytes=5 on_error=fallback:gone",
        "0 free id=77 on_error=fallback:gone",
        "0 ctxSync",
    ]);
    let (order, record) = run(&schedule);
    assert_eq!(order, [0, 3, 4, 5, 6]);
    let lost = Stop::Lost {
        at: 6,
        label: "gone".to_owned(),
    };
    assert_eq!(record.ending.stopped, [(0, lost)]);
    assert_eq!(record.failed_allocations(&schedule).count(), 2);
}

#[test]
fn a_barrier_waits_for_all_and_a_missing_one_is_waited_for_in_vain() {
    let full = schedule(&["0 barrier name=b n=2", "0 ctxSync", "1 barrier name=b n=2"]);
    assert_eq!(run(&full).0, [2, 0, 1]);
    let missing = schedule(&["0 barrier name=b n=2", "0 ctxSync"]);
    let (order, record) = run(&missing);
    assert!(order.is_empty());
    let alone = Stop::Alone {
        at: 0,
        name: "b".to_owned(),
    };
    assert_eq!(record.ending.stopped, [(0, alone)]);
}

#[test]
fn two_locks_in_opposite_order_end_in_a_deadlock_that_is_named() {
    let schedule = schedule(&[
        "0 lock name=a",
        "1 lock name=b",
        "0 lock name=b",
        "1 lock name=a",
        "0 ctxSync",
    ]);
    let (order, record) = run(&schedule);
    assert_eq!(order, [0, 1]);
    let waits = |at, name: &str, holder| Stop::Locked {
        at,
        name: name.to_owned(),
        holder,
    };
    assert_eq!(
        record.ending.stopped,
        [(0, waits(2, "b", 1)), (1, waits(3, "a", 0))]
    );
}

#[test]
fn a_panic_keeps_memory_unless_it_unwinds() {
    for unwind in [false, true] {
        let panic = if unwind {
            "0 panic unwind=true"
        } else {
            "0 panic"
        };
        let schedule = schedule(&[
            "0 malloc id=1 bytes=8589934592",
            "0 mallocAsync id=2 bytes=1 stream=1",
            "1 malloc id=3 bytes=1",
            panic,
            "0 ctxSync",
            "1 memGetInfo",
        ]);
        let (order, record) = run(&schedule);
        assert_eq!(order, [0, 1, 2, 3, 5]);
        let used = (16_u64 << 30) - record.ran[4].outcome.free;
        let own = 2 << 20;
        let kept = (8_u64 << 30) + (32 << 20);
        let expected = if unwind { own } else { own + kept };
        assert_eq!(used, expected);
        assert_eq!(record.ending.stopped, [(0, Stop::Panicked(3))]);
    }
}

#[test]
fn each_step_is_told_once_when_a_worker_unwinds_while_others_go_on() {
    let schedule = schedule(&[
        "0 malloc id=1 bytes=8589934592",
        "0 barrier name=all n=3",
        "0 panic unwind=true",
        "1 barrier name=all n=3",
        "1 malloc id=2 bytes=12884901888",
        "2 barrier name=all n=3",
    ]);
    let (order, record) = run(&schedule);
    assert_eq!(order, [0, 5, 1, 2, 3, 4]);
    assert!(record.passes(&schedule), "there is room for the second");
    assert_eq!(record.ending.stopped, [(0, Stop::Panicked(2))]);
}

#[test]
fn a_guard_that_does_not_fit_is_a_failure_of_its_worker() {
    let schedule = schedule(&[
        "0 memGetInfo need=17179869184 margin=0 on_error=fallback:slow",
        "0 memGetInfo need=17179869184 margin=1 on_error=fallback:slow",
        "0 malloc id=1 bytes=5",
        "0 label name=slow",
    ]);
    let (order, record) = run(&schedule);
    assert_eq!(order, [0, 1, 3]);
    assert!(!record.ran[0].refused && record.ran[1].refused);
    assert!(record.passes(&schedule), "nothing was asked for");
}

#[test]
fn a_recorded_answer_wins_where_it_is_trusted() {
    let schedule = schedule(&[
        "0 malloc id=1 bytes=5 rc=2 on_error=ignore",
        "0 launch stream=1 rc=700 on_error=ignore",
        "0 malloc id=2 bytes=5 on_error=ignore",
    ]);
    let (_, record) = run(&schedule);
    let codes: Vec<u32> = record.ran.iter().map(|ran| ran.outcome.rc).collect();
    assert_eq!(codes, [2, 700, 700], "a sticky error stays");
    assert_eq!(record.ran[0].predicted, 0);
    let free = Record::of(&schedule, &Options::hypothetical(H200_580));
    assert!(free.ran.iter().all(|ran| ran.outcome.rc == 0));
}

#[test]
fn the_peak_names_its_step() {
    let schedule = schedule(&[
        "0 malloc id=1 bytes=2097152",
        "0 malloc id=2 bytes=2097152",
        "0 free id=1",
    ]);
    let (_, record) = run(&schedule);
    assert_eq!(
        record.peaks,
        [Peak {
            bytes: 4 << 20,
            at: 1
        }]
    );
}
