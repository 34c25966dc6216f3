//! The four checks, as a function of what was seen at each poll.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::report::{Line, Report};
use super::{Built, GpuMemory, Machine, Process};

/// What to check, and what counts as quiet.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The daemon's port on the loopback.
    pub port: u16,
    /// MiB in use on every device before a run; not known: only stillness is asked for.
    pub gpu_baseline_mib: Option<u64>,
    /// How far use may lie above the baseline, and move between polls, in MiB.
    pub gpu_slack_mib: u64,
    /// How long the checks must hold without a break, in ms.
    pub stable_ms: u64,
    /// The binary and the folder of its sources; none: not checked.
    pub build: Option<(PathBuf, PathBuf)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            port: 9820,
            gpu_baseline_mib: None,
            gpu_slack_mib: 8,
            stable_ms: 2000,
            build: None,
        }
    }
}

/// One of the checks, in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// No daemon runs.
    Daemon,
    /// The port can be bound.
    Port,
    /// Device memory is at its baseline and still.
    GpuMemory,
    /// The binary is newer than its sources.
    Binary,
}

impl Check {
    /// Every check, in the order of the report.
    pub const ALL: [Self; 4] = [Self::Daemon, Self::Port, Self::GpuMemory, Self::Binary];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Port => "port",
            Self::GpuMemory => "gpu-memory",
            Self::Binary => "binary",
        }
    }
}

/// How a check stands after a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It holds, and has held long enough.
    Ready,
    /// Time may mend it.
    Waiting,
    /// Time will not mend it; somebody must do something.
    Failed,
    /// Not asked for, or nothing to check.
    Skipped,
}

/// The checks over time.
#[derive(Debug)]
pub struct Preflight {
    settings: Settings,
    /// Since when each check has held without a break.
    held_since: BTreeMap<Check, u64>,
    /// Least and most MiB in use by device since its memory last moved.
    still: BTreeMap<u32, (u64, u64)>,
}

impl Preflight {
    /// Nothing seen yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            held_since: BTreeMap::new(),
            still: BTreeMap::new(),
        }
    }

    /// Looks at the machine once, `now_ms` after any fixed moment.
    pub fn poll(&mut self, now_ms: u64, machine: &dyn Machine) -> Report {
        let lines = Check::ALL
            .into_iter()
            .map(|check| {
                let (state, says) = self.look(check, machine);
                self.settle(now_ms, check, state, says)
            })
            .collect();
        Report {
            at_ms: now_ms,
            lines,
        }
    }

    fn look(&mut self, check: Check, machine: &dyn Machine) -> (State, String) {
        match check {
            Check::Daemon => answer(machine.daemons(), |found| daemon(&found)),
            Check::Port => answer(machine.port_is_free(self.settings.port), |free| {
                port(self.settings.port, free)
            }),
            Check::GpuMemory => {
                let seen = machine.gpu_memory();
                answer(seen, |devices| self.gpu_memory(&devices))
            }
            Check::Binary => match &self.settings.build {
                None => (State::Skipped, "not asked for (--binary)".to_owned()),
                Some((path, sources)) => {
                    answer(machine.built(path, sources), |built| binary(&built))
                }
            },
        }
    }

    /// A check that holds is ready only after it has held for as long as is asked.
    fn settle(&mut self, now_ms: u64, check: Check, state: State, says: String) -> Line {
        let mut line = Line { check, state, says };
        if state != State::Ready {
            self.held_since.remove(&check);
            return line;
        }
        let since = *self.held_since.entry(check).or_insert(now_ms);
        let held = now_ms.saturating_sub(since);
        // A file does not flicker; a process that is being restarted does.
        if check != Check::Binary && held < self.settings.stable_ms {
            line.state = State::Waiting;
            line.says = format!(
                "{}, and must stay so for {} ms: {held} so far",
                line.says, self.settings.stable_ms
            );
        }
        line
    }

    fn gpu_memory(&mut self, devices: &[GpuMemory]) -> (State, String) {
        if devices.is_empty() && self.settings.gpu_baseline_mib.is_some() {
            let says = "a baseline was given, and there is no device to measure".to_owned();
            return (State::Failed, says);
        }
        if devices.is_empty() {
            return (State::Skipped, "no device".to_owned());
        }
        let slack = self.settings.gpu_slack_mib;
        let mut moved = Vec::new();
        let mut above = Vec::new();
        for device in devices {
            let used = device.used_mib;
            let (low, high) = *self.still.entry(device.gpu).or_insert((used, used));
            let (low, high) = (low.min(used), high.max(used));
            if high - low > slack {
                moved.push(format!(
                    "GPU {} moved between {low} and {high} MiB",
                    device.gpu
                ));
                self.still.insert(device.gpu, (used, used));
            } else {
                self.still.insert(device.gpu, (low, high));
            }
            if let Some(baseline) = self.settings.gpu_baseline_mib
                && used > baseline + slack
            {
                above.push(format!(
                    "GPU {} uses {used} MiB, {} above its baseline of {baseline}",
                    device.gpu,
                    used - baseline
                ));
            }
        }
        above.extend(moved);
        if !above.is_empty() {
            return (State::Waiting, above.join("; "));
        }
        let used: Vec<String> = devices
            .iter()
            .map(|device| {
                format!(
                    "GPU {}: {} of {} MiB",
                    device.gpu, device.used_mib, device.total_mib
                )
            })
            .collect();
        (State::Ready, format!("still at {}", used.join(", ")))
    }
}

fn answer<T>(seen: Result<T, String>, judge: impl FnOnce(T) -> (State, String)) -> (State, String) {
    match seen {
        Ok(seen) => judge(seen),
        Err(reason) => (State::Failed, format!("cannot be checked: {reason}")),
    }
}

fn daemon(found: &[Process]) -> (State, String) {
    match found.split_first() {
        None => (State::Ready, "none runs".to_owned()),
        Some((first, rest)) => {
            let more = if rest.is_empty() {
                String::new()
            } else {
                format!(" and {} more", rest.len())
            };
            let says = format!("{} runs as {}{more}; stop it", first.command, first.pid);
            (State::Waiting, says)
        }
    }
}

fn port(port: u16, free: bool) -> (State, String) {
    if free {
        (State::Ready, format!("{port} can be bound"))
    } else {
        (
            State::Waiting,
            format!("{port} is taken; stop what listens there"),
        )
    }
}

fn binary(built: &Built) -> (State, String) {
    match &built.newest_source {
        Some((path, changed)) if *changed > built.binary_ms => (
            State::Failed,
            format!(
                "{} is {:.1} s newer than the binary; build again",
                path.display(),
                seconds(changed - built.binary_ms)
            ),
        ),
        Some(_) => (State::Ready, "newer than all its sources".to_owned()),
        None => (
            State::Failed,
            "no source found in its folder; name it with --sources".to_owned(),
        ),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a difference of times, for people"
)]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
