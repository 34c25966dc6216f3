//! The text report of hand-built runs.

use tracefmt::finding::{Code, Confidence, Finding, Severity};
use tracefmt::run::{RunEnd, TroubleClass as Class};

use super::super::testing::{Daemon, diagnosis, no_analysis, trace};
use super::super::{Verdict, render};
use crate::model::{GpuTime, IdleByCause};

fn died() -> Daemon {
    let mut daemon = Daemon::new();
    for name in ["porep-1000-7", "porep-1000-8"] {
        let job = daemon.job(name, 10);
        let task = daemon.task(job, 0);
        daemon.start(task, 0);
        daemon.trouble(
            Class::Fallback,
            Some(2),
            "CUZK_TIMING: prestage_setup=fallback err=2",
            None,
        );
        daemon.die(
            task,
            Some(2),
            &format!("failed: \"out of memory\" {}", "x".repeat(300)),
        );
    }
    daemon
}

#[test]
fn a_typical_failure_fits_on_a_screen_with_the_verdict_first() {
    let trace = died().ends(RunEnd::Complete);
    let mut analysis = no_analysis();
    analysis.gpus.push(GpuTime {
        run: 0,
        gpu: 0,
        span_start_ms: 0.0,
        span_ms: 10_000.0,
        busy_interval_ms: 9_000.0,
        busy_hold_ms: 5_000.0,
        busy_kernel_ms: 4_000.0,
        utilisation_interval: 0.9,
        utilisation_hold: 0.5,
        utilisation_kernel: 0.4,
        idle: Vec::new(),
        idle_left_out: 0,
        idle_no_job_ms: 0.0,
        holds_without_call: 0,
        idle_by_cause_ms: IdleByCause {
            fill: 1_000.0,
            synthesis_starved: 5_000.0,
            ..IdleByCause::default()
        },
        idle_hold_by_cause_ms: IdleByCause::default(),
    });
    let text = render(&diagnosis(&trace), &analysis);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("FAILED: 2 of 2 jobs failed, 20 of 20 partitions lost; first"));
    assert!(lines.len() <= 40, "{} lines:\n{text}", lines.len());
    for line in &lines {
        assert!(
            line.chars().count() <= 160 && !line.ends_with(' '),
            "{line}"
        );
    }
    let order = [
        "ROOT CAUSE: Out of device memory: 2 allocations failed  [vram.oom]",
        "33: CUZK_TIMING: prestage_setup=fallback err=2",
        "Next: ",
        "Followed from it:",
        "18 partitions picked up and never started  [sched.never_started]",
        "Also found:",
        "warning: No proof was verified",
        "kernels ran 40.0 % of 10.0 s, a partition was on it 90.0 %; idle 6.0 s: \
         synthesis_starved 5.0 s",
        "Runs:",
        "phase9-v1, jobs 0 of 2 ok, 2 failed, 0 open, 0 verified; partitions 0 ok, 20 failed, 0 \
         open;          lines 1-",
    ];
    // Wrapped lines are joined before they are looked for.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut from = 0;
    for words in order {
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = flat.get(from..).and_then(|rest| rest.find(&words));
        from += found.unwrap_or_else(|| panic!("{words:?} is missing or out of order in\n{text}"));
    }
}

#[test]
fn a_healthy_run_takes_few_lines() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 10);
    daemon.prove(job);
    daemon.verify(job, true);
    let text = render(&diagnosis(&daemon.ends(RunEnd::Complete)), &no_analysis());
    let first = "VERIFIED: no errors, and all 10 partitions of 1 job ended and were verified.\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.lines().count() <= 5, "{text}");
}

#[test]
fn a_run_that_is_only_slower_does_not_begin_with_its_verdict() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 10);
    daemon.prove(job);
    daemon.verify(job, true);
    let mut made = diagnosis(&daemon.ends(RunEnd::Complete));
    let mut slower = Finding::new(
        Code::PerfPhaseRegression,
        Severity::Error,
        Confidence::Inferred,
        "Phase batch_add is 9 % slower".to_owned(),
    );
    slower.id = "f9".to_owned();
    made.findings.push(slower);
    assert!(render(&made, &no_analysis()).starts_with("SLOWER, VERIFIED: "));
    made.verdict = Verdict::Failed;
    assert!(render(&made, &no_analysis()).starts_with("FAILED: "));
}

#[test]
fn the_code_of_a_finding_is_never_cut() {
    let mut made = diagnosis(&died().ends(RunEnd::Complete));
    for finding in &mut made.findings {
        finding.title = "long ".repeat(60);
    }
    let text = render(&made, &no_analysis());
    let told: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("long long"))
        .collect();
    assert!(told.len() > 2, "{text}");
    for line in told.iter().filter(|line| !line.starts_with("ROOT CAUSE")) {
        assert!(line.ends_with(']') && line.contains("  ["), "{line}");
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn many_runs_and_findings_are_folded() {
    let runs = (0..30).map(|index| {
        let mut run = died().run;
        run.index = index;
        run
    });
    let text = render(&diagnosis(&trace(runs.collect())), &no_analysis());
    assert!(
        text.contains("more findings; --format json has all"),
        "{text}"
    );
    assert!(text.contains("... and 18 more\n"), "{text}");
    assert!(text.lines().count() < 90, "{} lines", text.lines().count());
}

#[test]
fn nothing_at_all_still_says_something() {
    let text = render(&diagnosis(&trace(Vec::new())), &no_analysis());
    assert!(text.starts_with("INCONCLUSIVE: no errors seen, but nothing of an engine's run"));
}
