//! The logs that come with the project.

use std::path::PathBuf;

use analyze::diagnose::Verdict;
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
