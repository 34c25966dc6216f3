//! The Hodges-Lehmann shift between two samples, with a rank interval, in `n log n`.
//!
//! The estimate is the median of all differences `b - a`; its interval runs between two of those
//! differences, whose ranks come from the null distribution of the Mann-Whitney statistic
//! (Lehmann 1963; Hollander and Wolfe, "Nonparametric Statistical Methods", 4.2 and 4.3). The
//! differences are never written out: an order statistic of them is found by bisection, counting
//! with two pointers.

use super::dist::normal_quantile;
use super::order::whole;

/// A shift `b - a` with its interval, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Median of all pairwise differences.
    pub estimate: f64,
    /// Lower end; negative infinity where the samples are too small for the level.
    pub low: f64,
    /// Upper end; infinity where the samples are too small for the level.
    pub high: f64,
}

/// Shift from `a` to `b` with a two-sided interval of confidence `level`, e.g. 0.95.
///
/// Both slices must be sorted and finite. `inflation` multiplies the variance of the rank sum: 1
/// for independent values, more when neighbours are correlated ([`super::long_run_factor`]). The
/// normal approximation of the rank sum with continuity correction is used at every size.
/// `None` if a side is empty.
#[must_use]
pub fn hodges_lehmann(a: &[f64], b: &[f64], level: f64, inflation: f64) -> Option<Shift> {
    let (na, nb) = (a.len(), b.len());
    if na == 0 || nb == 0 {
        return None;
    }
    let pairs = na * nb;
    let lower_middle = nth_difference(a, b, (pairs - 1) / 2);
    let upper_middle = if pairs % 2 == 0 {
        nth_difference(a, b, pairs / 2)
    } else {
        lower_middle
    };
    let (m, n) = (na as f64, nb as f64);
    let sd = (m * n * (m + n + 1.0) / 12.0 * inflation.max(1.0)).sqrt();
    let reach = normal_quantile(f64::midpoint(1.0, level)) * sd;
    let outside = (m * n).mul_add(0.5, -0.5) - reach;
    let (low, high) = if outside < 0.0 {
        (f64::NEG_INFINITY, f64::INFINITY)
    } else {
        let skip = whole(outside);
        (
            nth_difference(a, b, skip),
            nth_difference(a, b, pairs - 1 - skip),
        )
    };
    Some(Shift {
        estimate: f64::midpoint(lower_middle, upper_middle),
        low,
        high,
    })
}

/// The difference `b[j] - a[i]` of rank `rank` (0 is the smallest) over sorted slices.
fn nth_difference(a: &[f64], b: &[f64], rank: usize) -> f64 {
    let (mut low, mut high) = (
        order_key(b[0] - a[a.len() - 1]),
        order_key(b[b.len() - 1] - a[0]),
    );
    while low < high {
        let middle = low + (high - low) / 2;
        if count_up_to(a, b, from_order_key(middle)) > rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    from_order_key(low)
}

/// How many differences `b[j] - a[i]` are at most `limit`.
fn count_up_to(a: &[f64], b: &[f64], limit: f64) -> usize {
    let mut count = 0;
    let mut i = a.len();
    for &later in b.iter().rev() {
        // As `later` falls, `a[i]` may fall too and still be close enough: i only moves down.
        while i > 0 && later - a[i - 1] <= limit {
            i -= 1;
        }
        count += a.len() - i;
    }
    count
}

/// Maps a finite float to an integer of the same order, so that bisection ends in 64 steps.
fn order_key(x: f64) -> i128 {
    let bits = x.to_bits();
    let magnitude = i128::from(bits & (u64::MAX >> 1));
    if bits >> 63 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

fn from_order_key(key: i128) -> f64 {
    let magnitude = u64::try_from(key.unsigned_abs()).unwrap_or(u64::MAX >> 1);
    let x = f64::from_bits(magnitude);
    if key < 0 { -x } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_by(f64::total_cmp);
        values
    }

    #[test]
    fn textbook_interval() {
        // Two samples of 10 and 5: the differences can be counted by hand.
        let a = sorted(vec![
            0.73, 0.80, 0.83, 1.04, 1.38, 1.45, 1.46, 1.64, 1.89, 1.91,
        ]);
        let b = sorted(vec![0.74, 0.88, 0.90, 1.15, 1.21]);
        let shift = hodges_lehmann(&a, &b, 0.95, 1.0).unwrap();
        // R: wilcox.test(b, a, conf.int = TRUE) has -0.305 in [-0.76, 0.15].
        assert!((shift.estimate + 0.305).abs() < 1e-9, "{shift:?}");
        assert!(
            (shift.low + 0.76).abs() < 1e-9 && (shift.high - 0.15).abs() < 1e-9,
            "{shift:?}"
        );
    }

    #[test]
    fn two_against_two_cannot_reach_the_level() {
        let shift = hodges_lehmann(&[1.0, 2.0], &[11.0, 12.0], 0.95, 1.0).unwrap();
        assert!((shift.estimate - 10.0).abs() < 1e-12);
        assert!(shift.low.is_infinite() && shift.high.is_infinite());
        assert_eq!(hodges_lehmann(&[], &[1.0], 0.95, 1.0), None);
    }

    #[test]
    fn correlation_widens() {
        let a: Vec<f64> = (0..40).map(f64::from).collect();
        let b: Vec<f64> = (0..40).map(|x| f64::from(x) + 3.5).collect();
        let plain = hodges_lehmann(&a, &b, 0.95, 1.0).unwrap();
        let wide = hodges_lehmann(&a, &b, 0.95, 3.0).unwrap();
        assert!(
            wide.low < plain.low && wide.high > plain.high,
            "{plain:?} {wide:?}"
        );
    }

    proptest! {
        #[test]
        fn every_rank_is_the_sorted_difference(
            a in prop::collection::vec(-50_i32..50, 1..12),
            b in prop::collection::vec(-50_i32..50, 1..12),
        ) {
            let a = sorted(a.into_iter().map(|x| f64::from(x) / 8.0).collect());
            let b = sorted(b.into_iter().map(|x| f64::from(x) / 8.0).collect());
            let all =
                sorted(a.iter().flat_map(|x| b.iter().map(move |y| y - x)).collect());
            for (rank, expected) in all.iter().enumerate() {
                prop_assert!((nth_difference(&a, &b, rank) - expected).abs() < 1e-12);
            }
        }

        #[test]
        fn swapping_the_sides_turns_the_sign(
            a in prop::collection::vec(-1e3_f64..1e3, 1..30),
            b in prop::collection::vec(-1e3_f64..1e3, 1..30),
        ) {
            let (a, b) = (sorted(a), sorted(b));
            let there = hodges_lehmann(&a, &b, 0.95, 1.5).unwrap();
            let back = hodges_lehmann(&b, &a, 0.95, 1.5).unwrap();
            prop_assert!((there.estimate + back.estimate).abs() < 1e-9);
            prop_assert!(there.low.is_infinite() || (there.low + back.high).abs() < 1e-9);
        }
    }
}
