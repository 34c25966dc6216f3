//! What the gate is asked to hold, with defaults that need no thought.

use crate::evidence::Rules;

/// Settings of the gate. Effects are relative: 0.05 is 5 % slower.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Chance of even one false regression over all phases and looks.
    pub alpha: f64,
    /// Chance that a phase at the limit passes, over all looks.
    pub pass_alpha: f64,
    /// Planned looks at growing numbers of candidate runs; both chances are divided by it.
    pub looks: u32,
    /// Slow-downs up to this are no regression, however certain.
    pub effect_min: f64,
    /// A pass proves every slow-down smaller than this.
    pub effect_max: f64,
    /// Changes of fewer milliseconds are no regression.
    pub floor_ms: f64,
    /// Fewest runs a side for any verdict but inconclusive.
    pub runs_min: usize,
    /// A gain beyond this is not believed without a look.
    pub gain_max: f64,
    /// Slow-down against the pinned anchor that may add up over accepts.
    pub drift_budget: f64,
    /// Phases that the code under test cannot change, such as a calibration kernel.
    pub controls: Vec<String>,
    /// Phases that are shown and not judged.
    pub ungated: Vec<String>,
    /// Phases too short for the clock need not pass; they can still be slower.
    pub ungate_short: bool,
    /// Whether baseline and candidate were measured in turn, in one session.
    pub interleaved: bool,
    /// How samples become evidence.
    pub rules: Rules,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            alpha: 0.01,
            pass_alpha: 0.05,
            looks: 3,
            effect_min: 0.01,
            effect_max: 0.05,
            floor_ms: 0.05,
            runs_min: 2,
            gain_max: 0.30,
            drift_budget: 0.10,
            controls: Vec::new(),
            ungated: Vec::new(),
            ungate_short: false,
            interleaved: false,
            rules: Rules::default(),
        }
    }
}

impl Options {
    /// Chance of a false regression spent on one look.
    #[must_use]
    pub fn alpha_of_look(&self) -> f64 {
        self.alpha / f64::from(self.looks.max(1))
    }

    /// Chance of a false pass spent on one look.
    #[must_use]
    pub fn pass_alpha_of_look(&self) -> f64 {
        self.pass_alpha / f64::from(self.looks.max(1))
    }

    /// What a phase of `ms` is held to under a clock with ticks of `quantum_ms`.
    ///
    /// A tick makes a regression harder to prove and a pass too: two readings differ by up to a
    /// tick from what they stand for, and no number of runs takes that away.
    #[must_use]
    pub fn margins(&self, ms: f64, quantum_ms: f64) -> Margins {
        let floor = self.floor_ms / ms;
        let tick = quantum_ms / ms;
        Margins {
            least: self.effect_min.max(floor).max(tick).ln_1p(),
            most: self.effect_max.max(floor.min(FLOOR_SHARE_MAX)).ln_1p(),
            tick: tick.ln_1p(),
        }
    }
}

/// However short a phase is, a pass never lets it grow by more than this share of its length.
const FLOOR_SHARE_MAX: f64 = 0.5;

/// What a phase is held to; all are log ratios.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margins {
    /// A slow-down up to this is no regression.
    pub least: f64,
    /// A pass excludes a slow-down of this much.
    pub most: f64,
    /// What a tick of the clock can hide.
    pub tick: f64,
}

impl Margins {
    /// Whether the clock alone can hide what a pass has to exclude.
    #[must_use]
    pub fn short(&self) -> bool {
        self.tick >= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_phases_get_wider_margins() {
        let options = Options::default();
        for (ms, quantum, least, most, short) in [
            (1000.0, 1.0, 0.01, 0.05, false),
            (19.0, 1.0, 1.0 / 19.0, 0.05, true),
            (21.0, 1.0, 1.0 / 21.0, 0.05, false),
            (0.5, 1.0, 2.0, 0.10, true),
            (0.5, 0.001, 0.10, 0.10, false),
            (0.01, 0.001, 5.0, 0.50, false),
        ] {
            let found = options.margins(ms, quantum);
            let near = |a: f64, b: f64| (a - b.ln_1p()).abs() < 1e-12;
            assert!(
                near(found.least, least) && near(found.most, most),
                "{ms}: {found:?}"
            );
            assert_eq!(found.short(), short, "{ms} in ticks of {quantum}");
        }
    }
}
