//! Offsets that fall back: the first event of another daemon, or a log that is not in the order of
//! time. Both `trace stat` and the builder of runs ask here, so that they count the same runs.
//!
//! A line that says that a daemon starts is not looked for here; it needs no rule.

use std::borrow::Cow;

use crate::event::{Event, What};

/// Offsets that fall back by more than this are not late prints.
const REBIRTH_MS: u64 = 10_000;

/// What an event with a fallen offset says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fall {
    /// Nothing: it belongs to the daemon before it.
    Same,
    /// Another daemon, if the event that follows is as early; a late print if it is not.
    AsNext,
    /// Another daemon.
    Reborn,
}

/// The offsets of a life so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offsets {
    max_ms: u64,
    /// The largest of those that begin something.
    begun_ms: u64,
    /// Offsets fell back far without a restart: the lines are not in the order of time.
    unordered: bool,
}

impl Offsets {
    /// Whether an event can only be the first of another daemon, although no line says that one
    /// started: offsets have been rising, now one falls back to less than half, and it begins
    /// something that is new here or was begun before. `begun` says of its partition whether it
    /// was begun here; none if the job is new.
    pub(super) fn fall(&self, event: &Event<'_>, begun: impl FnOnce() -> Option<bool>) -> Fall {
        let low = self.is_low(event) && event.ms.saturating_mul(2) < self.max_ms;
        if !begins(event) || !low || self.unordered || begun() == Some(false) {
            return Fall::Same;
        }
        // Beginnings that rise among themselves may be printed when something else happens.
        if event.ms.saturating_add(REBIRTH_MS) < self.begun_ms {
            Fall::Reborn
        } else {
            Fall::AsNext
        }
    }

    /// Whether an event is too early to be a late print.
    pub(super) const fn is_low(&self, event: &Event<'_>) -> bool {
        event.ms.saturating_add(REBIRTH_MS) < self.max_ms
    }

    /// Takes an event of this life.
    pub(super) fn saw(&mut self, event: &Event<'_>) {
        self.saw_at(event.ms);
        if begins(event) {
            self.begun_ms = self.begun_ms.max(event.ms);
        }
    }

    /// Takes the offset of an event of this life that begins nothing.
    #[inline]
    pub(super) fn saw_at(&mut self, ms: u64) {
        self.unordered |= ms.saturating_add(REBIRTH_MS) < self.max_ms;
        self.max_ms = self.max_ms.max(ms);
    }
}

/// Whether an event begins something.
pub(super) const fn begins(event: &Event<'_>) -> bool {
    matches!(event.what, What::SynthStart { .. } | What::JobSubmit { .. })
}

/// An event that waits for the next one; none of those that begin nothing.
pub(super) fn held(event: &Event<'_>) -> Option<Event<'static>> {
    let text = |text: &Cow<'_, str>| Cow::Owned(text.clone().into_owned());
    let what = match &event.what {
        What::SynthStart { kind, snap } => What::SynthStart {
            kind: kind.as_ref().map(text),
            snap: *snap,
        },
        What::JobSubmit { kind, partitions } => What::JobSubmit {
            kind: text(kind),
            partitions: *partitions,
        },
        _ => return None,
    };
    Some(Event {
        ms: event.ms,
        t_us: event.t_us,
        job: text(&event.job),
        place: event.place,
        what,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::parse_event;
    use crate::run::{Source, StatSink, read};
    use crate::scan::scan_slice;

    /// First lines of the runs, as both readers find them.
    fn both(log: &str) -> [Vec<u64>; 2] {
        let mut sink = StatSink::new();
        let scan = scan_slice(log.as_bytes(), &mut sink);
        let stat = sink.finish(scan);
        let source = Source::Bytes("log".to_owned(), log.as_bytes().to_vec());
        let (trace, _) = read(&[source]).unwrap();
        let first = |run: &crate::run::Run| u64::from(run.first.line);
        [
            stat.runs.iter().map(|run| run.first_line).collect(),
            trace.runs.iter().map(first).collect(),
        ]
    }

    /// A steady run that prints the start of a synthesis when the GPU takes another partition.
    fn long_run(partitions: u64) -> String {
        let mut log = String::new();
        let mut print = |ms: u64, event: &str, index: u64, detail: &str| {
            use std::fmt::Write as _;
            let (job, part) = (index / 10, index % 10);
            writeln!(
                log,
                "TIMELINE,{ms},{event},job-{job},{detail}partition={part}"
            )
            .unwrap();
        };
        for index in 0..20 {
            print(0, "SYNTH_START", index, "");
        }
        for index in 0..partitions {
            let now = 27_000 + index * 1460;
            if index > 0 {
                print(now - 27_000, "SYNTH_START", index + 19, "");
            }
            print(now, "CHAN_SEND", index, "");
            print(now, "GPU_START", index, "worker=0,");
            print(now + 1400, "GPU_PICKUP", index, "worker=0,");
        }
        log
    }

    #[test]
    fn beginnings_printed_late_are_no_restart() {
        assert_eq!(both(&long_run(300)), [[1], [1]]);
        assert_eq!(both(&long_run(2)), [[1], [1]]);
    }

    #[test]
    fn a_log_out_of_order_needs_the_line_that_a_daemon_starts() {
        let one = long_run(300);
        let lines = one.lines().count() as u64;
        let other = one.replace("job-", "task-");
        assert_eq!(both(&[&*one, &*other].concat()), [[1], [1]]);
        let starts = "2026-02-19T04:20:17.000000Z  INFO cuzk_daemon: cuzk-daemon starting x=1\n";
        let found = both(&[&*one, starts, &*other].concat());
        assert_eq!(found, [[1, lines + 1], [1, lines + 1]]);
    }

    #[test]
    fn the_next_event_decides_where_all_began_early() {
        let old = "TIMELINE,20000,SYNTH_START,a,partition=0\n\
                   TIMELINE,300000,SYNTH_END,a,partition=0,synth_ms=280000\n";
        let new = "TIMELINE,21000,SYNTH_START,b,partition=0\n";
        let low = "TIMELINE,51000,SYNTH_END,b,partition=0,synth_ms=30000\n";
        let high = "TIMELINE,300500,CHAN_SEND,a,partition=0\n";
        let two = [[1, 3], [1, 3]];
        assert_eq!(both(&[old, new, low].concat()), two);
        assert_eq!(both(&[old, new].concat()), two, "nothing follows");
        assert_eq!(
            both(&[old, new, "CUZK_TIMING: prep_msm_ms=1\n"].concat()),
            two
        );
        assert_eq!(both(&[old, new, high].concat()), [[1], [1]]);
    }

    #[test]
    fn a_partition_that_its_job_lacks_is_no_restart() {
        let log = "TIMELINE,20000,SYNTH_START,a,partition=0\n\
                   TIMELINE,300000,SYNTH_END,a,partition=0,synth_ms=280000\n\
                   TIMELINE,21000,SYNTH_START,a,partition=1\n\
                   TIMELINE,51000,SYNTH_END,a,partition=1,synth_ms=30000\n";
        assert_eq!(both(log), [[1], [1]]);
        let again = log.replace("partition=1", "partition=0");
        assert_eq!(both(&again), [[1, 3], [1, 3]]);
    }

    #[test]
    fn what_is_held_is_the_event() {
        for line in [
            "TIMELINE,1,SYNTH_START,a,partition=0",
            "TIMELINE,1,SYNTH_START,a,kind=winning-post",
            "TIMELINE,1,JOB_SUBMIT,a,kind=porep-c2,partitions=10,t_us=1000",
        ] {
            let event = parse_event(line.as_bytes()).unwrap();
            assert_eq!(held(&event), Some(event));
        }
        assert_eq!(
            held(&parse_event(b"TIMELINE,1,CHAN_SEND,a,").unwrap()),
            None
        );
    }
}
