//! How long a large check and a long history take.
//!
//! `cargo run --release -p golden --example gate_speed`: 1,000 phases of 10,000 samples each in
//! 5 runs, judged by a golden of as many; the change points of 10,000 merges of 12 phases; the
//! summary of 10 million values.

#![expect(clippy::print_stdout, reason = "an example that prints its figures")]
#![expect(
    clippy::disallowed_methods,
    reason = "it measures time, and decides nothing by it"
)]

use std::time::Instant;

use golden::evidence::{Evidence, Rules};
use golden::gate::{Options, judge};
use golden::samples::{Run, Samples, Times};
use golden::snapshot::Snapshot;
use golden::stats::{ChangeOptions, Summary, changes};

const PHASES: usize = 1_000;
const RUNS: usize = 5;
const SAMPLES: usize = 2_000;

/// Deterministic noise in -1..1.
fn noise(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    (*state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn samples(letter: &str, state: &mut u64) -> Samples {
    let mut set = Samples::default();
    for at in 0..RUNS {
        let mut run = Run::new(&format!("{letter}{at}"));
        for phase in 0..PHASES {
            let level = 100.0 + phase as f64 + noise(state);
            let ms = (0..SAMPLES)
                .map(|_| level * 0.02_f64.mul_add(noise(state), 1.0))
                .collect();
            run.phases
                .insert(format!("phase{phase:04}"), Times::of_verified(ms));
        }
        set.runs.push(run);
    }
    set
}

fn main() {
    let mut state = 1;
    let (base, cand) = (samples("b", &mut state), samples("c", &mut state));
    let golden = Snapshot::candidate(&Evidence::of(&base, Rules::default()));
    let options = Options::default();
    for _ in 0..3 {
        let start = Instant::now();
        let verdict = judge(Some(&golden), &Evidence::of(&cand, options.rules), &options);
        let took = start.elapsed().as_secs_f64();
        let (phases, outcome) = (verdict.phases.len(), verdict.outcome.as_str());
        println!(
            "check of {phases} phases x {} samples: {took:.3} s, {outcome}",
            RUNS * SAMPLES
        );
    }
    let histories: Vec<Vec<f64>> = (0..12)
        .map(|_| {
            (0..10_000)
                .map(|at| f64::from(at / 500 % 2) * 0.05 + 0.02 * noise(&mut state))
                .collect()
        })
        .collect();
    let start = Instant::now();
    let options = ChangeOptions::default();
    let found: usize = histories
        .iter()
        .map(|series| changes(series, &options).len())
        .sum();
    let took = start.elapsed().as_secs_f64();
    println!("change points of 12 histories of 10,000 merges: {took:.3} s, {found} found");
    let mut values: Vec<f64> = (0..10_000_000).map(|_| 800.0 + noise(&mut state)).collect();
    let start = Instant::now();
    let summary = Summary::of(&mut values);
    let took = start.elapsed().as_secs_f64();
    let median = summary.map_or(0.0, |summary| summary.median);
    println!("summary of 10 million values: {took:.3} s, median {median:.3}");
}
