//! Findings of others beside ours: replay's, the analyzer's, regressions against a baseline.

use std::collections::BTreeMap;

use tracefmt::finding::{Code, Confidence, Evidence, Finding, OomCause, Severity};
use tracefmt::run::{LineRef, RunEnd, Trace, TroubleClass as Class};

use super::super::model::Verdict;
use super::super::testing::{Daemon, diagnosis, no_analysis};
use super::super::{Diagnosis, NoLines, Question, Reading, diagnose};
use super::{of, only, root};
use crate::model::{Analysis, PhaseTimes, Region};

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

/// Twenty partitions whose phases take these times, with a little spread.
fn analysis(phases: &[(&'static str, f64)]) -> Analysis {
    let mut analysis = no_analysis();
    for partition in 0..20_u32 {
        let mut times = PhaseTimes::default();
        for (phase, ms) in phases {
            times.add(phase, ms + f64::from(partition * 7 % 5));
        }
        analysis.regions.push(Region {
            run: 0,
            job: "a".to_owned(),
            partition: Some(partition),
            worker: Some(0),
            gpu: Some(0),
            start_ms: 0.0,
            end_ms: 1.0,
            kernels: Vec::new(),
            confidence: Confidence::Certain,
            candidates: Vec::new(),
            phases: times,
            lines: Vec::new(),
        });
    }
    analysis
}

fn compared(before: &Analysis, after: &Analysis, partitions: (u32, u32)) -> Diagnosis {
    let trace = |partitions| {
        let mut daemon = Daemon::new();
        let job = daemon.job("a", partitions);
        daemon.prove(job);
        daemon.verify(job, true);
        daemon.ends(RunEnd::Complete)
    };
    let (good, now) = (trace(partitions.0), trace(partitions.1));
    diagnose(&Question {
        subject: Reading {
            trace: &now,
            analysis: after,
        },
        baseline: Some(Reading {
            trace: &good,
            analysis: before,
        }),
        replay: Vec::new(),
        lines: &NoLines,
    })
}

#[test]
fn the_slower_part_is_the_root_and_the_whole_follows() {
    let before = analysis(&[
        ("batch_add", 340.0),
        ("gpu_total", 980.0),
        ("mutex_wait", 10.0),
    ]);
    let after = analysis(&[
        ("batch_add", 460.0),
        ("gpu_total", 1100.0),
        ("mutex_wait", 500.0),
    ]);
    let said = compared(&before, &after, (20, 20));
    assert_eq!(root(&said), Some(Code::PerfPhaseRegression));
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Verified, 1));
    let slower = of(&said, Code::PerfPhaseRegression);
    assert_eq!(slower.len(), 2);
    assert!(slower[0].root && slower[0].title.contains("batch_add"));
    assert_eq!(slower[1].caused_by, std::slice::from_ref(&slower[0].id));
    assert!(
        said.summary
            .contains("2 phases are slower than the baseline")
    );
}

#[test]
fn the_analysis_fits_its_schema() {
    let mut analysis = analysis(&[("batch_add", 340.0)]);
    analysis.findings.push(late_free(Severity::Warning, 3));
    let json = serde_json::to_value(&analysis).unwrap();
    let schema = crate::schema_check::load(&analysis.schema);
    assert_eq!(
        crate::schema_check::misfits(&schema, &json),
        Vec::<String>::new()
    );
}

#[test]
fn the_same_times_are_no_regression_and_a_faster_run_neither() {
    let before = analysis(&[("batch_add", 340.0)]);
    for after in [&before, &analysis(&[("batch_add", 300.0)])] {
        let said = compared(&before, after, (20, 20));
        assert_eq!((root(&said), said.exit_code()), (None, 0));
        assert!(said.baseline.as_ref().is_some_and(|row| row.comparable));
    }
}

#[test]
fn other_work_is_not_compared() {
    let before = analysis(&[("batch_add", 340.0)]);
    let after = analysis(&[("batch_add", 999.0)]);
    let said = compared(&before, &after, (20, 10));
    assert_eq!((root(&said), said.exit_code()), (None, 4));
    let row = said.baseline.unwrap();
    assert_eq!(
        row.differs,
        ["partitions of a job: 20 in the baseline, 10 here"]
    );
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
