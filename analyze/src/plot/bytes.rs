//! Device memory along an axis and in words.

use super::axis::counts;

const GIB: f64 = (1_u64 << 30) as f64;
const MIB: f64 = (1_u64 << 20) as f64;

/// Round amounts from zero up to at least `most` bytes with their labels, about `count` steps.
pub(super) fn ticks(most: f64, count: f64) -> Vec<(f64, String)> {
    let (unit, word) = if most >= 4.0 * GIB {
        (GIB, "GiB")
    } else {
        (MIB, "MiB")
    };
    let ticks = counts(most / unit, count).into_iter();
    ticks
        .map(|tick| (tick * unit, format!("{tick} {word}")))
        .collect()
}

/// Bytes in GiB, or in MiB where they are fewer.
pub(super) fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    if bytes >= GIB {
        format!("{:.1} GiB", bytes / GIB)
    } else {
        format!("{:.0} MiB", bytes / MIB)
    }
}
