//! What a file is, as far as joining it to others needs: which clocks are in it, from when to when,
//! and of which jobs it speaks.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Event, EventKind};
use crate::grammar;
use crate::record::{LogLine, Record};
use crate::scan::{Class, Classes, Line, Sink};

/// Jobs and moments kept at most.
const KEPT_MAX: usize = 1 << 16;

/// A moment that both streams of a daemon speak of: a synthesis or a prove call ended.
type Moment = (String, Option<u32>, bool);

/// A sink that looks at a file.
#[derive(Debug, Default)]
pub struct Survey {
    /// Events, and timing lines.
    pub(super) events: u64,
    /// Lines of the engine's own log.
    pub(super) logs: u64,
    /// First, least and largest offset, milliseconds.
    pub(super) offsets: Option<(u64, u64, u64)>,
    /// First stamp of the log, microseconds since 1970.
    pub(super) stamp: Option<i64>,
    pub(super) jobs: BTreeSet<String>,
    /// Offsets of moments, milliseconds.
    ends: BTreeMap<Moment, u64>,
    /// Stamps of the same moments, microseconds.
    told: BTreeMap<Moment, i64>,
    /// When the daemon started.
    start: Option<i64>,
}

impl Survey {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it holds anything of a daemon.
    pub fn is_daemon(&self) -> bool {
        self.events + self.logs > 0
    }

    /// The wall clock at offset 0 as this stream's events and another's log lines tell it,
    /// microseconds since 1970: the median over the moments that both speak of, else the start of
    /// the daemon, which is a little early.
    pub(super) fn epoch_with(&self, log: &Self) -> Option<i64> {
        let pairs = self.ends.iter().filter_map(|(moment, ms)| {
            let stamp = log.told.get(moment)?;
            stamp.checked_sub(i64::try_from(*ms).ok()?.checked_mul(1000)?)
        });
        let mut epochs: Vec<i64> = pairs.collect();
        epochs.sort_unstable();
        epochs.get(epochs.len() / 2).copied().or(log.start)
    }

    fn job(&mut self, id: &str) {
        if !id.is_empty() && self.jobs.len() < KEPT_MAX && !self.jobs.contains(id) {
            self.jobs.insert(id.to_owned());
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        let (first, low, high) = self.offsets.unwrap_or((event.ms, event.ms, event.ms));
        self.offsets = Some((first, low.min(event.ms), high.max(event.ms)));
        self.job(&event.job);
        let kind = event.what.kind();
        if matches!(kind, EventKind::SynthEnd | EventKind::GpuEnd) && self.ends.len() < KEPT_MAX {
            let proved = kind == EventKind::GpuEnd;
            let moment = (
                event.job.clone().into_owned(),
                event.place.partition,
                proved,
            );
            self.ends.insert(moment, event.ms);
        }
    }

    fn log(&mut self, log: &LogLine<'_>) {
        if !log.target.starts_with("cuzk") {
            return;
        }
        self.logs += 1;
        let Some(stamp) = log.stamp.filter(|stamp| stamp.utc) else {
            return;
        };
        let us = stamp.unix_us;
        self.stamp.get_or_insert(us);
        let message = log.message.as_ref();
        if message.starts_with("cuzk-daemon starting") {
            self.start.get_or_insert(us);
        }
        let Some(job) = log.job() else {
            return;
        };
        self.job(job);
        let proved = message.starts_with("partition GPU prove complete");
        let synthesized = message.starts_with("partition synthesis complete")
            || message.starts_with("synthesis complete");
        if (proved || synthesized) && self.told.len() < KEPT_MAX {
            let moment = (job.to_owned(), log.number("partition"), proved);
            self.told.insert(moment, us);
        }
    }
}

impl Sink for Survey {
    fn wants(&self) -> Classes {
        let lines = Classes::NONE.with(Class::Timeline).with(Class::Timing);
        lines.with(Class::Tracing)
    }

    fn line(&mut self, line: &Line<'_>) {
        match line.class {
            Class::Timeline => {
                self.events += 1;
                if let Record::Event(event) = line.record() {
                    self.event(&event);
                }
            }
            Class::Timing => self.events += 1,
            Class::Tracing if crate::run::is_ours(line.text) => {
                if let Some(log) = grammar::parse_log(line.text) {
                    self.log(&log);
                }
            }
            _ => {}
        }
    }
}
