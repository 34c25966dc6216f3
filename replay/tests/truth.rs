//! The model against recorded answers of a real driver, step by step.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may stop where it stands"
)]

use std::fs::File;
use std::io::BufReader;

use replay::vram::Machine;
use tracefmt::ops::{Schedule, Step};

fn schedule(name: &str) -> Schedule {
    let path = format!("{}/testdata/truth/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let file = File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let schedule = Schedule::read(BufReader::new(file)).expect("a schedule");
    assert_eq!(schedule.errors_total, 0, "{:?}", schedule.errors);
    schedule
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Agreement {
    steps: u64,
    rc: u64,
    all: u64,
}

/// Runs a schedule free, without ever correcting the model, and counts where it agrees.
fn compare(name: &str) -> Agreement {
    let schedule = schedule(name);
    let mut machine = Machine::from_header(&schedule.header).expect("a known driver");
    let mut agreement = Agreement::default();
    for (at, step) in schedule.steps.iter().enumerate() {
        let outcome = machine.apply(step);
        let truth = step.truth();
        if truth.rc.is_none() && truth.free.is_none() && truth.pool_reserved.is_none() {
            continue;
        }
        let rc = truth.rc.is_none_or(|rc| rc == outcome.rc);
        let free = truth.free.is_none_or(|free| free == outcome.free);
        let pool = truth
            .pool_reserved
            .is_none_or(|bytes| bytes == outcome.pool_reserved);
        agreement.steps += 1;
        agreement.rc += u64::from(rc);
        agreement.all += u64::from(rc && free && pool);
        if !(rc && free && pool) {
            let line = schedule.line_of(at).unwrap_or(0);
            println!("{name}:{line}: {:?} but {outcome:?}", describe(step));
        }
    }
    agreement
}

fn describe(step: &Step) -> String {
    serde_json::to_string(step).expect("JSON")
}

#[test]
fn every_random_step_is_right_in_code_and_bytes() {
    for (name, steps) in [
        ("random-1", 1479),
        ("random-2", 1490),
        ("random-3", 1497),
        ("random-4", 1493),
    ] {
        let all = Agreement {
            steps,
            rc: steps,
            all: steps,
        };
        assert_eq!(compare(name), all, "{name}");
    }
}

#[test]
fn every_step_of_the_probe_and_the_scenarios_is_right() {
    for (name, steps) in [
        ("probe-card", 119),
        ("probe-ballast", 150),
        ("scenarios", 121),
    ] {
        let all = Agreement {
            steps,
            rc: steps,
            all: steps,
        };
        assert_eq!(compare(name), all, "{name}");
    }
}

/// Steps recorded after the rules were settled. Twice the driver kept an idle page that the
/// model gives back; until the next trim the free bytes differ by that page.
/// See "Known disagreements" in docs/vram-model.md.
#[test]
fn steps_that_no_rule_was_fitted_to_are_right_but_for_a_page() {
    for (name, steps, off_by_a_page) in [("held-out-1", 1478, 0), ("held-out-2", 1453, 26)] {
        let expected = Agreement {
            steps,
            rc: steps,
            all: steps - off_by_a_page,
        };
        assert_eq!(compare(name), expected, "{name}");
    }
}
