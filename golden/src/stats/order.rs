//! Order statistics in linear time: median, quantiles, median absolute deviation, and a summary.
//!
//! One definition of a quantile is used everywhere: with the values sorted as `x[0..n]` and
//! `h = (n - 1) q`, it is `x[⌊h⌋] + (h - ⌊h⌋) (x[⌊h⌋ + 1] - x[⌊h⌋])` (Hyndman and Fan's type 7,
//! the default of R and of `NumPy`). The functions reorder the slice they are given.

/// Factor from the median absolute deviation to a standard deviation: `1 / Φ⁻¹(3/4)`.
pub const MAD_TO_SD: f64 = 1.482_602_218_505_602;

/// Count, median, 10 % and 90 % quantile, and median absolute deviation of a set of values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// How many finite values there were; the others count for nothing else here.
    pub n: usize,
    /// Infinite and NaN values that were left out.
    pub non_finite: usize,
    /// Median, in the unit of the values.
    pub median: f64,
    /// 10 % quantile, in the unit of the values.
    pub p10: f64,
    /// 90 % quantile, in the unit of the values.
    pub p90: f64,
    /// Median of the distances from the median, not scaled to a standard deviation.
    pub mad: f64,
}

impl Summary {
    /// Summarises `values` in linear time and without allocating; `None` if none is finite.
    ///
    /// The slice is scratch space: afterwards it holds distances from the median, in no order.
    #[must_use]
    pub fn of(values: &mut [f64]) -> Option<Self> {
        let n = finite_first(values);
        let non_finite = values.len() - n;
        let values = values.get_mut(..n)?;
        let median = quantile_of_finite(values, 0.5)?;
        // The median's selection left the halves apart: each tail is sought in its own.
        let half = (n - 1) / 2;
        let p10 = quantile_between(values, 0..(half + 2).min(n), 0.1)?;
        let p90 = quantile_between(values, half..n, 0.9)?;
        for value in values.iter_mut() {
            *value = (*value - median).abs();
        }
        let mad = quantile_of_finite(values, 0.5)?;
        Some(Self {
            n,
            non_finite,
            median,
            p10,
            p90,
            mad,
        })
    }
}

/// Median of the finite values; `None` if there is none. Reorders the slice.
#[must_use]
pub fn median(values: &mut [f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Quantile `q` (clamped to 0..=1) of the finite values; `None` if there is none.
///
/// Linear time; reorders the slice.
#[must_use]
pub fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    let n = finite_first(values);
    quantile_of_finite(values.get_mut(..n)?, q)
}

/// Median distance from the median, unscaled; `None` if no value is finite.
///
/// The slice is scratch space and holds the distances afterwards.
#[must_use]
pub fn mad(values: &mut [f64]) -> Option<f64> {
    let n = finite_first(values);
    let values = values.get_mut(..n)?;
    let centre = quantile_of_finite(values, 0.5)?;
    for value in values.iter_mut() {
        *value = (*value - centre).abs();
    }
    quantile_of_finite(values, 0.5)
}

/// Standard deviation estimated from the median absolute deviation; destroys the slice's order.
#[must_use]
pub fn robust_sd(values: &mut [f64]) -> Option<f64> {
    mad(values).map(|mad| mad * MAD_TO_SD)
}

/// Moves the finite values to the front and returns their number.
fn finite_first(values: &mut [f64]) -> usize {
    if values.iter().all(|x| x.is_finite()) {
        return values.len();
    }
    let mut kept = 0;
    for at in 0..values.len() {
        if values[at].is_finite() {
            values.swap(kept, at);
            kept += 1;
        }
    }
    kept
}

fn quantile_of_finite(values: &mut [f64], q: f64) -> Option<f64> {
    let n = values.len();
    quantile_between(values, 0..n, q)
}

/// Quantile of the whole slice, when its rank and the next one are known to lie in `within`.
fn quantile_between(values: &mut [f64], within: std::ops::Range<usize>, q: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let rank = last as f64 * q.clamp(0.0, 1.0);
    let below = whole(rank).min(last);
    let weight = rank - below as f64;
    let part = values.get_mut(within.clone())?;
    let at = below.checked_sub(within.start)?;
    let (_, &mut low, above) = part.select_nth_unstable_by(at, f64::total_cmp);
    if weight <= 0.0 || above.is_empty() {
        return Some(low);
    }
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    Some(weight.mul_add(high - low, low))
}

/// The whole part of a small non-negative number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are non-negative and below a number of values or of their pairs"
)]
pub(super) fn whole(rank: f64) -> usize {
    rank as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
    }

    /// The definition itself, on a sorted copy.
    fn by_sorting(values: &[f64], q: f64) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let h = (sorted.len() - 1) as f64 * q;
        let low = whole(h);
        let high = (low + 1).min(sorted.len() - 1);
        sorted[low] + h.fract() * (sorted[high] - sorted[low])
    }

    #[test]
    fn known_quantiles() {
        // R: quantile(c(1, 2, 4, 8, 16), c(.1, .5, .9)) gives 1.4, 4.0, 12.8.
        let summary = Summary::of(&mut [16.0, 1.0, 8.0, 2.0, 4.0]).unwrap();
        assert_eq!(summary.n, 5);
        assert!(close(summary.p10, 1.4), "{summary:?}");
        assert!(close(summary.median, 4.0), "{summary:?}");
        assert!(close(summary.p90, 12.8), "{summary:?}");
        assert!(close(summary.mad, 3.0), "{summary:?}");
    }

    #[test]
    fn empty_and_single_and_not_finite() {
        assert_eq!(Summary::of(&mut []), None);
        assert_eq!(Summary::of(&mut [f64::NAN, f64::INFINITY]), None);
        assert_eq!(median(&mut []), None);
        let one = Summary::of(&mut [f64::NAN, 7.0]).unwrap();
        assert_eq!((one.n, one.non_finite), (1, 1));
        assert!(close(one.median, 7.0) && close(one.p90, 7.0) && close(one.mad, 0.0));
        let two = Summary::of(&mut [3.0, 1.0]).unwrap();
        assert!(
            close(two.p10, 1.2) && close(two.median, 2.0) && close(two.p90, 2.8),
            "{two:?}"
        );
    }

    #[test]
    fn robust_sd_ignores_an_outlier() {
        let mut values: Vec<f64> = (0..101).map(f64::from).collect();
        values[0] = 1e9;
        assert!(close(robust_sd(&mut values).unwrap(), 25.0 * MAD_TO_SD));
    }

    proptest! {
        #[test]
        fn summary_is_its_definition(values in prop::collection::vec(-1e6_f64..1e6, 1..200)) {
            let summary = Summary::of(&mut values.clone()).unwrap();
            prop_assert!(close(summary.median, by_sorting(&values, 0.5)));
            prop_assert!(close(summary.p10, by_sorting(&values, 0.1)));
            prop_assert!(close(summary.p90, by_sorting(&values, 0.9)));
            let away: Vec<f64> = values.iter().map(|x| (x - summary.median).abs()).collect();
            prop_assert!(close(summary.mad, by_sorting(&away, 0.5)));
            prop_assert!(close(mad(&mut values.clone()).unwrap(), summary.mad));
        }

        #[test]
        fn any_quantile_is_its_definition(
            values in prop::collection::vec(-1e3_f64..1e3, 1..50),
            q in 0.0_f64..=1.0,
        ) {
            let got = quantile(&mut values.clone(), q).unwrap();
            prop_assert!(close(got, by_sorting(&values, q)), "{} {}", got, by_sorting(&values, q));
        }
    }
}
