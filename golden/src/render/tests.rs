//! The five renderings of the same verdicts.

use super::*;
use crate::Key;
use crate::verdict::{Drift, Exact, Grade, SCHEMA};
use tracefmt::finding::{Code, Confidence, Finding};

fn verdict() -> Verdict {
    let phase = |name: &str, ratio: f64, verdict: Outcome| PhaseVerdict {
        phase: name.to_owned(),
        ratio,
        low: ratio - 0.02,
        high: if ratio > 2.0 {
            f64::INFINITY
        } else {
            ratio + 0.02
        },
        verdict,
        mde: 0.031,
        limit: 0.05,
        short: false,
        gated: true,
        runs_needed: (verdict != Outcome::Inconclusive).then_some(4),
        raw_ratio: ratio,
        baseline_ms: 845.25,
        candidate_ms: 845.25 * ratio,
        p: 0.001,
        suspect: false,
        control: false,
    };
    let mut finding = Finding::new(
        Code::PerfPhaseRegression,
        Severity::Error,
        Confidence::Certain,
        "ntt|msm <h> is slower by 100 %\nand more".to_owned(),
    );
    finding.fix = Some("look".to_owned());
    Verdict {
        schema: SCHEMA,
        outcome: Outcome::Regression,
        evidence: Grade::Sound,
        unverified: true,
        key: Key::default(),
        differs: Vec::new(),
        baseline_runs: 12,
        candidate_runs: 4,
        limit: 0.05,
        phases: vec![
            phase("ntt|msm <h>", 1.061, Outcome::Regression),
            phase("batch_add", 3.0, Outcome::Inconclusive),
            phase("tail", 1.0, Outcome::Pass),
        ],
        machine: Some(Machine {
            ratio: 1.001,
            low: 0.99,
            high: 1.01,
            verdict: Outcome::Pass,
            mde: 0.02,
            control: false,
            shifted: false,
            split: None,
        }),
        exact: vec![Exact {
            name: "vram_peak_bytes".to_owned(),
            baseline: Some(5),
            candidate: None,
            verdict: Outcome::Inconclusive,
        }],
        drift: Vec::new(),
        findings: vec![finding],
    }
}

#[test]
fn the_table() {
    let expected = "\
REGRESSION: something became worse (4 candidate runs against 12 of the golden); \
times of unverified proofs are in it

phase        golden ms  now ms    change      95 % interval  detects           runs  verdict
ntt|msm <h>      845.2   896.8    +6.1 %  +4.1 % .. +8.1 %    3.1 %              4  regression
";
    let text = text(&verdict());
    let words = |t: &str| t.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&text)[..words(expected).len()], words(expected));
    assert!(
        text.contains("\n(changes and intervals are relative to the machine's +0.1 %;"),
        "{text}"
    );
    let table: Vec<&str> = text.lines().skip(2).take(5).collect();
    let at = table[0].find("verdict").unwrap();
    for (row, word) in table[1..]
        .iter()
        .zip(["regression", "inconclusive", "pass", "pass"])
    {
        assert_eq!(row.find(word), Some(at), "{text}");
    }
    assert!(
        text.contains("vram_peak_bytes: 5 -> none  inconclusive"),
        "{text}"
    );
    assert!(text.contains("error[perf.phase_regression]"), "{text}");
}

#[test]
fn a_shift_that_is_not_common_is_taken_out_of_nothing() {
    let mut split = verdict();
    if let Some(machine) = &mut split.machine {
        machine.split = Some((6, 4));
        machine.verdict = Outcome::Inconclusive;
    }
    for text in [text(&split), markdown(&split)] {
        assert!(text.contains("not common, not taken out"), "{text}");
        assert!(!text.contains("relative to the machine"), "{text}");
    }
    assert!(!junit(&split).contains("name=\"machine\""));
    assert!(markdown(&verdict()).contains("relative to the machine's +0.1 %"));
}

#[test]
fn json_has_the_documented_fields() {
    let value: serde_json::Value = serde_json::from_str(&json(&verdict()).unwrap()).unwrap();
    assert_eq!(value["schema"], "cuzk.verdict/1");
    assert_eq!(value["verdict"], "regression");
    assert_eq!(value["baseline_runs"], 12);
    for field in [
        "phase",
        "ratio",
        "low",
        "high",
        "verdict",
        "mde",
        "runs_needed",
    ] {
        assert!(value["phases"][0].get(field).is_some(), "{field}");
    }
    assert!(value["phases"][1]["high"].is_null());
    assert!(value["phases"][1]["runs_needed"].is_null());
    assert_eq!(value["machine"]["low"], 0.99);
    assert_eq!(value["findings"][0]["code"], "perf.phase_regression");
}

#[test]
fn markdown_stays_in_its_cells() {
    let text = markdown(&verdict());
    let row = text.lines().find(|line| line.contains("ntt")).unwrap();
    assert!(row.starts_with("| ntt\\|msm \\<h\\> |"), "{row}");
    assert_eq!(row.replace("\\|", "").matches('|').count(), 9);
    assert!(text.contains("<details><summary>1 more phases"), "{text}");
    assert!(
        text.contains("- **perf.phase_regression** ntt\\|msm"),
        "{text}"
    );
}

#[test]
fn junit_counts_what_is_no_pass() {
    let text = junit(&verdict());
    assert!(
        text.contains("tests=\"6\" failures=\"2\" errors=\"2\""),
        "{text}"
    );
    assert!(text.contains("name=\"phase ntt|msm &lt;h&gt;\""), "{text}");
    assert_eq!(text.matches("<testcase").count(), 6);
    assert!(!text.contains("<h>"));
}

/// A phase that stands `ratio` above its anchor, give or take `reach`.
fn drift(ratio: f64, reach: f64, verdict: Outcome) -> Drift {
    Drift {
        phase: "tail".to_owned(),
        ratio,
        low: ratio - reach,
        high: ratio + reach,
        budget: 1.1,
        verdict,
    }
}

#[test]
fn what_is_not_shown_about_drift_is_not_said() {
    for (ratio, reach, outcome, words) in [
        (
            1.06,
            0.01,
            Outcome::Pass,
            "+6.0 % (+5.0 % .. +7.0 %) of a budget of +10.0 %, within it",
        ),
        (
            1.08,
            0.06,
            Outcome::Pass,
            "of a budget of +10.0 %, not shown to be beyond it",
        ),
        (
            1.14,
            0.12,
            Outcome::Inconclusive,
            "+14.0 % (+2.0 % .. +26.0 %) of a budget of +10.0 %, not shown to be beyond it",
        ),
        (
            1.30,
            0.05,
            Outcome::Regression,
            "of a budget of +10.0 %, beyond it",
        ),
    ] {
        let mut verdict = verdict();
        verdict.drift = vec![drift(ratio, reach, outcome)];
        for text in [text(&verdict), markdown(&verdict)] {
            assert!(text.contains(words), "{text}");
            assert!(!text.contains("within budget"), "{text}");
        }
        let xml = junit(&verdict);
        let case = xml
            .lines()
            .find(|line| line.contains("drift tail"))
            .unwrap();
        assert_eq!(case.contains("<failure"), outcome == Outcome::Regression);
        assert_eq!(case.contains("<error"), outcome == Outcome::Inconclusive);
        let json: serde_json::Value = serde_json::from_str(&json(&verdict).unwrap()).unwrap();
        assert_eq!(json["drift"][0]["high"], ratio + reach);
    }
}

#[test]
fn a_phase_that_is_not_gated_is_no_pass() {
    let mut verdict = verdict();
    verdict.phases[2].gated = false;
    verdict.phases[1].short = true;
    let table = text(&verdict);
    assert!(
        table.contains("not gated") && table.contains("below the clock"),
        "{table}"
    );
    assert!(
        !junit(&verdict).contains("phase tail"),
        "no case says that it passed"
    );
    verdict.phases[2].gated = true;
    verdict.phases[2].limit = 0.12;
    assert!(text(&verdict).contains("pass, limit +12.0 %"));
}

#[test]
fn annotations_are_one_line_each() {
    let text = annotations(&verdict());
    assert_eq!(
        text.lines().next(),
        Some(
            "::notice title=golden::REGRESSION: something became worse (4 candidate runs against \
             12 of the golden); times of unverified proofs are in it"
        )
    );
    assert_eq!(
        text.lines().skip(1).collect::<String>(),
        "::error title=golden%3A perf.phase_regression::ntt|msm <h> is slower by 100 %25%0Aand \
         more (look)"
    );
    let mut silent = verdict();
    silent.findings.clear();
    assert!(annotations(&silent).contains("\n::warning title=golden::REGRESSION"));
}

#[test]
fn what_no_percentage_can_say_is_a_dash() {
    assert_eq!(interval(0.0, f64::INFINITY), "-100.0 % .. -");
    assert_eq!(interval(0.0, 1e307), "-100.0 % .. > +100000 %");
    assert_eq!(percent(f64::INFINITY), "-");
    assert_eq!(change(f64::NAN), "-");
}
