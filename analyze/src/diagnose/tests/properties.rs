//! What holds for every run, however it went.

use proptest::prelude::*;
use tracefmt::finding::{Code, Severity};
use tracefmt::run::{JobOutcome, RunEnd, Trace, TroubleClass as Class};

use super::super::model::Verdict;
use super::super::render;
use super::super::testing::{Daemon, diagnosis, no_analysis};
use super::root;

/// One step of a daemon's life.
#[derive(Clone, Debug)]
enum Step {
    Job(u32),
    Start(usize),
    End(usize),
    Die(usize, Option<i32>),
    Prove(usize),
    Verify(usize, bool),
    Trouble(Class, Option<i32>),
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop::sample::select(vec![
        Class::Fallback,
        Class::SkipVram,
        Class::Panic,
        Class::Cuda,
        Class::Abort,
        Class::Failure,
        Class::Consequence,
        Class::BadProof,
        Class::Error,
        Class::Warning,
    ]);
    let code = prop::sample::select(vec![
        None,
        Some(2),
        Some(700),
        Some(712),
        Some(713),
        Some(9),
    ]);
    prop_oneof![
        (1_u32..4).prop_map(Step::Job),
        any::<usize>().prop_map(Step::Start),
        any::<usize>().prop_map(Step::End),
        (any::<usize>(), code.clone()).prop_map(|(at, code)| Step::Die(at, code)),
        any::<usize>().prop_map(Step::Prove),
        (any::<usize>(), any::<bool>()).prop_map(|(at, holds)| Step::Verify(at, holds)),
        (kind, code).prop_map(|(kind, code)| Step::Trouble(kind, code)),
    ]
}

fn live(steps: &[Step], end: RunEnd) -> Trace {
    let mut daemon = Daemon::new();
    for step in steps {
        let (jobs, tasks) = (daemon.run.jobs.len(), daemon.run.tasks.len());
        let index = |at: usize, len: usize| (len > 0).then(|| u32::try_from(at % len).unwrap());
        match step {
            Step::Job(partitions) => {
                daemon.job("job, with %= in it", *partitions);
            }
            Step::Trouble(kind, code) => {
                daemon.trouble(*kind, *code, "words", None);
            }
            Step::Start(at) => {
                if let Some(t) = index(*at, tasks) {
                    daemon.start(t, t % 2);
                }
            }
            Step::End(at) => {
                if let Some(t) = index(*at, tasks) {
                    daemon.end(t);
                }
            }
            Step::Die(at, code) => {
                if let Some(t) = index(*at, tasks) {
                    daemon.die(t, *code, "x");
                }
            }
            Step::Prove(at) => {
                if let Some(j) = index(*at, jobs) {
                    daemon.prove(j);
                }
            }
            Step::Verify(at, holds) => {
                if let Some(j) = index(*at, jobs) {
                    daemon.verify(j, *holds);
                }
            }
        }
    }
    daemon.now();
    daemon.ends(end)
}

proptest! {
    #[test]
    fn roots_causes_verdicts_and_exit_codes_agree(
        steps in prop::collection::vec(step(), 0..30),
        end in prop::sample::select(vec![
            RunEnd::Complete, RunEnd::Cut, RunEnd::Open, RunEnd::Aborted, RunEnd::Restarted,
        ]),
    ) {
        let trace = live(&steps, end);
        let said = diagnosis(&trace);
        let root = root(&said);
        let errors = said.findings.iter().any(|f| f.severity == Severity::Error);
        prop_assert_eq!(root.is_some(), errors, "every failed run has a root");
        prop_assert_eq!(said.exit_code() == 1, errors);
        // A run can complete in spite of an error (docs/decisions/0004): it passes only without.
        let complete = said.verdict <= Verdict::CompleteUnverified;
        prop_assert_eq!(said.exit_code() == 0, complete && !errors);
        let failed = trace.runs[0].jobs.iter().any(|job| job.outcome == JobOutcome::Failed);
        prop_assert!(!failed || said.verdict == Verdict::Failed);
        if root == Some(Code::RunTruncated) {
            prop_assert!(matches!(said.verdict, Verdict::Truncated | Verdict::Failed));
        }
        let severities: Vec<_> = said.findings.iter().map(|f| f.severity).collect();
        prop_assert!(severities.is_sorted_by(|a, b| a >= b));
        prop_assert_eq!(&said, &diagnosis(&trace), "the same trace says the same");
        let text = render(&said, &no_analysis());
        prop_assert!(text.lines().count() < 120);
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }
}
