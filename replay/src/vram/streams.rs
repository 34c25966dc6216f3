//! Stream order: what is done, what is ordered after what, and what the host has seen.
//!
//! Time is not modelled. Work that was launched counts as running until the host waits for it;
//! a free that no running work precedes is done at once. A stream that waits for an event is
//! ordered after everything that the event stands for. Not modelled: that work on one stream is
//! also over when a wait for *another* stream, ordered after it by an event, returned late; such
//! work counts as running for longer, which costs pool pages but never an allocation.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use tracefmt::ops::Stream;

/// The place of a free in the order of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Moment {
    /// Position of the free in its stream.
    position: u64,
    /// Position of the last work before it that was still running; 0 for none.
    after: u64,
}

impl Moment {
    /// The later of two, part by part.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            position: self.position.max(other.position),
            after: self.after.max(other.after),
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Clock {
    /// Position of the last op.
    position: u64,
    /// Position of the last work.
    work: u64,
    /// Position up to which the host knows the work to be over.
    done: u64,
    /// Positions of other streams that this one is ordered after.
    seen: BTreeMap<Stream, u64>,
}

impl Clock {
    /// Whether there is work that the host has not waited for.
    fn is_running(&self) -> bool {
        self.work > self.done
    }
}

/// The positions of one stream that later answers can depend on, ascending.
#[derive(Debug, Clone, Default)]
struct Marks {
    /// Of frees that are pending.
    frees: Vec<u64>,
    /// Of work that runs, or that a pending free waits for.
    works: Vec<u64>,
}

/// Positions as ranks, so that histories of different length which leave the same behind are
/// told by the same numbers.
///
/// Every comparison of the model is between a position and a mark: a limit with the position of
/// a pending free, or a point up to which work is done with the position of work that runs. How
/// many marks a position reaches decides all of them, now and later, since new positions lie
/// beyond every old one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranks(BTreeMap<Stream, Marks>);

impl Ranks {
    fn marks(&mut self, stream: Stream) -> &mut Marks {
        self.0.entry(stream).or_default()
    }

    /// How many frees and how many works a position reaches.
    fn of(&self, stream: Stream, position: u64) -> (usize, usize) {
        self.0.get(&stream).map_or((0, 0), |marks| {
            let reached = |list: &[u64]| list.partition_point(|&mark| mark <= position);
            (reached(&marks.frees), reached(&marks.works))
        })
    }

    /// Positions of other streams; those that reach nothing decide nothing.
    fn of_seen(&self, seen: &BTreeMap<Stream, u64>) -> Vec<(Stream, (usize, usize))> {
        let ranked = seen.iter().map(|(&other, &at)| (other, self.of(other, at)));
        ranked.filter(|(_, rank)| *rank != (0, 0)).collect()
    }

    /// A pending free: its rank among the frees, and how much work it waits for.
    pub(crate) fn moment(&self, stream: Stream, moment: Moment) -> (usize, usize) {
        let (position, _) = self.of(stream, moment.position);
        let (_, after) = self.of(stream, moment.after);
        (position, after)
    }
}

/// What an event stands for.
#[derive(Debug, Clone)]
struct Event {
    stream: Stream,
    clock: Clock,
}

/// The frees that lie before a point in the order of streams.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    /// The stream that the point is on, and its position there.
    own: (Stream, u64),
    /// Positions of the other streams that it is ordered after.
    others: BTreeMap<Stream, u64>,
}

impl Before {
    /// Whether a free lies before the point.
    pub(crate) fn covers(&self, stream: Stream, moment: Moment) -> bool {
        let (own, limit) = self.own;
        if stream == own {
            return moment.position <= limit;
        }
        let limit = self.others.get(&stream);
        limit.is_some_and(|&limit| moment.position <= limit)
    }
}

/// All streams and events of one card.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    clocks: BTreeMap<Stream, Clock>,
    events: BTreeMap<u64, Event>,
}

impl Streams {
    /// Queues work and gives its place: it is done when it is over itself.
    pub(crate) fn launch(&mut self, stream: Stream) -> Moment {
        let clock = self.clocks.entry(stream).or_default();
        clock.position += 1;
        clock.work = clock.position;
        Moment {
            position: clock.position,
            after: clock.position,
        }
    }

    /// Queues a free and gives its place.
    pub(crate) fn free(&mut self, stream: Stream) -> Moment {
        let clock = self.clocks.entry(stream).or_default();
        clock.position += 1;
        Moment {
            position: clock.position,
            after: if clock.work > clock.done {
                clock.work
            } else {
                0
            },
        }
    }

    /// Records an event.
    pub(crate) fn record(&mut self, event: u64, stream: Stream) {
        let clock = self.clocks.entry(stream).or_default().clone();
        self.events.insert(event, Event { stream, clock });
    }

    /// Orders a stream after an event; `false` for an event that was never recorded.
    pub(crate) fn wait(&mut self, stream: Stream, event: u64) -> bool {
        let Some(event) = self.events.get(&event) else {
            return false;
        };
        let running = event.clock.work > event.clock.done;
        let clock = self.clocks.entry(stream).or_default();
        if running {
            clock.position += 1;
            clock.work = clock.position;
        }
        let seen = event.clock.seen.iter().map(|(&other, &at)| (other, at));
        for (other, at) in seen.chain([(event.stream, event.clock.position)]) {
            let known = clock.seen.entry(other).or_default();
            *known = at.max(*known);
        }
        true
    }

    /// The host waits for a stream.
    pub(crate) fn sync(&mut self, stream: Stream) {
        if let Some(clock) = self.clocks.get_mut(&stream) {
            clock.done = clock.work;
            let seen = std::mem::take(&mut clock.seen);
            self.finish(&seen);
            if let Some(clock) = self.clocks.get_mut(&stream) {
                clock.seen = seen;
            }
        }
    }

    /// The host waits for an event; gives its stream, and the frees that lie before it.
    pub(crate) fn sync_event(&mut self, event: u64) -> Option<Before> {
        let Event { stream, clock } = self.events.get(&event)?.clone();
        self.finish(&clock.seen);
        if let Some(own) = self.clocks.get_mut(&stream) {
            own.done = own.done.max(clock.work);
        }
        Some(Before {
            own: (stream, clock.position),
            others: clock.seen,
        })
    }

    /// The frees that lie before the end of a stream: its own, and those it waited for.
    pub(crate) fn before(&self, stream: Stream) -> Before {
        let clock = self.clocks.get(&stream);
        Before {
            own: (stream, u64::MAX),
            others: clock.map_or_else(BTreeMap::new, |clock| clock.seen.clone()),
        }
    }

    /// The host waits for everything.
    pub(crate) fn sync_all(&mut self) {
        for clock in self.clocks.values_mut() {
            clock.done = clock.work;
        }
    }

    fn finish(&mut self, seen: &BTreeMap<Stream, u64>) {
        for (other, &at) in seen {
            if let Some(clock) = self.clocks.get_mut(other) {
                clock.done = clock.done.max(clock.work.min(at));
            }
        }
    }

    /// Whether no running work precedes a free.
    pub(crate) fn is_done(&self, stream: Stream, moment: Moment) -> bool {
        moment.after == 0
            || self
                .clocks
                .get(&stream)
                .is_none_or(|clock| clock.done >= moment.after)
    }

    /// The positions that still matter, given the frees that are pending: those of the frees,
    /// and those of work that the host has not waited for.
    pub(crate) fn ranks(&self, pending: impl Iterator<Item = (Stream, Moment)>) -> Ranks {
        let mut ranks = Ranks::default();
        for (&stream, clock) in self.clocks.iter().filter(|(_, clock)| clock.is_running()) {
            ranks.marks(stream).works.push(clock.work);
        }
        for (stream, moment) in pending {
            let done = self.clocks.get(&stream).map_or(0, |clock| clock.done);
            let marks = ranks.marks(stream);
            marks.frees.push(moment.position);
            if moment.after > done {
                marks.works.push(moment.after);
            }
        }
        for marks in ranks.0.values_mut() {
            for list in [&mut marks.frees, &mut marks.works] {
                list.sort_unstable();
                list.dedup();
            }
        }
        ranks
    }

    /// Hashes what decides later answers, with ranks in place of positions.
    pub(crate) fn hash_ranked<H: Hasher>(&self, ranks: &Ranks, state: &mut H) {
        for (&stream, clock) in &self.clocks {
            let running = clock.is_running();
            let work = running.then(|| ranks.of(stream, clock.work));
            let seen = ranks.of_seen(&clock.seen);
            if work.is_some() || !seen.is_empty() {
                (stream, work, seen).hash(state);
            }
        }
        for (id, Event { stream, clock }) in &self.events {
            (id, stream, clock.is_running()).hash(state);
            ranks.of(*stream, clock.work).hash(state);
            ranks.of(*stream, clock.position).hash(state);
            ranks.of_seen(&clock.seen).hash(state);
        }
    }

    /// Roughly how many bytes it takes.
    pub(crate) fn size_bytes(&self) -> usize {
        let seen = |clock: &Clock| 80 + clock.seen.len() * 32;
        let clocks: usize = self.clocks.values().map(seen).sum();
        let events = self.events.values().map(|event| 32 + seen(&event.clock));
        clocks + events.sum::<usize>()
    }

    /// Whether `stream` is ordered after a free on another stream.
    pub(crate) fn is_after(&self, stream: Stream, freed_on: Stream, moment: Moment) -> bool {
        let seen = self
            .clocks
            .get(&stream)
            .and_then(|clock| clock.seen.get(&freed_on));
        seen.is_some_and(|&at| at >= moment.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Stream = Stream::Id(0);
    const B: Stream = Stream::Id(1);
    const C: Stream = Stream::Legacy;

    #[test]
    fn a_free_behind_running_work_is_done_when_the_host_has_waited() {
        let mut streams = Streams::default();
        let early = streams.free(A);
        streams.launch(A);
        let late = streams.free(A);
        assert!(streams.is_done(A, early) && !streams.is_done(A, late));
        streams.sync(B);
        assert!(!streams.is_done(A, late));
        streams.sync(A);
        assert!(streams.is_done(A, late));
    }

    #[test]
    fn a_wait_orders_a_stream_after_what_the_event_stands_for() {
        let mut streams = Streams::default();
        streams.launch(A);
        let before = streams.free(A);
        streams.record(7, A);
        let behind = streams.free(A);
        assert!(!streams.wait(B, 8), "no such event");
        assert!(streams.wait(B, 7));
        assert!(streams.is_after(B, A, before) && !streams.is_after(B, A, behind));
        assert!(!streams.is_after(C, A, before));
        streams.record(9, B);
        assert!(streams.wait(C, 9));
        assert!(streams.is_after(C, A, before), "order is transitive");
    }

    #[test]
    fn a_free_on_a_stream_that_waits_for_running_work_is_not_done() {
        let mut streams = Streams::default();
        streams.launch(A);
        streams.record(7, A);
        streams.wait(B, 7);
        let free = streams.free(B);
        assert!(!streams.is_done(B, free));
        streams.sync(B);
        assert!(streams.is_done(B, free));
        let work = streams.free(A);
        assert!(
            streams.is_done(A, work),
            "waiting for B was waiting for A's work too"
        );
    }

    #[test]
    fn waiting_for_an_event_is_waiting_for_what_lies_before_it() {
        let mut streams = Streams::default();
        streams.launch(A);
        let before = streams.free(A);
        streams.record(7, A);
        streams.launch(A);
        let behind = streams.free(A);
        let point = streams.sync_event(7).expect("recorded");
        assert!(point.covers(A, before) && !point.covers(A, behind));
        assert!(!point.covers(B, before));
        assert!(streams.is_done(A, before) && !streams.is_done(A, behind));
        streams.sync_all();
        assert!(streams.is_done(A, behind));
        assert!(streams.sync_event(1).is_none());
    }
}
