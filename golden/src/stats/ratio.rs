//! The ratio of a phase's time between two sides, with a 95 % interval.
//!
//! Two cases, told apart by [`Evidence`]:
//! - one run a side: the partitions are the only evidence. The ratio is the Hodges-Lehmann shift
//!   of the log times with its rank interval, the rank variance multiplied by the larger
//!   long-run factor `(1 + φ) / (1 - φ)` of the two sides. It speaks of these two runs; what
//!   differs between runs of the same code it cannot see, and it is too narrow for that.
//! - several runs: the run is the unit. The ratio is the difference of the means over runs of the
//!   median log time, with a Student interval on the pooled variance of the run medians,
//!   moderated over the phases ([`super::Prior`]).
//!
//! Nothing here decides whether a ratio is a regression.

use super::dist::t_quantile;
use super::mean_variance;
use super::moderate::Prior;
use super::order::median;
use super::serial::{lag1, long_run_factor};
use super::shift::hodges_lehmann;

/// Confidence of the intervals, two-sided.
const LEVEL: f64 = 0.95;

/// What the interval of a ratio rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Partitions of one run a side.
    Partitions,
    /// Several runs.
    Runs,
}

/// Time of side b over time of side a for one phase.
///
/// Above 1 is slower. Where the samples are too small for any interval of the level, `low` is 0
/// and `high` infinite (JSON writes `null`).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PhaseRatio {
    /// Estimate of b/a.
    pub ratio: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Usable values of side a: partitions or runs, as `evidence` says.
    pub n_a: usize,
    /// Usable values of side b.
    pub n_b: usize,
    /// What the interval rests on.
    pub evidence: Evidence,
}

impl PhaseRatio {
    /// Whether the interval excludes 1, so that the sides differ in one direction.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

/// One phase on two sides: per side one slice of partition times (ms) a run, in recorded order.
#[derive(Clone, Debug, Default)]
pub struct PhaseRuns<'t> {
    /// Runs of side a.
    pub a: Vec<&'t [f64]>,
    /// Runs of side b.
    pub b: Vec<&'t [f64]>,
}

/// Ratio of the medians of two groups of times, b/a; `None` without a positive time on each side.
#[must_use]
pub fn median_ratio(a: &[f64], b: &[f64]) -> Option<f64> {
    let shift = median(&mut logs(b))? - median(&mut logs(a))?;
    Some(shift.exp())
}

/// Compares two single runs of a phase, each given as its partition times in recorded order.
///
/// Times that are not positive and finite are left out. `None` if that leaves a side empty.
#[must_use]
pub fn compare_phase(a: &[f64], b: &[f64]) -> Option<PhaseRatio> {
    let (mut a, mut b) = (logs(a), logs(b));
    let inflation = long_run_factor(lag1(&a)).max(long_run_factor(lag1(&b)));
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let shift = hodges_lehmann(&a, &b, LEVEL, inflation)?;
    let (low, high) = apart(&a, &b)
        .filter(|_| shift.low.is_infinite())
        .unwrap_or((shift.low, shift.high));
    Some(PhaseRatio {
        ratio: shift.estimate.exp(),
        low: low.exp(),
        high: high.exp(),
        n_a: a.len(),
        n_b: b.len(),
        evidence: Evidence::Partitions,
    })
}

/// Ratio by which two groups must lie apart to need no count of independent times.
const APART: f64 = 1.5;

/// The range of all ratios between two sorted groups of log times, if the groups lie apart.
///
/// Times that hang together may be worth less than two independent ones a side, and then no rank
/// interval is bounded. But where every time of one side is beyond every time of the other by a
/// factor that drift within a run does not make, the range of the pairs bounds the ratio of any
/// quantiles, whatever hangs together.
fn apart(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    const TIMES_MIN: usize = 4;
    if a.len().min(b.len()) < TIMES_MIN {
        return None;
    }
    let (low, high) = (b.first()? - a.last()?, b.last()? - a.first()?);
    (low > APART.ln() || high < -APART.ln()).then_some((low, high))
}

/// Compares several phases at once; the results stand in the order of the phases.
///
/// A phase with three or more usable runs in all, at least one a side, is compared by its runs,
/// the phases lending each other evidence about the spread; one with a single run a side by its
/// partitions ([`compare_phase`]); `None` where a side has no usable time.
#[must_use]
pub fn compare_phases(phases: &[PhaseRuns<'_>]) -> Vec<Option<PhaseRatio>> {
    let medians: Vec<(Vec<f64>, Vec<f64>)> = phases
        .iter()
        .map(|phase| (run_medians(&phase.a), run_medians(&phase.b)))
        .collect();
    let pooled: Vec<(f64, f64)> = medians.iter().map(|(a, b)| pooled_variance(a, b)).collect();
    let prior = Prior::fit(&pooled);
    let df_all: f64 = pooled.iter().map(|(_, df)| df).sum();
    phases
        .iter()
        .zip(medians.iter().zip(pooled))
        .map(|(phase, ((a, b), (variance, df)))| {
            if a.is_empty() || b.is_empty() {
                return None;
            }
            if df < 1.0 {
                return compare_phase(&phase.a.concat(), &phase.b.concat());
            }
            let moderated = prior.moderate(variance, df, df_all);
            run_ratio(a, b, moderated.variance, moderated.df)
        })
        .collect()
}

/// Student's interval for the ratio of two groups of run medians (log times).
fn run_ratio(a: &[f64], b: &[f64], variance: f64, df: f64) -> Option<PhaseRatio> {
    let shift = mean_variance(b)?.0 - mean_variance(a)?.0;
    let error = (variance * (1.0 / a.len() as f64 + 1.0 / b.len() as f64)).sqrt();
    let reach = t_quantile(f64::midpoint(1.0, LEVEL), df) * error;
    Some(PhaseRatio {
        ratio: shift.exp(),
        low: (shift - reach).exp(),
        high: (shift + reach).exp(),
        n_a: a.len(),
        n_b: b.len(),
        evidence: Evidence::Runs,
    })
}

/// Pooled variance of two groups and its degrees of freedom (0 where there are none).
fn pooled_variance(a: &[f64], b: &[f64]) -> (f64, f64) {
    let squares = |side: &[f64]| {
        mean_variance(side).map_or((0.0, 0.0), |(_, variance)| {
            let df = side.len() as f64 - 1.0;
            (variance * df, df)
        })
    };
    let ((sa, da), (sb, db)) = (squares(a), squares(b));
    let df = da + db;
    if df > 0.0 {
        ((sa + sb) / df, df)
    } else {
        (0.0, 0.0)
    }
}

fn run_medians(runs: &[&[f64]]) -> Vec<f64> {
    runs.iter()
        .filter_map(|times| median(&mut logs(times)))
        .collect()
}

fn logs(times: &[f64]) -> Vec<f64> {
    times
        .iter()
        .filter(|ms| **ms > 0.0 && ms.is_finite())
        .map(|ms| ms.ln())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{autoregressive, noise};
    use super::*;
    use proptest::prelude::*;

    /// Partition times of one run: AR(1) noise around `ln_ms`.
    fn run(ln_ms: f64, n: usize, phi: f64, state: &mut u64) -> Vec<f64> {
        let series = autoregressive(n, phi, state).into_iter();
        series.map(|at| 0.02_f64.mul_add(at, ln_ms).exp()).collect()
    }

    /// Times that hang together so much that they count as less than two independent ones.
    fn drift(ms: f64, reach: f64) -> Vec<f64> {
        (0..16)
            .map(|at| ms * (1.0 + reach * f64::from(at) / 15.0))
            .collect()
    }

    #[test]
    fn a_jump_far_beyond_the_drift_has_an_interval_without_independent_times() {
        let (good, slow) = (drift(5.0, 0.4), drift(140.0, 0.4));
        let ratio = compare_phase(&good, &slow).expect("times");
        assert!((ratio.low - 20.0).abs() < 1e-9, "140 over 7: {ratio:?}");
        assert!((ratio.high - 39.2).abs() < 1e-9, "196 over 5: {ratio:?}");
        let back = compare_phase(&slow, &good).expect("times");
        assert!(back.high < 0.051 && back.differs(), "{back:?}");
    }

    #[test]
    fn drift_alone_and_few_times_have_no_interval() {
        for (b, n) in [
            (drift(6.0, 0.4), 16),
            (drift(7.1, 0.4), 16),
            (drift(140.0, 0.4), 3),
        ] {
            let ratio = compare_phase(&drift(5.0, 0.4), &b[..n]).expect("times");
            assert!(ratio.high.is_infinite() && !ratio.differs(), "{ratio:?}");
        }
    }

    type Runs = Vec<Vec<f64>>;

    /// Runs of one phase, each with a shift of its own.
    fn runs(n: usize, state: &mut u64) -> Runs {
        (0..n)
            .map(|_| {
                let own = 0.03 * noise(state);
                run(5.0 + own, 20, 0.3, state)
            })
            .collect()
    }

    #[test]
    fn single_runs_cover_the_true_ratio_also_when_correlated() {
        for (phi, n) in [(0.0, 20), (0.4, 20), (0.4, 60), (0.6, 50)] {
            let mut state = 11;
            let trials = 1_000;
            let covered = (0..trials)
                .filter(|_| {
                    let a = run(6.7, n, phi, &mut state);
                    let b = run(6.7 + 0.05, n, phi, &mut state);
                    let got = compare_phase(&a, &b).unwrap();
                    got.low <= 0.05_f64.exp() && 0.05_f64.exp() <= got.high
                })
                .count();
            // Estimating phi from 20 values costs some coverage; never more than this.
            assert!(
                (900..=995).contains(&covered),
                "phi {phi} n {n}: {covered} of {trials}"
            );
        }
    }

    #[test]
    fn several_runs_cover_the_true_ratio_when_runs_differ() {
        let mut state = 5;
        let (mut covered, mut naive, trials) = (0, 0, 400);
        for _ in 0..trials {
            let sides: Vec<(Runs, Runs)> = (0..6)
                .map(|_| (runs(4, &mut state), runs(3, &mut state)))
                .collect();
            let phases: Vec<PhaseRuns<'_>> = sides
                .iter()
                .map(|(a, b)| PhaseRuns {
                    a: a.iter().map(Vec::as_slice).collect(),
                    b: b.iter().map(Vec::as_slice).collect(),
                })
                .collect();
            for ratio in compare_phases(&phases).into_iter().flatten() {
                assert_eq!(ratio.evidence, Evidence::Runs);
                covered += usize::from(!ratio.differs());
            }
            let single = compare_phase(&sides[0].0[0], &sides[0].1[0]).unwrap();
            naive += usize::from(!single.differs());
        }
        let share = f64::from(u32::try_from(covered).unwrap()) / f64::from(6 * trials);
        assert!((0.93..0.97).contains(&share), "{share}");
        // Partitions of one run are no independent evidence: their interval misses often.
        assert!(naive < 250, "{naive} of {trials}");
    }

    #[test]
    fn edges() {
        assert_eq!(compare_phase(&[], &[1.0]), None);
        assert_eq!(compare_phase(&[0.0, f64::NAN, -1.0], &[1.0]), None);
        let one = compare_phase(&[2.0], &[3.0]).unwrap();
        assert!((one.ratio - 1.5).abs() < 1e-12);
        assert!(one.low.abs() < f64::EPSILON && one.high.is_infinite() && !one.differs());
        let json = serde_json::to_string(&one).unwrap();
        assert!(json.contains("\"high\":null"), "{json}");
        let empty = PhaseRuns {
            a: vec![&[]],
            b: vec![&[1.0]],
        };
        assert_eq!(compare_phases(&[empty]), vec![None]);
        assert!((median_ratio(&[1.0, 2.0, 3.0], &[4.0]).unwrap() - 2.0).abs() < 1e-12);
        let single = PhaseRuns {
            a: vec![&[1.0, 1.1]],
            b: vec![&[1.0, 1.1]],
        };
        let got = compare_phases(&[single]);
        assert_eq!(got[0].unwrap().evidence, Evidence::Partitions);
    }

    proptest! {
        #[test]
        fn comparing_is_antisymmetric(
            a in prop::collection::vec(1e-3_f64..1e6, 1..40),
            b in prop::collection::vec(1e-3_f64..1e6, 1..40),
        ) {
            let there = compare_phase(&a, &b).unwrap();
            let back = compare_phase(&b, &a).unwrap();
            prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-9);
            prop_assert!(there.low <= there.ratio && there.ratio <= there.high);
            prop_assert!(there.high.is_infinite() || (there.high * back.low - 1.0).abs() < 1e-9);
        }

        #[test]
        fn the_unit_does_not_matter(
            a in prop::collection::vec(1.0_f64..1e3, 2..30),
            b in prop::collection::vec(1.0_f64..1e3, 2..30),
        ) {
            let ms = compare_phase(&a, &b).unwrap();
            let to_us = |side: &[f64]| side.iter().map(|x| x * 1e3).collect::<Vec<_>>();
            let us = compare_phase(&to_us(&a), &to_us(&b)).unwrap();
            prop_assert!((ms.ratio / us.ratio - 1.0).abs() < 1e-9);
        }
    }
}
