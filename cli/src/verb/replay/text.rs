//! A replay in words.

use replay::report::{Changed, Report, Verdict};
use tracefmt::finding::{Code, Finding, Severity};

use super::orders;
use super::source::Of;
use crate::output::put;

/// What `cuzk replay` prints: of each run the numbers, findings, changed rules, exploration. `runs`
/// is how many the log holds.
pub(super) fn all(done: &[(Of, Report)], runs: usize) -> String {
    let mut text = String::new();
    for (at, (of, report)) in done.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        if let Some(run) = of.log.as_ref().filter(|_| runs > 1) {
            let (index, (first, last)) = (run.index, run.lines);
            put(
                &mut text,
                format_args!("run {index} of {runs}, lines {first} to {last}: "),
            );
        }
        text.push_str(&render(of, report));
    }
    text
}

fn render(of: &Of, report: &Report) -> String {
    let mut text = headline(report);
    text.push_str("\n\n");
    let source = report.profile.as_ref().map_or_else(
        || "recorded".to_owned(),
        |profile| format!("rebuilt with the lifecycle of {profile}"),
    );
    put(
        &mut text,
        format_args!("  schedule   {} ops, {source}\n", report.steps),
    );
    if let Some(step) = report.first_failure {
        put(
            &mut text,
            format_args!(
                "  judged     up to its first failure, step {step}; {}\n",
                rest(report)
            ),
        );
    }
    for assumed in &of.assumed {
        put(&mut text, format_args!("             assumed: {assumed}\n"));
    }
    let (capacity, baseline) = (mib(report.capacity), mib(report.baseline));
    put(
        &mut text,
        format_args!("  card       {capacity}, {baseline} in use by others\n"),
    );
    put(&mut text, format_args!("  driver     {}\n", report.driver));
    let peak = mib(report.peak_bytes);
    put(
        &mut text,
        format_args!(
            "  peak       {peak} after step {}{}\n",
            report.peak_step,
            op(of, report.peak_step)
        ),
    );
    text.push_str(&smallest(of, report));
    if report.truth.checked > 0 {
        let truth = &report.truth;
        put(
            &mut text,
            format_args!(
                "  truth      {} steps recorded: code right at {}, code and free bytes at {}\n",
                truth.checked, truth.rc_agree, truth.agree
            ),
        );
    }
    text.push_str(&listed(&report.findings));
    text.push_str(&changed(&report.what_if));
    if let Some(explored) = &report.explored {
        text.push_str(&orders::render(&of.schedule, report, explored));
    }
    text
}

/// The verdict in a line; it never says better or worse than the exit code.
fn headline(report: &Report) -> String {
    let seen = report.failed_allocations - report.unseen_failures;
    let failures = match (seen, report.unseen_failures) {
        (0, 0) => "no allocation fails".to_owned(),
        (seen, 0) => failing(seen),
        (0, unseen) => format!("{} unseen", failing(unseen)),
        (seen, unseen) => format!("{}, {unseen} more unseen", failing(seen)),
    };
    match report.verdict {
        Verdict::Passes if report.unread_lines > 0 => format!(
            "UNDECIDED: {failures}, but {} could not be read",
            lines(report.unread_lines)
        ),
        Verdict::Passes if report.undecided > 0 => {
            format!("UNDECIDED: {failures}, but the search for circles of locks was cut off")
        }
        Verdict::Unrecorded => format!(
            "UNDECIDED: {failures}, but the run was not recorded beyond {} that failed in it",
            ops(report.unrecorded)
        ),
        Verdict::Passes if report.ran == 0 => "UNDECIDED: there is nothing to replay".to_owned(),
        Verdict::Passes if report.fell_back > 0 => format!(
            "PASSES: {}, after which a smaller plan was taken",
            failing(report.fell_back)
        ),
        Verdict::Passes => format!("PASSES: {failures}"),
        Verdict::Truncated if report.unseen_failures > 0 => {
            format!("TRUNCATED: up to the end of the log {failures} (inferred)")
        }
        Verdict::Truncated => format!("TRUNCATED: up to the end of the log {failures}"),
        Verdict::FailsUnseen => format!("NO FAILURE IS SEEN, but {failures} (inferred)"),
        Verdict::Fails if report.failed_allocations > 0 => format!("FAILS: {failures}"),
        Verdict::Fails => {
            let errors = report.findings.iter();
            let errors = errors.filter(|finding| finding.severity == Severity::Error);
            match errors.count() {
                0 => "FAILS in another order than the recorded one".to_owned(),
                1 => "FAILS: 1 error, though no allocation fails".to_owned(),
                n => format!("FAILS: {n} errors, though no allocation fails"),
            }
        }
    }
}

fn ops(count: u64) -> String {
    match count {
        1 => "1 op".to_owned(),
        n => format!("{n} ops"),
    }
}

fn lines(count: u64) -> String {
    match count {
        1 => "1 line".to_owned(),
        n => format!("{n} lines"),
    }
}

pub(super) fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// What was done with the steps behind the first failure of a long schedule.
fn rest(report: &Report) -> String {
    match report.left_out {
        0 => "what follows it was judged too".to_owned(),
        n => format!(
            "{} behind it left out (--min-vram and --what-if judge all)",
            ops(n)
        ),
    }
}

/// What a step is, behind its number; nothing where the schedule was not kept.
fn op(of: &Of, step: u64) -> String {
    let at = usize::try_from(step).ok();
    let op = at.map(|at| orders::op_at(&of.schedule, at));
    let op = op.filter(|op| !op.is_empty());
    op.map_or_else(String::new, |op| format!(", {op}"))
}

fn smallest(of: &Of, report: &Report) -> String {
    let mut text = String::new();
    match (report.min_vram_bytes.map(mib), report.min_vram_unrecorded) {
        (Some(card), None) => put(
            &mut text,
            format_args!("  smallest   {card} card passes with this schedule as it is\n"),
        ),
        (Some(card), Some(step)) => put(
            &mut text,
            format_args!(
                "  smallest   at least {card}; what comes after step {step}{} is not recorded\n",
                op(of, step)
            ),
        ),
        (None, _) => {}
    }
    if let Some(binding) = &report.binding {
        let live: Vec<String> = binding
            .live
            .iter()
            .map(|buffer| {
                format!(
                    "{} of worker {} {}",
                    buffer.buf,
                    buffer.worker,
                    mib(buffer.bytes)
                )
            })
            .collect();
        let live = live.join(", ");
        put(
            &mut text,
            format_args!(
                "             bound by step {}{}: {live}\n",
                binding.step,
                op(of, binding.step)
            ),
        );
    }
    text
}

/// The findings, the root before the others; of those that differ in worker and partition only,
/// the first or the root, and how many more there are.
fn listed(findings: &[Finding]) -> String {
    let mut kinds: Vec<((Code, Severity, String), &Finding, usize)> = Vec::new();
    for finding in findings {
        let words: String = finding
            .title
            .chars()
            .filter(|c| !c.is_ascii_digit())
            .collect();
        let kind = (finding.code, finding.severity, words);
        match kinds.iter_mut().find(|(known, ..)| *known == kind) {
            Some((_, first, more)) => {
                *more += 1;
                if finding.root {
                    *first = finding;
                }
            }
            None => kinds.push((kind, finding, 0)),
        }
    }
    kinds.sort_by_key(|(_, finding, _)| !finding.root);
    let mut text = String::new();
    for (_, finding, more) in kinds {
        text.push_str(&one(finding));
        if more > 0 {
            put(&mut text, format_args!("  and {more} more like it\n"));
        }
    }
    text
}

fn one(finding: &Finding) -> String {
    let severity = super::super::words::severity(finding.severity);
    let root = if finding.root { "ROOT " } else { "" };
    let mut text = String::new();
    let sure = super::super::words::confidence(finding.confidence);
    put(
        &mut text,
        format_args!(
            "\n{root}{severity}: {}  [{}, {sure}]\n",
            finding.title, finding.code
        ),
    );
    put(&mut text, format_args!("  {}\n", finding.explanation));
    for evidence in finding.evidence.iter().take(3) {
        put(
            &mut text,
            format_args!(
                "    {}:{}: {}\n",
                evidence.path, evidence.line, evidence.text
            ),
        );
    }
    if let Some(what_if) = &finding.what_if {
        let verdict = what_if.said();
        let (change, peak) = (&what_if.change, mib(what_if.peak_bytes));
        put(
            &mut text,
            format_args!("  what if    {change}: {verdict}, peak {peak}\n"),
        );
    }
    if let Some(fix) = &finding.fix {
        put(&mut text, format_args!("  next       {fix}\n"));
    }
    text
}

fn failing(allocations: u64) -> String {
    match allocations {
        1 => "1 allocation fails".to_owned(),
        n => format!("{n} allocations fail"),
    }
}

fn changed(verdicts: &[Changed]) -> String {
    let mut text = String::new();
    if !verdicts.is_empty() {
        text.push_str("\nwhat if\n");
    }
    for one in verdicts {
        let verdict = if one.passes {
            "passes".to_owned()
        } else if one.failed_allocations == 0 && one.host_errors > 0 {
            "no allocation fails, but host memory cannot be pinned".to_owned()
        } else if one.failed_allocations == 0 {
            "no allocation fails as far as the run was recorded".to_owned()
        } else if one.unseen_failures == one.failed_allocations {
            format!(
                "no failure is seen, {} unseen",
                failing(one.failed_allocations)
            )
        } else if one.unseen_failures > 0 {
            let (all, unseen) = (failing(one.failed_allocations), one.unseen_failures);
            format!("{all}, {unseen} of them unseen")
        } else {
            failing(one.failed_allocations)
        };
        let nothing = if one.changes_nothing {
            " (changes nothing here)"
        } else {
            ""
        };
        let (change, peak) = (&one.change, mib(one.peak_bytes));
        put(
            &mut text,
            format_args!("  {change:<40} {verdict}, peak {peak}{nothing}\n"),
        );
    }
    text
}
