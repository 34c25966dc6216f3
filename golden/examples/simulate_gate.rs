//! Simulates merges with known truth and counts what the gate says about them.
//!
//! `cargo run --release -p golden --example simulate_gate -- [trials]` prints one table for the
//! gate and one for change points. The noise model has five numbers per regime, and they are the
//! `params` of the labelled cases that the tests read:
//!
//! - `sb`: standard deviation between runs of log time, four fifths of it common to all phases of
//!   a run and three fifths the phase's own (squares add up to one);
//! - `sw`, `phi`: standard deviation and lag-1 correlation of log time between partitions;
//! - `heavy`: chance that a partition is late, by an exponential with mean 0.1 in log time;
//! - `warm`: what the first partition of a run costs more.
//!
//! 12 phases, 20 partitions, 8 runs a side, looked at after 2, 4 and 8 candidate runs; a look
//! that decides ends the trial.

#![expect(clippy::print_stdout, reason = "an example that prints a table")]

use golden::evidence::{Evidence, Rules};
use golden::gate::{Options, judge};
use golden::samples::{Run, Samples, Times};
use golden::snapshot::Snapshot;
use golden::verdict::{Outcome, Verdict};

const PHASES: usize = 12;
const PARTITIONS: usize = 20;
const RUNS: usize = 8;
const LOOKS: [usize; 3] = [2, 4, 8];

/// A noise regime.
#[derive(Clone, Copy)]
struct Regime {
    name: &'static str,
    sb: f64,
    sw: f64,
    phi: f64,
    heavy: f64,
    warm: f64,
}

const REGIMES: [Regime; 3] = [
    Regime {
        name: "calm",
        sb: 0.005,
        sw: 0.01,
        phi: 0.2,
        heavy: 0.01,
        warm: 0.03,
    },
    Regime {
        name: "typical",
        sb: 0.01,
        sw: 0.02,
        phi: 0.4,
        heavy: 0.02,
        warm: 0.05,
    },
    Regime {
        name: "noisy",
        sb: 0.03,
        sw: 0.04,
        phi: 0.6,
        heavy: 0.05,
        warm: 0.10,
    },
];

/// Random numbers from a 64-bit seed (`SplitMix64`), so that every trial can be repeated.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// One run of all phases, phase `slow` slower by `shift` (log) and all of them by `common`.
fn run(id: &str, regime: Regime, levels: &[f64], slow: (usize, f64), rng: &mut Random) -> Run {
    let mut run = Run::new(id);
    let common = 0.8 * regime.sb * rng.normal();
    for (phase, level) in levels.iter().enumerate() {
        let own = 0.6 * regime.sb * rng.normal();
        let shift = if phase == slow.0 { slow.1 } else { 0.0 };
        let mut at = rng.normal();
        let ms = (0..PARTITIONS)
            .map(|partition| {
                let fresh = (1.0 - regime.phi.powi(2)).sqrt() * rng.normal();
                at = if partition == 0 {
                    at
                } else {
                    regime.phi.mul_add(at, fresh)
                };
                let late = if rng.uniform() < regime.heavy {
                    -0.1 * rng.uniform().ln()
                } else {
                    0.0
                };
                let warm = if partition == 0 { regime.warm } else { 0.0 };
                (level + common + own + shift + regime.sw * at + late + warm).exp()
            })
            .collect();
        run.phases
            .insert(format!("phase{phase:02}"), Times::of_verified(ms));
    }
    run
}

/// One simulated merge, as a golden and the candidate's runs.
struct Merge {
    golden: Snapshot,
    candidate: Samples,
    slow: usize,
}

fn merge(regime: Regime, shift: f64, seed: u64) -> Merge {
    let mut rng = Random(seed);
    let levels: Vec<f64> = (0..PHASES)
        .map(|_| 3.0_f64.mul_add(rng.uniform(), 2.0))
        .collect();
    let slow = usize::try_from(rng.bits() % 12).unwrap_or(0);
    let side = |letter: char, shift: f64, rng: &mut Random| Samples {
        runs: (0..RUNS)
            .map(|at| {
                run(
                    &format!("{letter}{at}"),
                    regime,
                    &levels,
                    (slow, shift),
                    rng,
                )
            })
            .collect(),
        ..Samples::default()
    };
    let base = side('b', 0.0, &mut rng);
    let candidate = side('c', shift, &mut rng);
    let golden = Snapshot::candidate(&Evidence::of(&base, Rules::default()));
    Merge {
        golden,
        candidate,
        slow,
    }
}

/// The verdict after the first `runs` candidate runs.
fn look(merge: &Merge, runs: usize, options: &Options) -> Verdict {
    let samples = Samples {
        runs: merge.candidate.runs[..runs].to_vec(),
        ..Samples::default()
    };
    judge(
        Some(&merge.golden),
        &Evidence::of(&samples, options.rules),
        options,
    )
}

/// What a sequence of looks came to.
#[derive(Default)]
struct Tally {
    fail: usize,
    fail_true: usize,
    fail_false: usize,
    pass: usize,
    open: usize,
    runs: usize,
    machine: usize,
}

fn sequential(regime: Regime, shift: f64, trials: u64, options: &Options) -> Tally {
    let mut tally = Tally::default();
    for trial in 0..trials {
        let merge = merge(
            regime,
            shift,
            trial.wrapping_mul(0x5851_f42d).wrapping_add(17),
        );
        for runs in LOOKS {
            let verdict = look(&merge, runs, options);
            let last = runs == RUNS;
            if verdict.outcome == Outcome::Inconclusive && !last {
                continue;
            }
            tally.runs += runs;
            tally.machine += usize::from(verdict.machine.is_some_and(|m| m.shifted));
            match verdict.outcome {
                Outcome::Regression => {
                    let slow = format!("phase{:02}", merge.slow);
                    let failed = |own: bool| {
                        verdict.phases.iter().any(|phase| {
                            phase.verdict == Outcome::Regression
                                && (phase.phase == slow && shift > 0.0) == own
                        })
                    };
                    tally.fail += 1;
                    tally.fail_true += usize::from(failed(true));
                    tally.fail_false += usize::from(failed(false));
                }
                Outcome::Pass => tally.pass += 1,
                _ => tally.open += 1,
            }
            break;
        }
    }
    tally
}

/// The shift found with a chance of 80 % after `runs` runs, by bisection over simulated shifts,
/// and the mean of the printed one.
fn power(regime: Regime, runs: usize, trials: u64, options: &Options) -> (f64, f64) {
    let mut printed = Vec::new();
    let mut found = |shift: f64| {
        let hits = (0..trials)
            .filter(|trial| {
                let merge = merge(
                    regime,
                    shift,
                    trial.wrapping_mul(0x2545_f491).wrapping_add(5),
                );
                let verdict = look(&merge, runs, options);
                let phase = &verdict.phases[merge.slow];
                printed.push(phase.mde);
                phase.verdict == Outcome::Regression
            })
            .count();
        hits as f64 / trials as f64
    };
    let (mut low, mut high) = (0.0, 0.5);
    for _ in 0..9 {
        let middle = f64::midpoint(low, high);
        if found(middle) < 0.8 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mean = printed.iter().sum::<f64>() / printed.len() as f64;
    (f64::midpoint(low, high).exp_m1(), mean)
}

fn share(count: usize, of: u64) -> f64 {
    100.0 * count as f64 / of as f64
}

fn main() {
    let trials = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_000);
    let options = Options::default();
    println!("gate, {PHASES} phases, {RUNS} runs a side, looks {LOOKS:?}, {trials} trials a cell");
    println!("regime   shift   FAIL %  right %  wrong %  PASS %  open %  machine %  runs");
    for regime in REGIMES {
        for shift in [0.0, 0.03, 0.05, 0.10] {
            let tally = sequential(regime, f64::ln_1p(shift), trials, &options);
            println!(
                "{:8} {:4.0} % {:8.2} {:8.2} {:8.2} {:7.2} {:7.2} {:10.2} {:5.2}",
                regime.name,
                shift * 100.0,
                share(tally.fail, trials),
                share(tally.fail_true, trials),
                share(tally.fail_false, trials),
                share(tally.pass, trials),
                share(tally.open, trials),
                share(tally.machine, trials),
                tally.runs as f64 / trials as f64,
            );
        }
    }
    println!("\nsmallest detectable effect: simulated 80 % power against the printed one");
    println!("regime   runs  simulated  printed  printed/simulated");
    for regime in REGIMES {
        for runs in [4, 8] {
            let (simulated, printed) = power(regime, runs, trials.min(1_000), &options);
            let ratio = printed / simulated;
            println!(
                "{:8} {runs:4} {:8.2} % {:6.2} % {ratio:10.3}",
                regime.name,
                100.0 * simulated,
                100.0 * printed
            );
        }
    }
}
