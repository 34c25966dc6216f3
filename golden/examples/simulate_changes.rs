//! Simulates histories: critical values of the change point test, its false alarms and its power.
//!
//! `cargo run --release -p golden --example simulate_changes -- critical [trials]` prints the
//! table that `stats::change` holds; without `critical`, the false alarms on four kinds of noise
//! and the share of planted steps that are found.

#![expect(clippy::print_stdout, reason = "an example that prints a table")]

use golden::stats::{ChangeOptions, changes, split_statistic};

/// Random numbers from a 64-bit seed (`SplitMix64`).
struct Random(u64);

impl Random {
    /// Uniform in (0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Kinds of noise, each with standard deviation about 1.
const KINDS: [&str; 5] = ["gauss", "lognormal", "outliers", "ar .3", "ar .6"];

fn series(kind: &str, n: usize, rng: &mut Random) -> Vec<f64> {
    let phi: f64 = match kind {
        "ar .3" => 0.3,
        "ar .6" => 0.6,
        _ => 0.0,
    };
    let mut last = rng.normal();
    (0..n)
        .map(|_| {
            last = phi.mul_add(last, (1.0 - phi * phi).sqrt() * rng.normal());
            match kind {
                // Half of the logarithm's spread: a skewness of 1.75.
                "lognormal" => ((0.5 * last).exp() - 0.125_f64.exp()) / 0.604,
                "outliers" if rng.uniform() < 0.02 => last + 8.0,
                _ => last,
            }
        })
        .collect()
}

fn critical(trials: usize) {
    let mut rng = Random(2026);
    for n in [
        6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 32, 40, 50, 70, 100, 200, 500, 1_000, 3_000, 10_000,
    ] {
        let trials = trials.min(400_000_000 / (n * 40));
        let mut all: Vec<f64> = (0..trials)
            .map(|_| split_statistic(&series("gauss", n, &mut rng)))
            .collect();
        all.sort_by(f64::total_cmp);
        let at = |per_mille: usize| all[(per_mille * trials / 1_000).min(trials - 1)];
        let (five, one, half) = (at(950), at(990), at(995));
        println!("{n:6} points, {trials} trials: 5 % {five:.3}, 1 % {one:.3}, 0.5 % {half:.3}");
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let wants_critical = arguments.next_if(|word| word == "critical").is_some();
    let trials = arguments
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(2_000);
    if wants_critical {
        return critical(trials);
    }
    let options = ChangeOptions::default();
    println!(
        "false alarms, share of histories with a confirmed change; {trials} trials, noise 3 %"
    );
    for n in [12, 20, 34, 100, 300] {
        for kind in KINDS {
            let mut rng = Random(n as u64 * 77 + 5);
            let alarms = (0..trials)
                .filter(|_| {
                    let x: Vec<f64> = series(kind, n, &mut rng).iter().map(|z| 0.03 * z).collect();
                    changes(&x, &options).iter().any(|change| change.confirmed)
                })
                .count();
            println!("n {n:4} {kind:10} {:.4}", alarms as f64 / trials as f64);
        }
    }
    println!("\nsteps found within two points of their place, after 50 unchanged points");
    for (sd, step, after) in [
        (0.013, 0.10, 3),
        (0.013, 0.05, 3),
        (0.013, 0.05, 10),
        (0.013, 0.03, 10),
        (0.03, 0.10, 3),
        (0.03, 0.10, 5),
        (0.03, 0.05, 10),
        (0.03, 0.05, 20),
    ] {
        let mut rng = Random(99);
        let (mut found, mut inside) = (0, 0);
        for _ in 0..trials {
            let mut x: Vec<f64> = series("gauss", 50 + after, &mut rng)
                .iter()
                .map(|z| sd * z)
                .collect();
            for value in &mut x[50..] {
                *value += f64::ln_1p(step);
            }
            let near = changes(&x, &options)
                .into_iter()
                .find(|change| change.confirmed && change.at.abs_diff(50) <= 2);
            found += usize::from(near.is_some());
            inside += usize::from(near.is_some_and(|c| c.low <= 50 && 50 <= c.high));
        }
        println!(
            "noise {:.1} %, step {:+.0} %, {after} points: {:.3} found, {:.3} placed right",
            sd * 100.0,
            step * 100.0,
            found as f64 / trials as f64,
            inside as f64 / found.max(1) as f64,
        );
    }
}
