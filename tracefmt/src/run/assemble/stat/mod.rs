//! What is in a log, without putting it together: the ledger, events and timing lines by kind,
//! where daemon runs begin and end, dialect and epoch. One pass; of the input only a
//! number a job is kept. Which timing line belongs to which partition is not asked here.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::clock::{Clock, bounded};
use super::dialect;
use super::features::{Features, Sign};
use super::rebirth::{self, Fall, Offsets};
use crate::event::{Event, EventKind, TraceStart, What};
use crate::grammar::{self, PlainEvent};
use crate::record::Record;
use crate::run::{Dialect, MarkKind, MarkStore, Miscount};
use crate::scan::{Class, Classes, Line, Places, Plain, Scan, Sink};
use crate::timing::TimingWhat;

/// First words of a daemon's log, and how far into its line they can begin.
static BIRTH: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("cuzk-daemon starting"));
const BIRTH_COLUMN_MAX: usize = 160;

/// One daemon run of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatRun {
    /// First line, 1-based.
    pub first_line: u64,
    /// Last line.
    pub last_line: u64,
    /// Wall clock at offset 0, microseconds since 1970 UTC.
    pub epoch_unix_us: Option<i64>,
    /// The last line is whole, no prove call was open at the end, and a trace of ours holds what
    /// its last line counts.
    pub complete: bool,
    /// Which version of the engine wrote it.
    pub dialect: Dialect,
}

/// What is in one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Lines and bytes by class, repaired and lost lines, wrappings.
    pub scan: Scan,
    /// Events by name, as written.
    pub events: BTreeMap<String, u64>,
    /// Timing lines by name.
    pub timings: BTreeMap<String, u64>,
    /// `TIMELINE` lines whose fields cannot be read: they count in no figure but the ledger.
    pub bad_events: Places,
    /// Daemon runs in order.
    pub runs: Vec<StatRun>,
}

impl Stat {
    /// The dialect of the run with the surest one.
    pub fn dialect(&self) -> Option<&Dialect> {
        self.runs
            .iter()
            .map(|run| &run.dialect)
            .max_by_key(|dialect| dialect.confidence)
    }
}

/// Counts while an input is scanned.
#[derive(Debug, Default)]
pub struct StatSink {
    kinds: [u64; EventKind::ALL.len()],
    others: BTreeMap<String, u64>,
    timings: [u64; MarkKind::ALL.len()],
    phases: BTreeMap<String, u64>,
    bad_events: Places,
    life: Life,
    done: Vec<StatRun>,
    /// An event that may be the first of another daemon, until the next line is known, with its
    /// line and whether that was repaired.
    held: Option<(u64, bool, Event<'static>)>,
}

/// The run at hand.
#[derive(Debug, Default)]
struct Life {
    first_line: u64,
    features: Features,
    clock: Clock,
    /// The marks that the clock gives windows to: none are kept here.
    none: MarkStore,
    /// A log line that no event has followed yet.
    before: Vec<u8>,
    /// Workers in a prove call.
    open: Vec<u32>,
    offsets: Offsets,
    begun: Begun,
    /// Run and epoch of `TRACE_START`, until `TRACE_END`.
    started: Option<(String, u64)>,
    /// A `TRACE_END` that counts what is here.
    ended: bool,
}

/// Which partitions were begun: a bit for each of 63 and one for the whole proof, by job; 16 bytes
/// a job.
#[derive(Debug, Default)]
struct Begun {
    jobs: FxHashMap<u64, u64>,
}

impl Begun {
    fn bit(event: &Event<'_>) -> u64 {
        1 << event.place.partition.map_or(0, |number| 1 + number % 63)
    }

    /// Whether the partition of an event was begun; none if its job is new.
    fn knows(&self, event: &Event<'_>) -> Option<bool> {
        let begun = self.jobs.get(&FxBuildHasher.hash_one(&event.job))?;
        Some(begun & Self::bit(event) > 0)
    }

    fn saw(&mut self, event: &Event<'_>) {
        let synthesis = matches!(event.what, What::SynthStart { .. });
        let bit = if synthesis { Self::bit(event) } else { 0 };
        let job = FxBuildHasher.hash_one(&event.job);
        *self.jobs.entry(job).or_default() |= bit;
    }
}

impl StatSink {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self {
            life: Life {
                first_line: 1,
                ..Life::default()
            },
            ..Self::default()
        }
    }

    /// Ends the input.
    pub fn finish(mut self, scan: Scan) -> Stat {
        self.settle(None);
        let lines = scan.ledger.lines();
        if self.life.features.all_events() > 0
            || self.life.features.all_timings() > 0
            || self.done.is_empty()
        {
            self.end_run(lines, scan.cut_end);
        } else if let Some(run) = self.done.last_mut() {
            run.last_line = lines;
        }
        let known = EventKind::ALL
            .iter()
            .zip(self.kinds)
            .filter(|(_, count)| *count > 0);
        let mut events = self.others;
        events.extend(known.map(|(kind, count)| (kind.as_str().to_owned(), count)));
        let mut timings = self.phases;
        let known = MarkKind::ALL
            .iter()
            .zip(self.timings)
            .filter(|(_, count)| *count > 0);
        timings.extend(known.map(|(kind, count)| (kind.as_str().to_owned(), count)));
        Stat {
            scan,
            events,
            timings,
            bad_events: self.bad_events,
            runs: self.done,
        }
    }

    fn end_run(&mut self, last_line: u64, cut: bool) {
        let first_line = last_line + 1;
        let mut life = std::mem::replace(
            &mut self.life,
            Life {
                first_line,
                ..Life::default()
            },
        );
        life.clock.finish(&mut life.none);
        let own = life.features.has(Sign::Own);
        self.done.push(StatRun {
            first_line: life.first_line,
            last_line,
            epoch_unix_us: life.clock.epoch(),
            complete: !cut && life.open.is_empty() && (life.ended || !own),
            dialect: dialect::tell(&life.features),
        });
    }

    /// Whether an event of this kind cannot be the first of a daemon, and none waits for it.
    #[inline]
    fn is_plain(&self, kind: EventKind) -> bool {
        self.held.is_none() && kind != EventKind::SynthStart
    }

    /// Takes an event of which only kind, offset and worker matter.
    #[inline]
    fn plain_event(&mut self, event: PlainEvent) {
        let kind = event.kind();
        if let Some(count) = self.kinds.get_mut(kind as usize) {
            *count += 1;
        }
        let life = &mut self.life;
        life.features.event(kind);
        life.offsets.saw_at(event.ms);
        life.calls(kind, event.place().worker);
        if !life.clock.is_settled() {
            life.stamp_at(event.ms.saturating_mul(1000), false);
        }
    }

    #[inline]
    fn plain_timing(&mut self, kind: MarkKind) {
        self.life.features.timing(kind);
        if let Some(count) = self.timings.get_mut(kind as usize) {
            *count += 1;
        }
    }

    fn any_event(&mut self, line: &Line<'_>) {
        if let Record::Event(event) = line.record() {
            self.event(line, &event);
        } else {
            self.bad_events.push(line.number);
        }
    }

    fn event(&mut self, line: &Line<'_>, event: &Event<'_>) {
        let kind = event.what.kind();
        match self.kinds.get_mut(kind as usize) {
            Some(count) => *count += 1,
            None => *self.others.entry(event.name().to_owned()).or_default() += 1,
        }
        if self.held.is_some() {
            self.settle(Some(event));
        }
        let start = match &event.what {
            What::TraceStart(start) => !self.life.repeats_start(start),
            _ => false,
        };
        let fall = self.life.fall(event);
        if (start && self.life.features.all_events() > 0) || fall == Fall::Reborn {
            self.end_run(line.number.saturating_sub(1), false);
        } else if fall == Fall::AsNext {
            let held = rebirth::held(event);
            self.held = held.map(|event| (line.number, line.repaired, event));
            return;
        }
        self.life.event(event, line.repaired);
    }

    /// Decides about the event that waits, as the builder of runs does.
    fn settle(&mut self, next: Option<&Event<'_>>) {
        let Some((line, repaired, event)) = self.held.take() else {
            return;
        };
        if next.is_none_or(|next| self.life.offsets.is_low(next)) {
            self.end_run(line.saturating_sub(1), false);
        }
        self.life.event(&event, repaired);
    }

    fn timing(&mut self, line: &Line<'_>) {
        let timing = grammar::parse_timing(line.text);
        let kind = MarkKind::of(&timing.what);
        self.life.features.timing(kind);
        self.life.signs(&timing.what, timing.tag.is_some());
        if let TimingWhat::Phase { name, .. } = &timing.what {
            *self.phases.entry(name.clone().into_owned()).or_default() += 1;
        } else if let Some(count) = self.timings.get_mut(kind as usize) {
            *count += 1;
        }
    }

    fn log(&mut self, line: &Line<'_>) {
        let head = line.text.get(..BIRTH_COLUMN_MAX).unwrap_or(line.text);
        let started = BIRTH.find(head).is_some();
        if started && (self.life.features.all_events() > 0 || self.life.features.all_timings() > 0)
        {
            self.end_run(line.number.saturating_sub(1), false);
        }
        if started {
            self.life.first_line = self.life.first_line.min(line.number);
        }
        self.life.log(line.text, started);
    }
}

impl Life {
    fn repeats_start(&self, start: &TraceStart<'_>) -> bool {
        let known =
            |(run, epoch): &(String, u64)| *run == start.run && *epoch == start.epoch_unix_us;
        self.started.as_ref().is_some_and(known)
    }

    fn fall(&self, event: &Event<'_>) -> Fall {
        self.offsets.fall(event, || self.begun.knows(event))
    }

    fn event(&mut self, event: &Event<'_>, repaired: bool) {
        let kind = event.what.kind();
        self.features.event(kind);
        if matches!(kind, EventKind::SynthStart) && event.place.partition.is_some() {
            self.features.sign(Sign::Partitions);
        }
        self.offsets.saw(event);
        if rebirth::begins(event) {
            self.begun.saw(event);
        }
        if let What::TraceEnd { counts } = &event.what {
            let here = |kind| u64::from(self.features.events(kind));
            self.started = None;
            self.ended = here(EventKind::TraceStart) > 0
                && (Miscount::differences(counts, here).is_empty()
                    || Miscount::is_multiple(counts, here));
        }
        if let What::TraceStart(start) = &event.what {
            self.started = Some((start.run.to_string(), start.epoch_unix_us));
            self.clock
                .set_epoch(bounded(start.epoch_unix_us), &mut self.none);
        }
        self.calls(kind, event.place.worker);
        self.stamp(event, repaired);
    }

    /// Which workers are in a call.
    fn calls(&mut self, kind: EventKind, worker: Option<u32>) {
        let Some(worker) = worker else { return };
        match kind {
            EventKind::GpuStart => {
                if self.open.iter().any(|open| *open != worker) {
                    self.features.sign(Sign::SharedGpu);
                }
                if !self.open.contains(&worker) {
                    self.open.push(worker);
                }
            }
            EventKind::GpuEnd | EventKind::GpuPickup | EventKind::PartitionFailed => {
                self.open.retain(|open| *open != worker);
            }
            _ => {}
        }
    }

    /// Feeds the clock with the pair of an event and the log line before it.
    fn stamp(&mut self, event: &Event<'_>, repaired: bool) {
        if self.clock.is_settled() || repaired {
            return;
        }
        let us = event.t_us.unwrap_or(event.ms.saturating_mul(1000));
        self.stamp_at(us, event.t_us.is_some());
    }

    fn stamp_at(&mut self, us: u64, exact: bool) {
        if !self.before.is_empty() {
            if let Some(stamp) = grammar::parse_log(&self.before).and_then(|log| log.stamp) {
                self.clock.log(stamp, &mut self.none);
            }
            self.before.clear();
        }
        self.clock.event(bounded(us), exact, &mut self.none);
    }

    fn log(&mut self, text: &[u8], started: bool) {
        if self.clock.is_settled() {
            return;
        }
        if started && let Some(stamp) = grammar::parse_log(text).and_then(|log| log.stamp) {
            self.clock.starts(stamp);
        }
        if self.clock.awaits_log()
            && let Some(stamp) = grammar::parse_log(text).and_then(|log| log.stamp)
        {
            self.clock.log(stamp, &mut self.none);
        }
        self.before.clear();
        self.before.extend_from_slice(text);
    }

    fn signs(&mut self, what: &TimingWhat<'_>, tagged: bool) {
        match what {
            TimingWhat::PrestageOk {
                parts_ms: Some(_), ..
            } => {
                self.features.sign(Sign::FinePrestage);
            }
            TimingWhat::PrestageFallback { err: 2 } => self.features.sign(Sign::FallbackOom),
            _ => {}
        }
        if tagged {
            self.features.sign(Sign::Own);
        }
    }
}

impl Sink for StatSink {
    fn wants(&self) -> Classes {
        let lines = Classes::NONE.with(Class::Timeline).with(Class::Timing);
        lines.with(Class::Tracing).with(Class::Panic)
    }

    #[inline]
    fn line(&mut self, line: &Line<'_>) {
        if self.held.is_some() && line.class != Class::Timeline && !is_foreign_log(line) {
            self.settle(None);
        }
        match line.class {
            Class::Timeline => match line.plain {
                Some(Plain::Event(event, _)) if self.is_plain(event.kind()) => {
                    self.plain_event(event);
                }
                _ => self.any_event(line),
            },
            Class::Timing => match line.plain {
                Some(Plain::Timing(mark)) => self.plain_timing(mark.kind),
                _ => self.timing(line),
            },
            Class::Tracing => self.log(line),
            // A worker that panicked is in its call no more; which one, the line does not say.
            _ => self.life.open.clear(),
        }
    }
}

/// A log line of another program, which the builder of runs does not see.
fn is_foreign_log(line: &Line<'_>) -> bool {
    line.class == Class::Tracing && !crate::run::read::is_ours(line.text)
}

#[cfg(test)]
mod tests;
