//! Series for the tests of the statistics.

/// Deterministic roughly normal noise (sum of 12 uniforms).
pub(super) fn noise(state: &mut u64) -> f64 {
    (0..12)
        .map(|_| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (*state >> 11) as f64 / (1_u64 << 53) as f64
        })
        .sum::<f64>()
        - 6.0
}

/// AR(1) noise of deviation 1.
pub(super) fn autoregressive(n: usize, phi: f64, state: &mut u64) -> Vec<f64> {
    let mut at = noise(state);
    (0..n)
        .map(|_| {
            at = phi.mul_add(at, (1.0 - phi * phi).sqrt() * noise(state));
            at
        })
        .collect()
}
