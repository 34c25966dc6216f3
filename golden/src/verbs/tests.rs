//! The verbs from samples to an accepted golden and back, in a folder of their own.

use super::*;
use crate::evidence::Evidence;
use crate::gate::Options;
use crate::samples::{Run, Samples, Times};
use crate::snapshot::Acceptance;
use crate::snapshot::store::Store;
use crate::verdict::Outcome;
use crate::{GoldenError, Key};

const FRESH: (Recording, Place) = (Recording::Fresh, Place::Workstation);
const HERE: Place = Place::Workstation;

/// Deterministic noise in -1..1.
fn noise(seed: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^= z >> 27;
    (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn samples(salt: u64, runs: u64, slow: f64) -> Samples {
    let key = Key {
        gpu: Some("cpu".to_owned()),
        circuit: Some("c".to_owned()),
        ..Key::default()
    };
    let mut set = Samples {
        key,
        ..Samples::default()
    };
    for at in 0..runs {
        let mut run = Run::new(&format!("{salt}-{at}"));
        for phase in 0..8_u64 {
            let seed = ((salt * 100 + at) * 16 + phase) * 32;
            let factor = if phase == 2 { slow } else { 1.0 };
            let level = 100.0 * (phase + 1) as f64 * factor * (1.0 + 0.004 * noise(seed));
            let ms = (1..21)
                .map(|i| level * (1.0 + 0.01 * noise(seed + i)))
                .collect();
            run.phases
                .insert(format!("p{phase}"), Times::of_verified(ms));
        }
        run.exact.insert("peak".to_owned(), 100);
        set.runs.push(run);
    }
    set
}

fn because(reason: &str) -> Decision {
    let acceptance = Acceptance {
        by: "someone".to_owned(),
        at: "2026-01-02T03:04:05Z".to_owned(),
        commit: "abc".to_owned(),
        reason: reason.to_owned(),
    };
    Decision {
        acceptance,
        ..Decision::default()
    }
}

#[test]
fn record_accept_check_and_a_slow_down() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = (Store::new(folder.path()), Options::default());
    let none = check(&store, &samples(1, 5, 1.0), &options)
        .unwrap()
        .verdict;
    assert_eq!(none.outcome, Outcome::NotComparable);

    let first = record(&store, &samples(1, 5, 1.0), FRESH, &options).unwrap();
    assert!(first.verdict.is_none() && first.path.exists());
    let golden = accept(&store, &first.path, (&because(""), HERE), &options).unwrap();
    assert!(!first.path.exists());
    assert_eq!(golden.history.len(), 1);
    assert_eq!(golden.anchor.as_ref().unwrap().runs, 5);

    let same = check(&store, &samples(2, 4, 1.0), &options)
        .unwrap()
        .verdict;
    assert_eq!(same.outcome, Outcome::Pass, "{:?}", same.findings);
    let slow = check(&store, &samples(3, 4, 1.08), &options)
        .unwrap()
        .verdict;
    assert_eq!(slow.outcome, Outcome::Regression, "{:?}", slow.findings);

    let again = record(&store, &samples(3, 4, 1.08), FRESH, &options).unwrap();
    assert_eq!(again.verdict.unwrap().outcome, Outcome::Regression);
    let items = review(&store, &options).unwrap();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].slower.len(), 1, "{:?}", items[0].slower);
    let refused = accept(&store, &again.path, (&because(" "), HERE), &options).unwrap_err();
    assert!(
        matches!(refused, GoldenError::ReasonNeeded { .. }),
        "{refused}"
    );
    let golden = accept(&store, &again.path, (&because("safer"), HERE), &options).unwrap();
    assert!(
        (golden.history[1].ratios["p2"] - 1.08).abs() < 0.01,
        "{:?}",
        golden.history
    );
    assert_eq!(golden.anchor.as_ref().unwrap().runs, 5, "the anchor stays");

    // A second step of the same size is over the budget, whatever the reason.
    let third = record(&store, &samples(4, 4, 1.08 * 1.08), FRESH, &options).unwrap();
    let refused = accept(&store, &third.path, (&because("x"), HERE), &options).unwrap_err();
    assert!(
        matches!(refused, GoldenError::OverBudget { .. }),
        "{refused}"
    );
    let moved = Decision {
        move_anchor: true,
        ..because("release")
    };
    let golden = accept(&store, &third.path, (&moved, HERE), &options).unwrap();
    assert_eq!(golden.anchor.as_ref().unwrap().runs, 4);
}

#[test]
fn another_key_names_the_fields_of_the_nearest_golden() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = (Store::new(folder.path()), Options::default());
    let first = record(&store, &samples(1, 4, 1.0), FRESH, &options).unwrap();
    accept(&store, &first.path, (&because(""), HERE), &options).unwrap();
    let mut other = samples(2, 4, 1.0);
    other.key.driver = Some("1".to_owned());
    let verdict = check(&store, &other, &options).unwrap().verdict;
    assert_eq!(verdict.outcome, Outcome::NotComparable);
    assert_eq!(verdict.differs.len(), 1);
}

#[test]
fn ci_never_writes() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = (Store::new(folder.path()), Options::default());
    let set = samples(1, 4, 1.0);
    let refused = record(&store, &set, (Recording::Fresh, Place::Ci), &options).unwrap_err();
    assert!(matches!(refused, GoldenError::NotUnderCi));
    let first = record(&store, &set, FRESH, &options).unwrap();
    let decision = because("");
    assert!(accept(&store, &first.path, (&decision, Place::Ci), &options).is_err());
    assert!(reject(&first.path, Place::Ci).is_err());
    assert!(first.path.exists());
    reject(&first.path, HERE).unwrap();
    assert!(!first.path.exists());
    assert!(matches!(
        reject(&first.path, HERE),
        Err(GoldenError::NoCandidate { .. })
    ));
}

#[test]
fn appending_broadens_the_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = (Store::new(folder.path()), Options::default());
    for (salt, runs) in [(1, 4), (2, 3)] {
        let set = samples(salt, runs, 1.0);
        let made = record(&store, &set, (Recording::Append, HERE), &options).unwrap();
        accept(&store, &made.path, (&because(""), HERE), &options).unwrap();
    }
    let golden = store.golden(&samples(1, 1, 1.0).key).unwrap().unwrap();
    assert_eq!(golden.runs.len(), 7);
    assert!(golden.phases.values().all(|column| column.ln_ms.len() == 7));
}

#[test]
fn more_runs_of_the_golden_are_growth_and_want_no_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = (Store::new(folder.path()), Options::default());
    let first = record(&store, &samples(1, 3, 1.0), FRESH, &options).unwrap();
    accept(&store, &first.path, (&because(""), HERE), &options).unwrap();
    let both = |slow: f64| {
        let mut set = samples(1, 3, 1.0);
        set.runs.splice(0..0, samples(7, 5, slow).runs);
        set
    };
    let slow = record(&store, &both(1.2), FRESH, &options).unwrap();
    assert_eq!(slow.grown_by, Some(5));
    let item = review_one(&store, &slow.path, &options).unwrap();
    assert_eq!(item.slower.len(), 1, "slower runs are no growth: {item:?}");
    let grown = record(&store, &both(1.015), FRESH, &options).unwrap();
    let item = review_one(&store, &grown.path, &options).unwrap();
    assert!(item.slower.is_empty() && item.over_budget.is_empty());
    let copied = |finding: &tracefmt::finding::Finding| finding.title.contains("own run");
    assert!(!item.verdict.findings.iter().any(copied), "{item:?}");
    let golden = accept(&store, &grown.path, (&because(""), HERE), &options).unwrap();
    assert_eq!(golden.runs.len(), 8);
    assert_eq!(golden.anchor, Some(golden.anchor_here()), "measured better");
    let same = record(&store, &both(1.015), FRESH, &options).unwrap();
    assert_eq!(same.grown_by, None, "nothing new");
}

#[test]
fn runs_with_injected_faults_are_judged_and_never_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = (Store::new(folder.path()), Options::default());
    let faulty = |salt: u64, slow: f64| {
        let mut set = samples(salt, 4, slow);
        for run in &mut set.runs {
            run.injected = Some("slow:p2:1.08".to_owned());
        }
        set
    };
    let refused = record(&store, &faulty(1, 1.0), FRESH, &options).unwrap_err();
    assert!(refused.to_string().contains("slow:p2:1.08"), "{refused}");
    let first = record(&store, &samples(1, 5, 1.0), FRESH, &options).unwrap();
    accept(&store, &first.path, (&because(""), HERE), &options).unwrap();
    let slow = check(&store, &faulty(3, 1.08), &options).unwrap();
    assert_eq!(slow.verdict.outcome, Outcome::Regression);
    assert_eq!(slow.golden.map(|golden| golden.runs.len()), Some(5));
    let same = check(&store, &faulty(2, 1.0), &options).unwrap().verdict;
    assert_eq!(same.outcome, Outcome::Inconclusive, "{:?}", same.findings);
}

#[test]
fn nothing_usable_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let mut set = samples(1, 2, 1.0);
    set.runs.iter_mut().for_each(|run| run.complete = false);
    let (store, options) = (Store::new(folder.path()), Options::default());
    let refused = record(&store, &set, FRESH, &options).unwrap_err();
    assert!(refused.to_string().contains("cut off"), "{refused}");
}

#[test]
fn the_self_test_catches_its_canary() {
    let gate = Options::default();
    let evidence = Evidence::of(&samples(7, 10, 1.0), gate.rules);
    let effects = vec![0.012, 0.05, 0.10];
    let planted = SelfTestOptions {
        effects,
        ..SelfTestOptions::default()
    };
    let tested = self_test(&evidence, &gate, &planted);
    assert!(tested.ok, "{tested:?}");
    assert_eq!((tested.splits, tested.false_alarms), (200, 0));
    assert!(tested.power[2].found >= 199, "{:?}", tested.power);
    assert!(
        tested.power[0].found < 20,
        "hardly above what is no regression: {tested:?}"
    );
}

#[test]
fn the_self_test_says_when_the_gate_would_sleep() {
    let gate = Options::default();
    // The runs of each phase differ by 30 %: no 10 % can be seen in that.
    let mut set = samples(7, 6, 1.0);
    for (at, run) in (0_u64..).zip(&mut set.runs) {
        for (phase, times) in (0_u64..).zip(run.phases.values_mut()) {
            let factor = 1.0 + 0.3 * noise(at * 64 + phase + 9_000);
            times.ms.iter_mut().for_each(|ms| *ms *= factor);
        }
    }
    let tested = self_test(
        &Evidence::of(&set, gate.rules),
        &gate,
        &SelfTestOptions::default(),
    );
    assert!(!tested.ok && !tested.canary_missed.is_empty(), "{tested:?}");
    // What is left out on request need not be seen; a gate of nothing does not work.
    let mut one = samples(7, 8, 1.0);
    for (at, run) in (0_u64..).zip(&mut one.runs) {
        let times = run.phases.get_mut("p1").unwrap();
        let factor = 1.0 + 0.3 * noise(at * 64 + 9_000);
        times.ms.iter_mut().for_each(|ms| *ms *= factor);
    }
    let one = Evidence::of(&one, gate.rules);
    let every: Vec<String> = one.phases.keys().cloned().collect();
    for (ungated, ok) in [
        (Vec::new(), false),
        (vec!["p1".to_owned()], true),
        (every, false),
    ] {
        let gate = Options {
            ungated,
            ..gate.clone()
        };
        let tested = self_test(&one, &gate, &SelfTestOptions::default());
        assert_eq!(tested.ok, ok, "{tested:?}");
    }
    let few = Evidence::of(&samples(7, 3, 1.0), gate.rules);
    let tested = self_test(&few, &gate, &SelfTestOptions::default());
    assert!(!tested.ok && tested.splits == 0);
}
