//! What the checks look at: a schedule, the run of it, and what was learned from both.

use std::cell::OnceCell;

use tracefmt::finding::{Code, Confidence, Evidence, Finding, Severity};
use tracefmt::ops::{GpuSpec, Header, Op, Schedule, Step};

use super::Drafted;
use super::oom::{self, Failure};
use crate::events::RECOVERED;
use crate::life::{Buffer, Life};
use crate::run::record::gpu_of;
use crate::run::{Options, Record, Stop};
use crate::vram::Profile;

/// Where a schedule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Recorded events, or a schedule that is given as it is.
    Events,
    /// Rebuilt from a log that has no memory events.
    Profile,
}

/// The key of a header that names the lifecycle profile by which a schedule was rebuilt.
pub(crate) const REBUILT_BY: &str = "rebuilt_by";

impl Source {
    /// Where a schedule comes from by its header, and the profile that rebuilt it.
    pub fn of(header: &Header) -> (Self, Option<&str>) {
        let by = header.extra.get(REBUILT_BY).and_then(|by| by.as_str());
        let source = by.map_or(Self::Events, |_| Self::Profile);
        (source, by)
    }
}

/// A run to be judged.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    /// The schedule.
    pub schedule: &'a Schedule,
    /// Where it comes from.
    pub source: Source,
    /// The driver it ran under.
    pub profile: Profile,
    /// The input as the user named it.
    pub path: &'a str,
    /// What ran.
    pub record: Record,
    /// The lives of its buffers.
    pub life: Life,
    failures: OnceCell<Vec<Failure>>,
}

impl<'a> Scene<'a> {
    /// Runs a schedule as recorded.
    pub fn new(schedule: &'a Schedule, source: Source, profile: Profile, path: &'a str) -> Self {
        let record = Record::of(schedule, &Options::recorded(profile));
        let life = Life::of(schedule, &record);
        Self {
            schedule,
            source,
            profile,
            path,
            record,
            life,
            failures: OnceCell::new(),
        }
    }

    /// The failed requests with their causes; found by trial once.
    pub fn failures(&self) -> &[Failure] {
        self.failures.get_or_init(|| oom::failures(self))
    }

    /// The step of the schedule that ran at a place.
    pub fn step_at(&self, place: usize) -> Option<(usize, &'a Step)> {
        let at = self.record.ran.get(place)?.at;
        Some((at, self.schedule.steps.get(at)?))
    }

    /// Every step that ran: place, index, step, result code.
    pub fn ran(&self) -> impl Iterator<Item = (usize, usize, &'a Step, u32)> + '_ {
        self.record
            .ran
            .iter()
            .enumerate()
            .filter_map(|(place, ran)| {
                let step = self.schedule.steps.get(ran.at)?;
                Some((place, ran.at, step, ran.outcome.rc))
            })
    }

    /// Whether a worker stopped for good at a step.
    pub fn stops_at(&self, at: usize) -> bool {
        let mut stops = self.record.ending.stopped.iter();
        stops.any(|(_, stop)| matches!(stop, Stop::Aborted(s) | Stop::Panicked(s) if *s == at))
    }

    /// The name of a buffer, or its id.
    pub fn name(&self, buffer: &Buffer) -> String {
        let made = self.schedule.steps.get(buffer.at);
        made.and_then(|step| step.buf().map(str::to_owned))
            .unwrap_or_else(|| format!("buffer {}", buffer.id))
    }

    /// The name of what a step is about, or its id, or its op.
    pub fn subject(step: &Step) -> String {
        match (step.buf(), step.op.id()) {
            (Some(buf), _) => buf.to_owned(),
            (None, Some(id)) => format!("buffer {id}"),
            (None, None) => step.op.name().to_owned(),
        }
    }

    /// Bytes of the card that a step is about; 0 for a card that the header does not name.
    pub fn capacity(&self, step: &Step) -> u64 {
        self.card(step).map_or(0, |card| card.capacity)
    }

    /// Whether the memory that a step is about is the host's: its card says so.
    pub fn is_host(&self, step: &Step) -> bool {
        let memory = self.card(step).and_then(|card| card.extra.get("memory"));
        memory.and_then(|memory| memory.as_str()) == Some("host")
    }

    fn card(&self, step: &Step) -> Option<&'a GpuSpec> {
        self.schedule.header.gpus.get(gpu_of(step))
    }

    /// Whether a buffer belongs to a partition; what belongs to none is kept on purpose.
    pub fn is_of_a_partition(&self, buffer: &Buffer) -> bool {
        let made = self.schedule.steps.get(buffer.at);
        made.is_some_and(|step| step.partition().is_some() || step.job().is_some())
    }

    /// Whether the schedule says of some step which partition it belongs to.
    pub fn has_partitions(&self) -> bool {
        let mut steps = self.schedule.steps.iter();
        steps.any(|step| step.partition().is_some() || step.job().is_some())
    }

    /// Whether some schedule of this kind uses locks at all.
    pub fn has_locks(&self) -> bool {
        let locks = |step: &Step| matches!(step.op, Op::Lock { .. });
        self.schedule.steps.iter().any(locks)
    }

    /// How sure a statement about this run is.
    pub fn confidence(&self) -> Confidence {
        match self.source {
            Source::Events => Confidence::Certain,
            Source::Profile => Confidence::Inferred,
        }
    }

    /// An error, or a warning if a smaller plan made the failure good, or if only a rebuilt
    /// schedule says so and no failure is recorded at the step.
    pub fn severity(&self, at: usize) -> Severity {
        let step = self.schedule.steps.get(at);
        if step.is_some_and(recovered) {
            return Severity::Warning;
        }
        let seen = step.and_then(|step| step.rc).is_some_and(|rc| rc != 0);
        match self.source {
            Source::Events => Severity::Error,
            Source::Profile if seen => Severity::Error,
            Source::Profile => Severity::Warning,
        }
    }

    /// A line that proves something.
    pub fn evidence(&self, at: usize) -> Vec<Evidence> {
        let Some(line) = self.schedule.line_of(at) else {
            return Vec::new();
        };
        let step = self.schedule.steps.get(at);
        let text = step.and_then(|step| serde_json::to_string(step).ok());
        vec![Evidence {
            path: self.path.to_owned(),
            line,
            text: text.unwrap_or_default(),
        }]
    }

    /// A finding about a step, with place, evidence and the command that shows it again.
    pub fn draft(&self, at: usize, code: Code, severity: Severity, title: String) -> Drafted {
        let mut finding = Finding::new(code, severity, self.confidence(), title);
        if let Some(step) = self.schedule.steps.get(at) {
            finding.job = step.job().map(str::to_owned);
            finding.partition = step.partition();
            finding.worker = step.worker;
            finding.gpu = Some(step.gpu.unwrap_or(0));
        }
        finding.evidence = self.evidence(at);
        finding.reproduce = reproduce(self.path);
        Drafted {
            at,
            finding,
            explains: Vec::new(),
            follows: None,
        }
    }
}

/// Whether a step failed, and a smaller plan made it good.
pub(crate) fn recovered(step: &Step) -> bool {
    step.extra().get(RECOVERED) == Some(&true.into())
}

/// The command that replays an input; none for a pipe, which is gone once it was read.
pub(crate) fn reproduce(path: &str) -> Option<String> {
    let pipe = path == "-" || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
    (!pipe).then(|| format!("cuzk replay {}", shell_word(path)))
}

/// A path as a shell takes it.
pub fn shell_word(path: &str) -> String {
    if path.starts_with('-') {
        return shell_word(&format!("./{path}"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_where_a_shell_needs_it() {
        for (path, word) in [
            ("run.log", "run.log"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$HOME", "'$HOME'"),
            ("-x", "./-x"),
        ] {
            assert_eq!(shell_word(path), word);
        }
        assert_eq!(reproduce("-"), None, "a pipe is read once");
        assert_eq!(reproduce("a b").as_deref(), Some("cuzk replay 'a b'"));
    }
}
