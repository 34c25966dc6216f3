//! How runs end: verified, unverified, silent, cut, restarted, open; and the exit codes.

use tracefmt::event::EventKind;
use tracefmt::finding::{Code, Severity};
use tracefmt::run::{JobOutcome, LineRef, Miscount, Outcome, RunEnd, Trace, TroubleClass};

use super::super::model::Verdict;
use super::super::render;
use super::super::testing::{Daemon, diagnosis, no_analysis, trace};
use super::{of, only, root};

fn healthy(verified: usize) -> Trace {
    let mut daemon = Daemon::new();
    for name in ["a", "b", "c"] {
        let job = daemon.job(name, 10);
        daemon.prove(job);
    }
    for job in 0..verified {
        daemon.verify(u32::try_from(job).unwrap(), true);
    }
    daemon.ends(RunEnd::Complete)
}

#[test]
fn silence_is_not_success() {
    let rows = [
        (
            healthy(3),
            Verdict::Verified,
            "all 30 partitions of 3 jobs ended and were verified",
            0,
        ),
        (
            healthy(1),
            Verdict::CompleteUnverified,
            "only 1 of 3 proofs were verified",
            0,
        ),
        (
            healthy(0),
            Verdict::CompleteUnverified,
            "ended, but no proof was verified",
            0,
        ),
        (
            Daemon::new().ends(RunEnd::Complete),
            Verdict::Silent,
            "no errors seen, but no job and no proof either",
            3,
        ),
        (
            trace(Vec::new()),
            Verdict::Silent,
            "nothing of an engine's run",
            3,
        ),
    ];
    for (trace, verdict, words, exit) in rows {
        let said = diagnosis(&trace);
        assert_eq!(said.verdict, verdict, "{}", said.summary);
        assert!(said.summary.contains(words), "{}", said.summary);
        assert_eq!(said.exit_code(), exit);
        assert_eq!(root(&said), None);
    }
}

#[test]
fn an_unverified_run_has_one_warning_and_a_partly_verified_one_none() {
    let finding = diagnosis(&healthy(0));
    let finding = only(&finding, Code::RunNoVerification);
    assert_eq!((finding.severity, finding.count), (Severity::Warning, 1));
    assert!(of(&diagnosis(&healthy(1)), Code::RunNoVerification).is_empty());
}

#[test]
fn partitions_that_verify_one_by_one_verify_their_job() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 4);
    daemon.prove(job);
    for task in &mut daemon.run.tasks {
        task.verified = Some(true);
    }
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(said.verdict, Verdict::Verified);
    assert_eq!(said.runs[0].partitions.verified, 4);
}

fn running() -> Daemon {
    let mut daemon = Daemon::new();
    let first = daemon.job("a", 3);
    daemon.prove(first);
    let second = daemon.job("b", 4);
    daemon.start(daemon.task(second, 0), 0);
    daemon.pickup(daemon.task(second, 1), 1);
    let third = daemon.job("c", 1);
    let task = daemon.task(third, 0) as usize;
    daemon.run.tasks[task].synth_end = None;
    daemon.run.tasks[task].queued = None;
    daemon.run.tasks[task].outcome = Outcome::Synthesizing;
    daemon.now();
    daemon
}

#[test]
fn a_cut_log_is_the_root_of_what_it_leaves_open() {
    let mut trace = running().ends(RunEnd::Cut);
    // The cut line is a fragment too, but not one that another writer tore.
    trace.runs[0].torn.lost = vec![trace.runs[0].last];
    let said = diagnosis(&trace);
    assert_eq!(root(&said), Some(Code::RunTruncated));
    assert!(of(&said, Code::RunTornLines).is_empty());
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Truncated, 1));
    let cut = only(&said, Code::RunTruncated);
    assert_eq!(cut.evidence[0].line, u64::from(trace.runs[0].last.line));
    assert!(
        cut.explanation
            .contains("1 on a GPU, 1 picked up, 2 queued, 1 in synthesis")
    );
    let ended = of(&said, Code::SchedNeverEnded);
    assert_eq!(
        ended
            .iter()
            .map(|finding| finding.count)
            .collect::<Vec<_>>(),
        [1, 1]
    );
    assert_eq!(only(&said, Code::SchedNeverStarted).count, 1);
    let picked = only(&said, Code::SchedNeverPicked);
    assert_eq!(picked.partitions.len(), 2);
    assert_eq!(picked.caused_by, std::slice::from_ref(&cut.id));
    assert_eq!(said.runs[0].partitions.open, 5);
}

#[test]
fn one_open_job_is_open() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 2);
    daemon.start(daemon.task(job, 0), 0);
    let said = diagnosis(&daemon.ends(RunEnd::Cut));
    assert!(
        said.summary.contains("1 of 1 job was open"),
        "{}",
        said.summary
    );
}

#[test]
fn a_log_that_only_ends_is_inconclusive() {
    let said = diagnosis(&running().ends(RunEnd::Open));
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Silent, 3));
    assert_eq!(root(&said), None);
    assert!(
        said.summary
            .contains("2 of 3 jobs are open, without a sign of death")
    );
    let end = only(&said, Code::RunTruncated);
    assert_eq!(end.severity, Severity::Warning);
    for finding in of(&said, Code::SchedNeverEnded) {
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(finding.caused_by, std::slice::from_ref(&end.id));
    }
}

#[test]
fn before_any_proof_the_words_say_so() {
    let mut daemon = Daemon::new();
    daemon.job("a", 2);
    let said = diagnosis(&daemon.ends(RunEnd::Open));
    assert_eq!(
        said.summary,
        "no errors seen, but the log ends before any proof"
    );
}

/// A worker that goes on without a word: three calls behind the one that never ended.
fn overtaken() -> (Daemon, u32) {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 4);
    let lost = daemon.task(job, 0);
    daemon.pickup(lost, 0);
    daemon.start(lost, 0);
    (daemon, job)
}

fn go_on(daemon: &mut Daemon, job: u32) {
    for partition in 1..4 {
        let task = daemon.task(job, partition);
        daemon.pickup(task, 0);
        daemon.start(task, 0);
        daemon.end(task);
    }
}

#[test]
fn what_failed_before_the_worker_went_on_is_earlier_than_the_loss() {
    let (mut daemon, job) = overtaken();
    let text = "prestage_setup=fallback err=2";
    daemon.trouble(TroubleClass::Fallback, Some(2), text, None);
    go_on(&mut daemon, job);
    let said = diagnosis(&daemon.ends(RunEnd::Open));
    assert_eq!(root(&said), Some(Code::VramOom));
    let (mut daemon, job) = overtaken();
    go_on(&mut daemon, job);
    let said = diagnosis(&daemon.ends(RunEnd::Open));
    assert_eq!(root(&said), Some(Code::SchedNeverEnded));
}

#[test]
fn a_line_cut_behind_the_last_job_is_an_error_and_a_missing_line_end_none() {
    let done = |cut: bool| {
        let mut daemon = Daemon::new();
        let job = daemon.job("a", 3);
        daemon.prove(job);
        daemon.verify(job, true);
        daemon.now();
        if cut {
            daemon.run.torn.lost = vec![daemon.run.last];
        }
        daemon
    };
    let said = diagnosis(&done(true).ends(RunEnd::Cut));
    assert_eq!(root(&said), Some(Code::RunTruncated));
    assert!(
        said.summary
            .contains("all 3 partitions of 1 job seen in it had ended")
    );
    for own in [false, true] {
        let mut daemon = done(false);
        daemon.run.lacks_end = own;
        let said = diagnosis(&daemon.ends(RunEnd::Cut));
        assert_eq!((said.verdict, said.exit_code()), (Verdict::Verified, 0));
        assert_eq!(root(&said), None);
        let end = only(&said, Code::RunTruncated);
        assert_eq!(end.severity, Severity::Warning);
        let title = if own {
            "The log has no TRACE_END, after all jobs seen had ended"
        } else {
            "The last line has no line end, after all jobs seen had ended"
        };
        assert_eq!(end.title, title);
    }
    // An excerpt without any job: nothing is known to be lost.
    let mut excerpt = Daemon::new();
    excerpt.now();
    let said = diagnosis(&excerpt.ends(RunEnd::Cut));
    assert_eq!(only(&said, Code::RunTruncated).severity, Severity::Warning);
    assert_eq!((root(&said), said.exit_code()), (None, 3));
}

#[test]
fn each_run_of_a_file_has_its_own_root_and_counts() {
    let mut first = running().run;
    first.end = RunEnd::Restarted;
    let mut second = healthy(3).runs.remove(0);
    second.index = 1;
    second.first = LineRef::new(0, first.last.line);
    let said = diagnosis(&trace(vec![first, second]));
    assert_eq!(root(&said), Some(Code::RunTruncated));
    assert_eq!(said.runs[0].verdict, Verdict::Truncated);
    assert_eq!(said.runs[1].verdict, Verdict::Verified);
    assert_eq!(said.runs[1].root, None);
    assert!(
        said.summary
            .starts_with("run 0 of 2: the log breaks off at run.log:")
    );
}

#[test]
fn runs_that_are_all_well_are_told_together() {
    let runs = |count: u32| {
        let run = |index| {
            let mut run = healthy(3).runs.remove(0);
            run.index = index;
            run
        };
        diagnosis(&trace((0..count).map(run).collect())).summary
    };
    let one = runs(1);
    let said = |count: u64| one.replace("3 jobs", &format!("{} jobs", 3 * count));
    assert!(
        one.starts_with("no errors, and all ") && one.contains("3 jobs"),
        "{one}"
    );
    for (count, head) in [(2, "both runs: "), (3, "all 3 runs: ")] {
        let found = runs(count);
        let tail = said(u64::from(count));
        let tail = tail.split(" of ").nth(1).unwrap();
        assert!(found.starts_with(head) && found.ends_with(tail), "{found}");
    }
}

#[test]
fn a_partition_that_its_worker_left_behind_is_lost_for_certain() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 5);
    daemon.start(daemon.task(job, 0), 0);
    for partition in 1..4 {
        let task = daemon.task(job, partition);
        daemon.start(task, 0);
        daemon.end(task);
    }
    let said = diagnosis(&daemon.ends(RunEnd::Open));
    assert_eq!(root(&said), Some(Code::SchedNeverEnded));
    assert_eq!(said.exit_code(), 1);
    let lost = of(&said, Code::SchedNeverEnded)[0];
    assert_eq!((lost.partition, lost.worker), (Some(0), Some(0)));
}

#[test]
fn two_later_calls_may_overlap_in_a_split_engine() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 5);
    daemon.start(daemon.task(job, 0), 0);
    for partition in 1..3 {
        let task = daemon.task(job, partition);
        daemon.start(task, 0);
        daemon.end(task);
    }
    let said = diagnosis(&daemon.ends(RunEnd::Open));
    assert_eq!((root(&said), said.exit_code()), (None, 3));
}

#[test]
fn a_cancelled_job_is_neither_failed_nor_open() {
    let mut daemon = Daemon::new();
    let first = daemon.job("a", 2);
    daemon.prove(first);
    daemon.verify(first, true);
    let second = daemon.job("b", 2);
    daemon.close(second, JobOutcome::Cancelled);
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Verified, 0));
    assert_eq!(said.runs[0].jobs.cancelled, 1);
    let parts = said.runs[0].partitions;
    assert_eq!((parts.total, parts.open, parts.cancelled), (4, 0, 2));
    assert_eq!(
        said.summary,
        "no errors, and all 2 partitions of 1 job ended and were verified; 1 job was cancelled"
    );
}

#[test]
fn a_run_of_cancelled_jobs_has_come_to_its_end() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 2);
    daemon.close(job, JobOutcome::Cancelled);
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(
        (said.verdict, said.exit_code()),
        (Verdict::CompleteUnverified, 0)
    );
    assert!(said.summary.contains("the only job was cancelled"));
    assert!(of(&said, Code::RunNoVerification).is_empty());
    assert!(render(&said, &no_analysis()).contains("1 cancelled, 0 open"));
}

#[test]
fn lines_that_hold_no_event_are_told() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 1);
    daemon.prove(job);
    daemon.verify(job, true);
    let lines = (2..5).map(|line| LineRef::new(0, line));
    daemon.run.unread.lines = lines.collect();
    daemon.run.unread.count = 3;
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    let finding = only(&said, Code::RunUnreadEvents);
    assert_eq!((finding.count, finding.severity), (3, Severity::Warning));
    assert_eq!(finding.title, "3 TIMELINE lines cannot be read");
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Verified, 0));
}

#[test]
fn a_process_that_outlives_a_panic_may_leak() {
    let told = |goes_on: u32| {
        let mut daemon = Daemon::new();
        daemon.trouble(TroubleClass::Panic, Some(2), "x: out of memory", None);
        let panic = daemon.run.troubles[0].line.line;
        daemon.run.last.line = panic + goes_on;
        let said = diagnosis(&daemon.ends(RunEnd::Complete));
        only(&said, Code::VramOom).explanation.contains("lived on")
    };
    assert!(told(7) && !told(2));
}

#[test]
fn a_hole_in_the_log_is_no_success() {
    type Hole = (&'static str, fn(&mut Daemon));
    let whole = || {
        let mut daemon = Daemon::new();
        let job = daemon.job("a", 10);
        daemon.prove(job);
        daemon.verify(job, true);
        for task in &mut daemon.run.tasks {
            task.verified = Some(true);
        }
        daemon
    };
    let sound = diagnosis(&whole().ends(RunEnd::Complete));
    assert_eq!((sound.verdict, sound.exit_code()), (Verdict::Verified, 0));
    let holes: [Hole; 4] = [
        ("has 11 partitions, of which 10 ended", |daemon| {
            daemon.run.jobs[0].partitions = Some(11);
        }),
        ("has 10 partitions, of which 9 ended", |daemon| {
            daemon.run.tasks[2].gpu_end = None;
            daemon.run.tasks[2].outcome = Outcome::Proving;
        }),
        ("has 10 partitions, of which 9 ended", |daemon| {
            daemon.run.jobs[0].tasks.truncate(9);
            daemon.run.tasks.truncate(9);
            daemon.run.jobs[0].partitions = None;
            daemon.run.jobs[0].proof_len = Some(1920);
        }),
        ("GPU_END: 10 written, 9 here", |daemon| {
            daemon.run.miscount = Some(Miscount {
                line: daemon.run.last,
                kinds: vec![(EventKind::GpuEnd, 10, 9)],
            });
        }),
    ];
    for (words, hole) in holes {
        let mut daemon = whole();
        hole(&mut daemon);
        let said = diagnosis(&daemon.ends(RunEnd::Complete));
        assert_eq!(
            (said.verdict, said.exit_code()),
            (Verdict::Truncated, 1),
            "{words}"
        );
        assert_eq!(root(&said), Some(Code::RunTruncated), "{words}");
        let told = &only(&said, Code::RunTruncated).explanation;
        assert!(told.contains(words), "{told}");
        assert!(
            said.summary.contains("holds other events"),
            "{}",
            said.summary
        );
    }
}

#[test]
fn announced_partitions_that_never_began_count_as_lost() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 2);
    daemon.run.jobs[0].partitions = Some(4);
    daemon.close(job, JobOutcome::Failed);
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    let counts = said.runs[0].partitions;
    assert_eq!((counts.total, counts.failed), (4, 2));
}

#[test]
fn partitions_that_nobody_checked_are_told_and_are_no_hole() {
    let mut daemon = Daemon::new();
    for name in ["a", "b"] {
        let job = daemon.job(name, 4);
        daemon.prove(job);
    }
    for task in &mut daemon.run.tasks[..2] {
        task.verified = Some(true);
    }
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(
        (said.verdict, said.exit_code()),
        (Verdict::CompleteUnverified, 0)
    );
    assert!(of(&said, Code::RunTruncated).is_empty());
    assert_eq!(
        said.summary,
        "no errors, and all 8 partitions of 2 jobs ended, but only 2 of 8 partitions were verified"
    );
}

#[test]
fn a_lost_job_end_is_a_hole_and_no_cut() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 2);
    daemon.prove(job);
    daemon.run.jobs[0].outcome = JobOutcome::Open;
    daemon.run.miscount = Some(Miscount {
        line: daemon.run.last,
        kinds: vec![(EventKind::JobEnd, 1, 0)],
    });
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(
        (root(&said), said.exit_code()),
        (Some(Code::RunTruncated), 1)
    );
    let title = &only(&said, Code::RunTruncated).title;
    assert_eq!(title, "The log holds other events than it says itself");
    assert!(!said.summary.contains("breaks off"), "{}", said.summary);
    assert!(said.summary.contains("1 of 1 job has no end in it"));
}

#[test]
fn a_trace_without_its_beginning_is_no_success() {
    let headless = || {
        let mut daemon = Daemon::new();
        let job = daemon.job("a", 2);
        daemon.prove(job);
        daemon.verify(job, true);
        daemon.run.lacks_start = true;
        daemon
    };
    let said = diagnosis(&headless().ends(RunEnd::Complete));
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Silent, 3));
    assert!(said.summary.contains("the beginning of the log is missing"));
    let mut counted = headless();
    counted.run.miscount = Some(Miscount {
        line: counted.run.last,
        kinds: vec![(EventKind::TraceStart, 1, 0)],
    });
    let said = diagnosis(&counted.ends(RunEnd::Complete));
    assert_eq!(
        (root(&said), said.exit_code()),
        (Some(Code::RunTruncated), 1)
    );
    assert!(said.summary.contains("the beginning of the log is missing"));
}

#[test]
fn where_no_line_is_missing_the_engine_lost_the_partition() {
    let mut daemon = Daemon::new();
    daemon.run.dialect.name = "own";
    let job = daemon.job("a", 2);
    daemon.prove(job);
    daemon.run.jobs[0].partitions = Some(3);
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(
        (root(&said), said.exit_code()),
        (Some(Code::SchedNeverStarted), 1)
    );
    assert!(of(&said, Code::RunTruncated).is_empty());
}
