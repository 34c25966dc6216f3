//! A replay in words.

use replay::explore::Exploration;
use replay::report::Report;
use tracefmt::finding::Finding;

use super::WhatIf;
use super::source::Of;
use crate::output::put;

/// What `cuzk replay` prints: the run in numbers, findings, changed rules, exploration.
pub(super) fn render(
    of: &Of,
    report: &Report,
    explored: Option<&Exploration>,
    verdicts: &[WhatIf],
) -> String {
    let mut text = String::new();
    let verdict = if report.failed_allocations == 0 {
        "PASSES: no allocation fails".to_owned()
    } else {
        format!("FAILS: {}", failing(report.failed_allocations))
    };
    put(&mut text, format_args!("{verdict}\n\n"));
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
    for finding in &report.findings {
        text.push_str(&one(finding));
    }
    text.push_str(&changed(verdicts));
    text.push_str(&explored.map(orders).unwrap_or_default());
    text
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

fn changed(verdicts: &[WhatIf]) -> String {
    let mut text = String::new();
    if !verdicts.is_empty() {
        text.push_str("\nwhat if\n");
    }
    for one in verdicts {
        let verdict = if one.passes {
            "passes".to_owned()
        } else {
            failing(one.failed as u64)
        };
        let (change, peak) = (&one.change, mib(one.peak_bytes));
        put(
            &mut text,
            format_args!("  {change:<40} {verdict}, peak {peak}\n"),
        );
    }
    text
}

fn orders(found: &Exploration) -> String {
    let mut text = String::new();
    let all = if found.complete {
        "all"
    } else {
        "not all, the bound was reached"
    };
    put(
        &mut text,
        format_args!("\nexplored {} states ({all})\n", found.states),
    );
    let steps = |order: &[usize]| {
        order
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    match (&found.failing, &found.stuck) {
        (Some(order), _) => put(
            &mut text,
            format_args!("  shortest order that fails, by step: {}\n", steps(order)),
        ),
        (None, Some(order)) => put(
            &mut text,
            format_args!(
                "  shortest order that gets stuck, by step: {}\n",
                steps(order)
            ),
        ),
        (None, None) if found.complete => text.push_str("  no order fails\n"),
        (None, None) => text.push_str("  no order seen so far fails\n"),
    }
    text
}
