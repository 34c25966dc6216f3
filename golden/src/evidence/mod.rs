//! From samples to evidence: per run and phase one median of the log time.
//!
//! Partitions of one run share its machine, its clocks and its neighbours; they are not
//! independent. What counts as evidence is the run. The spread within a run and its lag-1
//! correlation are kept to look at, not to test with. Nothing unusable is dropped in silence:
//! each case becomes a [`Problem`].

mod copy;
mod part;
mod times;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tracefmt::finding::Code;

pub use self::times::quantum_of;
use self::times::{Digest, condense};
use crate::Key;
use crate::problem::Problem;
use crate::samples::{Run, Samples};

/// A phase whose median is below this many ticks of the clock is not resolved by it.
pub const TICKS_RESOLVED: f64 = 5.0;

/// Two runs with fewer times than this may agree in all of them by chance.
const COPY_TIMES_MIN: usize = 8;

/// What of the samples becomes evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Times dropped at the beginning of each run and phase, where at least three times as many
    /// are left.
    pub warmup: usize,
    /// Whether times of unverified proofs count.
    pub allow_unverified: bool,
    /// Whether runs with injected faults are looked at; they forbid a pass even then.
    pub injected: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            warmup: 1,
            allow_unverified: false,
            injected: false,
        }
    }
}

/// Where a run comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Its name.
    pub id: String,
    /// The commit that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When, as the source wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// One phase over the runs; the columns have one entry a run, in the order of the runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Tick of the clock in ms; 0 if none shows.
    pub quantum_ms: f64,
    /// Partitions (largest index plus one); 0 if the samples carry no index.
    pub partitions: u32,
    /// Times dropped as warm-up in each run.
    pub warmup: Vec<usize>,
    /// Median of the natural logarithm of the time in ms.
    pub ln_ms: Vec<f64>,
    /// Times under that median.
    pub n: Vec<usize>,
    /// Robust standard deviation of the log times within the run.
    pub spread: Vec<f64>,
    /// Lag-1 autocorrelation of the log times within the run.
    pub phi: Vec<f64>,
    /// Natural logarithm of the mean over the median: what a few slow ones add. Empty where it is
    /// not known of every run, as in goldens of before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mean: Vec<f64>,
}

impl Column {
    /// Geometric mean over the runs, in ms.
    #[must_use]
    pub fn ms(&self) -> f64 {
        (self.ln_ms.iter().sum::<f64>() / self.ln_ms.len().max(1) as f64).exp()
    }

    /// Whether the clock resolves the phase at all; a pass asks for more, see the gate's margins.
    #[must_use]
    pub fn resolved(&self) -> bool {
        self.ms() >= TICKS_RESOLVED * self.quantum_ms
    }
}

/// What a set of runs says about the speed of each phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// What the runs were measured on.
    pub key: Key,
    /// The usable runs.
    pub runs: Vec<RunInfo>,
    /// The phases that all usable runs have.
    pub phases: BTreeMap<String, Column>,
    /// Exact figures: the largest value over the runs.
    pub exact: BTreeMap<String, u64>,
    /// Whether times of unverified proofs are in it.
    pub unverified: bool,
    /// What was wrong with the samples.
    pub problems: Vec<Problem>,
}

impl Evidence {
    /// Condenses samples into evidence.
    #[must_use]
    pub fn of(samples: &Samples, rules: Rules) -> Self {
        let mut evidence = Self {
            key: samples.key.clone(),
            ..Self::default()
        };
        evidence.take_anomalies(samples);
        let runs = evidence.usable_runs(&samples.runs, rules);
        let zero = !runs.is_empty() && runs.iter().all(|run| times::zero(run));
        let timed = runs.iter().filter(|_| !zero);
        let names: BTreeSet<&str> = timed
            .flat_map(|run| run.phases.keys().map(String::as_str))
            .collect();
        let mut trends: Vec<(String, f64)> = Vec::new();
        for name in names {
            if times::all_zero(&runs, name) {
                let what = "all times are 0".to_owned();
                let problem = Problem::blocking(Code::GateBadTimes, what).of_phase(name);
                evidence.problems.push(problem);
            } else if let Some(column) = evidence.column(name, &runs, (rules, &mut trends)) {
                evidence.phases.insert(name.to_owned(), column);
            }
        }
        evidence.problems.extend(restless(&trends));
        for run in &runs {
            evidence.runs.push(RunInfo {
                id: run.id.clone(),
                commit: run.commit.clone(),
                time: run.time.clone(),
            });
            for (name, value) in &run.exact {
                let most = evidence.exact.entry(name.clone()).or_insert(*value);
                *most = (*most).max(*value);
            }
        }
        if evidence.phases.is_empty() || evidence.runs.is_empty() {
            let what = if zero {
                "all times are 0".to_owned()
            } else {
                "no complete run with usable times".to_owned()
            };
            evidence
                .problems
                .push(Problem::blocking(Code::GateNothingMeasured, what));
        } else if evidence.phases.values().all(|column| !column.resolved()) {
            let what = "no phase is long enough for the clock to resolve it".to_owned();
            evidence
                .problems
                .push(Problem::blocking(Code::GateNothingMeasured, what));
        }
        evidence
    }

    /// Whether something in it forbids a pass.
    #[must_use]
    pub fn blocked(&self) -> bool {
        self.problems.iter().any(|problem| problem.blocks)
    }

    fn take_anomalies(&mut self, samples: &Samples) {
        for what in &samples.remarks {
            self.problems
                .push(Problem::note(Code::GateSampleCount, what.clone()));
        }
        for name in &samples.barren {
            let what = format!("{name} holds no time that could be read");
            self.problems
                .push(Problem::blocking(Code::GateNothingMeasured, what));
        }
        if let Some(first) = samples.anomalies.first() {
            let count = samples.anomaly_count;
            let what = format!(
                "{count} lines not usable; first: line {}: {}",
                first.line, first.what
            );
            self.problems
                .push(Problem::blocking(Code::GateBadTimes, what));
        }
    }

    /// The complete runs, each once.
    fn usable_runs<'r>(&mut self, runs: &'r [Run], rules: Rules) -> Vec<&'r Run> {
        let mut seen: BTreeMap<u64, &str> = BTreeMap::new();
        let mut usable: Vec<&Run> = Vec::new();
        for run in runs {
            if !run.complete {
                let what = "cut off or failed, left out".to_owned();
                let problem = Problem::blocking(Code::GateIncompleteRun, what).of_run(&run.id);
                self.problems.push(problem);
                continue;
            }
            if let Some(faults) = &run.injected {
                let out = if rules.injected { "" } else { ", left out" };
                let what = format!("faults were injected ({faults}){out}");
                self.problems
                    .push(Problem::blocking(Code::GateInjected, what).of_run(&run.id));
                if !rules.injected {
                    continue;
                }
            }
            let times_of_run: usize = run.phases.values().map(|times| times.ms.len()).sum();
            let known = seen.insert(times::fingerprint(run), &run.id);
            let exact = known.filter(|_| times_of_run >= COPY_TIMES_MIN && !times::zero(run));
            let copied = exact.map_or_else(
                || copy::near(run, &usable),
                |first| Some(format!("has exactly the times of run {first}")),
            );
            if let Some(what) = copied {
                let what = format!("{what}, left out");
                self.problems
                    .push(Problem::blocking(Code::GateCopiedRun, what).of_run(&run.id));
                continue;
            }
            usable.push(run);
        }
        usable
    }

    /// One phase over the runs; `None`, with a problem noted, if a run has no usable times of it.
    fn column(
        &mut self,
        name: &str,
        runs: &[&Run],
        (rules, trends): (Rules, &mut Vec<(String, f64)>),
    ) -> Option<Column> {
        let all: Vec<&[f64]> = runs
            .iter()
            .map(|run| {
                run.phases
                    .get(name)
                    .map_or(&[][..], |times| times.ms.as_slice())
            })
            .collect();
        let quantum_ms = quantum_of(&all);
        let mut column = Column {
            quantum_ms,
            ..Column::default()
        };
        let mut totals = Totals::default();
        for run in runs {
            let Some(times) = run.phases.get(name) else {
                totals.missing.push(run.id.clone());
                continue;
            };
            column.partitions = column.partitions.max(times.partitions);
            let digest = condense(times, quantum_ms, rules);
            totals.add(&digest);
            column.warmup.push(digest.warmup);
            column.ln_ms.push(digest.ln_ms);
            column.n.push(digest.n);
            column.spread.push(digest.spread);
            column.phi.push(digest.phi);
            column.mean.push(digest.mean);
        }
        if totals.trend_max.abs() > times::TREND_SAID {
            trends.push((name.to_owned(), totals.trend_max));
        }
        self.unverified |= rules.allow_unverified && totals.unverified > 0;
        self.problems
            .extend(totals.problems(name, rules, &all, &column));
        let whole = totals.missing.is_empty() && column.n.iter().all(|n| *n > 0);
        whole.then_some(column)
    }
}

/// What was left out of a phase, over all runs.
#[derive(Debug, Default)]
struct Totals {
    seen: usize,
    unverified: usize,
    bad: usize,
    zero: usize,
    trend_max: f64,
    missing: Vec<String>,
}

impl Totals {
    fn add(&mut self, digest: &Digest) {
        self.seen += digest.seen;
        self.unverified += digest.unverified;
        self.bad += digest.bad;
        self.zero += digest.zero;
        if digest.trend.abs() > self.trend_max.abs() {
            self.trend_max = digest.trend;
        }
    }

    fn problems(&self, name: &str, rules: Rules, all: &[&[f64]], column: &Column) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut say = |blocks: bool, code: Code, what: String| {
            found.push(Problem {
                blocks,
                ..Problem::note(code, what).of_phase(name)
            });
        };
        let (seen, unverified) = (self.seen, self.unverified);
        if !self.missing.is_empty() {
            let runs = self.missing.join(", ");
            say(
                true,
                Code::GatePhaseSet,
                format!("missing in run {runs}; phase left out"),
            );
        }
        if unverified > 0 && rules.allow_unverified {
            let what = format!("{unverified} of {seen} times are of unverified proofs, allowed");
            say(false, Code::GateUnverified, what);
        } else if unverified > 0 {
            let what = format!("{unverified} of {seen} times are of unverified proofs, left out");
            say(unverified == seen, Code::GateUnverified, what);
        }
        if self.bad > 0 {
            let what = format!("{} of {seen} times are negative or not finite", self.bad);
            say(true, Code::GateBadTimes, what);
        }
        if self.zero > 0 && (column.quantum_ms <= 0.0 || column.resolved()) {
            say(
                true,
                Code::GateBadTimes,
                format!("{} of {seen} times are zero", self.zero),
            );
        }
        if column.resolved() && times::constant(all) {
            say(
                true,
                Code::GateConstantTimes,
                format!("all {seen} times are the same"),
            );
        }
        found
    }
}

/// One line on all phases whose times change within a run.
fn restless(trends: &[(String, f64)]) -> Option<Problem> {
    let (name, most) = trends
        .iter()
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let (count, percent) = (trends.len(), most.exp_m1() * 100.0);
    let what = format!(
        "within a run the times of {count} phases change (most: {name}, {percent:+.1} % from the \
         first quarter to the last): a warm-up, a throttled machine, or waiting work; it weighs \
         on no verdict"
    );
    Some(Problem::note(Code::PerfThrottle, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Sample, Times};

    fn samples(runs: &[&[f64]]) -> Samples {
        let mut set = Samples::default();
        for (at, ms) in runs.iter().enumerate() {
            let run = set.run_mut(&format!("r{at}"));
            run.phases
                .insert("p".to_owned(), Times::of_verified(ms.to_vec()));
        }
        set
    }

    fn codes(evidence: &Evidence) -> Vec<(&'static str, bool)> {
        evidence
            .problems
            .iter()
            .map(|p| (p.code.as_str(), p.blocks))
            .collect()
    }

    #[test]
    fn the_median_leaves_out_the_warm_up() {
        let set = samples(&[&[99.0, 10.1, 10.3, 10.2], &[99.0, 11.0, 11.3, 11.1]]);
        let evidence = Evidence::of(&set, Rules::default());
        let column = &evidence.phases["p"];
        assert_eq!(
            (column.n.as_slice(), column.warmup.as_slice()),
            (&[3, 3][..], &[1, 1][..])
        );
        assert!((column.ln_ms[0] - 10.2_f64.ln()).abs() < 1e-12);
        assert!((column.ms() - (10.2_f64 * 11.1).sqrt()).abs() < 1e-9);
        assert!(evidence.problems.is_empty(), "{:?}", evidence.problems);
    }

    #[test]
    fn a_short_run_keeps_its_first_time() {
        let evidence = Evidence::of(&samples(&[&[5.25], &[5.5]]), Rules::default());
        assert_eq!(evidence.phases["p"].n, [1, 1]);
    }

    const COPY: [f64; 8] = [1.5, 1.7, 1.6, 1.5, 1.8, 1.6, 1.5, 1.4];

    const LONG: [f64; 9] = [1.5, 1.7, 1.61, 1.52, 1.83, 1.64, 1.55, 1.46, 1.97];

    #[test]
    fn all_zero_is_said_once_and_makes_no_figure() {
        let all = Evidence::of(&samples(&[&[0.0; 9], &[0.0; 9]]), Rules::default());
        let said: Vec<&str> = all.problems.iter().map(|p| p.what.as_str()).collect();
        assert_eq!(said, ["all times are 0"]);
        assert!(all.phases.is_empty());
        // Beside times with a fine clock a zero is no "less than a tick".
        let mut set = samples(&[&[0.0; 9], &[0.0; 9]]);
        for (at, run) in set.runs.iter_mut().enumerate() {
            let ms = LONG.map(|ms| ms * 1.01_f64.powi(2) + at as f64 * ms * ms);
            run.phases
                .insert("q".to_owned(), Times::of_verified(ms.to_vec()));
        }
        let one = Evidence::of(&set, Rules::default());
        assert_eq!(one.phases.keys().collect::<Vec<_>>(), ["q"]);
        assert_eq!(codes(&one), [("gate.bad_times", true)]);
    }

    #[test]
    fn what_held_nothing_and_what_changes_is_one_line_each() {
        let steep: Vec<f64> = (0..40).map(|i| 10.0 + f64::from(i) + 0.001).collect();
        let mut set = samples(&[&steep, &[1.5, 1.6, 1.7]]);
        for run in &mut set.runs {
            let again = run.phases["p"].clone();
            run.phases.insert("q".to_owned(), again);
        }
        set.barren = vec!["notes.txt".to_owned()];
        let evidence = Evidence::of(&set, Rules::default());
        assert_eq!(
            codes(&evidence),
            [("gate.nothing_measured", true), ("perf.throttle", false)]
        );
        assert!(evidence.problems[0].what.starts_with("notes.txt holds"));
        assert!(evidence.problems[1].what.contains("times of 2 phases"));
    }

    #[test]
    fn problems_are_named() {
        for (runs, expected) in [
            (
                &[&[1.5, f64::NAN, 1.7][..], &[1.6, 1.5, 1.4]][..],
                ("gate.bad_times", true),
            ),
            (
                &[&[1.5, -1.0, 1.7], &[1.6, 1.5, 1.4]],
                ("gate.bad_times", true),
            ),
            (
                &[&[12.5, 0.0, 11.7], &[11.6, 12.5, 11.4]],
                ("gate.bad_times", true),
            ),
            (&[&[845.0; 4], &[845.0; 5]], ("gate.constant_times", true)),
            (&[&COPY, &COPY], ("gate.copied_run", true)),
            (
                &[&LONG, &LONG.map(|ms| ms * 1.07)],
                ("gate.copied_run", true),
            ),
            (&[&[0.0; 9], &[0.0; 8]], ("gate.nothing_measured", true)),
            (&[], ("gate.nothing_measured", true)),
        ] {
            let found = codes(&Evidence::of(&samples(runs), Rules::default()));
            assert!(found.contains(&expected), "{runs:?}: {found:?}");
        }
    }

    #[test]
    fn an_incomplete_run_and_a_missing_phase() {
        let mut set = samples(&[&[1.5, 1.6], &[1.7, 1.8], &[1.9, 1.4]]);
        set.runs[0].complete = false;
        set.push(Sample {
            run: "r1".to_owned(),
            phase: "q".to_owned(),
            partition: None,
            ms: 3.25,
            verified: true,
        });
        let evidence = Evidence::of(&set, Rules::default());
        assert_eq!(evidence.runs.len(), 2);
        assert!(!evidence.phases.contains_key("q"));
        assert_eq!(
            codes(&evidence),
            [("gate.incomplete_run", true), ("gate.phase_set", true)]
        );
    }

    #[test]
    fn unverified_times_count_only_when_allowed() {
        let mut set = samples(&[&[1.5, 1.6, 1.7], &[1.7, 1.8, 1.9]]);
        set.runs[0].phases.get_mut("p").unwrap().verified = vec![false; 3];
        set.runs[1].phases.get_mut("p").unwrap().verified = vec![false, true, true];
        let strict = Evidence::of(&set, Rules::default());
        assert!(strict.phases.is_empty() && !strict.unverified && strict.blocked());
        let open = Evidence::of(
            &set,
            Rules {
                allow_unverified: true,
                ..Rules::default()
            },
        );
        assert!(open.unverified && !open.blocked());
        assert_eq!(open.phases["p"].n, [3, 3]);
    }

    #[test]
    fn a_phase_below_the_clock_is_no_problem_by_itself() {
        let mut set = samples(&[&[0.0, 1.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 0.0]]);
        for (at, run) in set.runs.iter_mut().enumerate() {
            let ms = (0..4)
                .map(|i| 800.0 + f64::from(i))
                .map(|x| x + at as f64)
                .collect();
            run.phases.insert("long".to_owned(), Times::of_verified(ms));
        }
        let evidence = Evidence::of(&set, Rules::default());
        assert!(!evidence.blocked(), "{:?}", evidence.problems);
        assert!(!evidence.phases["p"].resolved() && evidence.phases["long"].resolved());
    }
}
