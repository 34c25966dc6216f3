//! Serial correlation: how much less evidence correlated neighbours carry.

use super::order::{MAD_TO_SD, quantile};

/// The largest correlation believed: beyond it the factor explodes on too little evidence.
const PHI_MAX: f64 = 0.9;

/// Lag-1 autocorrelation of a series in its given order; 0 for fewer than 4 values or no spread.
///
/// Values farther than three robust standard deviations from the median are pulled in to there,
/// so that one outlier does not hide the correlation of the rest, and the small-sample bias
/// `-(1 + 4φ)/n` (Kendall 1954) is added back. The result lies in -0.9..=0.9.
#[must_use]
pub fn lag1(series: &[f64]) -> f64 {
    let n = series.len();
    let mut scratch = series.to_vec();
    let Some(centre) = quantile(&mut scratch, 0.5) else {
        return 0.0;
    };
    if n < 4 {
        return 0.0;
    }
    for value in &mut scratch {
        *value = (*value - centre).abs();
    }
    let spread = quantile(&mut scratch, 0.5).unwrap_or(0.0) * MAD_TO_SD;
    let reach = if spread > 0.0 {
        3.0 * spread
    } else {
        f64::INFINITY
    };
    let clipped = |x: f64| (x - centre).clamp(-reach, reach);
    let mean = series.iter().map(|x| clipped(*x)).sum::<f64>() / n as f64;
    let squares: f64 = series.iter().map(|x| (clipped(*x) - mean).powi(2)).sum();
    if !(squares > 0.0 && squares.is_finite()) {
        return 0.0;
    }
    let products: f64 = series
        .windows(2)
        .map(|w| (clipped(w[0]) - mean) * (clipped(w[1]) - mean))
        .sum();
    let phi = products / squares;
    (phi + 4.0_f64.mul_add(phi, 1.0) / n as f64).clamp(-PHI_MAX, PHI_MAX)
}

/// Long-run variance over plain variance of a first-order autoregression, `(1 + φ) / (1 - φ)`.
///
/// The variance of a mean of `n` such values is this factor times `σ²/n`. It is never below 1:
/// a negative estimate on few values must not make an interval narrower.
#[must_use]
pub fn long_run_factor(phi: f64) -> f64 {
    let phi = if phi.is_finite() {
        phi.clamp(0.0, PHI_MAX)
    } else {
        PHI_MAX
    };
    (1.0 + phi) / (1.0 - phi)
}

#[cfg(test)]
mod tests {
    use super::super::testing::autoregressive;
    use super::*;

    #[test]
    fn finds_the_correlation_of_long_and_short_series() {
        for phi in [0.0, 0.4, 0.6] {
            let mut state = 7;
            let long = lag1(&autoregressive(20_000, phi, &mut state));
            assert!((long - phi).abs() < 0.03, "long {phi}: {long}");
            let short: f64 = (0..2_000)
                .map(|_| lag1(&autoregressive(20, phi, &mut state)))
                .sum::<f64>()
                / 2e3;
            assert!((short - phi).abs() < 0.06, "short {phi}: {short}");
        }
    }

    #[test]
    fn an_outlier_does_not_hide_it() {
        let mut series = autoregressive(400, 0.6, &mut 3);
        series[200] = 1e6;
        assert!(lag1(&series) > 0.45, "{}", lag1(&series));
    }

    #[test]
    fn degenerate_series_have_none() {
        for series in [&[][..], &[1.0], &[1.0, 2.0, 3.0], &[5.0; 30]] {
            assert!(lag1(series).abs() < f64::EPSILON);
        }
        assert!((long_run_factor(-0.5) - 1.0).abs() < 1e-12);
        assert!((long_run_factor(0.5) - 3.0).abs() < 1e-12);
        assert!((long_run_factor(f64::NAN) - 19.0).abs() < 1e-9);
    }
}
