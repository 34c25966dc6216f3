//! The scenarios that are logs (`replay/testdata/scenarios/<code>/<case>/sick.log`): the sick one
//! shows its code, and the fixed one shows nothing at all. A `baseline.log` beside them is the run
//! that both are compared with.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tracefmt::finding::Code;

use super::{diagnosis, of, root};

/// The codes that only a log can show.
const CODES: [Code; 12] = [
    Code::HostOomKilled,
    Code::SchedNeverStarted,
    Code::SchedNeverPicked,
    Code::SchedFailed,
    Code::RunTruncated,
    Code::RunCascade,
    Code::RunTornLines,
    Code::RunNoVerification,
    Code::PerfIdle,
    Code::PerfContention,
    Code::PerfOutOfOrder,
    Code::PerfPhaseRegression,
];

/// The cases of a code.
fn cases(code: Code) -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../replay/testdata/scenarios");
    let cases = std::fs::read_dir(corpus.join(code.as_str()));
    let cases = cases.into_iter().flatten().map(|case| case.unwrap().path());
    let mut logs: Vec<PathBuf> = cases
        .filter(|case| case.join("sick.log").exists())
        .collect();
    logs.sort();
    logs
}

#[test]
fn every_sick_log_shows_its_code_and_every_fixed_one_is_silent() {
    let mut shown = Vec::new();
    for code in Code::ALL {
        for case in cases(*code) {
            let name = case.display();
            let expected = std::fs::read(case.join("expect.json")).unwrap();
            let expected: Value = serde_json::from_slice(&expected).unwrap();
            assert_eq!(expected["code"], code.as_str(), "{name}");
            assert!(expected["from"].as_str().unwrap().len() > 10, "{name}");
            let baseline = Some(case.join("baseline.log")).filter(|path| path.exists());
            let (sick, text) = diagnosis(&[case.join("sick.log")], baseline.as_deref());
            assert!(!of(&sick, *code).is_empty(), "{name}\n{text}");
            let found = root(&sick).map(|root| root.code.as_str());
            assert_eq!(expected["root"].as_str(), found, "{name}\n{text}");
            let (fixed, text) = diagnosis(&[case.join("fixed.log")], baseline.as_deref());
            assert_eq!(fixed.findings, [], "{name}\n{text}");
            assert_eq!(fixed.exit_code(), 0, "{name}");
            shown.push(*code);
        }
    }
    for code in CODES {
        assert!(shown.contains(&code), "no case for {code}");
    }
}
