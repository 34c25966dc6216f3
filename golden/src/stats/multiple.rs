//! Many tests at once: Holm for decisions, Benjamini and Hochberg for a list to look at.

/// Holm's adjusted p values, in the order given: rejecting those at most `alpha` keeps the chance
/// of even one false rejection at `alpha` (Holm 1979), whatever the dependence between the tests.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut adjusted = vec![1.0; p.len()];
    let mut worst = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        let left = (p.len() - rank) as f64;
        worst = worst.max((p[at] * left).min(1.0));
        adjusted[at] = worst;
    }
    adjusted
}

/// Benjamini and Hochberg's adjusted p values: rejecting those at most `q` keeps the expected
/// share of false ones among the rejected at `q` (1995).
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut adjusted = vec![1.0; p.len()];
    let mut best = 1.0_f64;
    for (rank, &at) in order.iter().enumerate().rev() {
        best = best.min(p[at] * p.len() as f64 / (rank + 1) as f64);
        adjusted[at] = best;
    }
    adjusted
}

/// Indices by rising p; NaN, which is no evidence, last.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: &[f64], expected: &[f64]) {
        assert_eq!(got.len(), expected.len());
        for (a, b) in got.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12, "{got:?} is not {expected:?}");
        }
    }

    #[test]
    fn known_adjustments() {
        // R: p.adjust(c(.01, .04, .03, .005), "holm") and "BH".
        near(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        near(
            &benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005]),
            &[0.02, 0.04, 0.04, 0.02],
        );
        near(&holm(&[]), &[]);
        near(&holm(&[0.5, 0.9]), &[1.0, 1.0]);
    }

    #[test]
    fn no_evidence_is_never_rejected() {
        let adjusted = holm(&[f64::NAN, 0.001]);
        assert!(adjusted[0].is_nan() || adjusted[0] >= 1.0);
        near(&adjusted[1..], &[0.002]);
    }
}
