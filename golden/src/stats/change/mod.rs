//! Change points of a history: where the level of a series of run medians moved, and by how much.
//!
//! Binary segmentation on a CUSUM. What is special is the yardstick, since the usual ones cry
//! wolf on histories of real machines:
//! - the noise is taken from differences of neighbours, robustly, so that steps do not count as
//!   noise, with the tick of the clock as floor;
//! - it is multiplied by the long-run factor `(1 + φ)/(1 - φ)`, so that a drifting machine does
//!   not look like many steps;
//! - points farther than four deviations from the middle are pulled in to there;
//! - the largest of all splits is compared with the simulated distribution of a largest split,
//!   estimation of noise and `φ` included ([`critical()`]);
//! - a segment has at least three points, and a step at least the smallest effect of interest.
//!
//! Values are natural logarithms of times, so steps are log ratios.

mod critical;

pub use critical::critical;

use super::order::{MAD_TO_SD, quantile};
use super::serial::{lag1, long_run_factor};

/// What counts as a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeOptions {
    /// Smallest step that is reported, as a log ratio.
    pub effect_min: f64,
    /// Standard deviation that the clock alone gives a value, as a log ratio.
    pub noise_floor: f64,
}

impl Default for ChangeOptions {
    fn default() -> Self {
        Self {
            effect_min: 0.02_f64.ln_1p(),
            noise_floor: 0.0,
        }
    }
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Change {
    /// Index of the first point of the new level.
    pub at: usize,
    /// Earliest index that the data allow for it.
    pub low: usize,
    /// Latest index that the data allow for it.
    pub high: usize,
    /// New level less old level, log ratio.
    pub shift: f64,
    /// The statistic over its critical value; above 1 for a confirmed change.
    pub strength: f64,
    /// Whether three or more points show it; a change of the last one or two is a candidate.
    pub confirmed: bool,
}

/// Fewest points of a segment.
const SEGMENT_MIN: usize = 3;

/// Points farther than this many deviations from the middle are pulled in.
const REACH: f64 = 4.0;

/// A segment shorter than this must lie, with all its points, beyond the middle of the step.
const SHORT: usize = 6;

/// Loss of fit within which another place of the change is as good (0.99 quantile of χ²₁).
const PLACE_LOSS: f64 = 6.635;

/// Shortest window that is searched beside the whole segment.
const WINDOW_MIN: usize = 12;

/// Strength that a split of a window must have.
const WINDOW_STRENGTH: f64 = 1.25;

/// Deviations from the last level that make a last point or two a candidate.
const CANDIDATE_REACH: f64 = 4.5;

/// The changes of a series, in order. Values that are not finite must be left out by the caller.
#[must_use]
pub fn changes(series: &[f64], options: &ChangeOptions) -> Vec<Change> {
    let mut cuts = Vec::new();
    let mut open = vec![(0, series.len())];
    while let Some((start, end)) = open.pop() {
        let segment = &series[start..end];
        let whole = best_split(segment, options).filter(|split| split.strength > 1.0);
        if let Some(at) = whole
            .map(|split| split.at)
            .or_else(|| in_windows(segment, options))
        {
            cuts.push(start + at);
            open.push((start, start + at));
            open.push((start + at, end));
        }
    }
    cuts.sort_unstable();
    let mut found = settle(series, cuts, options);
    found.extend(candidate(
        series,
        found.last().map_or(0, |last| last.at),
        options,
    ));
    found
}

/// The best split of a segment.
#[derive(Clone, Copy, Debug)]
struct Split {
    at: usize,
    low: usize,
    high: usize,
    shift: f64,
    strength: f64,
}

/// The strongest split of the halves and quarters of a segment, each taken at every half of its
/// length. A level that comes back hides its two steps from each other in the whole; the price of
/// looking ten times more is a threshold a quarter higher.
fn in_windows(segment: &[f64], options: &ChangeOptions) -> Option<usize> {
    let n = segment.len();
    let mut best: Option<(f64, usize)> = None;
    for parts in [2, 4] {
        let length = n / parts;
        if length < WINDOW_MIN {
            break;
        }
        for start in (0..=n - length).step_by((length / 2).max(1)) {
            let Some(split) = best_split(&segment[start..start + length], options) else {
                continue;
            };
            let beats = best.is_none_or(|(strength, _)| split.strength > strength);
            if split.strength > WINDOW_STRENGTH && beats {
                best = Some((split.strength, start + split.at));
            }
        }
    }
    best.map(|(_, at)| at)
}

/// Re-places every cut between its neighbours, and drops those that do not hold there.
fn settle(series: &[f64], mut cuts: Vec<usize>, options: &ChangeOptions) -> Vec<Change> {
    loop {
        let mut found = Vec::with_capacity(cuts.len());
        let mut weakest: Option<(usize, f64)> = None;
        for (index, _) in cuts.iter().enumerate() {
            let start = index.checked_sub(1).map_or(0, |before| cuts[before]);
            let end = cuts.get(index + 1).copied().unwrap_or(series.len());
            let split = best_split(&series[start..end], options);
            let strength = split.map_or(0.0, |split| split.strength);
            if strength <= 1.0 && weakest.is_none_or(|(_, least)| strength < least) {
                weakest = Some((index, strength));
            }
            found.extend(split.map(|split| Change {
                at: start + split.at,
                low: start + split.low,
                high: start + split.high,
                shift: split.shift,
                strength: split.strength,
                confirmed: true,
            }));
        }
        if let Some((index, _)) = weakest {
            cuts.remove(index);
            continue;
        }
        let ordered = found.windows(2).all(|pair| pair[0].at < pair[1].at);
        return if ordered { found } else { Vec::new() };
    }
}

/// The values to take the correlation from. A step beyond the reach has pulled whole levels in to
/// one number, and nothing of their noise is left: there each side is taken around its own level.
fn around_own_level(segment: &[f64], clipped: &[f64], at: usize, reach: f64) -> Vec<f64> {
    let levels = level(&segment[..at]).zip(level(&segment[at..]));
    let Some((before, after)) = levels.filter(|(a, b)| (b - a).abs() > reach) else {
        return clipped.to_vec();
    };
    let own = |(index, x): (usize, &f64)| {
        let level = if index < at { before } else { after };
        (x - level).clamp(-reach, reach)
    };
    segment.iter().enumerate().map(own).collect()
}

/// A segment on its yardstick: where its largest split is, and how large that is.
struct Measured {
    at: usize,
    /// The largest split over the long-run noise.
    statistic: f64,
    /// Deviation that the splits are measured in.
    deviation: f64,
    /// Every split, not yet over the deviation.
    profile: Vec<f64>,
}

fn measure(segment: &[f64], noise_floor: f64) -> Option<Measured> {
    let noise = difference_noise(segment).max(noise_floor);
    let middle = level(segment)?;
    let reach = if noise > 0.0 {
        REACH * noise
    } else {
        f64::INFINITY
    };
    let clipped: Vec<f64> = segment
        .iter()
        .map(|x| (x - middle).clamp(-reach, reach))
        .collect();
    let (at, raw, profile) = largest(&clipped)?;
    let phi = residual_phi(&around_own_level(segment, &clipped, at, reach), at);
    // Differences of neighbours see only the part (1 - φ) of the variance.
    let deviation = noise * (long_run_factor(phi) / (1.0 - phi)).sqrt();
    let statistic = match (deviation > 0.0, raw > 0.0) {
        (true, _) => raw / deviation,
        (false, true) => f64::INFINITY,
        (false, false) => 0.0,
    };
    Some(Measured {
        at,
        statistic,
        deviation,
        profile,
    })
}

/// The statistic of the best split of a segment, to simulate its critical value by.
#[must_use]
pub fn split_statistic(segment: &[f64]) -> f64 {
    measure(segment, 0.0).map_or(0.0, |measured| measured.statistic)
}

/// The split with the largest statistic; `None` for a segment too short to split.
fn best_split(segment: &[f64], options: &ChangeOptions) -> Option<Split> {
    let n = segment.len();
    if n < 2 * SEGMENT_MIN {
        return None;
    }
    let Measured {
        at,
        statistic,
        deviation,
        profile,
    } = measure(segment, options.noise_floor)?;
    let shift = level(&segment[at..])? - level(&segment[..at])?;
    let held = shift.abs() >= options.effect_min && all_beyond(segment, at, shift);
    let near = |k: &usize| statistic.powi(2) - (profile[*k] / deviation).powi(2) <= PLACE_LOSS;
    let places = SEGMENT_MIN..=n - SEGMENT_MIN;
    Some(Split {
        at,
        low: places.clone().find(near).unwrap_or(at).min(at),
        high: places.rev().find(near).unwrap_or(at).max(at),
        shift,
        strength: if held { statistic / critical(n) } else { 0.0 },
    })
}

/// Index and value of the largest `|mean after - mean before| √(k (n - k) / n)`, and all of them.
fn largest(values: &[f64]) -> Option<(usize, f64, Vec<f64>)> {
    let n = values.len() as f64;
    let total: f64 = values.iter().sum();
    let mut before = 0.0;
    let mut profile = vec![0.0; values.len()];
    for (at, value) in values.iter().enumerate() {
        let k = at as f64;
        if at >= SEGMENT_MIN && at + SEGMENT_MIN <= values.len() {
            let gap: f64 = (total - before) / (n - k) - before / k;
            profile[at] = gap.abs() * (k * (n - k) / n).sqrt();
        }
        before += value;
    }
    let at = (0..values.len()).max_by(|a, b| profile[*a].total_cmp(&profile[*b]))?;
    Some((at, profile[at], profile))
}

/// Robust standard deviation of independent values from the differences of neighbours.
fn difference_noise(values: &[f64]) -> f64 {
    let mut steps: Vec<f64> = values
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .collect();
    // The differences have mean zero, so their own median distance from zero is the MAD.
    quantile(&mut steps, 0.5).unwrap_or(0.0) * MAD_TO_SD / std::f64::consts::SQRT_2
}

/// Lag-1 correlation of what is left after both levels are taken out; never negative.
///
/// Further steps that are not found yet look like a strong correlation. They do not touch the
/// differences of neighbours, which for such a process have correlation `-(1 - φ)/2`: `φ` is not
/// believed to be more than one standard error above what the differences say.
fn residual_phi(values: &[f64], at: usize) -> f64 {
    let mean = |side: &[f64]| side.iter().sum::<f64>() / side.len().max(1) as f64;
    let (before, after) = (mean(&values[..at]), mean(&values[at..]));
    let rest: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(index, x)| x - if index < at { before } else { after })
        .collect();
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let error = (2.0 / values.len() as f64).sqrt();
    let most = 2.0_f64.mul_add(lag1(&steps), 1.0) + error;
    lag1(&rest).min(most).clamp(0.0, 0.9)
}

/// Median of a side.
fn level(values: &[f64]) -> Option<f64> {
    quantile(&mut values.to_vec(), 0.5)
}

/// Whether every point of a short side lies beyond the middle of the step.
fn all_beyond(segment: &[f64], at: usize, shift: f64) -> bool {
    let (before, after) = segment.split_at(at);
    let Some(low) = level(before) else {
        return false;
    };
    let middle = low + shift / 2.0;
    let beyond = |side: &[f64], sign: f64| {
        side.len() >= SHORT || side.iter().all(|x| (x - middle) * sign > 0.0)
    };
    beyond(before, -shift.signum()) && beyond(after, shift.signum())
}

/// A last point, or two, that lie far off the last level.
fn candidate(series: &[f64], start: usize, options: &ChangeOptions) -> Option<Change> {
    let last = &series[start..];
    for count in [2, 1] {
        let (known, new) = last.split_at(last.len().checked_sub(count)?);
        if known.len() < SHORT {
            continue;
        }
        let noise = difference_noise(known).max(options.noise_floor);
        let phi = lag1(known).clamp(0.0, 0.9);
        let before = level(known)?;
        let deviation = noise / (1.0 - phi).sqrt();
        let least = new
            .iter()
            .map(|x| x - before)
            .min_by(|a, b| a.abs().total_cmp(&b.abs()))?;
        let same_side = new.iter().all(|x| (x - before) * least > 0.0);
        let far = least.abs() >= options.effect_min.max(CANDIDATE_REACH * deviation);
        if far && same_side {
            let at = start + known.len();
            let strength = if deviation > 0.0 {
                least.abs() / (CANDIDATE_REACH * deviation)
            } else {
                f64::INFINITY
            };
            let shift = level(new)? - before;
            return Some(Change {
                at,
                low: at,
                high: at,
                shift,
                strength,
                confirmed: false,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests;
