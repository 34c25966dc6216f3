//! Locks: their orders, their holders, their partners.

use super::*;

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
