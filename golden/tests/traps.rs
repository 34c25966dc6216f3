//! Silent passes: inputs that say nothing, or say something wrong, and must never come out as a
//! pass. Each case bends an otherwise good candidate (or golden) in one way; the unbent one
//! passes, so that the table cannot hold by refusing everything.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helpers may fail loudly"
)]

use std::collections::BTreeMap;

use golden::evidence::{Evidence, Rules};
use golden::gate::{Options, judge};
use golden::samples::{Format, Run, Samples, Times, read_jsonl, write_jsonl};
use golden::snapshot::Snapshot;
use golden::verdict::{Grade, Inconclusive, Outcome, Verdict};
use golden::{Key, stats};
use tracefmt::finding::Code;

/// Deterministic noise in -1..1.
fn noise(seed: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^= z >> 27;
    (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn key() -> Key {
    Key {
        circuit: Some("porep-32g".to_owned()),
        domain: Some(1 << 27),
        constraints: Some(130_278_869),
        partitions: Some(10),
        gpu: Some("H200".to_owned()),
        driver: Some("580.65".to_owned()),
        ..Key::default()
    }
}

/// Runs of 8 phases of 20 partitions, 1 % noise between and within runs.
fn runs(letter: &str, count: u64) -> Vec<Run> {
    (0..count)
        .map(|at| {
            let mut run = Run::new(&format!("{letter}{at}"));
            let salt = letter.bytes().map(u64::from).sum::<u64>() * 1_000 + at;
            for phase in 0..8_u64 {
                let level = 200.0 * (phase + 1) as f64;
                let own = 0.005 * noise(salt * 64 + phase);
                let ms = (0..20)
                    .map(|i| level * (1.0 + own + 0.01 * noise(salt * 4096 + phase * 64 + i)))
                    .collect();
                let times = Times {
                    partitions: 10,
                    ..Times::of_verified(ms)
                };
                run.phases.insert(format!("phase{phase}"), times);
            }
            run.exact
                .insert("vram_peak_bytes".to_owned(), 14_000_000_000);
            run
        })
        .collect()
}

fn samples(letter: &str, count: u64) -> Samples {
    Samples {
        key: key(),
        runs: runs(letter, count),
        ..Samples::default()
    }
}

fn snapshot(set: &Samples) -> Snapshot {
    Snapshot::candidate(&Evidence::of(set, Rules::default()))
}

fn golden() -> Snapshot {
    snapshot(&samples("base", 8))
}

fn check(golden: Option<&Snapshot>, candidate: &Samples) -> Verdict {
    let options = Options::default();
    judge(golden, &Evidence::of(candidate, options.rules), &options)
}

/// Changes all times of a phase in all runs; `*` stands for all phases.
fn times(set: &mut Samples, phase: &str, change: impl Fn(usize, f64) -> f64) {
    for run in &mut set.runs {
        for (name, times) in &mut run.phases {
            if phase == "*" || name == phase {
                for (at, ms) in times.ms.iter_mut().enumerate() {
                    *ms = change(at, *ms);
                }
            }
        }
    }
}

fn each(set: &mut Samples, change: impl Fn(&mut Times)) {
    set.runs
        .iter_mut()
        .flat_map(|run| run.phases.values_mut())
        .for_each(change);
}

fn each_run(set: &mut Samples, change: impl Fn(&mut Run)) {
    set.runs.iter_mut().for_each(change);
}

fn cut(times: &mut Times, keep: usize) {
    times.ms.truncate(keep);
    times.verified.truncate(keep);
}

/// Gives the times of a phase another name, or both names.
fn rename(set: &mut Samples, from: &str, to: &str, keep: bool) {
    for run in &mut set.runs {
        let times = run.phases.get(from).cloned().unwrap_or_default();
        run.phases.insert(to.to_owned(), times);
        if !keep {
            run.phases.remove(from);
        }
    }
}

/// Through the text form, cut or bent on the way.
fn through_text(set: &mut Samples, bend: impl Fn(&str) -> String) {
    let mut bytes = Vec::new();
    write_jsonl(set, &mut bytes).expect("a Vec takes any bytes");
    let text = String::from_utf8_lossy(&bytes);
    *set = read_jsonl(bend(&text).as_bytes()).expect("a slice does not break off");
}

/// Every second run 30 % slower, the others 20 % faster.
fn wild(set: &mut Samples, phase: &str) {
    for (at, run) in set.runs.iter_mut().enumerate() {
        let factor = if at % 2 == 0 { 1.3 } else { 0.8 };
        if let Some(times) = run.phases.get_mut(phase) {
            times.ms.iter_mut().for_each(|ms| *ms *= factor);
        }
    }
}

/// Bends the inputs in the way of the trap and says which verdict is right.
fn bend_times(trap: &str, c: &mut Samples) -> Option<Outcome> {
    let every =
        |n: usize, bad: f64| move |at: usize, ms: f64| if at.is_multiple_of(n) { bad } else { ms };
    match trap {
        "constant times in a phase" => times(c, "phase2", |_, _| 600.0),
        "constant times everywhere" => times(c, "*", |_, _| 845.0),
        "NaN in a phase" => times(c, "phase2", every(7, f64::NAN)),
        "all NaN" => times(c, "*", |_, _| f64::NAN),
        "an infinite time" => times(c, "phase2", every(15, f64::INFINITY)),
        "zeros in a phase" => times(c, "phase2", every(3, 0.0)),
        "a phase of zeros" => times(c, "phase2", |_, _| 0.0),
        "all zeros" => times(c, "*", |_, _| 0.0),
        "a clock that goes backwards" => times(c, "phase2", every(5, -600.0)),
        "a gain of 40 %" => times(c, "phase4", |_, ms| ms * 0.6),
        "everything 40 % faster" => times(c, "*", |_, ms| ms * 0.6),
        "everything in seconds" => times(c, "*", |_, ms| ms * 1e-3),
        "everything 10 % slower" => times(c, "*", |_, ms| ms * 1.1),
        "noise that hides anything" => wild(c, "phase5"),
        "one phase 10 % slower" => {
            times(c, "phase4", |_, ms| ms * 1.1);
            return Some(Outcome::Regression);
        }
        "one phase 40 % faster, one 10 % slower" => {
            times(c, "phase1", |_, ms| ms * 0.6);
            times(c, "phase4", |_, ms| ms * 1.1);
            return Some(Outcome::Regression);
        }
        _ => return None,
    }
    Some(Outcome::Inconclusive)
}

fn bend_runs(trap: &str, g: &mut Snapshot, c: &mut Samples) -> Option<Outcome> {
    match trap {
        "injected faults" => each_run(c, |run| run.injected = Some("slow:ntt:1.01".to_owned())),
        "injected faults in one run" => c.runs[0].injected = Some("leak-on-error".to_owned()),
        // 0.3 ms and 0.9 ms are both a zero to a clock of milliseconds, but for a few.
        "a phase under a tick, three times as long" => (*g, *c) = coarse(),
        "no runs" => c.runs.clear(),
        "runs without phases" => c.runs.iter_mut().for_each(|run| run.phases.clear()),
        "phases without times" => each(c, |times| *times = Times::default()),
        "a phase is missing" => c.runs.iter_mut().for_each(|run| cut_phase(run, "phase3")),
        "a phase is missing in one run" => cut_phase(&mut c.runs[1], "phase3"),
        "a phase is new" => rename(c, "phase0", "new", true),
        "a phase is renamed" => rename(c, "phase0", "zero", false),
        "one run" => c.runs.truncate(1),
        "one run in the golden" => *g = snapshot(&samples("base", 1)),
        "no runs in the golden" => {
            g.phases = BTreeMap::new();
            g.runs.clear();
        }
        "half of the samples" => each(c, |times| cut(times, 10)),
        "other sample counts without partitions" => {
            g.phases.values_mut().for_each(|phase| phase.partitions = 0);
            each(c, |times| times.partitions = 0);
            each(c, |times| cut(times, 18));
        }
        "all runs failed" => c.runs.iter_mut().for_each(|run| run.complete = false),
        "one run failed" => c.runs[2].complete = false,
        "unverified" => each(c, |times| times.verified.fill(false)),
        "one run unverified" => {
            c.runs[0]
                .phases
                .values_mut()
                .for_each(|times| times.verified.fill(false));
        }
        "most partitions unverified" => each(c, |times| times.verified[5..].fill(false)),
        "a cut log" => through_text(c, |text| text.chars().take(text.len() / 2).collect()),
        "a line that is no JSON" => through_text(c, |text| text.replacen("\"ms\":", "\"ms\":x", 1)),
        "a time that is null" => {
            through_text(c, |text| text.replacen("ms\":", "ms\":null,\"x\":", 1));
        }
        "a run given twice" => {
            let again = Run {
                id: "again".to_owned(),
                ..c.runs[0].clone()
            };
            c.runs.push(again);
        }
        "one run given six times" => {
            let first = c.runs[0].clone();
            c.runs = (0..6)
                .map(|at| Run {
                    id: format!("c{at}"),
                    ..first.clone()
                })
                .collect();
        }
        "the golden's own runs" => c.runs = runs("base", 6),
        _ => return None,
    }
    Some(Outcome::Inconclusive)
}

fn cut_phase(run: &mut Run, phase: &str) {
    run.phases.remove(phase);
}

fn bend_key(trap: &str, c: &mut Samples) -> Option<Outcome> {
    match trap {
        "nothing at all" => *c = Samples::default(),
        "another GPU" => c.key.gpu = Some("A100".to_owned()),
        "another driver" => c.key.driver = Some("590.1".to_owned()),
        "an unknown GPU" => c.key.gpu = None,
        "a field that only the candidate knows" => c.key.cpu = Some("x".to_owned()),
        "another domain" => c.key.domain = Some(1 << 26),
        "other partitions in the key" => c.key.partitions = Some(16),
        "other partitions as measured" => each(c, |times| times.partitions = 5),
        _ => return None,
    }
    Some(Outcome::NotComparable)
}

fn bend_exact(trap: &str, c: &mut Samples) -> Option<Outcome> {
    let exact = |c: &mut Samples, change: fn(u64) -> u64| {
        for value in c.runs.iter_mut().flat_map(|run| run.exact.values_mut()) {
            *value = change(*value);
        }
    };
    match trap {
        "a byte more at the peak" => {
            exact(c, |bytes| bytes + 1);
            return Some(Outcome::Regression);
        }
        "a byte more at the peak of one run" => {
            c.runs[1].exact.values_mut().for_each(|bytes| *bytes += 1);
            return Some(Outcome::Regression);
        }
        "a byte less at the peak" => exact(c, |bytes| bytes - 1),
        "no peak measured" => c.runs.iter_mut().for_each(|run| run.exact.clear()),
        "a new exact figure" => {
            c.runs[0].exact.insert("launches".to_owned(), 4);
        }
        _ => return None,
    }
    Some(Outcome::Inconclusive)
}

/// Every trap by name.
const TRAPS: &[&str] = &[
    "constant times in a phase",
    "constant times everywhere",
    "NaN in a phase",
    "all NaN",
    "an infinite time",
    "zeros in a phase",
    "a phase of zeros",
    "all zeros",
    "a clock that goes backwards",
    "a phase under a tick, three times as long",
    "a gain of 40 %",
    "everything 40 % faster",
    "everything in seconds",
    "everything 10 % slower",
    "noise that hides anything",
    "one phase 10 % slower",
    "one phase 40 % faster, one 10 % slower",
    "injected faults",
    "injected faults in one run",
    "no runs",
    "runs without phases",
    "phases without times",
    "a phase is missing",
    "a phase is missing in one run",
    "a phase is new",
    "a phase is renamed",
    "one run",
    "one run in the golden",
    "no runs in the golden",
    "half of the samples",
    "other sample counts without partitions",
    "all runs failed",
    "one run failed",
    "unverified",
    "one run unverified",
    "most partitions unverified",
    "a cut log",
    "a line that is no JSON",
    "a time that is null",
    "a run given twice",
    "one run given six times",
    "the golden's own runs",
    "nothing at all",
    "another GPU",
    "another driver",
    "an unknown GPU",
    "a field that only the candidate knows",
    "another domain",
    "other partitions in the key",
    "other partitions as measured",
    "a byte more at the peak",
    "a byte more at the peak of one run",
    "a byte less at the peak",
    "no peak measured",
    "a new exact figure",
];

fn bend(trap: &str, g: &mut Snapshot, c: &mut Samples) -> Outcome {
    bend_times(trap, c)
        .or_else(|| bend_runs(trap, g, c))
        .or_else(|| bend_key(trap, c))
        .or_else(|| bend_exact(trap, c))
        .unwrap_or_else(|| panic!("no trap is called {trap}"))
}

#[test]
fn the_unbent_inputs_pass() {
    let verdict = check(Some(&golden()), &samples("cand", 6));
    assert_eq!(verdict.outcome, Outcome::Pass, "{:#?}", verdict.findings);
    assert_eq!(verdict.exit_code(Inconclusive::Fail), 0);
}

/// With one or two phases medians agree by chance, but not all of them.
#[test]
fn the_goldens_own_runs_are_known_by_few_phases_too() {
    let only = |mut set: Samples, phases: usize| {
        for run in &mut set.runs {
            let keep: Vec<_> = run.phases.keys().take(phases).cloned().collect();
            run.phases.retain(|name, _| keep.contains(name));
        }
        set
    };
    for phases in 1..4 {
        let golden = snapshot(&only(samples("base", 8), phases));
        let verdict = |set: Samples| check(Some(&golden), &only(set, phases));
        let copied = |verdict: &Verdict| {
            let codes = verdict.findings.iter().map(|finding| finding.code);
            codes.filter(|code| *code == Code::GateCopiedRun).count()
        };
        let own = verdict(samples("base", 6));
        assert_eq!((own.outcome, copied(&own)), (Outcome::Inconclusive, 6));
        let fresh = verdict(samples("cand", 6));
        assert_eq!((fresh.outcome, copied(&fresh)), (Outcome::Pass, 0));
        let mut one = samples("cand", 6);
        one.runs[2] = samples("base", 1).runs[0].clone();
        assert_eq!(copied(&verdict(one)), 0, "one of six may agree by chance");
    }
}

#[test]
fn no_trap_passes_in_silence() {
    assert!(TRAPS.len() >= 30, "{}", TRAPS.len());
    for name in TRAPS {
        let (mut golden, mut candidate) = (golden(), samples("cand", 6));
        let expected = bend(name, &mut golden, &mut candidate);
        let verdict = check(Some(&golden), &candidate);
        let said: Vec<_> = verdict.findings.iter().map(|f| f.title.as_str()).collect();
        assert_eq!(verdict.outcome, expected, "{name}: {said:?}");
        assert_ne!(verdict.exit_code(Inconclusive::Fail), 0, "{name}");
        assert!(!verdict.findings.is_empty(), "{name}: silent");
        // Only a mere lack of runs may be let through on request.
        let lacking = *name == "noise that hides anything";
        let wanted = if lacking { 0 } else { expected.exit_code() };
        assert_eq!(
            verdict.exit_code(Inconclusive::Warn),
            wanted,
            "{name}: {said:?}"
        );
        assert_eq!(
            lacking,
            verdict.evidence == Grade::Sound && wanted == 0,
            "{name}"
        );
    }
}

#[test]
fn without_a_golden_there_is_nothing_to_compare_with() {
    let verdict = check(None, &samples("cand", 6));
    assert_eq!(verdict.outcome, Outcome::NotComparable);
    assert_eq!(verdict.exit_code(Inconclusive::Warn), 4);
    assert_eq!(verdict.findings[0].code.as_str(), "gate.no_baseline");
}

#[test]
fn differing_fields_are_listed_shape_first() {
    let mut candidate = samples("cand", 6);
    candidate.key.gpu = Some("A100".to_owned());
    candidate.key.domain = Some(1 << 26);
    let verdict = check(Some(&golden()), &candidate);
    let fields: Vec<_> = verdict.differs.iter().map(|d| d.field).collect();
    assert_eq!(fields, ["domain", "gpu"]);
    assert!(
        verdict.findings[0].title.starts_with("other work: domain"),
        "{:?}",
        verdict.findings
    );
}

#[test]
fn allowed_unverified_times_are_said() {
    let mut candidate = samples("cand", 6);
    for run in &mut candidate.runs {
        run.phases.values_mut().for_each(|t| t.verified.fill(false));
    }
    let options = Options {
        rules: Rules {
            allow_unverified: true,
            ..Rules::default()
        },
        ..Options::default()
    };
    let verdict = judge(
        Some(&golden()),
        &Evidence::of(&candidate, options.rules),
        &options,
    );
    assert_eq!(verdict.outcome, Outcome::Pass, "{:?}", verdict.findings);
    assert!(verdict.unverified);
    assert!(golden::render::text(&verdict).contains("unverified"));
}

#[test]
fn a_uniform_slow_down_measured_in_turn_is_a_regression() {
    let mut candidate = samples("cand", 6);
    times(&mut candidate, "*", |_, ms| ms * 1.1);
    let options = Options {
        interleaved: true,
        ..Options::default()
    };
    let verdict = judge(
        Some(&golden()),
        &Evidence::of(&candidate, options.rules),
        &options,
    );
    assert_eq!(
        verdict.outcome,
        Outcome::Regression,
        "{:?}",
        verdict.findings
    );
    // With a control that the code cannot change and that did not move, it is the code's too.
    times(&mut candidate, "phase0", |_, ms| ms / 1.1);
    let controls = vec!["phase0".to_owned()];
    let options = Options {
        controls,
        ..Options::default()
    };
    let verdict = judge(
        Some(&golden()),
        &Evidence::of(&candidate, options.rules),
        &options,
    );
    assert_eq!(
        verdict.outcome,
        Outcome::Regression,
        "{:?}",
        verdict.findings
    );
    assert_eq!(verdict.regressions().count(), 7);
}

#[test]
fn small_accepted_steps_add_up_to_drift() {
    let mut golden = golden();
    // The golden is 9.5 % over its anchor; the candidate adds 4 %.
    let mut anchor = golden.anchor_here();
    for ln_ms in anchor.ln_ms.values_mut() {
        *ln_ms -= 0.095_f64.ln_1p();
    }
    golden.anchor = Some(anchor);
    let still = check(Some(&golden), &samples("cand", 6));
    assert_eq!(still.outcome, Outcome::Pass, "{:?}", still.findings);
    assert_eq!(still.drift.len(), 8, "near the budget, so listed");
    let mut candidate = samples("cand", 6);
    times(&mut candidate, "phase4", |_, ms| ms * 1.04);
    let verdict = check(Some(&golden), &candidate);
    let over: Vec<_> = verdict
        .drift
        .iter()
        .filter(|d| d.verdict == Outcome::Regression)
        .collect();
    assert_eq!(over.len(), 1, "{:?}", verdict.drift);
    assert!((over[0].ratio - 1.095 * 1.04).abs() < 0.02);
}

#[test]
fn an_estimate_beyond_the_drift_budget_is_no_pass() {
    let mut golden = golden();
    // 14 % over the anchor by runs that differ by 30 %, and a budget of 10 %: nothing is proven.
    let mut anchor = golden.anchor_here();
    for ln_ms in anchor.ln_ms.values_mut() {
        *ln_ms -= 0.14_f64.ln_1p();
    }
    anchor.runs = 2;
    golden.anchor = Some(anchor);
    let mut candidate = samples("cand", 2);
    for (at, run) in candidate.runs.iter_mut().enumerate() {
        let factor = if at == 0 { 1.15 } else { 0.87 };
        if let Some(times) = run.phases.get_mut("phase4") {
            times.ms.iter_mut().for_each(|ms| *ms *= factor);
        }
    }
    let options = Options {
        ungated: (0..8)
            .filter(|at| *at != 4)
            .map(|at| format!("phase{at}"))
            .collect(),
        effect_max: 1.0,
        ..Options::default()
    };
    let verdict = judge(
        Some(&golden),
        &Evidence::of(&candidate, options.rules),
        &options,
    );
    assert_eq!(
        verdict.phases[4].verdict,
        Outcome::Pass,
        "{:?}",
        verdict.phases[4]
    );
    assert_eq!(
        verdict.outcome,
        Outcome::Inconclusive,
        "{:?}",
        verdict.findings
    );
    let drift = &verdict.drift[0];
    assert!(
        drift.low < drift.budget && drift.budget < drift.ratio,
        "{drift:?}"
    );
    assert!(
        verdict
            .findings
            .iter()
            .any(|f| f.title.contains("not shown to be beyond it")),
        "{:?}",
        verdict.findings
    );
}

/// A golden and a candidate of a clock of milliseconds with a phase of half a millisecond.
fn coarse() -> (Snapshot, Samples) {
    let round = |letter: &str, count: u64| {
        let mut set = samples(letter, count);
        times(&mut set, "*", |_, ms| ms.round());
        times(&mut set, "phase4", |at, _| f64::from(u8::from(at % 2 == 0)));
        set
    };
    (snapshot(&round("base", 8)), round("cand", 6))
}

#[test]
fn what_the_clock_cannot_tell_passes_on_request_only() {
    let (golden, mut candidate) = coarse();
    let judged = |candidate: &Samples, options: &Options| {
        judge(
            Some(&golden),
            &Evidence::of(candidate, options.rules),
            options,
        )
    };
    let usual = Options::default();
    let verdict = judged(&candidate, &usual);
    assert_eq!(
        verdict.outcome,
        Outcome::Inconclusive,
        "{:?}",
        verdict.findings
    );
    assert!(verdict.phases[4].short && !verdict.phases[3].short);
    assert_eq!(
        verdict.exit_code(Inconclusive::Warn),
        3,
        "not a lack of runs"
    );
    assert!(
        verdict
            .findings
            .iter()
            .any(|f| f.code.as_str() == "gate.below_clock"),
        "{:?}",
        verdict.findings
    );
    let asked = Options {
        ungate_short: true,
        ..usual
    };
    let verdict = judged(&candidate, &asked);
    assert_eq!(verdict.outcome, Outcome::Pass, "{:?}", verdict.findings);
    assert!(
        verdict
            .findings
            .iter()
            .any(|f| f.title.contains("not gated, as asked: phase4"))
    );
    // Nor does what only its mean shows count.
    let mut some = candidate.clone();
    times(&mut some, "phase4", |at, ms| {
        if at % 3 == 0 { 30.0 * ms } else { ms }
    });
    let verdict = judged(&some, &asked);
    assert_eq!(verdict.outcome, Outcome::Pass, "{:?}", verdict.findings);
    // It need not pass; it can still be slower.
    times(&mut candidate, "phase4", |at, _| {
        6.0 + f64::from(u8::from(at % 2 == 0))
    });
    assert_eq!(judged(&candidate, &asked).outcome, Outcome::Regression);
}

#[test]
fn leaving_everything_out_is_no_pass() {
    let every: Vec<String> = (0..8).map(|at| format!("phase{at}")).collect();
    let judged = |ungated: Vec<String>| {
        let options = Options {
            ungated,
            ..Options::default()
        };
        judge(
            Some(&golden()),
            &Evidence::of(&samples("cand", 6), options.rules),
            &options,
        )
    };
    assert_eq!(judged(every).outcome, Outcome::Inconclusive);
    let named = judged(vec!["phase0".to_owned()]);
    assert_eq!(named.outcome, Outcome::Pass, "{:?}", named.findings);
    assert!(
        named
            .findings
            .iter()
            .any(|f| f.code.as_str() == "gate.ungated")
    );
    let mistyped = judged(vec!["phas0".to_owned()]);
    assert_eq!(
        mistyped.outcome,
        Outcome::Inconclusive,
        "{:?}",
        mistyped.findings
    );
}

#[test]
fn a_third_of_the_times_cannot_be_slower_unseen() {
    let mut candidate = samples("cand", 6);
    times(&mut candidate, "phase4", |at, ms| {
        if at % 3 == 0 { 30.0 * ms } else { ms }
    });
    let options = Options::default();
    let evidence = Evidence::of(&candidate, options.rules);
    let verdict = judge(Some(&golden()), &evidence, &options);
    assert_eq!(
        verdict.phases[4].verdict,
        Outcome::Pass,
        "its middle has not moved"
    );
    assert_eq!(
        verdict.outcome,
        Outcome::Inconclusive,
        "{:?}",
        verdict.findings
    );
    let said = |f: &&tracefmt::finding::Finding| f.title.contains("slower than the middle");
    let said: Vec<_> = verdict.findings.iter().filter(said).collect();
    assert!(
        said.len() == 1 && said[0].title.contains("phase4"),
        "{said:?}"
    );
    // A golden of before does not know its means.
    let mut before = golden();
    for column in before.phases.values_mut() {
        column.mean.clear();
    }
    assert_eq!(
        judge(Some(&before), &evidence, &options).outcome,
        Outcome::Pass
    );
}

#[test]
fn a_mean_beyond_all_bounds_is_said_in_words() {
    let mut candidate = samples("c", 8);
    times(&mut candidate, "phase3", |at, _| match at % 3 {
        0 => f64::MAX / 4.0,
        _ => f64::MIN_POSITIVE,
    });
    let verdict = check(Some(&golden()), &candidate);
    let text = golden::render::text(&verdict);
    assert!(text.contains("at least a thousandfold"), "{text}");
    assert!(!text.contains("inf %"), "{text}");
}

#[test]
fn what_is_not_gated_forbids_no_pass_and_is_said() {
    let options = Options {
        ungated: vec!["phase0".to_owned()],
        ..Options::default()
    };
    let verdict = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut candidate = samples("cand", 6);
        for run in &mut candidate.runs {
            let times = run.phases.get_mut("phase0").unwrap();
            change(&mut times.ms);
            if times.ms.is_empty() {
                run.phases.remove("phase0");
            }
        }
        let evidence = Evidence::of(&candidate, options.rules);
        judge(Some(&golden()), &evidence, &options)
    };
    let tenth = |ms: &mut Vec<f64>| ms.iter_mut().for_each(|ms| *ms *= 0.1);
    let nothing = |ms: &mut Vec<f64>| ms.iter_mut().for_each(|ms| *ms = 0.0);
    for (what, got) in [
        ("a tenth", verdict(&tenth)),
        ("nothing", verdict(&nothing)),
        ("not there", verdict(&Vec::clear)),
    ] {
        assert_eq!(got.outcome, Outcome::Pass, "{what}: {:?}", got.findings);
        let mut said = got
            .findings
            .iter()
            .filter(|f| f.code.as_str() == "gate.ungated");
        assert!(
            said.any(|f| f.title.contains("phase0")),
            "{what}: {:?}",
            got.findings
        );
    }
    // The other way round: a phase that only the runs have.
    let mut candidate = samples("cand", 6);
    for run in &mut candidate.runs {
        let times = run.phases["phase1"].clone();
        run.phases.insert("wait".to_owned(), times);
    }
    let options = Options {
        ungated: vec!["wait".to_owned()],
        ..Options::default()
    };
    let got = judge(
        Some(&golden()),
        &Evidence::of(&candidate, options.rules),
        &options,
    );
    assert_eq!(got.outcome, Outcome::Pass, "{:?}", got.findings);
}

#[test]
fn every_reader_leads_to_the_same_judge() {
    let csv = "run,phase,ms,verified\n".to_owned()
        + &(0..8)
            .map(|r| format!("r{r},p,{},1", 100.0 + noise(r)))
            .collect::<Vec<_>>()
            .join("\n");
    let set = Format::Csv
        .read(csv.as_bytes(), "x")
        .expect("the header has what is needed");
    let evidence = Evidence::of(&set, Rules::default());
    assert_eq!(evidence.runs.len(), 8);
    assert!((evidence.phases["p"].ms() - 100.0).abs() < 1.0);
    assert!(stats::median(&mut evidence.phases["p"].ln_ms.clone()).is_some());
}

/// Phases that moved while others stood still: no shift of the machine.
#[test]
fn groups_are_judged_as_measured() {
    let moved = |count: usize, factor: f64| {
        let mut set = samples("cand", 8);
        for phase in 0..count {
            times(&mut set, &format!("phase{phase}"), |_, ms| ms * factor);
        }
        check(Some(&golden()), &set)
    };
    let faster = moved(5, 0.9);
    assert_eq!(faster.outcome, Outcome::Pass, "{:?}", faster.findings);
    let slower = moved(4, 1.1);
    assert_eq!(slower.regressions().count(), 4, "{:?}", slower.findings);
    let all = moved(8, 1.1);
    assert_eq!(all.outcome, Outcome::Inconclusive, "{:?}", all.findings);
    for (verdict, split) in [
        (&faster, Some((5, 3))),
        (&slower, Some((4, 4))),
        (&all, None),
    ] {
        let machine = verdict.machine.as_ref().expect("eight phases");
        assert_eq!(machine.split, split);
        let said = |finding: &&tracefmt::finding::Finding| finding.title.contains("stood still");
        let words = verdict.findings.iter().filter(said).count();
        assert_eq!(
            words,
            usize::from(split.is_some()),
            "{:?}",
            verdict.findings
        );
    }
}
