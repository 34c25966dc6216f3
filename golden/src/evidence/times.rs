//! One phase of one run: its times condensed, and the clock behind them recognised.

use super::Rules;
use crate::samples::{Run, Times};
use crate::stats::{MAD_TO_SD, lag1, quantile};

/// A change from the first to the last quarter of a run that is worth saying, in log time.
pub(super) const TREND_SAID: f64 = 0.05;

/// Fewest times for which first and last quarter are compared.
const TREND_TIMES_MIN: usize = 16;

/// Serial correlation and the quarters of a run are looked at in at most this many times: they
/// are diagnostics, and a twentieth is sharp enough.
const PHI_TIMES_MAX: usize = 500;

/// Ticks that clocks of logs have, in ms, coarsest first.
const TICKS: [f64; 8] = [1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4];

/// Ticks above 1 ms are believed only with this many different times: few are round by chance.
const COARSE_TIMES_MIN: usize = 6;

/// What is left of the times of a phase in a run.
#[derive(Debug, Default)]
pub(super) struct Digest {
    pub(super) seen: usize,
    pub(super) unverified: usize,
    pub(super) bad: usize,
    pub(super) zero: usize,
    pub(super) warmup: usize,
    pub(super) n: usize,
    pub(super) ln_ms: f64,
    pub(super) spread: f64,
    pub(super) phi: f64,
    pub(super) mean: f64,
    pub(super) trend: f64,
}

/// Condenses times: leaves out what does not count, drops the warm-up, takes the median.
///
/// A zero under a clock with ticks means "less than a tick" and counts as half of one; without
/// ticks it is no time.
pub(super) fn condense(times: &Times, quantum_ms: f64, rules: Rules) -> Digest {
    let mut digest = Digest {
        seen: times.ms.len(),
        ..Digest::default()
    };
    let mut logs = Vec::with_capacity(times.ms.len());
    for (ms, verified) in times.ms.iter().zip(&times.verified) {
        if !verified {
            digest.unverified += 1;
            if !rules.allow_unverified {
                continue;
            }
        }
        if *ms > 0.0 && ms.is_finite() {
            logs.push(ms.ln());
        } else if *ms >= 0.0 && ms.is_finite() {
            digest.zero += 1;
            if quantum_ms > 0.0 {
                logs.push((quantum_ms / 2.0).ln());
            }
        } else {
            digest.bad += 1;
        }
    }
    if logs.len() > rules.warmup.saturating_mul(3) {
        digest.warmup = rules.warmup;
    }
    let kept = &mut logs[digest.warmup..];
    digest.n = kept.len();
    digest.phi = lag1(&kept[..kept.len().min(PHI_TIMES_MAX)]);
    digest.trend = trend(kept);
    digest.ln_ms = quantile(kept, 0.5).unwrap_or(f64::NAN);
    let beside = kept.iter().map(|x| (x - digest.ln_ms).exp());
    digest.mean = (beside.sum::<f64>() / kept.len().max(1) as f64).ln();
    for x in kept.iter_mut() {
        *x = (*x - digest.ln_ms).abs();
    }
    digest.spread = quantile(kept, 0.5).unwrap_or(0.0) * MAD_TO_SD;
    digest
}

/// Median of the last quarter less that of the first; 0 for short runs.
fn trend(logs: &[f64]) -> f64 {
    let n = logs.len();
    if n < TREND_TIMES_MIN {
        return 0.0;
    }
    let count = (n / 4).min(PHI_TIMES_MAX);
    let mut first = logs[..count].to_vec();
    let mut last = logs[n - count..].to_vec();
    quantile(&mut last, 0.5).unwrap_or(0.0) - quantile(&mut first, 0.5).unwrap_or(0.0)
}

/// The tick of the clock in ms: the coarsest decimal step that all finite times are multiples
/// of; 0 if there is none, 1 ms if all times are zero.
#[must_use]
pub fn quantum_of(runs: &[&[f64]]) -> f64 {
    let all = || {
        runs.iter()
            .flat_map(|ms| ms.iter().copied())
            .filter(|ms| ms.is_finite())
    };
    if !all().any(|ms| ms.abs() > 0.0) {
        return if all().next().is_some() { 1.0 } else { 0.0 };
    }
    let mut different: Vec<u64> = Vec::with_capacity(COARSE_TIMES_MIN);
    for bits in all().map(f64::to_bits) {
        if different.contains(&bits) {
            continue;
        }
        different.push(bits);
        if different.len() == COARSE_TIMES_MIN {
            break;
        }
    }
    let enough = different.len() == COARSE_TIMES_MIN;
    let fits = |tick: f64| {
        all().all(|ms| {
            let ticks = ms / tick;
            (ticks - ticks.round()).abs() < 1e-6
        })
    };
    TICKS
        .into_iter()
        .filter(|tick| enough || *tick <= 1.0)
        .find(|tick| fits(*tick))
        .unwrap_or(0.0)
}

/// Whether three or more times are all one and the same.
pub(super) fn constant(runs: &[&[f64]]) -> bool {
    let mut all = runs.iter().flat_map(|ms| ms.iter());
    let Some(first) = all.next() else {
        return false;
    };
    let mut more = 0;
    for ms in all {
        if ms.to_bits() != first.to_bits() {
            return false;
        }
        more += 1;
    }
    more >= 2
}

/// Whether a run has times, and all of them are zero.
pub(super) fn zero(run: &Run) -> bool {
    let mut all = run.phases.values().flat_map(|times| &times.ms).peekable();
    all.peek().is_some() && all.all(|ms| ms.abs() <= 0.0)
}

/// Whether a phase is zero throughout, and not because it is shorter than a tick of the clock:
/// the other phases show no clock of whole milliseconds.
pub(super) fn all_zero(runs: &[&Run], phase: &str) -> bool {
    let mut own = runs.iter().filter_map(|run| run.phases.get(phase));
    if !own.all(|times| times.ms.iter().all(|ms| ms.abs() <= 0.0)) {
        return false;
    }
    let seen = |ms: &&[f64]| ms.iter().any(|ms| ms.abs() > 0.0);
    let others = runs.iter().flat_map(|run| run.phases.values());
    let others: Vec<&[f64]> = others.map(|times| &*times.ms).filter(seen).collect();
    !others.is_empty() && quantum_of(&others) < 1.0
}

/// A hash of all times of a run, to find copies.
pub(super) fn fingerprint(run: &Run) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |word: u64| {
        hash = (hash ^ word)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(23);
    };
    for (name, times) in &run.phases {
        for byte in name.bytes() {
            mix(u64::from(byte));
        }
        for ms in &times.ms {
            mix(ms.to_bits());
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn ticks_are_recognised() {
        for (times, tick) in [
            (&[845.0, 656.0, 86.0][..], 1.0),
            (&[845.2, 656.0], 0.1),
            (&[900.0], 1.0),
            (&[900.0, 300.0, 500.0, 100.0, 200.0, 700.0], 100.0),
            (&[900.0; 8], 1.0),
            (&[29.4371, 30.0], 1e-4),
            (&[1.0 / 3.0, 2.0], 0.0),
            (&[0.0, 0.0], 1.0),
            (&[], 0.0),
            (&[f64::NAN, 7.0], 1.0),
        ] {
            assert!(
                near(quantum_of(&[times]), tick),
                "{times:?}: {}",
                quantum_of(&[times])
            );
        }
    }

    #[test]
    fn throttling_shows_as_a_trend() {
        let ms: Vec<f64> = (0..40)
            .map(|i| if i < 20 { 100.5 } else { 120.6 })
            .collect();
        let digest = condense(&Times::of_verified(ms), 0.0, Rules::default());
        assert!((digest.trend - 1.2_f64.ln()).abs() < 1e-9, "{digest:?}");
        assert!(digest.phi > 0.8, "{digest:?}");
    }

    #[test]
    fn zero_is_half_a_tick_where_there_are_ticks() {
        let times = Times::of_verified(vec![0.0, 0.0, 1.0]);
        let digest = condense(
            &times,
            1.0,
            Rules {
                warmup: 0,
                ..Rules::default()
            },
        );
        assert!(near(digest.ln_ms, 0.5_f64.ln()) && digest.zero == 2 && digest.n == 3);
        let digest = condense(
            &times,
            0.0,
            Rules {
                warmup: 0,
                ..Rules::default()
            },
        );
        assert_eq!((digest.zero, digest.n), (2, 1));
    }

    #[test]
    fn fingerprints_tell_runs_apart() {
        let run = |ms: &[f64]| {
            let mut run = Run::new("x");
            run.phases
                .insert("p".to_owned(), Times::of_verified(ms.to_vec()));
            run
        };
        assert_eq!(
            fingerprint(&run(&[1.0, 2.0])),
            fingerprint(&run(&[1.0, 2.0]))
        );
        assert_ne!(
            fingerprint(&run(&[1.0, 2.0])),
            fingerprint(&run(&[2.0, 1.0]))
        );
    }

    #[test]
    fn a_warmup_that_no_run_is_long_enough_for_drops_nothing() {
        let times = Times {
            ms: vec![1.0; 9],
            verified: vec![true; 9],
            ..Times::default()
        };
        for (warmup, kept) in [(2, 7), (3, 9), (usize::MAX, 9)] {
            let rules = Rules {
                warmup,
                ..Rules::default()
            };
            assert_eq!(condense(&times, 0.0, rules).n, kept, "{warmup}");
        }
    }
}
