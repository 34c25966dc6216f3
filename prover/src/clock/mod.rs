//! Time as an argument: the engine asks a [`Clock`], so tests run on a clock of their own.
//!
//! Offsets are microseconds since the engine's epoch, the moment the clock was made. Wall-clock
//! time is asked for once, for the head of a trace. This is the one place that reads either.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where time comes from.
pub trait Clock: Debug + Send + Sync {
    /// Microseconds since the epoch of the clock; never goes back.
    fn now_us(&self) -> u64;

    /// Lets so many microseconds pass.
    fn sleep_us(&self, us: u64);

    /// Wall clock at offset 0, microseconds since 1970 UTC.
    fn epoch_unix_us(&self) -> u64;
}

/// The system's clocks.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
    epoch_unix_us: u64,
}

impl SystemClock {
    /// A clock whose epoch is now.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the system's clocks are read"
    )]
    pub fn new() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            start: Instant::now(),
            epoch_unix_us: wall.map_or(0, micros),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_us(&self) -> u64 {
        micros(self.start.elapsed())
    }

    fn sleep_us(&self, us: u64) {
        thread::sleep(Duration::from_micros(us));
    }

    fn epoch_unix_us(&self) -> u64 {
        self.epoch_unix_us
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A clock that stands still until it is told, or made to sleep.
#[derive(Debug, Default)]
pub struct ManualClock {
    us: AtomicU64,
}

impl ManualClock {
    /// A clock at its epoch.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Clock for ManualClock {
    fn now_us(&self) -> u64 {
        self.us.load(Ordering::Relaxed)
    }

    fn sleep_us(&self, us: u64) {
        self.us.fetch_add(us, Ordering::Relaxed);
    }

    fn epoch_unix_us(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_by_sleeping() {
        let clock = ManualClock::new();
        assert_eq!(clock.now_us(), 0);
        clock.sleep_us(7);
        clock.sleep_us(5);
        assert_eq!(clock.now_us(), 12);
    }

    #[test]
    fn the_system_clock_goes_on() {
        let clock = SystemClock::new();
        let before = clock.now_us();
        clock.sleep_us(1500);
        assert!(clock.now_us() >= before + 1500);
        // 2020-01-01: a machine whose wall clock is before that has none.
        assert!(clock.epoch_unix_us() > 1_577_836_800_000_000);
    }
}
