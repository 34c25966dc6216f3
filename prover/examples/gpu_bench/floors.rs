//! What the arithmetic alone takes on an H200: 132 multiprocessors × 64 multiply slots a clock ×
//! 1.98 GHz, a 32-bit wide multiply costing two slots.

const SLOTS_PER_MS: f64 = 132.0 * 64.0 * 1.98e6;

fn sum(log2: u32, affine: f64, full: f64, tables: u32) -> f64 {
    let n = 2_f64.powi(log2.cast_signed());
    (8..=26)
        .map(|bits| {
            let windows = 255_u32.div_ceil(bits);
            let sets = windows.div_ceil(tables);
            let buckets = 2_f64.powi(bits.cast_signed() - 1) * f64::from(sets);
            (n * f64::from(windows) * affine + 2.0 * buckets * full) / SLOTS_PER_MS
        })
        .fold(f64::INFINITY, f64::min)
}

/// A sum in G1: additions of 8M + 2S with one merged reduction.
pub(crate) fn msm_g1(log2: u32, tables: u32) -> f64 {
    sum(log2, 5316.0, 7968.0, tables)
}

/// A sum in G2.
pub(crate) fn msm_g2(log2: u32) -> f64 {
    sum(log2, 14064.0, 19920.0, 1)
}

/// n/2 · log2 n butterflies of one product each, general reduction.
pub(crate) fn ntt(log2: u32) -> f64 {
    2_f64.powi(log2.cast_signed() - 1) * f64::from(log2) * 264.0 / SLOTS_PER_MS
}

/// So many bytes of memory read or written once, at the rate of a copy on the device.
pub(crate) fn traffic(bytes: f64) -> f64 {
    bytes / 4251e6
}

/// So many additions of an affine point, in G1 or G2.
pub(crate) fn additions(count: f64, g2: bool) -> f64 {
    count * if g2 { 14064.0 } else { 5316.0 } / SLOTS_PER_MS
}

/// 2^log2 multiples of one base from 16 tables.
pub(crate) fn fixed_base(log2: u32, g2: bool) -> f64 {
    additions(2_f64.powi(log2.cast_signed()) * 16.0, g2)
}
