//! Critical values of the largest split of a segment.

/// Points of a segment and the value that the statistic exceeds in 0.5 % of segments of
/// independent normal values, as simulated by the example `simulate_changes` (200,000 segments
/// up to 50 points, 400 million / 40 points above), even and odd lengths smoothed into one line.
const TABLE: [(f64, f64); 13] = [
    (6.0, 4.92),
    (8.0, 4.91),
    (10.0, 4.81),
    (14.0, 4.61),
    (20.0, 4.33),
    (32.0, 4.15),
    (50.0, 3.96),
    (70.0, 3.90),
    (100.0, 3.89),
    (500.0, 3.89),
    (1_000.0, 3.93),
    (3_000.0, 4.00),
    (10_000.0, 4.16),
];

/// The critical value for a segment of `n` points, interpolated in the logarithm of `n`.
#[must_use]
pub fn critical(n: usize) -> f64 {
    let n = n as f64;
    let after = TABLE.iter().position(|(points, _)| *points >= n);
    match after {
        Some(0) => TABLE[0].1,
        Some(at) => {
            let ((n0, c0), (n1, c1)) = (TABLE[at - 1], TABLE[at]);
            let weight = (n / n0).ln() / (n1 / n0).ln();
            weight.mul_add(c1 - c0, c0)
        }
        None => TABLE[TABLE.len() - 1].1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_the_entries_it_is_between_their_values() {
        assert!((critical(6) - 4.92).abs() < 1e-12);
        assert!((critical(100) - 3.89).abs() < 1e-12);
        let between = critical(40);
        assert!(
            between < critical(32) && between > critical(50),
            "{between}"
        );
        assert!((critical(1_000_000) - 4.16).abs() < 1e-12);
        assert!((critical(0) - 4.92).abs() < 1e-12);
    }
}
