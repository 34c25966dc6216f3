//! The logs that come with the project.

use std::path::PathBuf;

use analyze::diagnose::{Diagnosis, NoLines, Question, Reading, Verdict, diagnose};
use proptest::prelude::*;
use tracefmt::Source;
use tracefmt::finding::{Code, Severity};

use super::{diagnosis, of, root};

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/examples")
        .join(name)
}

#[test]
fn the_story_told_by_log_and_client() {
    let paths = [example("late-free.log"), example("late-free.bench")];
    let (said, text) = diagnosis(&paths, None);
    let oom = root(&said).unwrap();
    assert_eq!(oom.code, Code::VramOom);
    assert!(
        oom.evidence[0]
            .text
            .contains("prestage_setup=fallback err=2"),
        "{text}"
    );
    assert!(
        oom.evidence
            .iter()
            .any(|line| line.text.contains("out of memory"))
    );
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Failed, 1));
    // The client's five failures are those of the log: no finding of their own.
    assert!(of(&said, Code::RunBenchMismatch).is_empty());
    assert!(of(&said, Code::SchedFailed).is_empty());
    let errors = said
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    assert!(
        errors
            .clone()
            .all(|finding| finding.root || finding.caused_by == ["f0"]),
        "{text}"
    );
    assert!(text.lines().count() <= 40, "{text}");
}

#[test]
fn the_healed_run_is_complete_and_says_that_nothing_was_verified() {
    let (said, text) = diagnosis(&[example("two-workers.log")], None);
    assert_eq!(
        (said.verdict, said.exit_code()),
        (Verdict::CompleteUnverified, 0),
        "{text}"
    );
    assert!(
        text.starts_with("COMPLETE, NOT VERIFIED: no errors, and all "),
        "{text}"
    );
    assert_eq!(root(&said), None);
}

#[test]
fn the_killed_run_is_cut_and_its_open_jobs_are_named() {
    let (said, text) = diagnosis(&[example("killed.log")], None);
    let cut = root(&said).unwrap();
    assert_eq!(cut.code, Code::RunTruncated, "{text}");
    assert_eq!(cut.evidence[0].line, said.inputs[0].lines);
    assert!(said.runs[0].partitions.open > 0);
    let lost = said
        .findings
        .iter()
        .filter(|finding| finding.caused_by == ["f0"]);
    let lost: u64 = lost.map(|finding| finding.count).sum();
    assert_eq!(lost, said.runs[0].partitions.open, "{text}");
}

/// The diagnosis of bytes.
fn of_bytes(bytes: &[u8]) -> Diagnosis {
    let source = Source::Bytes("cut.log".to_owned(), bytes.to_vec());
    let (trace, _) = tracefmt::read(&[source]).unwrap();
    let analysis = analyze::analyze(&trace, &analyze::Options::default());
    diagnose(&Question {
        subject: Reading {
            trace: &trace,
            analysis: &analysis,
        },
        baseline: None,
        replay: Vec::new(),
        lines: &NoLines,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However early a log is cut, no consequence is taken for the cause, and no cut log passes.
    #[test]
    fn a_cut_log_never_blames_a_consequence(at in any::<prop::sample::Index>()) {
        let log = std::fs::read(example("late-free.log")).unwrap();
        let at = at.index(log.len());
        let said = of_bytes(&log[..at]);
        let found = root(&said).map(|root| root.code);
        let allowed = [None, Some(Code::VramOom), Some(Code::RunTruncated)];
        prop_assert!(allowed.contains(&found), "cut at {}: {:?}", at, found);
        // The first line of the failure decides as soon as it is there and its jobs go wrong.
        let died = b"failed: \"out of memory\"";
        if log[..at].windows(died.len()).any(|bytes| bytes == died) {
            prop_assert_eq!(found, Some(Code::VramOom), "cut at {}", at);
        }
        prop_assert!(said.exit_code() != 0, "cut at {}", at);
    }

    /// Noise between the lines changes nothing.
    #[test]
    fn foreign_lines_change_no_verdict(
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        noise in "[ -~]{0,60}",
    ) {
        let log = std::fs::read_to_string(example("killed.log")).unwrap();
        let mut lines: Vec<&str> = log.split_inclusive('\n').collect();
        let line = format!("note: {noise}\n");
        for place in places {
            let at = place.index(lines.len());
            lines.insert(at, &line);
        }
        let (plain, noisy) = (of_bytes(log.as_bytes()), of_bytes(lines.concat().as_bytes()));
        prop_assert_eq!(plain.verdict, noisy.verdict);
        prop_assert_eq!(plain.runs[0].partitions, noisy.runs[0].partitions);
        let codes = |said: &Diagnosis| -> Vec<(Code, u64)> {
            said.findings.iter().map(|finding| (finding.code, finding.count)).collect()
        };
        prop_assert_eq!(codes(&plain), codes(&noisy));
    }
}
