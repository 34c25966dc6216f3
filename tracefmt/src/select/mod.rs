//! Choosing lines of a log: by class or kind, job, partition, worker, time, and by a predicate
//! over the bytes; with lines of context. The bytes come out as they stand in the input.
//!
//! Lines that do not say whose they are (the old timing lines) are known by number: the caller
//! takes the numbers from a [`crate::run::Run`] and gives them as [`Filter::owned`].

mod context;

pub use context::Context;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::event::{Event, EventKind, Place};
use crate::grammar;
use crate::record::{LogLine, Record};
use crate::scan::{Class, Line};
use crate::timing::{TIMING_NAMES, Timing};

/// Decides on one line's bytes.
pub type Predicate<'f> = Box<dyn Fn(&[u8]) -> bool + Send + Sync + 'f>;

/// What to choose. Empty lists choose everything; all conditions must hold.
#[derive(Default)]
pub struct Filter<'f> {
    /// Classes (`timeline`), event names (`GPU_END`) or timing names (`batch_add`).
    pub kinds: Vec<String>,
    /// Job ids; a prefix is enough.
    pub jobs: Vec<String>,
    /// Partitions.
    pub partitions: Vec<u32>,
    /// Workers.
    pub workers: Vec<u32>,
    /// Not before this offset, milliseconds since the run's epoch.
    pub from_ms: Option<u64>,
    /// Not after this offset.
    pub to_ms: Option<u64>,
    /// A condition on the line's text, wrapping removed.
    pub matches: Option<Predicate<'f>>,
    /// Lines whose owner is known to be a chosen one although they do not say so.
    pub owned: BTreeSet<u64>,
    /// When given, no line but these.
    pub only: Option<BTreeSet<u64>>,
}

impl std::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter")
            .field("kinds", &self.kinds)
            .field("jobs", &self.jobs)
            .field("partitions", &self.partitions)
            .field("workers", &self.workers)
            .field("from_ms", &self.from_ms)
            .field("to_ms", &self.to_ms)
            .field("matches", &self.matches.is_some())
            .field("owned", &self.owned.len())
            .field("only", &self.only.as_ref().map(BTreeSet::len))
            .finish()
    }
}

impl Filter<'_> {
    /// Whether the line is chosen.
    pub fn accepts(&self, line: &Line<'_>) -> bool {
        if self
            .matches
            .as_ref()
            .is_some_and(|matches| !matches(line.text))
        {
            return false;
        }
        let among = self
            .only
            .as_ref()
            .is_none_or(|only| only.contains(&line.number));
        among && (!self.needs_record() || self.accepts_record(line))
    }

    /// Whether the conditions can only be decided by typing the line.
    fn needs_record(&self) -> bool {
        !self.kinds.is_empty() || self.needs_owner()
    }

    /// Whether a condition asks for the job, partition, worker or time of a line.
    pub fn needs_owner(&self) -> bool {
        let lists = self.jobs.is_empty() && self.partitions.is_empty() && self.workers.is_empty();
        !lists || self.from_ms.is_some() || self.to_ms.is_some()
    }

    fn accepts_record(&self, line: &Line<'_>) -> bool {
        let record = grammar::parse(line.class, line.text);
        let owned = self.owned.contains(&line.number);
        self.accepts_kind(line.class, &record) && (owned || self.accepts_owner(&Said::of(&record)))
    }

    fn accepts_kind(&self, class: Class, record: &Record<'_>) -> bool {
        let name = kind_of(record).unwrap_or_default();
        let is = |kind: &String| {
            class_named(kind) == Some(class)
                || (!name.is_empty() && kind.eq_ignore_ascii_case(name))
        };
        self.kinds.is_empty() || self.kinds.iter().any(is)
    }

    fn accepts_owner(&self, said: &Said) -> bool {
        let job = |id: &str| {
            self.jobs
                .iter()
                .any(|wanted| id.starts_with(wanted.as_str()))
        };
        let among = |list: &[u32], value: Option<u32>| {
            list.is_empty() || value.is_some_and(|value| list.contains(&value))
        };
        let early = self
            .from_ms
            .is_some_and(|from| said.ms.is_none_or(|ms| ms < from));
        let late = self
            .to_ms
            .is_some_and(|to| said.ms.is_none_or(|ms| ms > to));
        (self.jobs.is_empty() || said.job.as_deref().is_some_and(job))
            && among(&self.partitions, said.place.partition)
            && among(&self.workers, said.place.worker)
            && !early
            && !late
    }
}

/// What a typed line is called: the event's or the timing's name.
fn kind_of<'r>(record: &'r Record<'_>) -> Option<&'r str> {
    match record {
        Record::Event(event) => Some(event.name()),
        Record::Timing(timing) => Some(timing.what.name()),
        _ => None,
    }
}

/// One line as a JSON value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// 1-based line.
    pub line: u64,
    /// Class of the ledger.
    pub class: &'static str,
    /// Event or timing name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Offset from the engine's start, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Job, where the line says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Partition, where the line says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<u32>,
    /// Worker, where the line says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<u32>,
    /// GPU, where the line says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<u32>,
    /// Put together from fragments.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repaired: bool,
    /// The text, wrapping removed, invalid UTF-8 replaced.
    pub text: String,
}

impl Described {
    /// Types the line and describes it.
    pub fn of(line: &Line<'_>) -> Self {
        let record = grammar::parse(line.class, line.text);
        let said = Said::of(&record);
        Self {
            line: line.number,
            class: line.class.as_str(),
            kind: kind_of(&record).map(str::to_owned),
            ms: said.ms,
            job: said.job,
            partition: said.place.partition,
            worker: said.place.worker,
            gpu: said.place.gpu,
            repaired: line.repaired,
            text: String::from_utf8_lossy(line.text).into_owned(),
        }
    }
}

/// Whether a kind of [`Filter::kinds`] is a class, an event or a timing of any engine; the phases
/// of our own traces have names of their own beside these.
pub fn is_known_kind(name: &str) -> bool {
    let same = |known: &&str| known.eq_ignore_ascii_case(name);
    class_named(name).is_some()
        || EventKind::ALL.iter().any(|kind| same(&kind.as_str()))
        || TIMING_NAMES.iter().any(same)
}

fn class_named(name: &str) -> Option<Class> {
    Class::ALL
        .into_iter()
        .find(|class| class.as_str().eq_ignore_ascii_case(name))
}

/// What a line says of its owner.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    job: Option<String>,
    place: Place,
    ms: Option<u64>,
}

impl Said {
    fn of(record: &Record<'_>) -> Self {
        match record {
            Record::Event(event) => Self::of_event(event),
            Record::Timing(timing) => Self::of_timing(timing),
            Record::Log(log) => Self::of_log(log),
            _ => Self::default(),
        }
    }

    fn of_event(event: &Event<'_>) -> Self {
        Self {
            job: Some(event.job.to_string()),
            place: event.place,
            ms: Some(event.ms),
        }
    }

    fn of_timing(timing: &Timing<'_>) -> Self {
        timing.tag.as_ref().map_or_else(Self::default, |tag| Self {
            job: Some(tag.job.to_string()),
            place: tag.place,
            ms: Some(tag.t_us / 1000),
        })
    }

    fn of_log(log: &LogLine<'_>) -> Self {
        let number = |key: &str| log.field(key).and_then(|value| value.parse().ok());
        Self {
            job: log.field("job_id").map(str::to_owned),
            place: Place {
                gpu: number("gpu"),
                worker: number("worker_id"),
                partition: number("partition"),
            },
            ms: None,
        }
    }
}

#[cfg(test)]
mod tests;
