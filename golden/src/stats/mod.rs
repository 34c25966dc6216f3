//! Statistics over slices of times: order statistics, serial correlation, ratios with intervals.
//!
//! Pure functions: no I/O, no clock, no random numbers; the same input gives the same output.
//! Times go in as they are (milliseconds, always positive); effects are differences of natural
//! logarithms inside and ratios outside. What a run of a gate does with them is not decided here.
//!
//! ```
//! let before = [845.0, 851.0, 848.0, 846.0, 850.0, 847.0, 849.0, 852.0];
//! let after: Vec<f64> = before.iter().map(|ms| ms * 1.06).collect();
//! let ratio = golden::stats::compare_phase(&before, &after).expect("both sides have times");
//! assert!((ratio.ratio - 1.06).abs() < 1e-9);
//! assert!(ratio.low > 1.04 && ratio.high < 1.08);
//! ```

mod change;
mod dist;
mod moderate;
mod multiple;
mod order;
mod ratio;
mod serial;
mod shift;
#[cfg(test)]
mod testing;

pub use change::{Change, ChangeOptions, changes, critical, split_statistic};
pub use dist::{normal_quantile, t_quantile, t_upper_tail};
pub use moderate::{Moderated, Prior};
pub use multiple::{benjamini_hochberg, holm};
pub use order::{MAD_TO_SD, Summary, mad, median, quantile, robust_sd};
pub use ratio::{Evidence, PhaseRatio, PhaseRuns, compare_phase, compare_phases, median_ratio};
pub use serial::{lag1, long_run_factor};
pub use shift::{Shift, hodges_lehmann};

/// Mean and unbiased variance of a slice; `None` for an empty one, variance 0 for one value.
#[must_use]
pub fn mean_variance(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return Some((mean, 0.0));
    }
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    Some((mean, squares / (n - 1.0)))
}
