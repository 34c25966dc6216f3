//! Wall and processor time, and peak memory, of a piece of work.

use std::time::Instant;

/// Milliseconds of one run of some work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Time {
    pub wall_ms: f64,
    /// Of all threads of the process; at best twice the wall time on two cores.
    pub cpu_ms: f64,
}

/// Runs `work` and says how long it took.
pub fn time<T>(work: impl FnOnce() -> T) -> (T, Time) {
    let (start, cpu) = (Instant::now(), cpu_ms());
    let result = work();
    let wall_ms = start.elapsed().as_secs_f64() * 1e3;
    (
        result,
        Time {
            wall_ms,
            cpu_ms: cpu_ms() - cpu,
        },
    )
}

/// User and system time of the process so far, threads that ended included, in steps of 10 ms.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let after_name = stat.rsplit(')').next().expect("a name in brackets");
    let ticks = |at| {
        after_name
            .split(' ')
            .nth(at)
            .and_then(|field| field.parse::<f64>().ok())
    };
    let (user, system) = (ticks(12), ticks(13));
    10.0 * (user.expect("user time") + system.expect("system time"))
}

/// The median of some times, each of wall and processor time by itself.
pub fn median(times: &[Time]) -> Time {
    let middle = |of: fn(&Time) -> f64| {
        let mut values: Vec<f64> = times.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    Time {
        wall_ms: middle(|time| time.wall_ms),
        cpu_ms: middle(|time| time.cpu_ms),
    }
}

/// Memory of a piece of work, MiB.
pub struct Memory {
    /// The most it had on the heap beyond what was there before.
    pub heap: f64,
    /// What was resident before it.
    pub before: f64,
    /// The most that was resident during it.
    pub peak: f64,
}

/// Runs `work` and says what memory it took.
pub fn memory<T>(work: impl FnOnce() -> T) -> (T, Memory) {
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak can be reset");
    let before = status_mib("VmRSS:");
    let (result, heap) = crate::heap::most(work);
    let memory = Memory {
        heap: heap as f64 / f64::from(1 << 20),
        before,
        peak: status_mib("VmHWM:"),
    };
    (result, memory)
}

fn status_mib(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .expect("a known key");
    let kib: f64 = line
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number");
    kib / 1024.0
}
