//! Steps found, noise left alone.

use super::super::testing::noise;
use super::*;

/// A series of levels, each `(points, level)`, under noise of deviation `sd`.
fn series(levels: &[(usize, f64)], sd: f64, seed: u64) -> Vec<f64> {
    let mut state = seed;
    levels
        .iter()
        .flat_map(|(points, level)| std::iter::repeat_n(*level, *points))
        .map(|level| level + sd * noise(&mut state))
        .collect()
}

fn places(series: &[f64]) -> Vec<usize> {
    changes(series, &ChangeOptions::default())
        .iter()
        .map(|change| change.at)
        .collect()
}

#[test]
fn steps_up_and_down_are_found_where_they_are() {
    let x = series(&[(40, 5.0), (30, 5.1), (25, 5.04), (40, 5.3)], 0.01, 3);
    let found = changes(&x, &ChangeOptions::default());
    assert_eq!(found.len(), 3, "{found:?}");
    for (change, (at, shift)) in found.iter().zip([(40, 0.1), (70, -0.06), (95, 0.26)]) {
        assert!(
            change.at.abs_diff(at) <= 1 && change.confirmed,
            "{change:?}"
        );
        assert!(change.low <= at && at <= change.high, "{change:?}");
        assert!(
            (change.shift - shift).abs() < 0.01 && change.strength > 1.0,
            "{change:?}"
        );
    }
}

#[test]
fn a_level_that_comes_back_is_two_changes() {
    let found = places(&series(&[(30, 1.0), (12, 1.2), (30, 1.0)], 0.02, 9));
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn the_last_points_are_a_candidate_until_there_are_three() {
    for new in 1..=2 {
        let x = series(&[(40, 5.0), (new, 5.15)], 0.01, 4);
        let found = changes(&x, &ChangeOptions::default());
        assert_eq!(found.len(), 1, "{new}: {found:?}");
        assert!(!found[0].confirmed && found[0].at == 40, "{found:?}");
    }
    let found = changes(
        &series(&[(40, 5.0), (3, 5.15)], 0.01, 4),
        &ChangeOptions::default(),
    );
    assert!(found.len() == 1 && found[0].confirmed, "{found:?}");
}

#[test]
fn noise_drift_and_outliers_are_left_alone() {
    let (mut plain, mut wandering, trials) = (0, 0, 300);
    for seed in 0..trials {
        let mut x = series(&[(60, 2.0)], 0.03, seed * 31 + 1);
        x[20] += 0.5;
        x[41] -= 0.4;
        plain += usize::from(!places(&x).is_empty());
        let mut last = 0.0;
        for value in &mut x {
            last = 0.3_f64.mul_add(last, *value - 2.0);
            *value = 2.0 + last;
        }
        wandering += usize::from(!places(&x).is_empty());
    }
    assert!(
        plain <= 6 && wandering <= 15,
        "{plain} and {wandering} of {trials}"
    );
}

#[test]
fn short_constant_and_ticking_series() {
    for x in [&[][..], &[1.0], &[1.0, 2.0, 1.0, 2.0, 1.0], &[7.0; 50]] {
        assert_eq!(places(x), [0; 0], "{x:?}");
    }
    // One clean step without any noise is still a step.
    let x = series(&[(10, 1.0), (10, 1.1)], 0.0, 1);
    assert_eq!(places(&x), [10]);
    // A step of a tick is none where the floor says so.
    let floor = ChangeOptions {
        noise_floor: 0.1,
        ..ChangeOptions::default()
    };
    assert!(changes(&x, &floor).is_empty());
    // Nor is one below the smallest effect.
    assert_eq!(places(&series(&[(30, 1.0), (30, 1.01)], 0.001, 1)), [0; 0]);
}

#[test]
fn ten_thousand_points_with_many_steps() {
    let levels: Vec<(usize, f64)> = (0..50).map(|i| (200, f64::from(i % 2) * 0.1)).collect();
    let found = places(&series(&levels, 0.02, 8));
    assert!((48..=49).contains(&found.len()), "{}", found.len());
}

#[test]
fn clean_steps_of_equal_stretches_are_found() {
    // Steps of forty deviations: pulled in, both levels are one number each.
    let mut series = Vec::new();
    for level in [100.0_f64, 112.0, 95.0, 103.0] {
        for at in 0..30 {
            series.push(level.ln() + [0.0, 0.004, -0.003, 0.002, -0.004, 0.001, 0.003][at % 7]);
        }
    }
    let found = changes(&series, &ChangeOptions::default());
    let places: Vec<usize> = found.iter().map(|change| change.at).collect();
    assert_eq!(places, [30, 60, 90], "{found:?}");
}
