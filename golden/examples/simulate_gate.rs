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
//! that decides ends the trial. Further cells leave that comfort: phases of unequal noise (each
//! phase's own noise times a factor between 1/3 and 3), golden of 4 runs, 4 phases only, times in
//! whole milliseconds.

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

/// What is simulated beside the noise.
#[derive(Clone, Copy)]
struct Setup {
    regime: Regime,
    phases: usize,
    golden_runs: usize,
    unequal: bool,
    /// Whether times are printed in whole milliseconds, as old logs do; then no phase is shorter
    /// than about forty.
    whole_ms: bool,
}

impl Setup {
    const fn plain(regime: Regime) -> Self {
        Self {
            regime,
            phases: PHASES,
            golden_runs: RUNS,
            unequal: false,
            whole_ms: false,
        }
    }
}

/// A phase of the simulated engine.
#[derive(Clone, Copy)]
struct Phase {
    level: f64,
    noise: f64,
    shift: f64,
}

/// One run of all phases.
fn run(id: &str, regime: Regime, phases: &[Phase], rng: &mut Random) -> Run {
    let mut run = Run::new(id);
    let common = 0.8 * regime.sb * rng.normal();
    for (index, phase) in phases.iter().enumerate() {
        let own = 0.6 * regime.sb * phase.noise * rng.normal();
        let within = regime.sw * phase.noise;
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
                (phase.level + phase.shift + common + own + within * at + late + warm).exp()
            })
            .collect();
        run.phases
            .insert(format!("phase{index:02}"), Times::of_verified(ms));
    }
    run
}

/// One simulated merge, as a golden and the candidate's runs.
struct Merge {
    golden: Snapshot,
    candidate: Samples,
    slow: usize,
}

fn merge(setup: Setup, shift: f64, seed: u64) -> Merge {
    let mut rng = Random(seed);
    let mut phases: Vec<Phase> = (0..setup.phases)
        .map(|_| {
            let shortest = if setup.whole_ms { 4.0 } else { 2.0 };
            let level = 3.0_f64.mul_add(rng.uniform(), shortest);
            let spread = 2.0 * 3.0_f64.ln() * (rng.uniform() - 0.5);
            let noise = if setup.unequal { spread.exp() } else { 1.0 };
            Phase {
                level,
                noise,
                shift: 0.0,
            }
        })
        .collect();
    let side = |letter: char, runs: usize, phases: &[Phase], rng: &mut Random| Samples {
        runs: (0..runs)
            .map(|at| {
                let mut run = run(&format!("{letter}{at}"), setup.regime, phases, rng);
                if setup.whole_ms {
                    let times = run.phases.values_mut();
                    times.for_each(|times| times.ms.iter_mut().for_each(|ms| *ms = ms.round()));
                }
                run
            })
            .collect(),
        ..Samples::default()
    };
    let base = side('b', setup.golden_runs, &phases, &mut rng);
    let slow = usize::try_from(rng.bits() >> 32).unwrap_or(0) % setup.phases;
    phases[slow].shift = shift;
    let candidate = side('c', RUNS, &phases, &mut rng);
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

fn sequential(setup: Setup, shift: f64, trials: u64, options: &Options) -> Tally {
    let mut tally = Tally::default();
    for trial in 0..trials {
        let merge = merge(
            setup,
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
                    Setup::plain(regime),
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

/// One line of the table of verdicts.
fn cell(name: &str, setup: Setup, shift: f64, trials: u64) {
    let tally = sequential(setup, f64::ln_1p(shift), trials, &Options::default());
    println!(
        "{name:20} {:4.0} % {:8.2} {:8.2} {:8.2} {:7.2} {:7.2} {:10.2} {:5.2}",
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

fn main() {
    let trials = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_000);
    println!("gate, {PHASES} phases, {RUNS} runs a side, looks {LOOKS:?}, {trials} trials a cell");
    println!(
        "regime               shift   FAIL %  right %  wrong %  PASS %  open %  machine %  runs"
    );
    for regime in REGIMES {
        for shift in [0.0, 0.03, 0.05, 0.10] {
            cell(regime.name, Setup::plain(regime), shift, trials);
        }
    }
    for regime in &REGIMES[1..] {
        let plain = Setup::plain(*regime);
        for (what, setup) in [
            (
                "unequal",
                Setup {
                    unequal: true,
                    ..plain
                },
            ),
            (
                "golden of 4",
                Setup {
                    golden_runs: 4,
                    ..plain
                },
            ),
            ("4 phases", Setup { phases: 4, ..plain }),
            (
                "ms ticks",
                Setup {
                    whole_ms: true,
                    ..plain
                },
            ),
        ] {
            for shift in [0.0, 0.05, 0.10] {
                cell(&format!("{}, {what}", regime.name), setup, shift, trials);
            }
        }
    }
    println!("\nsmallest detectable effect: simulated 80 % power against the printed one");
    println!("regime   runs  simulated  printed  printed/simulated");
    for regime in REGIMES {
        for runs in [4, 8] {
            let (simulated, printed) = power(regime, runs, trials.min(1_000), &Options::default());
            println!(
                "{:8} {runs:4} {:8.2} % {:6.2} % {:10.3}",
                regime.name,
                100.0 * simulated,
                100.0 * printed,
                printed / simulated,
            );
        }
    }
}
