//! Runs that are another run in disguise: all times multiplied by one factor.
//!
//! Times that were measured differ in every digit; two runs whose times keep one ratio to a
//! millionth are one run and a pocket calculator. Exact copies are found by their hash elsewhere.

use super::COPY_TIMES_MIN;
use crate::samples::Run;

/// Ratios of times nearer than this to each other are the same.
const NEAR: f64 = 1e-6;

/// Says of which of the runs before it this one is a scaled copy.
pub(super) fn near(run: &Run, before: &[&Run]) -> Option<String> {
    // Few different times, as under a coarse clock, can be proportional by chance.
    if different(run) < COPY_TIMES_MIN {
        return None;
    }
    let (first, factor) = before
        .iter()
        .find_map(|other| Some((&other.id, factor(run, other)?)))?;
    Some(format!(
        "is a near copy of run {first}: every time is {factor:.6} times its own"
    ))
}

/// The one factor between all times of two runs.
fn factor(run: &Run, other: &Run) -> Option<f64> {
    if !run.phases.keys().eq(other.phases.keys()) {
        return None;
    }
    let mut factor = None;
    for (times, others) in run.phases.values().zip(other.phases.values()) {
        if times.ms.len() != others.ms.len() {
            return None;
        }
        for (ms, of) in times.ms.iter().zip(&others.ms) {
            let ratio = ms / of;
            let known = *factor.get_or_insert(ratio);
            let same = ratio.is_finite() && ratio > 0.0 && (ratio / known - 1.0).abs() <= NEAR;
            if !same {
                return None;
            }
        }
    }
    factor
}

/// Different times of a run, as far as it matters.
fn different(run: &Run) -> usize {
    let mut found: Vec<u64> = Vec::new();
    for ms in run.phases.values().flat_map(|times| &times.ms) {
        if !found.contains(&ms.to_bits()) {
            found.push(ms.to_bits());
        }
        if found.len() == COPY_TIMES_MIN {
            break;
        }
    }
    found.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Times;

    fn run(id: &str, ms: &[f64]) -> Run {
        let mut run = Run::new(id);
        run.phases
            .insert("p".to_owned(), Times::of_verified(ms.to_vec()));
        run
    }

    #[test]
    fn a_factor_is_found_and_a_measured_run_is_not() {
        let ms: Vec<f64> = (1..20).map(|i| 100.0 + f64::from(i * i) * 0.37).collect();
        let first = run("a", &ms);
        let bent = |by: &dyn Fn(usize, f64) -> f64| -> Option<String> {
            let ms: Vec<f64> = ms.iter().enumerate().map(|(i, ms)| by(i, *ms)).collect();
            near(&run("b", &ms), &[&first])
        };
        let scaled = bent(&|_, ms| ms * 1.05).unwrap();
        assert!(scaled.contains("near copy of run a") && scaled.contains("1.050000"));
        let jitter = |by: f64| move |i: usize, ms: f64| ms * (1.0 + by * (i % 2) as f64);
        assert!(bent(&jitter(5e-7)).is_some());
        assert!(bent(&jitter(5e-6)).is_none());
        assert!(bent(&|_, ms| ms + 1.0).is_none());
        assert!(near(&run("c", &[1.0; 20]), &[&run("d", &[2.0; 20])]).is_none());
    }
}
