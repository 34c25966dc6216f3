//! Anomalies of a log with their line numbers: what was repaired, what was lost, what this version
//! does not know, what contradicts itself. Whether a run failed is not asked here.

mod kind;

pub use kind::Anomaly;

use std::collections::BTreeMap;

use crate::event::{Event, EventKind, What};
use crate::grammar;
use crate::record::Record;
use crate::run::{MarkKind, Miscount, Outcome, Run};
use crate::scan::{Class, Classes, Line, Scan, Sink};

/// How many lines of each anomaly are kept.
pub const LINES_MAX: usize = 100;

/// One kind of anomaly in one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What.
    pub kind: Anomaly,
    /// How often.
    pub count: u64,
    /// The first lines, at most [`LINES_MAX`], sorted.
    pub lines: Vec<u64>,
    /// An example or a name, where one says more than the line number.
    pub example: Option<String>,
}

/// Collects anomalies; feed it the lines, then [`Lint::finish`] with what scan and model know.
#[derive(Debug)]
pub struct Lint {
    found: Vec<Found>,
    last_ms: u64,
    /// Locks taken and not given back yet: by name, or the one that lines of libraries speak of.
    held: BTreeMap<String, u64>,
    /// Events since `TRACE_START`, by kind; the last are those of unknown kinds.
    written: [u64; EventKind::ALL.len() + 1],
}

impl Default for Lint {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            last_ms: 0,
            held: BTreeMap::new(),
            written: [0; EventKind::ALL.len() + 1],
        }
    }
}

impl Lint {
    /// Nothing found yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn add(&mut self, kind: Anomaly, line: u64, example: Option<&str>) {
        let found = if let Some(at) = self.found.iter().position(|found| found.kind == kind) {
            self.found.get_mut(at)
        } else {
            self.found.push(Found {
                kind,
                count: 0,
                lines: Vec::new(),
                example: None,
            });
            self.found.last_mut()
        };
        let Some(found) = found else { return };
        found.count += 1;
        if found.lines.len() < LINES_MAX && found.lines.last() != Some(&line) {
            found.lines.push(line);
        }
        if found.example.is_none() {
            found.example = example.map(str::to_owned);
        }
    }

    /// A lock was taken, or given back. Priority is no part of a library lock's name.
    fn lock(&mut self, number: u64, name: &str, taken: bool) {
        let held = self.held.entry(name.to_owned()).or_default();
        match (taken, *held) {
            (true, _) => *held += 1,
            (false, 0) => self.add(Anomaly::UnbalancedLock, number, Some(name)),
            (false, _) => *held -= 1,
        }
    }

    /// `GPU lock acquired!`, `GPU lock released!` of the proof libraries.
    fn foreign_lock(&mut self, number: u64, text: &[u8]) {
        let has = |needle: &[u8]| memchr::memmem::find(text, needle).is_some();
        if has(b"GPU lock acquired") {
            self.lock(number, "GPU lock", true);
        } else if has(b"GPU lock released") {
            self.lock(number, "GPU lock", false);
        }
    }

    fn event(&mut self, number: u64, event: &Event<'_>) {
        match &event.what {
            What::LockAcq { lock } => self.lock(number, lock, true),
            What::LockRel { lock } => self.lock(number, lock, false),
            What::TraceStart(start) => {
                self.written.fill(0);
                if start.version != crate::VERSION {
                    let versions = format!("{}, known is {}", start.version, crate::VERSION);
                    self.add(Anomaly::UnknownVersion, number, Some(&versions));
                }
            }
            What::TraceEnd { counts } => self.trace_end(number, counts),
            _ => {}
        }
        if let Some(count) = self.written.get_mut(event.what.kind() as usize) {
            *count += 1;
        }
        if let What::Other { name, .. } = &event.what {
            self.add(Anomaly::UnknownEvent, number, Some(name));
        }
        if event.ms < self.last_ms {
            self.add(Anomaly::TimeStepsBack, number, None);
        }
        self.last_ms = event.ms;
    }

    /// What a trace says that it holds, and what it holds.
    fn trace_end(&mut self, number: u64, counts: &[(EventKind, u64)]) {
        let here = |kind| self.written.get(kind as usize).copied().unwrap_or(0);
        let differ: Vec<String> = Miscount::differences(counts, here)
            .into_iter()
            .map(|(kind, said, here)| format!("{}: {said} written, {here} here", kind.as_str()))
            .collect();
        if !differ.is_empty() {
            self.add(Anomaly::MissingEvents, number, Some(&differ.join("; ")));
        }
    }

    /// Adds what the scan of the input knows.
    pub fn scan(&mut self, scan: &Scan) {
        let places = [
            (Anomaly::Torn, &scan.repaired),
            (Anomaly::LostFragment, &scan.lost),
            (Anomaly::Overlong, &scan.overlong),
        ];
        for (kind, places) in places {
            for line in places.lines() {
                self.add(kind, *line, None);
            }
            let unlisted = places.count() - places.lines().len() as u64;
            if let Some(found) = self.found.iter_mut().find(|found| found.kind == kind) {
                found.count += unlisted;
            }
        }
        if let Some(damage) = &scan.damage {
            let last = scan.ledger.lines();
            self.add(Anomaly::DamagedArchive, last, Some(&damage.to_string()));
        }
        for wrapping in &scan.wrappings {
            self.add(Anomaly::Wrapped, 1, Some(&format!("{wrapping:?}")));
        }
    }

    /// Adds what only the runs know, for the lines of one input.
    pub fn run(&mut self, run: &Run, input: u32) {
        if run.lacks_start && run.first.input() == input {
            self.add(Anomaly::NoTraceStart, u64::from(run.first.line), None);
        }
        if run.copies.events > 0 && run.first.input() == input {
            let line = u64::from(run.first.line);
            let count = format!("{} events", run.copies.events);
            self.add(Anomaly::DoubledLines, line, Some(&count));
        }
        if run.lacks_end && run.last.input() == input {
            self.add(Anomaly::NoTraceEnd, u64::from(run.last.line), None);
        }
        for at in &run.unbelieved.lines {
            if at.input() == input {
                self.add(Anomaly::TimeUnbelievable, u64::from(at.line), None);
            }
        }
        for task in &run.tasks {
            let first = task
                .synth_start
                .or(task.queued)
                .or(task.pickup)
                .or(task.gpu_start);
            let Some(at) = first.filter(|at| at.line.input() == input) else {
                continue;
            };
            let line = u64::from(at.line.line);
            if task.repeats > 0 {
                self.add(Anomaly::DuplicatePartition, line, None);
            }
            let open = Outcome::Synthesizing..=Outcome::Proving;
            if open.contains(&task.outcome) {
                self.add(Anomaly::OpenSpan, line, None);
            }
        }
        for mark in run.marks.iter().filter(|mark| mark.line().input() == input) {
            let line = u64::from(mark.line().line);
            if mark.ms() < 0 {
                self.add(Anomaly::NegativeTime, line, None);
            }
            if mark.kind() == MarkKind::Other {
                self.add(Anomaly::UnknownTiming, line, None);
            }
            match (mark.call(), run.marks.candidates(&mark).len()) {
                (None, 0) => self.add(Anomaly::UnownedTiming, line, None),
                (_, 2..) => self.add(Anomaly::AmbiguousTiming, line, None),
                _ => {}
            }
        }
    }

    /// The anomalies in order of [`Anomaly::ALL`].
    pub fn finish(mut self) -> Vec<Found> {
        for found in &mut self.found {
            found.lines.sort_unstable();
        }
        self.found.sort_by_key(|found| found.kind);
        self.found
    }
}

impl Sink for Lint {
    fn wants(&self) -> Classes {
        Classes::ALL
    }

    fn line(&mut self, line: &Line<'_>) {
        let padding = !line.raw.is_empty() && line.raw.iter().all(|byte| *byte == 0);
        if line.cut && !padding {
            self.add(Anomaly::CutLine, line.number, None);
        }
        if memchr::memchr(0, line.raw).is_some() {
            self.add(Anomaly::NulBytes, line.number, None);
        }
        if std::str::from_utf8(line.raw).is_err() {
            self.add(Anomaly::InvalidUtf8, line.number, None);
        }
        if line.class == Class::EngineOther {
            self.foreign_lock(line.number, line.text);
        }
        if line.class == Class::Timeline {
            match grammar::parse(line.class, line.text) {
                Record::Event(event) => self.event(line.number, &event),
                _ => self.add(Anomaly::BadEvent, line.number, None),
            }
        }
    }
}

#[cfg(test)]
mod tests;
