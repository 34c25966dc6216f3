//! The change of each phase with its uncertainty, tested three ways.
//!
//! - slower than the smallest effect of interest: a minimum-effect test (Murphy and Myors 1999),
//!   `t = (d - δ) / (s √(1/Rb + 1/Rc))`, Holm over all lines;
//! - not slower than the largest effect that passes: the upper bound of `d`, the one-sided half
//!   of Schuirmann's two one-sided tests (1987);
//! - what could have been seen: `δ + (t₁₋α/ₘ + t₀.₈) s √(1/Rb + 1/Rc)`, and the runs for which
//!   that falls below the limit.
//!
//! `s²` is the pooled variance of run medians, moderated over the phases. A phase that is slower
//! only beside the others, and not as measured, is not proven slower.

use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

use super::common::{Sides, Split, common_shift, split, without};
use super::options::{Margins, Options};
use crate::stats::{Moderated, Prior, holm, mean_variance, t_quantile, t_upper_tail};

/// Chance with which the printed smallest detectable effect is detected.
const POWER: f64 = 0.8;

/// More candidate runs than this are never asked for.
const RUNS_MAX: u32 = 500;

/// Runs a side from which a rank test has to agree.
const RANK_RUNS_MIN: usize = 6;

/// Level of that rank test.
const RANK_ALPHA: f64 = 0.05;

/// One phase as the tests see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Run medians, log ms.
    pub sides: Sides,
    /// What it is held to.
    pub margins: Margins,
    /// Variance that the clock alone gives a run's median.
    pub floor: f64,
    /// Whether the code under test cannot change this phase.
    pub control: bool,
    /// Whether it is shown and not judged.
    pub ungated: bool,
}

impl Line {
    /// Whether it may be proven slower.
    const fn judged(&self) -> bool {
        !self.control && !self.ungated
    }
}

/// A change with everything the tests said about it. All effects are log ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Candidate less baseline, without the common shift.
    pub shift: f64,
    /// Candidate less baseline as measured.
    pub raw: f64,
    /// Lower end of the two-sided 95 % interval of `raw`.
    pub raw_low: f64,
    /// Standard error of the shift.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub df: f64,
    /// Ends of the two-sided 95 % interval of this line alone.
    pub interval: (f64, f64),
    /// One-sided upper bound that a pass is decided on, a tick of the clock included.
    pub upper: f64,
    /// p value of "no more than the smallest effect of interest".
    pub p: f64,
    /// The same, adjusted by Holm for all lines.
    pub p_holm: f64,
    /// Proven slower.
    pub slower: bool,
    /// Proven not slower than the limit.
    pub held: bool,
    /// Smallest slow-down detected with a chance of 80 % on this evidence.
    pub mde: f64,
    /// Candidate runs with which such a check decides; `None` if the baseline has too few.
    pub runs_needed: Option<u32>,
}

/// The effects of all lines, and of the machine where it can be told from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// In the order of the lines.
    pub lines: Vec<Effect>,
    /// The common shift.
    pub machine: Option<Effect>,
    /// Where the phases fall into groups the shift is nobody's, and the lines are as measured.
    pub split: Option<Split>,
}

/// Tests all lines. Every line has the same numbers of runs, at least one a side.
///
/// Where some phases moved and others stood still, what they have in common is not the machine:
/// all lines are then tested as measured.
#[must_use]
pub fn effects(lines: &[Line], options: &Options) -> Effects {
    let sides: Vec<Sides> = lines.iter().map(|line| line.sides.clone()).collect();
    let controls: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].control).collect();
    let asked: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].ungated).collect();
    let common = common_shift(&sides, &controls, &asked);
    let tested = relative(lines, common, options);
    let groups = (tested.machine.as_ref())
        .filter(|_| controls.is_empty())
        .and_then(|machine| split(&tested.lines, &asked, machine, options));
    if groups.is_none() {
        return tested;
    }
    Effects {
        machine: tested.machine,
        split: groups,
        ..relative(lines, None, options)
    }
}

/// Tests all lines with that common deviation of the runs taken out.
fn relative(lines: &[Line], common: Option<Sides>, options: &Options) -> Effects {
    let asked: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].ungated).collect();
    let own: Vec<Line> = lines
        .iter()
        .map(|line| Line {
            sides: without(&line.sides, common.as_ref()),
            ..line.clone()
        })
        .collect();
    let machine = common.map(|sides| {
        let margins = Margins {
            least: options.effect_min.ln_1p(),
            most: options.effect_max.ln_1p(),
            tick: 0.0,
        };
        Line {
            sides,
            margins,
            ..Line::default()
        }
    });
    let pooled: Vec<(f64, f64)> = own.iter().map(pooled_variance).collect();
    let lending: Vec<(f64, f64)> = asked.iter().map(|at| pooled[*at]).collect();
    let prior = Prior::fit(&lending);
    let df_all: f64 = lending.iter().map(|(_, df)| df).sum();
    let judged = lines.iter().filter(|line| line.judged()).count();
    let family = judged + usize::from(machine.is_some());
    let setting = Setting {
        options,
        family: family.max(1) as f64,
    };
    let mut tested: Vec<Effect> = own
        .iter()
        .zip(lines)
        .zip(&pooled)
        .map(|((line, raw), (variance, df))| {
            // A phase is left out since it is unlike the others: it lends and borrows nothing.
            let lends = if line.ungated { Prior::NOTHING } else { prior };
            let moderated = lends.moderate(*variance, *df, df_all);
            let floored = Moderated {
                variance: moderated.variance.max(line.floor),
                ..moderated
            };
            setting.test(line, &raw.sides, floored)
        })
        .collect();
    let mut machine = machine.map(|line| {
        let (variance, df) = pooled_variance(&line);
        setting.test(&line, &line.sides, Moderated { variance, df })
    });
    decide(&mut tested, machine.as_mut(), &own, options);
    Effects {
        lines: tested,
        machine,
        split: None,
    }
}

/// Adjusts the p values over the family and sets what is proven slower.
fn decide(tested: &mut [Effect], machine: Option<&mut Effect>, own: &[Line], options: &Options) {
    let mut family: Vec<&mut Effect> = tested
        .iter_mut()
        .zip(own)
        .filter_map(|(effect, line)| line.judged().then_some(effect))
        .chain(machine)
        .collect();
    let p: Vec<f64> = family.iter().map(|effect| effect.p).collect();
    for (effect, adjusted) in family.iter_mut().zip(holm(&p)) {
        effect.p_holm = adjusted;
        effect.slower = adjusted <= options.alpha_of_look();
    }
    for (effect, line) in tested.iter_mut().zip(own) {
        let measured = effect.raw > line.margins.least && effect.raw_low > 0.0;
        effect.slower = effect.slower && measured && ranks_agree(line);
    }
}

/// With six or more runs a side the ranks must show a shift too: one wild run is not enough.
fn ranks_agree(line: &Line) -> bool {
    let Sides { base, cand } = &line.sides;
    if base.len() < RANK_RUNS_MIN || cand.len() < RANK_RUNS_MIN {
        return true;
    }
    let less: Vec<f64> = cand.iter().map(|x| x - line.margins.least).collect();
    // The normal approximation on purpose: it is close from six runs on, and statrs 0.19 turns
    // the exact tail round where the first sample is not the larger one.
    let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
    mannwhitneyu(&less, base, method, Alternative::Greater).is_ok_and(|(_, p)| p <= RANK_ALPHA)
}

/// How far the 95 % interval of the times as measured reaches; never less than `own` does.
fn raw_reach(measured: &Sides, df: f64, own: f64) -> f64 {
    let line = Line {
        sides: measured.clone(),
        ..Line::default()
    };
    let (variance, _) = pooled_variance(&line);
    let (base, cand) = (measured.base.len(), measured.cand.len() as f64);
    own.max(t_quantile(0.975, df) * spread(variance, base, cand))
}

/// Mean of the candidate less mean of the baseline.
fn shift(sides: &Sides) -> f64 {
    let mean = |side: &[f64]| mean_variance(side).map_or(f64::NAN, |(mean, _)| mean);
    mean(&sides.cand) - mean(&sides.base)
}

/// Pooled variance over both sides, never below what the clock gives, and its degrees of freedom.
fn pooled_variance(line: &Line) -> (f64, f64) {
    let squares = |side: &[f64]| {
        let df = side.len().saturating_sub(1) as f64;
        mean_variance(side).map_or((0.0, 0.0), |(_, variance)| (variance * df, df))
    };
    let ((base, df_base), (cand, df_cand)) = (squares(&line.sides.base), squares(&line.sides.cand));
    let df = df_base + df_cand;
    let variance = if df > 0.0 { (base + cand) / df } else { 0.0 };
    (variance.max(line.floor), df)
}

/// What all tests of one check share.
struct Setting<'o> {
    options: &'o Options,
    family: f64,
}

impl Setting<'_> {
    fn test(&self, line: &Line, measured: &Sides, moderated: Moderated) -> Effect {
        let Moderated { variance, df } = moderated;
        let (runs_base, runs_cand) = (line.sides.base.len(), line.sides.cand.len());
        let (shift, raw) = (shift(&line.sides), shift(measured));
        let error = spread(variance, runs_base, runs_cand as f64);
        let reach = t_quantile(0.975, df) * error;
        let Margins { least, most, tick } = line.margins;
        let upper = shift + self.pass_quantile(df) * error + tick;
        let p = if error > 0.0 {
            t_upper_tail((shift - least) / error, df)
        } else {
            1.0
        };
        let enough = runs_base.min(runs_cand) >= self.options.runs_min;
        Effect {
            shift,
            raw,
            raw_low: raw - raw_reach(measured, df, reach),
            error,
            df,
            interval: (shift - reach, shift + reach),
            upper,
            p: if enough { p } else { 1.0 },
            p_holm: 1.0,
            slower: false,
            held: enough && error > 0.0 && upper < most && raw < most,
            mde: least + self.detect_quantile(df) * error,
            runs_needed: self.runs_needed(line, moderated),
        }
    }

    fn pass_quantile(&self, df: f64) -> f64 {
        t_quantile(1.0 - self.options.pass_alpha_of_look(), df)
    }

    /// Standard errors between the smallest effect of interest and one detected in 80 %.
    fn detect_quantile(&self, df: f64) -> f64 {
        t_quantile(1.0 - self.options.alpha_of_look() / self.family, df) + t_quantile(POWER, df)
    }

    /// The fewest candidate runs with which a slow-down at the limit is found, and an unchanged
    /// phase passes, with a chance of 80 % each.
    fn runs_needed(&self, line: &Line, moderated: Moderated) -> Option<u32> {
        let Moderated { variance, df } = moderated;
        let Margins { least, most, tick } = line.margins;
        let room = most - least;
        let fewest = u32::try_from(self.options.runs_min.max(1)).unwrap_or(RUNS_MAX);
        let detect = self.detect_quantile(df);
        let pass = self.pass_quantile(df) + t_quantile(POWER, df);
        let decides = |runs: u32| {
            let error = spread(variance, line.sides.base.len(), f64::from(runs));
            (room <= 0.0 || detect * error <= room) && pass * error <= most - tick
        };
        if line.sides.base.len() < self.options.runs_min || !decides(RUNS_MAX) {
            return None;
        }
        // More runs only help, so the answer can be bisected.
        let (mut low, mut high) = (fewest, RUNS_MAX);
        while low < high {
            let middle = low.midpoint(high);
            if decides(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(low)
    }
}

/// Standard error of a difference of means of runs.
fn spread(variance: f64, runs_base: usize, runs_cand: f64) -> f64 {
    (variance * (1.0 / runs_base as f64 + 1.0 / runs_cand)).sqrt()
}

#[cfg(test)]
mod tests;
