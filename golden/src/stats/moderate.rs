//! Moderated variances: few runs per phase, many phases, so the phases lend each other evidence.
//!
//! The model is the empirical Bayes one of Smyth (2004, "Linear models and empirical Bayes methods
//! for assessing differential expression", Stat. Appl. Genet. Mol. Biol. 3, article 3): the true
//! variances of the phases are scaled inverse chi-square with prior variance `s0²` and `d0`
//! degrees of freedom, both estimated from the sample variances by matching the first two moments
//! of their logarithms.

use statrs::function::gamma::digamma;

/// A prior on the variance of a phase, estimated from other phases or from history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Prior variance `s0²`, in the squared unit of the values.
    pub variance: f64,
    /// Prior degrees of freedom `d0`: 0 says nothing, infinite says all phases are alike.
    pub df: f64,
}

/// A variance with the degrees of freedom that its Student's t has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moderated {
    /// Posterior variance.
    pub variance: f64,
    /// Degrees of freedom: residual plus prior, at most the residual sum over all phases.
    pub df: f64,
}

impl Prior {
    /// The prior that says nothing.
    pub const NOTHING: Self = Self {
        variance: 0.0,
        df: 0.0,
    };

    /// Fits the prior to `(variance, degrees of freedom)` pairs, one a phase.
    ///
    /// Pairs with no degrees of freedom or no finite positive variance are left out (a spread of
    /// zero is a clock that did not tick, not a precise phase). With fewer than 3 usable pairs
    /// the prior says nothing.
    #[must_use]
    pub fn fit(pairs: &[(f64, f64)]) -> Self {
        let logs: Vec<(f64, f64)> = pairs
            .iter()
            .filter(|(variance, df)| *variance > 0.0 && variance.is_finite() && *df > 0.0)
            .map(|(variance, df)| {
                (
                    variance.ln() - digamma(df / 2.0) + (df / 2.0).ln(),
                    trigamma(df / 2.0),
                )
            })
            .collect();
        if logs.len() < 3 {
            return Self::NOTHING;
        }
        let n = logs.len() as f64;
        let mean = logs.iter().map(|(e, _)| e).sum::<f64>() / n;
        let spread = logs.iter().map(|(e, _)| (e - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let excess = spread - logs.iter().map(|(_, t)| t).sum::<f64>() / n;
        if excess <= 0.0 {
            return Self {
                variance: mean.exp(),
                df: f64::INFINITY,
            };
        }
        let df = 2.0 * trigamma_inverse(excess);
        let variance = (mean + digamma(df / 2.0) - (df / 2.0).ln()).exp();
        Self { variance, df }
    }

    /// The moderated variance of a phase; `df_max` caps the degrees of freedom (the residual
    /// degrees of freedom of all phases together: no more evidence than that was ever seen).
    #[must_use]
    pub fn moderate(&self, variance: f64, df: f64, df_max: f64) -> Moderated {
        let total = (df + self.df).min(df_max.max(df));
        if self.df <= 0.0 {
            return Moderated { variance, df };
        }
        if self.df.is_infinite() {
            return Moderated {
                variance: self.variance,
                df: total,
            };
        }
        let sum = self.df.mul_add(self.variance, df * variance);
        Moderated {
            variance: sum / (self.df + df),
            df: total,
        }
    }
}

/// Second derivative of the log gamma function for positive `x`.
///
/// Recurrence `ψ'(x) = ψ'(x + 1) + 1/x²` up to 15, then the asymptotic series.
fn trigamma(x: f64) -> f64 {
    let mut x = x.max(1e-8);
    let mut sum = 0.0;
    while x < 15.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let inv = 1.0 / x;
    let square = inv * inv;
    let tail = square.mul_add(square.mul_add(square / 42.0 - 1.0 / 30.0, 1.0 / 6.0), 0.0);
    sum + inv.mul_add(tail, 0.5_f64.mul_add(square, inv))
}

/// The `y` with `trigamma(y) = x`, by bisection on its logarithm (the function only falls).
fn trigamma_inverse(x: f64) -> f64 {
    let (mut low, mut high) = (-18.0_f64, 18.0_f64);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if trigamma(middle.exp()) > x {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn trigamma_has_its_known_values() {
        assert!(
            (trigamma(1.0) - PI * PI / 6.0).abs() < 1e-10,
            "{}",
            trigamma(1.0)
        );
        assert!(
            (trigamma(0.5) - PI * PI / 2.0).abs() < 1e-10,
            "{}",
            trigamma(0.5)
        );
        for y in [0.01, 0.7, 3.0, 42.0, 1e4] {
            assert!(
                (trigamma_inverse(trigamma(y)) / y - 1.0).abs() < 1e-6,
                "{y}"
            );
        }
    }

    #[test]
    fn equal_variances_give_a_firm_prior() {
        let prior = Prior::fit(&[(4.0, 6.0); 12]);
        assert!(prior.df.is_infinite());
        let moderated = prior.moderate(1.0, 6.0, 72.0);
        assert!((moderated.df - 72.0).abs() < 1e-9);
        // Equal samples of a scatter that should differ: above 4 by the bias of their logarithm.
        assert!(
            moderated.variance > 4.0 && moderated.variance < 5.0,
            "{moderated:?}"
        );
    }

    #[test]
    fn wild_variances_give_a_loose_prior() {
        let pairs: Vec<(f64, f64)> = (0..12).map(|i| (10.0_f64.powi(i - 6), 6.0)).collect();
        let prior = Prior::fit(&pairs);
        assert!(prior.df < 1.0, "{prior:?}");
        let moderated = prior.moderate(1e-3, 6.0, 72.0);
        assert!(
            moderated.df < 7.0 && moderated.variance < 1.0,
            "{moderated:?}"
        );
    }

    #[test]
    fn too_few_or_dead_phases_say_nothing() {
        let nothing = Prior::fit(&[(1.0, 4.0), (0.0, 4.0), (2.0, 0.0), (f64::NAN, 4.0)]);
        assert!(nothing.df.abs() < f64::EPSILON);
        let kept = nothing.moderate(0.25, 4.0, 100.0);
        assert!((kept.variance - 0.25).abs() < 1e-12 && (kept.df - 4.0).abs() < 1e-12);
    }
}
