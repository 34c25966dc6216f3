//! Circles of locks: of any length, behind any number of others, and where the search ends.

use super::*;
use crate::report::{Report, Request, Verdict, replay};

/// A worker that takes locks one inside the other, and lets go of them.
fn nest(worker: u32, locks: &[&str]) -> String {
    let line = |op: &str, name: &&str| format!("{worker} {op} name={name}\n");
    let taken: String = locks.iter().map(|name| line("lock", name)).collect();
    let free = locks.iter().rev().map(|name| line("unlock", name));
    taken + &free.collect::<String>()
}

/// Pairs of locks, each taken by a worker of its own.
fn pairs<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let all = (0..).zip(all);
    let nested = all.map(|(worker, (one, other))| nest(worker, &[one, other]));
    nested.collect()
}

fn names(letter: char, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{letter}{n:02}")).collect()
}

fn report(lines: &str) -> Report {
    replay(&schedule(lines), &Request::events("a")).expect("a known driver")
}

const ERROR: (Code, Severity) = (Code::LockOrder, Severity::Error);

#[test]
fn an_inversion_behind_many_locks_in_order_is_found() {
    let names = names('a', 60);
    let ordered: Vec<&str> = names.iter().map(String::as_str).collect();
    let (first, second) = (nest(0, &ordered), nest(1, &ordered));
    for (one, other) in [("y", "z"), ("A", "B"), ("a1x", "a2x")] {
        let inverted = nest(2, &[one, other]) + &nest(3, &[other, one]);
        let found = find(&(first.clone() + &second + &inverted));
        assert_eq!(codes(&found), [ERROR]);
        assert!(found[0].title.contains(&format!("{one} and {other}")));
    }
}

#[test]
fn locks_in_one_order_are_silent_however_many() {
    let names = names('l', 60);
    let ordered: Vec<&str> = names.iter().map(String::as_str).collect();
    let all: String = (0..3).map(|worker| nest(worker, &ordered)).collect();
    assert_eq!(codes(&find(&all)), []);
    let every = (0..30).flat_map(|one| (one + 1..30).map(move |other| (one, other)));
    let every = every.map(|(one, other)| (ordered[one], ordered[other]));
    assert_eq!(codes(&find(&pairs(every))), []);
}

#[test]
fn rings_of_any_length_are_found() {
    for length in [3, 5, 6, 7, 40, 200] {
        let names = names('r', length);
        let ring = (0..length).map(|n| (names[n].as_str(), names[(n + 1) % length].as_str()));
        let found = find(&pairs(ring));
        assert_eq!(codes(&found), [ERROR], "{length}");
        assert_eq!(found[0].evidence.len(), length);
    }
}

/// Forty workers take twenty locks in orders of their own: hundreds of circles.
#[test]
fn many_workers_in_many_orders_are_an_error() {
    let names = names('l', 20);
    let of = |worker: u32| {
        let mut locks: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut state = u64::from(worker) + 1;
        for place in (1..locks.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005) + 1;
            locks.swap(place, (state >> 33) as usize % (place + 1));
        }
        nest(worker, &locks)
    };
    let found = find(&(0..40).map(of).collect::<String>());
    let errors = found
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    assert!(errors.count() >= 10, "{}", found.len());
    let root = found.iter().find(|finding| finding.root);
    let root = root.map(|root| (root.code, root.confidence));
    assert_eq!(root, Some((Code::LockOrder, Confidence::Certain)));
}

/// Layers of locks, each taken inside every one of the layer before. One worker alone goes from the
/// last to the first, and also from the third to the fourth: no circle can close, and no two edges
/// show it.
fn layers() -> String {
    let layer = |n: usize| -> Vec<String> { (0..7).map(|k| format!("l{n}{k}")).collect() };
    let mut lines = String::new();
    let mut worker = 1;
    for n in 0..9 {
        for one in &layer(n) {
            for other in &layer((n + 1) % 9) {
                let by = if n == 3 || n == 8 { 0 } else { worker };
                lines.push_str(&nest(by, &[one, other]));
                worker += 1;
            }
        }
    }
    lines
}

#[test]
fn what_is_left_untried_is_no_pass() {
    let report = report(&layers());
    let [found] = report.findings.as_slice() else {
        panic!("{:#?}", report.findings)
    };
    let known = (found.code, found.severity, found.confidence);
    let undecided = (Code::LockOrder, Severity::Warning, Confidence::Ambiguous);
    assert_eq!(known, undecided);
    assert!(found.title.contains("cut off"), "{}", found.title);
    assert_eq!((report.undecided, report.verdict), (1, Verdict::Passes));
}

/// A part that is too much to try does not hide a circle in another.
#[test]
fn a_ring_beside_what_is_left_untried_is_found() {
    let ring = "900 lock name=a\n900 lock name=b\n900 unlock name=b\n900 unlock name=a
                901 lock name=b\n901 lock name=a\n901 unlock name=a\n901 unlock name=b\n";
    let report = report(&(layers() + ring));
    assert!(codes(&report.findings).contains(&ERROR));
    assert_eq!((report.undecided, report.verdict), (1, Verdict::Fails));
}

/// Both orders, but a barrier lies between them.
const ORDERED: &str = "0 lock name=A
    0 lock name=B
    0 unlock name=B
    0 unlock name=A
    0 barrier name=x n=2
    1 barrier name=x n=2
    1 lock name=B
    1 lock name=A
    1 unlock name=A
    1 unlock name=B";

fn explored(lines: &str) -> Report {
    let schedule = schedule(lines);
    let mut report = replay(&schedule, &Request::events("a")).expect("a known driver");
    let bounds = crate::explore::Bounds::default();
    report.add_explored(crate::explore::explore(&schedule, H200_580, bounds));
    report
}

#[test]
fn what_a_barrier_orders_is_not_certain() {
    assert_eq!(find(ORDERED)[0].confidence, Confidence::Inferred);
    let late = ORDERED.replace("    0 barrier name=x n=2\n", "");
    let late = format!("0 barrier name=x n=2\n{late}");
    assert_eq!(
        find(&late)[0].confidence,
        Confidence::Certain,
        "before both"
    );
    let event = ORDERED.replace("0 barrier name=x n=2", "0 eventRecord event=1 stream=1");
    let event = event.replace("1 barrier name=x n=2", "1 eventSync event=1");
    assert_eq!(find(&event)[0].confidence, Confidence::Inferred);
}

#[test]
fn where_every_order_passes_it_is_a_warning() {
    assert_eq!(report(ORDERED).verdict, Verdict::Fails);
    let passes = explored(ORDERED);
    let warning = (Code::LockOrder, Severity::Warning);
    assert_eq!(codes(&passes.findings), [warning]);
    assert!(!passes.findings[0].root);
    assert_eq!(passes.verdict, Verdict::Passes);
    let stuck = explored(&ORDERED.replace("barrier name=x n=2", "ctxSync"));
    assert_eq!(codes(&stuck.findings), [ERROR]);
    assert_eq!(stuck.verdict, Verdict::Fails);
}
