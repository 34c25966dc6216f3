//! Findings of others beside ours: replay's, the analyzer's, regressions against a baseline.

use std::collections::BTreeMap;

use tracefmt::finding::{Code, Confidence, Evidence, Finding, OomCause, Severity};
use tracefmt::run::{JobOutcome, LineRef, Outcome, RunEnd, Trace, TroubleClass as Class};
use tracefmt::timing::TimingWhat;

use super::super::model::Verdict;
use super::super::testing::{Daemon, diagnosis, no_analysis};
use super::super::{Diagnosis, NoLines, Question, Reading, diagnose};
use super::{of, only, root};

fn late_free(severity: Severity, line: u64) -> Finding {
    let title = "d_bc outlives its lock".to_owned();
    let mut finding = Finding::new(Code::VramLateFree, severity, Confidence::Inferred, title);
    finding.explanation = "worker 0 still held 8192 MiB".to_owned();
    finding.cause = Some(OomCause::LateFree);
    finding.fix = Some("free it before the unlock".to_owned());
    finding.run = Some(0);
    finding.evidence = vec![Evidence {
        path: "run.log".to_owned(),
        line,
        text: String::new(),
    }];
    finding
}

fn with_replay(trace: &Trace, replay: Vec<Finding>) -> Diagnosis {
    let analysis = no_analysis();
    let subject = Reading {
        trace,
        analysis: &analysis,
    };
    diagnose(&Question {
        subject,
        baseline: None,
        replay,
        lines: &NoLines,
    })
}

fn out_of_memory() -> (Trace, LineRef) {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 4);
    let task = daemon.task(job, 0);
    daemon.start(task, 0);
    let line = daemon.trouble(
        Class::Fallback,
        Some(2),
        "prestage_setup=fallback err=2",
        None,
    );
    daemon.die(task, Some(2), "cudaMalloc failed: \"out of memory\"");
    (daemon.ends(RunEnd::Complete), line)
}

#[test]
fn what_replay_finds_on_the_same_line_is_the_root() {
    let (trace, line) = out_of_memory();
    let said = with_replay(
        &trace,
        vec![late_free(Severity::Error, u64::from(line.line))],
    );
    assert_eq!(root(&said), Some(Code::VramLateFree));
    let cause = only(&said, Code::VramLateFree);
    assert_eq!(cause.evidence[0].text, "prestage_setup=fallback err=2");
    assert_eq!(
        only(&said, Code::VramOom).caused_by,
        std::slice::from_ref(&cause.id)
    );
    assert_eq!(
        only(&said, Code::RunCascade).caused_by,
        std::slice::from_ref(&cause.id)
    );
}

#[test]
fn an_inferred_warning_of_replay_is_never_root() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 4);
    daemon.prove(job);
    daemon.verify(job, true);
    let trace = daemon.ends(RunEnd::Complete);
    let said = with_replay(&trace, vec![late_free(Severity::Warning, 3)]);
    assert_eq!((root(&said), said.exit_code()), (None, 0));
    let (trace, _) = out_of_memory();
    let said = with_replay(&trace, vec![late_free(Severity::Warning, 3)]);
    assert_eq!(root(&said), Some(Code::VramOom));
    assert!(only(&said, Code::VramLateFree).caused_by.is_empty());
}

#[test]
fn texts_come_from_the_source_and_else_from_the_trace() {
    let (trace, line) = out_of_memory();
    let analysis = no_analysis();
    let subject = Reading {
        trace: &trace,
        analysis: &analysis,
    };
    let lines = BTreeMap::from([(
        line,
        "CUZK_TIMING: prestage_setup=fallback err=2\r".to_owned(),
    )]);
    let said = diagnose(&Question {
        subject,
        baseline: None,
        replay: Vec::new(),
        lines: &lines,
    });
    let oom = only(&said, Code::VramOom);
    assert_eq!(
        oom.evidence[0].text,
        "CUZK_TIMING: prestage_setup=fallback err=2"
    );
    assert!(oom.evidence[1].text.contains("out of memory"));
}

/// A verified run of twenty proofs, each of so many partitions, with timing lines of these
/// durations and a little spread.
fn timed(partitions: u32, batch_add_ms: i64, gpu_total_ms: i64, prep_ms: i64) -> Trace {
    let mut daemon = Daemon::new();
    for at in 0..20_i64 {
        let job = daemon.job(&format!("job-{at}"), partitions);
        daemon.prove(job);
        daemon.verify(job, true);
        let spread = at * 7 % 5;
        let lines = [
            TimingWhat::BatchAdd {
                gpu_tid: 0,
                ms: batch_add_ms + spread,
            },
            TimingWhat::TailMsm {
                gpu_tid: 0,
                ms: 80,
                gpu_total_ms: gpu_total_ms + spread,
            },
            TimingWhat::PreLock {
                pre_lock_cpu_ms: 1,
                mutex_wait_ms: prep_ms,
            },
        ];
        for what in &lines {
            let now = daemon.now();
            daemon.run.marks.push(what, now.line, (now.us, now.us));
        }
    }
    daemon.ends(RunEnd::Complete)
}

fn compared(good: &Trace, now: &Trace) -> Diagnosis {
    let analysis = no_analysis();
    diagnose(&Question {
        subject: Reading {
            trace: now,
            analysis: &analysis,
        },
        baseline: Some(Reading {
            trace: good,
            analysis: &analysis,
        }),
        replay: Vec::new(),
        lines: &NoLines,
    })
}

#[test]
fn the_slower_part_is_the_root_and_the_whole_follows() {
    let said = compared(&timed(2, 340, 980, 10), &timed(2, 460, 1100, 500));
    assert_eq!(root(&said), Some(Code::PerfPhaseRegression));
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Verified, 1));
    let slower = of(&said, Code::PerfPhaseRegression);
    assert_eq!(
        slower.len(),
        2,
        "a longer wait for the lock is no slower phase"
    );
    assert!(slower[0].root && slower[0].title.contains("batch_add"));
    assert!(slower[1].title.contains("gpu_total"));
    assert_eq!(slower[1].caused_by, std::slice::from_ref(&slower[0].id));
    assert!(
        said.summary
            .contains("2 phases are slower than the baseline")
    );
    assert_eq!(slower[0].evidence.len(), 3);
}

#[test]
fn the_same_times_are_no_regression_and_a_faster_run_neither() {
    let before = timed(2, 340, 980, 10);
    for after in [&before, &timed(2, 300, 940, 10), &timed(2, 350, 990, 10)] {
        let said = compared(&before, after);
        assert_eq!((root(&said), said.exit_code()), (None, 0));
        assert!(said.baseline.as_ref().is_some_and(|row| row.comparable));
    }
}

#[test]
fn other_work_is_not_compared() {
    let said = compared(&timed(2, 340, 980, 10), &timed(3, 999, 1999, 10));
    assert_eq!((root(&said), said.exit_code()), (None, 4));
    let row = said.baseline.unwrap();
    assert!(row.differs[0].contains("partitions"), "{:?}", row.differs);
}

#[test]
fn the_analyzers_findings_stand_beside() {
    let (trace, _) = out_of_memory();
    let mut analysis = no_analysis();
    let title = "idle for 9 s".to_owned();
    let mut idle = Finding::new(
        Code::PerfIdle,
        Severity::Warning,
        Confidence::Certain,
        title,
    );
    idle.explanation = "synthesis is too slow".to_owned();
    idle.fix = Some("more threads".to_owned());
    analysis.findings.push(idle);
    let subject = Reading {
        trace: &trace,
        analysis: &analysis,
    };
    let said = diagnose(&Question {
        subject,
        baseline: None,
        replay: Vec::new(),
        lines: &NoLines,
    });
    assert_eq!(root(&said), Some(Code::VramOom));
    assert!(only(&said, Code::PerfIdle).caused_by.is_empty());
}

#[test]
fn an_earlier_failure_wins_over_the_cut_at_the_end() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 2);
    let task = daemon.task(job, 0);
    daemon.start(task, 0);
    daemon.die(task, Some(2), "out of memory");
    let open = daemon.job("b", 2);
    daemon.start(daemon.task(open, 0), 0);
    daemon.now();
    let said = diagnosis(&daemon.ends(RunEnd::Cut));
    assert_eq!(root(&said), Some(Code::VramOom));
    let cut = only(&said, Code::RunTruncated);
    assert!(cut.caused_by.is_empty() && cut.severity == Severity::Error);
    let lost = of(&said, Code::SchedNeverEnded);
    assert_eq!(lost.len(), 2);
    assert!(
        lost.iter()
            .any(|finding| finding.caused_by == std::slice::from_ref(&cut.id))
    );
    assert!(lost.iter().any(|finding| finding.caused_by == ["f0"]));
    assert_eq!(said.verdict, Verdict::Failed);
}

fn replayed(code: Code, line: LineRef, job: &str, partition: u32) -> Finding {
    let title = "of replay".to_owned();
    let mut finding = Finding::new(code, Severity::Error, Confidence::Certain, title);
    finding.run = Some(0);
    finding.job = Some(job.to_owned());
    finding.partition = Some(partition);
    finding.explanation = "as replay says".to_owned();
    finding.fix = Some("as replay says".to_owned());
    finding.evidence = vec![Evidence {
        path: "run.log".to_owned(),
        line: u64::from(line.line),
        text: String::new(),
    }];
    finding
}

/// A partition whose call fails; its job fails of it.
fn call_fails() -> (Daemon, LineRef) {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 2);
    let task = daemon.task(job, 0);
    daemon.start(task, 0);
    let text = "CUDA error 1 (invalid argument)";
    let line = daemon.trouble(Class::Cuda, Some(1), text, Some(task));
    daemon.run.tasks[task as usize].outcome = Outcome::Failed;
    daemon.close(job, JobOutcome::Failed);
    (daemon, line)
}

#[test]
fn a_leak_that_starved_nobody_follows_from_the_error() {
    let (daemon, line) = call_fails();
    let trace = daemon.ends(RunEnd::Complete);
    let leak = || replayed(Code::VramLeakOnError, line, "a", 0);
    let said = with_replay(&trace, vec![leak()]);
    assert_eq!(root(&said), Some(Code::CudaError));
    let root_id = said.root.clone().unwrap();
    assert_eq!(only(&said, Code::VramLeakOnError).caused_by, [root_id]);
    // Where an allocation failed, the leak may be what starved it.
    let oom = replayed(Code::VramOom, line, "a", 1);
    let said = with_replay(&trace, vec![leak(), oom]);
    assert_eq!(root(&said), Some(Code::VramLeakOnError));
}

#[test]
fn the_error_of_the_call_that_misuses_memory_follows_from_the_misuse() {
    for code in [Code::VramDoubleFree, Code::VramUseAfterFree] {
        let (daemon, line) = call_fails();
        let trace = daemon.ends(RunEnd::Complete);
        let mut misuse = replayed(code, line, "a", 0);
        misuse.root = true;
        // The line of the free before it is quoted too.
        let mut earlier = misuse.evidence[0].clone();
        earlier.line -= 1;
        misuse.evidence.push(earlier);
        let said = with_replay(&trace, vec![misuse]);
        let root_id = said.root.clone().unwrap();
        assert_eq!(only(&said, Code::CudaError).caused_by, [root_id]);
    }
}

#[test]
fn two_faults_of_two_jobs_are_two_findings() {
    let mut daemon = Daemon::new();
    for (job, words) in [
        ("a", "synthesis panicked"),
        ("b", "the proof does not verify"),
    ] {
        let job = daemon.job(job, 1);
        daemon.run.jobs[job as usize].error = Some(words.to_owned());
        daemon.close(job, JobOutcome::Failed);
    }
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    let failed = of(&said, Code::SchedFailed);
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|finding| finding.caused_by.is_empty()));
    // What each job lost follows from its own failure alone.
    let lost = only(&said, Code::SchedNeverPicked);
    assert_eq!(lost.caused_by.len(), 2);
}
