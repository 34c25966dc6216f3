//! A replay in words.

use replay::explore::Bound;
use replay::report::{Changed, Explored, Outcome, Report, Verdict};
use tracefmt::finding::{Code, Finding, Severity};

use super::source::Of;
use crate::output::put;

/// What `cuzk replay` prints: the run in numbers, findings, changed rules, exploration.
pub(super) fn render(of: &Of, report: &Report) -> String {
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
        format_args!("  peak       {peak} after step {}\n", report.peak_step),
    );
    text.push_str(&smallest(report));
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
    let orders = |explored: &Explored| orders(report, explored);
    text.push_str(&report.explored.as_ref().map(orders).unwrap_or_default());
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
        Verdict::Passes => format!("PASSES: {failures}"),
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

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

fn smallest(report: &Report) -> String {
    let mut text = String::new();
    if let Some(bytes) = report.min_vram_bytes {
        put(
            &mut text,
            format_args!("  smallest   {} card passes as it is\n", mib(bytes)),
        );
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
            format_args!("             bound by step {}: {live}\n", binding.step),
        );
    }
    text
}

/// The findings; of those that differ in worker and partition only, the first or the root, and
/// how many more there are.
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
        let verdict = if what_if.passes {
            "passes"
        } else {
            "still fails"
        };
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
        let (change, peak) = (&one.change, mib(one.peak_bytes));
        put(
            &mut text,
            format_args!("  {change:<40} {verdict}, peak {peak}\n"),
        );
    }
    text
}

fn orders(report: &Report, found: &Explored) -> String {
    let mut text = String::new();
    let all = match found.bound {
        None => "all there are",
        Some(Bound::States) => "not all: the bound on states was reached, --states-max",
        Some(Bound::Memory) => "not all: the bound on memory was reached, --memory-max",
    };
    put(
        &mut text,
        format_args!("\nexplored {} states ({all})\n", found.states),
    );
    let every = if found.complete {
        "every order"
    } else {
        "every order seen so far"
    };
    let verdict = match found.outcomes.as_slice() {
        [Outcome::Passes] => format!("{every} passes"),
        [Outcome::Fails] => format!("{every} fails"),
        [Outcome::Stuck] => format!("{every} gets stuck"),
        [] => "no order came to an end yet".to_owned(),
        _ => "it depends on the order".to_owned(),
    };
    put(&mut text, format_args!("  {verdict}\n"));
    for (what, order) in [
        ("fails", &report.failing_order),
        ("gets stuck", &report.stuck_order),
    ] {
        let Some(order) = order else { continue };
        let steps: Vec<String> = order.iter().map(usize::to_string).collect();
        let steps = steps.join(" ");
        put(
            &mut text,
            format_args!("  shortest order that {what}, by step: {steps}\n"),
        );
    }
    text
}
