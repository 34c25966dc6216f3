//! The machine's common shift: what all phases of a run do together.
//!
//! A run on a warmer or busier machine is slower in all its phases. The median over the phases of
//! the run's deviations from the baseline is taken out of every phase, which makes each phase's
//! own change visible in less noise, and is reported and judged on its own line. With control
//! phases, which the code under test cannot change, it is taken from them alone. Where some phases
//! moved and others stood still there is no such shift, only a [`Split`].

use super::effect::Effect;
use super::options::Options;
use crate::stats::{median, t_quantile};

/// Below this many phases their median would be the very thing under test.
pub(super) const PHASES_MIN: usize = 6;

/// Run medians (log ms) of one phase on both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// One value a baseline run.
    pub base: Vec<f64>,
    /// One value a candidate run.
    pub cand: Vec<f64>,
}

impl Sides {
    fn base_mean(&self) -> f64 {
        self.base.iter().sum::<f64>() / self.base.len().max(1) as f64
    }
}

/// Phases that moved, and phases that did not: no shift is common to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Phases that went at least half of the way.
    pub moved: usize,
    /// Phases that stood still.
    pub still: usize,
}

/// Below this share of the phases, those that stand still beside a slower machine are exceptions.
const STILL_SHARE: f64 = 0.2;

/// Confidence with which a phase that stands still is told from one that moves along.
const STILL_LEVEL: f64 = 0.995;

/// Whether the phases fall into groups. A phase stands still if its own time went less than half
/// as far as the common shift, and the rest between the two is no chance.
///
/// One phase is enough to doubt that the machine became faster: it would be called slower for the
/// others' sake. Beside a slower machine it takes two, and a fifth of all.
pub(super) fn split(
    lines: &[Effect],
    asked: &[usize],
    machine: &Effect,
    options: &Options,
) -> Option<Split> {
    let shift = machine.shift;
    if shift.abs() <= options.effect_min.ln_1p() {
        return None;
    }
    let stands = |line: &Effect| {
        let apart = line.shift.abs() > t_quantile(STILL_LEVEL, line.df) * line.error;
        apart && line.raw.abs() < shift.abs() / 2.0
    };
    let used = asked.iter().filter_map(|at| lines.get(*at));
    let still = used.filter(|line| stands(line)).count();
    let least = if shift < 0.0 {
        1.0
    } else {
        (STILL_SHARE * asked.len() as f64).max(2.0)
    };
    (still as f64 >= least).then(|| Split {
        moved: asked.len() - still,
        still,
    })
}

/// The common deviation of each run, or `None` where it cannot be told from the phases: from the
/// controls, or else from all phases that are asked for.
pub(super) fn common_shift(phases: &[Sides], controls: &[usize], asked: &[usize]) -> Option<Sides> {
    let from = if controls.is_empty() { asked } else { controls };
    if controls.is_empty() && asked.len() < PHASES_MIN {
        return None;
    }
    let used: Vec<&Sides> = from.iter().filter_map(|at| phases.get(*at)).collect();
    let first = used.first()?;
    let means: Vec<f64> = used.iter().map(|phase| phase.base_mean()).collect();
    let of_run = |side: fn(&Sides) -> &[f64], run: usize| {
        let mut deviations: Vec<f64> = used
            .iter()
            .zip(&means)
            .map(|(phase, mean)| side(phase)[run] - mean)
            .collect();
        median(&mut deviations).unwrap_or(0.0)
    };
    Some(Sides {
        base: (0..first.base.len())
            .map(|run| of_run(|s| &s.base, run))
            .collect(),
        cand: (0..first.cand.len())
            .map(|run| of_run(|s| &s.cand, run))
            .collect(),
    })
}

/// A phase without the common deviation of its runs.
pub(super) fn without(phase: &Sides, common: Option<&Sides>) -> Sides {
    let Some(common) = common else {
        return phase.clone();
    };
    let less = |ours: &[f64], shared: &[f64]| ours.iter().zip(shared).map(|(x, c)| x - c).collect();
    Sides {
        base: less(&phase.base, &common.base),
        cand: less(&phase.cand, &common.cand),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(n: usize, slow: usize) -> Vec<Sides> {
        (0..n)
            .map(|at| {
                let own = if at == slow { 0.1 } else { 0.0 };
                let level = at as f64;
                Sides {
                    base: vec![level, level + 0.02, level - 0.02],
                    cand: vec![level + 0.03 + own, level + 0.05 + own],
                }
            })
            .collect()
    }

    #[test]
    fn one_slow_phase_does_not_move_it() {
        let phases = phases(12, 4);
        let all: Vec<usize> = (0..12).collect();
        let common = common_shift(&phases, &[], &all).unwrap();
        assert!((common.cand[0] - 0.03).abs() < 1e-12, "{common:?}");
        assert!((common.base[2] + 0.02).abs() < 1e-12);
        let own = without(&phases[4], Some(&common));
        assert!((own.cand[0] - own.base[0] - 0.1).abs() < 1e-12);
        assert!((own.cand[1] - own.base[1] - 0.1).abs() < 1e-12);
    }

    #[test]
    fn few_phases_have_none_but_controls_do() {
        let phases = phases(3, 0);
        assert_eq!(common_shift(&phases, &[], &[0, 1, 2]), None);
        let common = common_shift(&phases, &[1], &[0, 1, 2]).unwrap();
        assert!((common.cand[1] - 0.05).abs() < 1e-12);
        assert_eq!(without(&phases[0], None), phases[0]);
    }
}
