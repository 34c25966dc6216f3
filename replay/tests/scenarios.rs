//! The scenario corpus: `testdata/scenarios/<code>/<case>/` with a sick schedule, its fixed twin
//! and what is expected. The sick one shows its code; the fixed one is silent; and what is
//! shrunk from the sick one shows the same again after it was written and read.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use replay::report::{Report, Request, replay};
use replay::shrink::shrink;
use replay::vram::Profile;
use tracefmt::finding::{Code, Finding, Severity};
use tracefmt::ops::Schedule;

/// The cases, sorted by path.
fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/scenarios");
    let mut cases = Vec::new();
    for code in fs::read_dir(root).expect("the corpus") {
        let code = code.expect("an entry").path();
        for case in fs::read_dir(code).expect("a folder") {
            let case = case.expect("an entry").path();
            // Cases that are logs are tested with the diagnosis.
            if case.join("sick.jsonl").exists() {
                cases.push(case);
            }
        }
    }
    cases.sort();
    cases
}

fn schedule(case: &Path, name: &str) -> Schedule {
    let path = case.join(name);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schedule = Schedule::read(bytes.as_slice()).expect("a header");
    assert_eq!(schedule.errors, [], "{}", path.display());
    schedule
}

fn report(schedule: &Schedule) -> Report {
    replay(schedule, &Request::events("case.jsonl")).expect("a known driver")
}

struct Expected {
    code: Code,
    cause: Option<String>,
    root: Option<String>,
}

fn expected(case: &Path) -> Expected {
    let text = fs::read_to_string(case.join("expect.json")).expect("expect.json");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let text = |key: &str| json[key].as_str().map(str::to_owned);
    assert!(
        text("from").is_some_and(|from| from.len() > 10),
        "where it comes from"
    );
    Expected {
        code: text("code")
            .and_then(|code| code.parse().ok())
            .expect("a code"),
        cause: text("cause"),
        root: text("root"),
    }
}

fn cause(finding: &Finding) -> Option<String> {
    let json = serde_json::to_value(finding.cause).expect("JSON");
    json.as_str().map(str::to_owned)
}

#[test]
fn every_sick_schedule_shows_its_code_and_every_fixed_one_is_silent() {
    for case in cases() {
        let wanted = expected(&case);
        let name = case.display();
        let folder = case.parent().and_then(Path::file_name).expect("a folder");
        assert_eq!(folder, wanted.code.as_str(), "{name}");
        let sick = report(&schedule(&case, "sick.jsonl"));
        let mut found = sick
            .findings
            .iter()
            .filter(|finding| finding.code == wanted.code);
        let shown = found
            .next()
            .unwrap_or_else(|| panic!("{name}: {:#?}", sick.findings));
        if wanted.cause.is_some() {
            assert_eq!(cause(shown), wanted.cause, "{name}");
            // To drop an answer that the schedule does not explain cures nothing.
            let is_cured = shown.what_if.as_ref().is_some_and(|what_if| what_if.passes);
            let is_explained = wanted.cause.as_deref() != Some("unexplained");
            assert_eq!(is_cured, is_explained, "{name}");
        }
        let root = sick.findings.iter().find(|finding| finding.root);
        let root = root.map(|finding| finding.code.as_str().to_owned());
        assert!(
            wanted.root.is_none() || root == wanted.root,
            "{name}: root is {root:?}"
        );
        assert!(
            !shown.evidence.is_empty() && !shown.title.is_empty(),
            "{name}"
        );
        for finding in &sick.findings {
            let said = !finding.explanation.is_empty() && finding.fix.is_some();
            assert!(said, "{name}: {finding:#?}");
        }
        let fixed = report(&schedule(&case, "fixed.jsonl"));
        assert_eq!(fixed.findings, [], "{name}: the fixed twin");
        assert_eq!(fixed.failed_allocations, 0, "{name}: the fixed twin");
    }
}

/// What only a log can show: whom the kernel kills, and partitions that are lost or fail before
/// or beside the GPU. Their cases are logs.
const OF_LOGS: [Code; 4] = [
    Code::HostOomKilled,
    Code::SchedNeverStarted,
    Code::SchedNeverPicked,
    Code::SchedFailed,
];

#[test]
fn every_code_of_a_schedule_has_a_case() {
    let have: Vec<Code> = cases().iter().map(|case| expected(case).code).collect();
    for code in Code::ALL {
        let name = code.as_str();
        let areas = ["vram.", "host.", "lock.", "cuda.", "sched."];
        let here = areas.iter().any(|area| name.starts_with(area)) && !OF_LOGS.contains(code);
        assert_eq!(here, have.contains(code), "cases for {name}");
    }
}

/// The core of a schedule behind one of its findings, written and read again.
fn core(sick: &Schedule, code: Code) -> Schedule {
    let profile = Profile::named(&sick.header.driver).expect("a known driver");
    let small = shrink(sick, code, profile).expect("it shows its code");
    assert!(small.steps.len() <= sick.steps.len());
    let text = small.write(Vec::new()).expect("memory");
    Schedule::read(text.as_slice()).expect("own output")
}

fn root(report: &Report) -> Option<Code> {
    let root = report.findings.iter().find(|finding| finding.root);
    root.map(|root| root.code)
}

fn errors(report: &Report) -> Vec<Code> {
    let findings = report.findings.iter();
    let errors = findings.filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| finding.code).collect()
}

/// Every finding of every case, not only the expected one: its core shows it again, as its root
/// if it is one, and no kind of error beside it that the whole does not have.
#[test]
fn what_is_shrunk_shows_the_same_after_writing_and_reading() {
    for case in cases() {
        let sick = schedule(&case, "sick.jsonl");
        let whole = report(&sick);
        let codes: BTreeSet<Code> = whole.findings.iter().map(|finding| finding.code).collect();
        for code in codes {
            let name = format!("{}: {code}", case.display());
            let again = report(&core(&sick, code));
            let same = |finding: &&Finding| finding.code == code;
            let (old, new) = (
                whole.findings.iter().find(same),
                again.findings.iter().find(same),
            );
            let (Some(old), Some(new)) = (old, new) else {
                panic!("{name} is not in its core: {:#?}", again.findings);
            };
            assert_eq!(old.cause, new.cause, "{name}");
            for error in errors(&again) {
                assert!(errors(&whole).contains(&error), "{name}: {error} is new");
            }
            let is_error = errors(&whole).contains(&code);
            assert!(
                root(&again) == is_error.then_some(code) || root(&again) == root(&whole),
                "{name}: the root of its core is {:?}",
                root(&again)
            );
            if root(&whole) == Some(code) {
                assert_eq!(root(&again), Some(code), "{name}");
            }
        }
    }
}

#[test]
fn two_reports_of_one_schedule_are_the_same_bytes() {
    for case in cases() {
        let sick = schedule(&case, "sick.jsonl");
        let text = || serde_json::to_string(&report(&sick)).expect("JSON");
        assert_eq!(text(), text(), "{}", case.display());
    }
}
