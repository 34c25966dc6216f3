//! How a golden comes to be: record, review, accept, reject; never under CI, never a slow-down
//! without a reason.

use super::{BASE, Desk, GOOD, Made, there};
use crate::json;

fn is_golden(name: &str) -> bool {
    name.split('.').next_back() == Some("toml")
}

#[test]
fn from_runs_to_a_verdict() {
    let desk = Desk::new();
    let base = desk.file("base.jsonl", &BASE.text());
    let recorded = desk.golden(&["record", &base]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert!(
        recorded.out.contains("8 runs, 8 phases"),
        "{}",
        recorded.out
    );
    let candidate = desk.stored();
    assert_eq!(candidate.len(), 1);
    assert!(candidate[0].ends_with(".golden.new"), "{candidate:?}");
    let listed = desk.golden(&["review"]);
    assert_eq!(listed.code, 3, "a candidate waits: {}", listed.out);
    assert!(listed.out.contains("new: 8 runs"), "{}", listed.out);
    let accepted = desk.golden(&[
        "accept", "--by", "a", "--commit", "1f2e3d", "--format", "json",
    ]);
    assert_eq!(accepted.code, 0, "{}", accepted.err);
    assert!(
        json(&accepted)["accepted"][0]
            .as_str()
            .is_some_and(is_golden)
    );
    let golden = desk.stored();
    assert!(golden.len() == 1 && is_golden(&golden[0]), "{golden:?}");
    assert_eq!(desk.golden(&["review"]).code, 0, "nothing is left");
    let again = desk.golden(&["accept"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("golden record"), "{}", again.err);
}

#[test]
fn runs_with_injected_faults_are_no_golden() {
    let desk = Desk::new();
    let faulty = |text: String| text.replace("\"exact\":", "\"injected\":\"leak\",\"exact\":");
    let bad = desk.file("bad.jsonl", &faulty(BASE.text()));
    for verb in ["record", "history"] {
        let refused = desk.golden(&[verb, &bad]);
        assert_eq!(refused.code, 2, "{verb}: {}", refused.out);
        assert!(
            refused.err.contains("faults were injected (leak)"),
            "{}",
            refused.err
        );
    }
    assert!(desk.stored().is_empty());
    desk.accepted(&desk.file("base.jsonl", &BASE.text()));
    let tried = desk.file("tried.jsonl", &faulty(GOOD.text()));
    let said = desk.golden(&["check", &tried]);
    assert_eq!(said.code, 3, "{}", said.out);
    assert!(said.out.contains("gate.injected"), "{}", said.out);
}

#[test]
fn ci_writes_nothing() {
    let desk = Desk::new();
    let base = desk.file("base.jsonl", &BASE.text());
    let refused = desk.call(true, &["record", &base]);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(refused.err.contains("CI"), "{}", refused.err);
    assert!(!there(&desk.path("goldens")));
    assert_eq!(desk.golden(&["record", &base]).code, 0);
    let before = desk.stored();
    for args in [
        &["accept"][..],
        &["reject"],
        &["accept", "--all", "--reason", "x"],
    ] {
        assert_eq!(desk.call(true, args).code, 2, "{args:?}");
    }
    assert_eq!(desk.stored(), before);
}

#[test]
fn a_slow_down_needs_a_reason() {
    let desk = Desk::new();
    desk.accepted(&desk.file("base.jsonl", &BASE.text()));
    let slower = GOOD.bent(|_, phase, _, ms| if phase == 4 { ms * 1.06 } else { ms });
    let slower = desk.file("slower.jsonl", &slower);
    let recorded = desk.golden(&["record", &slower]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert!(recorded.out.contains("REGRESSION"), "{}", recorded.out);
    let refused = desk.golden(&["accept"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("phase4") && refused.err.contains("--reason"),
        "{}",
        refused.err
    );
    assert_eq!(desk.golden(&["accept", "--reason", "checks more"]).code, 0);
    let golden = std::fs::read_to_string(first_golden(&desk)).expect("it was accepted");
    assert!(
        golden.contains("checks more") && golden.contains("phase4 = 1.0"),
        "{golden}"
    );
}

fn first_golden(desk: &Desk) -> std::path::PathBuf {
    let name = desk.stored().into_iter().find(|name| is_golden(name));
    desk.path("goldens")
        .join("h200")
        .join(name.unwrap_or_default())
}

#[test]
fn a_spent_budget_needs_more_than_a_reason() {
    let desk = Desk::new();
    desk.accepted(&desk.file("base.jsonl", &BASE.text()));
    let slower = GOOD.bent(|_, phase, _, ms| if phase == 4 { ms * 1.15 } else { ms });
    let slower = desk.file("slower.jsonl", &slower);
    assert_eq!(desk.golden(&["record", &slower]).code, 0);
    let refused = desk.golden(&["accept", "--reason", "x"]);
    assert!(
        refused.code == 2 && refused.err.contains("--over-budget"),
        "{}",
        refused.err
    );
    assert_eq!(
        desk.golden(&["accept", "--reason", "x", "--move-anchor"])
            .code,
        0
    );
}

#[test]
fn a_candidate_is_rejected() {
    let desk = Desk::new();
    let base = desk.file("base.jsonl", &BASE.text());
    assert_eq!(desk.golden(&["record", &base]).code, 0);
    let rejected = desk.golden(&["reject"]);
    assert!(
        rejected.code == 0 && rejected.out.starts_with("rejected"),
        "{}",
        rejected.out
    );
    assert!(desk.stored().is_empty());
    assert_eq!(desk.golden(&["reject"]).code, 2);
}

#[test]
fn several_candidates_are_named() {
    let desk = Desk::new();
    let base = desk.file("base.jsonl", &BASE.text());
    for circuit in ["circuit=a", "circuit=b"] {
        assert_eq!(desk.golden(&["record", &base, "--key", circuit]).code, 0);
    }
    let asked = desk.golden(&["accept"]);
    assert!(
        asked.code == 2 && asked.err.contains("--all"),
        "{}",
        asked.err
    );
    assert_eq!(desk.golden(&["accept", "--all"]).code, 0);
    assert_eq!(desk.stored().len(), 2);
}

#[test]
fn unverified_times_are_recorded_on_request_and_said() {
    let desk = Desk::new();
    let foreign = |made: &Made| made.text().replace("\"verified\":true,", "");
    let base = desk.file("base.jsonl", &foreign(&BASE));
    let refused = desk.golden(&["record", &base]);
    assert!(
        refused.code == 2 && refused.err.contains("unverified"),
        "{}",
        refused.err
    );
    let recorded = desk.golden(&["record", &base, "--allow-unverified"]);
    assert!(
        recorded.code == 0 && recorded.out.contains("unverified"),
        "{}",
        recorded.out
    );
    assert_eq!(desk.golden(&["accept"]).code, 0);
    let good = desk.file("good.jsonl", &foreign(&GOOD));
    let said = desk.golden(&["check", &good, "--allow-unverified"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("unverified"), "{}", said.out);
    assert_eq!(desk.golden(&["check", &good]).code, 3);
}

#[test]
fn the_gate_is_tested_on_the_golden() {
    let desk = Desk::new();
    assert_eq!(desk.golden(&["self-test"]).code, 4, "nothing to test on");
    desk.accepted(&desk.file("base.jsonl", &BASE.text()));
    let said = desk.golden(&["self-test", "--splits", "50"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("caught in every phase"), "{}", said.out);
    let missed = desk.golden(&[
        "self-test",
        "--splits",
        "50",
        "--canary",
        "0.5",
        "--format",
        "json",
    ]);
    assert_eq!(missed.code, 1, "{}", missed.out);
    assert_eq!(json(&missed)["tested"][0]["result"]["ok"], false);
    let few = desk.file("few.jsonl", &Made { runs: 3, ..GOOD }.text());
    assert_eq!(desk.golden(&["self-test", &few]).code, 3);
}
