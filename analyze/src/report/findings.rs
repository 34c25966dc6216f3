//! The root cause and the other findings.

use maud::{Markup, html};

use tracefmt::finding::{Confidence, Evidence, Finding, Severity};

/// Findings shown at most; the JSON output has all.
const FINDINGS_MAX: usize = 200;
/// Evidence lines of the root that are not folded.
const EVIDENCE_ROOT: usize = 12;
/// Evidence lines of any other finding that are not folded.
const EVIDENCE_OPEN: usize = 3;
/// Folded evidence lines of one finding at most.
const EVIDENCE_MAX: usize = 50;
/// Characters of an evidence line at most.
const LINE_MAX: usize = 400;

/// The root, if there is one: title, why, proof, what to do.
pub(super) fn root(findings: &[Finding]) -> Markup {
    html! {
        @for (n, finding) in findings.iter().filter(|finding| finding.root).enumerate() {
            section id=(if n == 0 { "cause" } else { &finding.id }) class="card root" {
                p class="eyebrow" { "Root cause " (badge(finding)) }
                h2 { (prose(&finding.title)) }
                (body(finding, findings))
            }
        }
    }
}

/// All others: those with a cause of their own in full, consequences folded.
pub(super) fn others(findings: &[Finding]) -> Markup {
    let shown = || findings.iter().filter(|f| !f.root).take(FINDINGS_MAX);
    let own: Vec<&Finding> = shown().filter(|f| f.caused_by.is_empty()).collect();
    let after: Vec<&Finding> = shown().filter(|f| !f.caused_by.is_empty()).collect();
    let all = findings.iter().filter(|f| !f.root).count();
    html! {
        section id="findings" {
            h2 { "Findings" }
            @if all == 0 {
                p class="quiet" { "Nothing else was found." }
            }
            @for finding in &own { (item(finding, findings)) }
            @if !after.is_empty() {
                details {
                    summary { (consequences(after.len())) }
                    @for finding in &after { (item(finding, findings)) }
                }
            }
            @if all > FINDINGS_MAX {
                p class="quiet" { (all - FINDINGS_MAX) " more are in the JSON output." }
            }
        }
    }
}

fn consequences(count: usize) -> String {
    if count == 1 {
        "1 consequence of the above".to_owned()
    } else {
        format!("{count} consequences of the above")
    }
}

fn item(finding: &Finding, all: &[Finding]) -> Markup {
    html! {
        article class="card" id=(finding.id) {
            p class="eyebrow" { (badge(finding)) }
            h3 { (prose(&finding.title)) }
            (body(finding, all))
        }
    }
}

fn badge(finding: &Finding) -> Markup {
    let (class, word) = match finding.severity {
        Severity::Error => ("error", "error"),
        Severity::Warning => ("warning", "warning"),
        Severity::Info => ("info", "note"),
    };
    let sure = match finding.confidence {
        Confidence::Certain => "certain",
        Confidence::Inferred => "inferred",
        Confidence::Ambiguous => "ambiguous",
    };
    html! {
        span class=(format!("badge {class}")) { (word) } " "
        code { (finding.code) } " "
        span class="quiet" { (sure) }
        @if finding.count > 1 { span class="quiet" { " · " (finding.count) " times" } }
    }
}

fn body(finding: &Finding, all: &[Finding]) -> Markup {
    html! {
        @if !finding.explanation.is_empty() { p { (prose(&finding.explanation)) } }
        (place(finding))
        (evidence(finding))
        @if let Some(fix) = &finding.fix {
            p class="fix" { strong { "What to do: " } (prose(fix)) }
        }
        @if let Some(what_if) = &finding.what_if {
            p {
                strong { "Tried: " } code { (what_if.change) }
                " " (what_if.said())
                ", peak " (super::tables::bytes(what_if.peak_bytes)) "."
            }
        }
        @if let Some(command) = &finding.reproduce {
            pre class="command" { code { (command) } }
        }
        (causes(finding, all))
    }
}

/// What a finding follows from, by title, each a link to where it stands.
fn causes(finding: &Finding, all: &[Finding]) -> Markup {
    let first = all.iter().find(|other| other.root);
    let place = |cause: &Finding| match first {
        Some(first) if first.id == cause.id => "#cause".to_owned(),
        _ => format!("#{}", cause.id),
    };
    let causes = || {
        all.iter()
            .filter(|other| finding.caused_by.contains(&other.id))
    };
    html! {
        @if causes().next().is_some() {
            p class="quiet" {
                "Follows from: "
                @for (n, cause) in causes().enumerate() {
                    @if n > 0 { "; " }
                    a href=(place(cause)) { (prose(&cause.title)) }
                }
                "."
            }
        }
    }
}

fn place(finding: &Finding) -> Markup {
    let mut parts = Vec::new();
    if let Some(run) = finding.run.filter(|run| *run > 0) {
        parts.push(format!("run {run}"));
    }
    if let Some(job) = &finding.job {
        parts.push(format!("job {job}"));
    }
    for (name, value) in [
        ("partition", finding.partition),
        ("worker", finding.worker),
        ("GPU", finding.gpu),
    ] {
        if let Some(value) = value {
            parts.push(format!("{name} {value}"));
        }
    }
    html! {
        @if !parts.is_empty() { p class="place" { (parts.join(" · ")) } }
    }
}

fn evidence(finding: &Finding) -> Markup {
    let lines = finding.evidence.as_slice();
    let open = if finding.root {
        EVIDENCE_ROOT
    } else {
        EVIDENCE_OPEN
    };
    let (shown, folded) = lines.split_at(open.min(lines.len()));
    html! {
        @if !shown.is_empty() { (quoted(shown)) }
        @if !folded.is_empty() {
            details {
                summary { (folded.len()) " more lines of the log" }
                (quoted(folded.get(..EVIDENCE_MAX).unwrap_or(folded)))
            }
        }
    }
}

fn quoted(lines: &[Evidence]) -> Markup {
    html! {
        ol class="evidence" {
            @for line in lines {
                li {
                    span class="where" title=(line.path) { (file(&line.path)) ":" (line.line) }
                    code { (cut(&line.text)) }
                }
            }
        }
    }
}

/// The last part of a path; the whole is in the page's head and in the hover text.
fn file(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Plain words, with what stands between backticks set as code.
fn prose(text: &str) -> Markup {
    html! {
        @for (n, part) in text.split('`').enumerate() {
            @if n % 2 == 1 { code { (part) } } @else { (glued(part)) }
        }
    }
}

/// The text with a blank that does not break between a number and its unit.
fn glued(text: &str) -> String {
    const UNITS: [&str; 9] = ["%", "s", "ms", "min", "h", "KiB", "MiB", "GiB", "bytes"];
    let mut out = String::with_capacity(text.len() + 8);
    let mut number = false;
    for (n, word) in text.split(' ').enumerate() {
        let unit = word.trim_end_matches(['.', ',', ';', ':', ')']);
        if n > 0 {
            let stays = number && UNITS.contains(&unit);
            out.push(if stays { '\u{a0}' } else { ' ' });
        }
        out.push_str(word);
        number = word.ends_with(|c: char| c.is_ascii_digit());
    }
    out
}

fn cut(text: &str) -> String {
    let clean = |c: char| {
        if c.is_control() && c != '\t' {
            '\u{fffd}'
        } else {
            c
        }
    };
    let mut out: String = text.chars().map(clean).take(LINE_MAX).collect();
    if text.chars().nth(LINE_MAX).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_stays_with_its_number() {
        for (text, want) in [
            ("after 3.4 s. Then", "after 3.4\u{a0}s. Then"),
            (
                "16384 MiB are in use: 5 %",
                "16384\u{a0}MiB are in use: 5\u{a0}%",
            ),
            ("worker 0 still", "worker 0 still"),
            ("a s", "a s"),
            ("", ""),
        ] {
            assert_eq!(glued(text), want);
        }
    }

    #[test]
    fn words_between_backticks_are_code_and_all_is_escaped() {
        let page = prose("a `b<c>` d & e").into_string();
        assert_eq!(page, "a <code>b&lt;c&gt;</code> d &amp; e");
        assert_eq!(file("/var/log/run.log"), "run.log");
        assert_eq!(file("-"), "-");
    }

    #[test]
    fn long_lines_are_cut_and_control_characters_replaced() {
        assert_eq!(cut("a\u{1b}[2m\tb"), "a\u{fffd}[2m\tb");
        let long = cut(&"é".repeat(500));
        assert_eq!(long.chars().count(), LINE_MAX + 1);
        assert!(long.ends_with('…'));
    }
}
