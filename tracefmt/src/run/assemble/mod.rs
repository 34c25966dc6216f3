//! Puts typed records together into runs: pairing by job and partition, restarts, epoch, jobs,
//! troubles, dialect.
//!
//! A [`Builder`] takes the records of one input in the order in which they become whole and gives
//! a [`Part`]. Parts of several inputs are joined by [`join`](super::join). Which call a timing
//! line belongs to is decided afterwards, in `run::attribute`.
//!
//! Nothing here fails: a record that makes no sense is passed over.

use crate::event::{Event, What};
use crate::input::{Damage, Fault};
use crate::record::Record;
use crate::run::mark::PlainMark;
use crate::run::{Bench, LineRef, Run};
use crate::timing::Timing;

mod bench;
mod clock;
mod copies;
mod dialect;
mod events;
mod features;
mod jobs;
mod life;
mod logs;
mod outcome;
mod rebirth;
mod stat;
mod troubles;

pub(crate) use features::Features;
use life::Life;
pub(crate) use life::{Link, LinkKind};
use rebirth::Fall;
pub use stat::{Stat, StatRun, StatSink};

/// Where a record stands, and how whole its line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line on which it begins, from 1.
    pub line: u32,
    /// Put together from fragments.
    pub repaired: bool,
}

impl Place {
    /// A whole line.
    pub const fn line(line: u32) -> Self {
        Self {
            line,
            repaired: false,
        }
    }
}

/// What one input holds.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Daemon runs in order of line.
    pub runs: Vec<Run>,
    /// What a benchmark client printed, and during which of these runs.
    pub benches: Vec<(Bench, Option<usize>)>,
}

impl Part {
    /// Fragments that nothing completes, by line: each run gets its own.
    pub(super) fn lost(&mut self, input: u32, lines: &[u64]) {
        for line in lines.iter().filter_map(|line| u32::try_from(*line).ok()) {
            let line = LineRef::new(input, line);
            let of = |run: &&mut Run| run.first <= line && line <= run.last;
            if let Some(run) = self.runs.iter_mut().find(of) {
                run.torn.lost.push(line);
            }
        }
    }

    /// The archive of the input is damaged: where bytes may be wrong, of every run.
    pub(super) fn damaged(&mut self, damage: &Damage) {
        let touched = match damage.fault {
            Fault::Corrupt => self.runs.len(),
            Fault::Cut | Fault::Behind => 1,
        };
        for run in self.runs.iter_mut().rev().take(touched) {
            run.damage = Some(damage.clone());
        }
    }
}

/// Takes the records of one input.
#[derive(Debug)]
pub struct Builder {
    input: u32,
    life: Life,
    done: Vec<Run>,
    benches: bench::Benches,
    last_line: u32,
    last_fragment: u32,
    /// An event that may be the first of another daemon, until the next line is known.
    held: Option<(Place, Event<'static>)>,
}

impl Builder {
    /// For the input with this index.
    pub fn new(input: u32) -> Self {
        Self {
            input,
            life: Life::new(LineRef::new(input, 1)),
            done: Vec::new(),
            benches: bench::Benches::default(),
            last_line: 0,
            last_fragment: 0,
            held: None,
        }
    }

    /// Takes one record.
    pub fn feed(&mut self, place: Place, record: &Record<'_>) {
        if self.held.is_some() {
            self.settle(Some(record));
        }
        self.last_line = self.last_line.max(place.line);
        let at = LineRef::new(self.input, place.line);
        match record {
            Record::Event(event) => self.event(place, at, event),
            Record::Timing(timing) => self.timing(at, timing),
            Record::Log(log) => {
                if logs::starts_daemon(log) {
                    // The same line again, before the daemon did anything, is a copy.
                    let again = log.stamp.is_some()
                        && self.life.born == log.stamp
                        && !self.life.has_events()
                        && self.life.run.marks.is_empty();
                    if self.life.has_begun() && !again {
                        self.restart(at);
                    }
                    self.life.born = log.stamp;
                }
                self.life.log(at, log);
            }
            Record::Trouble(line) => self.life.trouble(at, line),
            Record::Bench(line) => {
                let run = self.life.has_content().then_some(self.done.len());
                self.benches.line(at, line, run);
            }
            Record::Budget(_) | Record::Foreign => {}
        }
    }

    /// Takes a timing line of one of the plain kinds, without a tag.
    pub(super) fn feed_plain_timing(&mut self, place: Place, mark: PlainMark) {
        self.settle(None);
        self.last_line = self.last_line.max(place.line);
        let at = LineRef::new(self.input, place.line);
        self.life.plain_timing(at, mark);
    }

    /// A fragment of a torn or cut line.
    pub fn fragment(&mut self, line: u32) {
        self.settle(None);
        self.last_line = self.last_line.max(line);
        self.last_fragment = line;
    }

    /// A `TIMELINE` line that holds no event.
    pub fn unread_event(&mut self, line: u32) {
        self.settle(None);
        self.last_line = self.last_line.max(line);
        let input = self.input;
        self.life.run.unread.push(LineRef::new(input, line));
    }

    /// Ends the input. `lines` is its number of lines, `cut` says that the last one is not whole.
    pub fn finish(mut self, lines: u32, cut: bool) -> Part {
        self.settle(None);
        self.last_line = self.last_line.max(lines);
        let last = self.here();
        if self.life.has_content() {
            self.done
                .push(self.life.finish(last, outcome::Ending::of_input(cut)));
        } else if let Some(run) = self.done.last_mut() {
            run.last = last;
        }
        let mut runs = self.done;
        for (index, run) in (0_u32..).zip(&mut runs) {
            run.index = index;
        }
        Part {
            benches: self.benches.finish(runs.len()),
            runs,
        }
    }

    fn here(&self) -> LineRef {
        LineRef::new(self.input, self.last_line)
    }

    fn event(&mut self, place: Place, at: LineRef, event: &Event<'_>) {
        let own = match &event.what {
            What::TraceStart(start) => !self.life.repeats_start(start),
            _ => false,
        };
        let fall = self.life.fall(event);
        if (own && self.life.has_events()) || fall == Fall::Reborn {
            self.restart(at);
        } else if fall == Fall::AsNext {
            self.held = rebirth::held(event).map(|event| (place, event));
            return;
        }
        self.take(place, at, event);
    }

    /// Decides about the event that waits: only one that goes on at later offsets says that the
    /// daemon before it lives.
    fn settle(&mut self, next: Option<&Record<'_>>) {
        let Some((place, event)) = self.held.take() else {
            return;
        };
        let at = LineRef::new(self.input, place.line);
        match next {
            Some(Record::Event(next)) if !self.life.offsets.is_low(next) => {}
            _ => self.restart(at),
        }
        self.take(place, at, &event);
    }

    fn take(&mut self, place: Place, at: LineRef, event: &Event<'_>) {
        if place.repaired {
            self.life.run.torn.repaired.push(at);
        }
        self.life.event(place, at, event);
    }

    fn timing(&mut self, at: LineRef, timing: &Timing<'_>) {
        self.life.timing(at, timing);
    }

    /// Another daemon writes from here on. Its first line may be glued to a cut one.
    fn restart(&mut self, first: LineRef) {
        let mut last = first;
        let glued = self.last_fragment == first.line;
        if !glued {
            last.line = first.line.saturating_sub(1).max(self.life.run.first.line);
        }
        let old = std::mem::replace(&mut self.life, Life::new(first));
        if old.has_content() {
            self.done
                .push(old.finish(last, outcome::Ending::restarted(glued)));
        } else {
            self.life.run.first = old.run.first;
        }
    }
}
