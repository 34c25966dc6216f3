//! Quantiles and tails of the normal and of Student's t, with infinite degrees of freedom allowed.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Above this many degrees of freedom Student's t is taken as normal (they differ by < 1e-6).
const NORMAL_FROM: f64 = 1e6;

/// Quantile of the standard normal; `p` is clamped into the open interval (0, 1).
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p.clamp(1e-300, 1.0 - f64::EPSILON))
}

/// Quantile of Student's t with `df` degrees of freedom, infinite allowed.
///
/// Below one half a degree of freedom (or for NaN) there is no evidence about the spread at all
/// and the answer is infinite, with the sign that `p` gives it.
#[must_use]
pub fn t_quantile(p: f64, df: f64) -> f64 {
    if df > NORMAL_FROM {
        return normal_quantile(p);
    }
    match student(df) {
        Some(student) => student.inverse_cdf(p.clamp(1e-300, 1.0 - f64::EPSILON)),
        None => f64::INFINITY.copysign(p - 0.5),
    }
}

/// `P(T > t)` for Student's t with `df` degrees of freedom, infinite allowed; 1 without evidence.
#[must_use]
pub fn t_upper_tail(t: f64, df: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    if df > NORMAL_FROM {
        return Normal::standard().sf(t);
    }
    student(df).map_or(1.0, |student| student.sf(t))
}

fn student(df: f64) -> Option<StudentsT> {
    if df >= 0.5 {
        StudentsT::new(0.0, 1.0, df).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_printed_tables() {
        // Upper percentage points: Student's t, then the normal.
        for (p, df, expected) in [
            (0.975, 4.0, 2.776),
            (0.975, 10.0, 2.228),
            (0.95, 18.0, 1.734),
            (0.999, 18.0, 3.610),
            (0.9995, 10.0, 4.587),
            (0.975, f64::INFINITY, 1.960),
        ] {
            let got = t_quantile(p, df);
            assert!(
                (got - expected).abs() < 6e-4,
                "t({p}, {df}) = {got}, not {expected}"
            );
            assert!((t_quantile(1.0 - p, df) + got).abs() < 1e-6);
        }
    }

    #[test]
    fn tail_is_the_inverse_of_the_quantile() {
        for df in [1.0, 3.0, 17.5, 400.0, f64::INFINITY] {
            for tail in [0.4, 0.05, 1e-3, 2.8e-4, 1e-6] {
                let back = t_upper_tail(t_quantile(1.0 - tail, df), df);
                assert!(
                    (back / tail - 1.0).abs() < 1e-4,
                    "df {df} tail {tail}: {back}"
                );
            }
        }
    }

    #[test]
    fn no_degrees_of_freedom_is_no_evidence() {
        assert!(t_quantile(0.99, 0.0).is_infinite());
        assert!(t_quantile(0.01, f64::NAN) < 0.0);
        assert!((t_upper_tail(50.0, 0.0) - 1.0).abs() < f64::EPSILON);
        assert!((t_upper_tail(f64::NAN, 5.0) - 1.0).abs() < f64::EPSILON);
    }
}
