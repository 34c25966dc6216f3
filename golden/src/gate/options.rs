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

    /// Smallest effect of interest and largest effect that passes, as log ratios, for a phase of
    /// `ms` under a clock with ticks of `quantum_ms`.
    #[must_use]
    pub fn margins(&self, ms: f64, quantum_ms: f64) -> (f64, f64) {
        let absolute = self.floor_ms.max(quantum_ms) / ms;
        let least = self.effect_min.max(absolute).ln_1p();
        (least, self.effect_max.ln_1p().max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_phases_get_wider_margins() {
        let options = Options::default();
        let (least, most) = options.margins(1000.0, 1.0);
        assert!((least - 0.01_f64.ln_1p()).abs() < 1e-12);
        assert!((most - 0.05_f64.ln_1p()).abs() < 1e-12);
        let (least, most) = options.margins(4.0, 1.0);
        assert!((least - 0.25_f64.ln_1p()).abs() < 1e-12 && (most - least).abs() < 1e-12);
    }
}
