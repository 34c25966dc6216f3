//! The gate on real and labelled timings. The folder that holds them is named by `CUZK_INPUTS`;
//! without it the tests say that they were skipped.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that prints its figures"
)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use golden::evidence::{Evidence, Rules, quantum_of};
use golden::gate::{Options, judge};
use golden::history::{Cause, Level, Point, phase_changes};
use golden::samples::{Run, Samples, Times};
use golden::snapshot::Snapshot;
use golden::stats::{self, ChangeOptions};
use golden::verdict::{Outcome, Verdict};
use serde::Deserialize;

fn input(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CUZK_INPUTS");
    if folder.is_none() {
        println!("skipped: CUZK_INPUTS is not set");
    }
    folder.map(|folder| PathBuf::from(folder).join("perf").join(name))
}

/// A labelled case: run, phase, partition.
#[derive(Deserialize)]
struct Case {
    id: u32,
    regime: String,
    shift: f64,
    phase: Option<usize>,
    baseline: Vec<Vec<Vec<f64>>>,
    candidate: Vec<Vec<Vec<f64>>>,
}

fn samples(letter: char, runs: &[Vec<Vec<f64>>]) -> Samples {
    let mut set = Samples::default();
    for (at, phases) in runs.iter().enumerate() {
        let mut run = Run::new(&format!("{letter}{at}"));
        for (phase, ms) in phases.iter().enumerate() {
            run.phases
                .insert(format!("phase{phase:02}"), Times::of_verified(ms.clone()));
        }
        set.runs.push(run);
    }
    set
}

fn check(base: &Samples, cand: &Samples, options: &Options) -> Verdict {
    let golden = Snapshot::candidate(&Evidence::of(base, options.rules));
    judge(Some(&golden), &Evidence::of(cand, options.rules), options)
}

#[test]
fn labelled_cases() {
    let Some(path) = input("gate_cases.jsonl.gz") else {
        return;
    };
    let file = File::open(&path).expect("the input is there");
    let lines = BufReader::new(flate2::read::GzDecoder::new(file)).lines();
    let mut table: BTreeMap<(String, u32), BTreeMap<&str, u32>> = BTreeMap::new();
    let mut wrong_phase = 0;
    for line in lines {
        let case: Case = serde_json::from_str(&line.expect("a line")).expect("a case");
        let (base, cand) = (samples('b', &case.baseline), samples('c', &case.candidate));
        let verdict = check(&base, &cand, &Options::default());
        let percent = format!("{:.0}", case.shift * 100.0)
            .parse()
            .expect("a whole number");
        let cell = table.entry((case.regime.clone(), percent)).or_default();
        *cell.entry(verdict.outcome.as_str()).or_default() += 1;
        for phase in verdict.regressions() {
            let own = case
                .phase
                .is_some_and(|own| phase.phase == format!("phase{own:02}"));
            wrong_phase += usize::from(!own);
        }
        let said = (case.id, &case.regime, case.shift, verdict.outcome);
        if percent == 0 {
            assert_ne!(verdict.outcome, Outcome::Regression, "{said:?}");
        }
        if percent == 10 {
            assert_ne!(verdict.outcome, Outcome::Pass, "{said:?}");
            if case.regime != "noisy" {
                assert_eq!(verdict.outcome, Outcome::Regression, "{said:?}");
            }
        }
    }
    for ((regime, percent), cell) in &table {
        println!("{regime:8} {percent:3} %  {cell:?}");
    }
    assert_eq!(table.values().flat_map(BTreeMap::values).sum::<u32>(), 30);
    assert_eq!(wrong_phase, 0, "phases called slower that are not");
}

/// One nightly run of one benchmark; the metrics as times, so that more is slower.
struct Night {
    commit: String,
    metrics: BTreeMap<&'static str, f64>,
}

fn rocksdb(path: &PathBuf) -> BTreeMap<String, Vec<Night>> {
    let text = std::fs::read_to_string(path).expect("the input is there");
    let mut nights: BTreeMap<String, Vec<Night>> = BTreeMap::new();
    for row in text.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().expect("a number");
        let metrics = BTreeMap::from([
            ("time_per_op", 1e6 / number(4)),
            ("p50", number(5)),
            ("p99", number(6)),
            ("p999", number(7)),
        ]);
        nights.entry(cells[0].to_owned()).or_default().push(Night {
            commit: cells[3].to_owned(),
            metrics,
        });
    }
    nights
}

/// Index ranges of runs of one commit in a row, of at least `least` runs.
fn stretches(nights: &[Night], least: usize) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for at in 1..=nights.len() {
        if at == nights.len() || nights[at].commit != nights[start].commit {
            if at - start >= least {
                found.push(start..at);
            }
            start = at;
        }
    }
    found
}

fn nightly(letter: &str, benchmarks: &[(&String, &[Night])]) -> Samples {
    let mut set = Samples::default();
    let count = benchmarks.first().map_or(0, |(_, nights)| nights.len());
    for at in 0..count {
        let run = set.run_mut(&format!("{letter}{at}"));
        for (name, nights) in benchmarks {
            for (metric, value) in &nights[at].metrics {
                let phase = format!("{name} {metric}");
                run.phases.insert(phase, Times::of_verified(vec![*value]));
            }
        }
    }
    set
}

/// Windows of 6 against the next 6 runs of one commit, moved on by `step`.
fn windows(nights: &BTreeMap<String, Vec<Night>>, step: usize) -> (Tally, Tally) {
    let options = Options {
        rules: Rules {
            warmup: 0,
            ..Rules::default()
        },
        ..Options::default()
    };
    let (mut single, mut joint) = (Tally::default(), Tally::default());
    let first = nights.values().next().expect("some benchmark");
    for stretch in stretches(first, 12) {
        for start in (stretch.start..=stretch.end - 12).step_by(step) {
            let side = |from: usize| -> Vec<(&String, &[Night])> {
                nights
                    .iter()
                    .map(|(name, all)| (name, &all[from..from + 6]))
                    .collect()
            };
            let (base, cand) = (side(start), side(start + 6));
            joint.add(&check(&nightly("b", &base), &nightly("c", &cand), &options));
            for (b, c) in base.iter().zip(&cand) {
                let (b, c) = (nightly("b", &[*b]), nightly("c", &[*c]));
                single.add(&check(&b, &c, &options));
            }
        }
    }
    (single, joint)
}

#[derive(Debug, Default)]
struct Tally {
    verdicts: usize,
    comparisons: usize,
    red: usize,
    machine: usize,
    regressions: usize,
    passes: usize,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        self.verdicts += 1;
        self.comparisons += verdict.phases.len();
        self.red += verdict.regressions().count();
        self.machine += usize::from(verdict.machine.as_ref().is_some_and(|m| m.shifted));
        self.regressions += usize::from(verdict.outcome == Outcome::Regression);
        self.passes += usize::from(verdict.outcome == Outcome::Pass);
    }
}

#[test]
fn same_commit_windows() {
    let Some(path) = input("rocksdb2023.csv") else {
        return;
    };
    let nights = rocksdb(&path);
    for step in [4, 6] {
        let (single, joint) = windows(&nights, step);
        println!("step {step}, a verdict a benchmark: {single:?}");
        println!("step {step}, a verdict of all benchmarks: {joint:?}");
        let share = |tally: &Tally| tally.red as f64 / tally.comparisons as f64;
        // Windows that overlap less are fewer, and one odd night weighs more in them: the three
        // red metrics of step 6 are of one benchmark in one pair of windows, as those of step 4.
        if step == 4 {
            assert_eq!(single.comparisons, 352);
            assert!(share(&single) <= 0.01, "{single:?}");
        }
        assert_eq!(joint.red, 0, "{joint:?}");
        assert!(single.regressions <= 1, "{single:?}");
    }
}

#[test]
fn same_commit_stretches() {
    let Some(path) = input("rocksdb2023.csv") else {
        return;
    };
    let nights = rocksdb(&path);
    let (mut total, mut blind, mut blamed) = (0, 0, 0);
    for (name, nights) in &nights {
        for stretch in stretches(nights, 12) {
            for metric in ["time_per_op", "p50", "p99", "p999"] {
                total += 1;
                let part = &nights[stretch.clone()];
                let values: Vec<f64> = part.iter().map(|night| night.metrics[metric]).collect();
                let quantum = quantum_of(&[&values]);
                let middle = stats::median(&mut values.clone()).expect("some nights");
                let noise_floor = quantum / middle / 12.0_f64.sqrt();
                let options = ChangeOptions {
                    noise_floor,
                    ..ChangeOptions::default()
                };
                let points: Vec<Point> = part
                    .iter()
                    .zip(&values)
                    .map(|(night, value)| {
                        let level = Level {
                            ln_ms: value.ln(),
                            error: 0.0,
                        };
                        Point {
                            commit: night.commit.clone(),
                            phases: BTreeMap::from([(name.clone(), level)]),
                            ..Point::default()
                        }
                    })
                    .collect();
                let found = phase_changes(&points, name, &options);
                let confirmed = || found.iter().filter(|found| found.change.confirmed);
                blind += usize::from(confirmed().next().is_some());
                blamed += usize::from(confirmed().any(|c| matches!(c.cause, Cause::Commits(_))));
            }
        }
    }
    println!("{total} stretches: {blind} with a change, {blamed} blamed on code");
    assert_eq!((total, blamed), (128, 0));
    assert!(
        blind * 10 < total * 2,
        "{blind} of {total}: the machine alone is not that restless"
    );
}

#[test]
fn nightly_proof_times() {
    for file in [
        "T-risc0-rtx3090ti-series.csv",
        "T-risc0-g6xlarge-series.csv",
    ] {
        let Some(path) = input(file) else { return };
        let text = std::fs::read_to_string(&path).expect("the input is there");
        let mut points: BTreeMap<String, Vec<Point>> = BTreeMap::new();
        for row in text.lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            let ns = cells[4].parse::<f64>().expect("a number");
            let level = Level {
                ln_ms: (ns * 1e-6).ln(),
                error: 0.0,
            };
            points.entry(cells[2].to_owned()).or_default().push(Point {
                commit: cells[1].to_owned(),
                time: cells[0].to_owned(),
                // Other cycles are other work: a change of shape.
                key: cells[6].to_owned(),
                runs: 1,
                phases: BTreeMap::from([("proof".to_owned(), level)]),
            });
        }
        for (workload, points) in &points {
            let found = phase_changes(points, "proof", &ChangeOptions::default());
            let of_shape = found
                .iter()
                .filter(|found| found.cause == Cause::Key)
                .count();
            let shapes = points
                .windows(2)
                .filter(|pair| pair[0].key != pair[1].key)
                .count();
            println!("{file} {workload}: {} points", points.len());
            for found in &found {
                let percent = 100.0 * found.change.shift.exp_m1();
                let (date, cause) = (&points[found.change.at].time, &found.cause);
                let places = (found.change.low, found.change.at, found.change.high);
                println!("  {date} {percent:+6.1} % at {places:?} {cause:?}");
            }
            assert_eq!(of_shape, shapes, "{workload}");
            assert!(
                found.len() > shapes,
                "{workload}: a year of commits without a step"
            );
        }
    }
}
