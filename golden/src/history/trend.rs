//! A phase over its history as pictures and lists show it: every point as a ratio, the levels
//! between the changes, and the changes.

use std::ops::Range;

use super::{Cause, Level, PhaseChange, Point, phase_changes, series};
use crate::stats::{ChangeOptions, lag1, long_run_factor, normal_quantile, robust_sd};

/// One phase of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// The phase.
    pub phase: String,
    /// Indices of the points that have the phase.
    pub points: Vec<usize>,
    /// Ratio of each to the first level of its key.
    pub ratios: Vec<Ratio>,
    /// Levels in order; they cover all points.
    pub levels: Vec<LevelRatio>,
    /// Changes; indices into the points above.
    pub changes: Vec<PhaseChange>,
    /// Milliseconds that a ratio of 1 stands for, by the first point for which it does.
    pub base_ms: Vec<(usize, f64)>,
}

/// A ratio with its 95 % interval; both ends are the ratio where there is one run only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio itself.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A level between two changes.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelRatio {
    /// The points on it.
    pub range: Range<usize>,
    /// Median, with a 95 % interval widened by the correlation of neighbours.
    pub ratio: Ratio,
}

/// Fewest points that say how far a level is known.
const POINTS_MIN: usize = 3;

/// Standard error of a median over that of a mean.
const MEDIAN_ERROR: f64 = 1.253_314;

/// The trend of every phase, by name.
#[must_use]
pub fn trends(points: &[Point], options: &ChangeOptions) -> Vec<Trend> {
    let mut phases: Vec<&String> = points
        .iter()
        .flat_map(|point| point.phases.keys())
        .collect();
    phases.sort_unstable();
    phases.dedup();
    phases
        .into_iter()
        .filter_map(|phase| trend(points, phase, options))
        .collect()
}

/// The trend of one phase; `None` if no point has it.
#[must_use]
pub fn trend(points: &[Point], phase: &str, options: &ChangeOptions) -> Option<Trend> {
    let (indices, levels) = series(points, phase);
    if levels.is_empty() {
        return None;
    }
    let changes = phase_changes(points, phase, options);
    let confirmed = changes.iter().filter(|found| found.change.confirmed);
    let mut bounds = vec![0];
    bounds.extend(confirmed.clone().map(|found| found.change.at));
    bounds.push(levels.len());
    let rebased: Vec<usize> = confirmed
        .filter(|found| found.cause == Cause::Key)
        .map(|found| found.change.at)
        .collect();
    let (mut out, mut ratios, mut base_ms) = (Vec::new(), Vec::new(), Vec::new());
    let mut base = 0.0;
    for pair in bounds.windows(2) {
        let range = pair[0]..pair[1];
        let part = &levels[range.clone()];
        let Some((middle, error)) = middle(part) else {
            continue;
        };
        if range.start == 0 || rebased.contains(&range.start) {
            base = middle;
            base_ms.push((range.start, base.exp()));
        }
        ratios.extend(
            part.iter()
                .map(|level| ratio(level.ln_ms - base, level.error)),
        );
        let ratio = ratio(middle - base, error);
        out.push(LevelRatio { range, ratio });
    }
    Some(Trend {
        phase: phase.to_owned(),
        points: indices,
        ratios,
        levels: out,
        changes,
        base_ms,
    })
}

fn ratio(shift: f64, error: f64) -> Ratio {
    let reach = normal_quantile(0.975) * error;
    Ratio {
        value: shift.exp(),
        low: (shift - reach).exp(),
        high: (shift + reach).exp(),
    }
}

/// Median of a level and its standard error; 0 for a level too short to know it.
fn middle(levels: &[Level]) -> Option<(f64, f64)> {
    let values: Vec<f64> = levels.iter().map(|level| level.ln_ms).collect();
    let median = crate::stats::median(&mut values.clone())?;
    if values.len() < POINTS_MIN {
        return Some((median, 0.0));
    }
    let count = values.len() as f64;
    let factor = long_run_factor(lag1(&values).clamp(0.0, 0.9));
    let deviation = robust_sd(&mut values.clone()).unwrap_or(0.0);
    Some((median, MEDIAN_ERROR * deviation * (factor / count).sqrt()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn points(parts: &[(usize, f64, &str)]) -> Vec<Point> {
        let mut out: Vec<Point> = Vec::new();
        for (count, ms, key) in parts {
            for _ in 0..*count {
                let wiggle = [0.0, 0.004, -0.003, 0.002, -0.004, 0.001, 0.003][out.len() % 7];
                let level = Level {
                    ln_ms: ms.ln() + wiggle,
                    error: 0.01,
                };
                out.push(Point {
                    commit: format!("c{}", out.len()),
                    key: (*key).to_owned(),
                    runs: 3,
                    phases: BTreeMap::from([("p".to_owned(), level)]),
                    ..Point::default()
                });
            }
        }
        out
    }

    #[test]
    fn levels_are_ratios_to_the_first_of_their_key() {
        let all = points(&[(20, 100.0, "k"), (20, 110.0, "k"), (10, 400.0, "l")]);
        let found = trends(&all, &ChangeOptions::default());
        assert_eq!(found.len(), 1);
        let trend = &found[0];
        let ranges: Vec<_> = trend
            .levels
            .iter()
            .map(|level| level.range.clone())
            .collect();
        assert_eq!(ranges, [0..20, 20..40, 40..50]);
        let ratios: Vec<f64> = trend.levels.iter().map(|level| level.ratio.value).collect();
        for (found, wanted) in ratios.iter().zip([1.0, 1.1, 1.0]) {
            assert!((found - wanted).abs() < 0.004, "{ratios:?}");
        }
        let level = trend.levels[1].ratio;
        assert!(level.low < level.value && level.value < level.high && level.high < 1.11);
        assert_eq!((trend.ratios.len(), trend.changes.len()), (50, 2));
        let point = trend.ratios[0];
        assert!(point.low < point.value / 1.01 && point.high > point.value * 1.01);
        assert_eq!(trend.base_ms.len(), 2);
        assert!(
            (trend.base_ms[1].1 - 400.0).abs() < 2.0,
            "{:?}",
            trend.base_ms
        );
    }

    #[test]
    fn a_phase_that_nobody_has_and_one_of_a_single_point() {
        let all = points(&[(1, 5.0, "k")]);
        assert_eq!(trend(&all, "q", &ChangeOptions::default()), None);
        let one = trend(&all, "p", &ChangeOptions::default()).unwrap();
        assert_eq!((one.levels.len(), one.changes.len()), (1, 0));
    }
}
