//! Reading ahead: one thread scans and types the lines of an input, another puts them together.
//!
//! What goes from one to the other is a [`Batch`] of items in the order in which the lines became
//! whole, so that the result is that of doing both in turn. The common lines cross as numbers, the
//! rare ones as text that the second thread types.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::both::joined;
use super::mark::PlainMark;
use super::read::is_ours;
use super::{Builder, Place};
use crate::grammar::{self, PlainEvent};
use crate::record::Record;
use crate::scan::{Class, Classes, Line, Plain, Scan, Sink, scan_reader};

/// Items in a batch: enough to make handing one over cheap, few enough for the second-level cache.
const ITEMS: usize = 8192;

/// Text in a batch, bytes; a batch may exceed it by one line.
const TEXT: usize = 1 << 20;

/// Batches on their way.
const AHEAD: usize = 3;

/// Lines as they cross.
#[derive(Debug, Default)]
struct Batch {
    text: Vec<u8>,
    ids: String,
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    place: Place,
    what: Packed,
}

/// Part of the text or of the ids of a batch.
#[derive(Clone, Copy, Debug)]
struct Range {
    from: u32,
    to: u32,
}

impl Range {
    fn of(from: usize, to: usize) -> Self {
        // A batch is far below 4 GiB.
        let cut = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            from: cut(from),
            to: cut(to),
        }
    }

    const fn usize(self) -> std::ops::Range<usize> {
        self.from as usize..self.to as usize
    }
}

const _: () = assert!(
    size_of::<Item>() <= 40,
    "fourteen million cross in a long log"
);

#[derive(Clone, Copy, Debug)]
enum Packed {
    /// An event with the range of its job id.
    Event(PlainEvent, Range),
    Timing(PlainMark),
    Fragment,
    Line(Class, Range),
}

impl Batch {
    fn clear(&mut self) {
        self.text.clear();
        self.ids.clear();
        self.items.clear();
    }

    fn is_full(&self) -> bool {
        self.items.len() >= ITEMS || self.text.len() >= TEXT
    }

    /// Gives all items to a builder, in order.
    fn feed(&self, builder: &mut Builder) {
        for Item { place, what } in &self.items {
            match what {
                Packed::Event(event, id) => {
                    let id = self.ids.get(id.usize()).unwrap_or_default();
                    builder.feed(*place, &Record::Event(event.of_job(id)));
                }
                Packed::Timing(mark) => builder.feed_plain_timing(*place, *mark),
                Packed::Fragment => builder.fragment(place.line),
                Packed::Line(class, text) => {
                    let text = self.text.get(text.usize()).unwrap_or_default();
                    let record = grammar::parse(*class, text);
                    match record {
                        Record::Foreign if *class == Class::Timeline => {
                            builder.unread_event(place.line);
                        }
                        Record::Foreign => {}
                        _ => builder.feed(*place, &record),
                    }
                }
            }
        }
    }
}

/// The first thread's sink.
struct Packer {
    batch: Batch,
    /// Where the last job id stands; neighbouring lines often have the same.
    id: Range,
    full: SyncSender<Batch>,
    empty: Receiver<Batch>,
}

impl Packer {
    fn put(&mut self, place: Place, what: Packed) {
        self.batch.items.push(Item { place, what });
        if self.batch.is_full() {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let mut next = self.empty.try_recv().unwrap_or_default();
        next.clear();
        self.id = Range { from: 0, to: 0 };
        let full = std::mem::replace(&mut self.batch, next);
        // The other side only goes away with a panic, which joining it reports.
        drop(self.full.send(full));
    }

    fn id(&mut self, id: &[u8]) -> Range {
        if self.batch.ids.as_bytes().get(self.id.usize()) != Some(id) {
            let from = self.batch.ids.len();
            // ASCII, so that this is always text.
            let id = std::str::from_utf8(id).unwrap_or_default();
            self.batch.ids.push_str(id);
            self.id = Range::of(from, self.batch.ids.len());
        }
        self.id
    }

    fn text(&mut self, class: Class, text: &[u8]) -> Packed {
        let from = self.batch.text.len();
        self.batch.text.extend_from_slice(text);
        Packed::Line(class, Range::of(from, self.batch.text.len()))
    }

    /// A line that the scanner has not typed. Takes its fields, so that a [`Line`] need not lie in
    /// memory for the others.
    #[inline(never)]
    fn untyped(&mut self, place: Place, class: Class, text: &[u8]) {
        let what = match class {
            Class::Torn => Packed::Fragment,
            Class::Tracing | Class::EngineOther if !is_ours(text) => return,
            Class::Timing => {
                let timing = grammar::parse_timing(text);
                let plain = PlainMark::of(&timing.what).filter(|_| timing.tag.is_none());
                plain.map_or_else(|| self.text(class, text), Packed::Timing)
            }
            _ => self.text(class, text),
        };
        self.put(place, what);
    }
}

/// What a builder of runs wants to see.
pub(super) const WANTED: Classes = Classes::ALL.without(Class::Foreign).without(Class::Ops);

impl Sink for Packer {
    fn wants(&self) -> Classes {
        WANTED
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what the scanner typed goes from its registers into the batch"
    )]
    fn line(&mut self, line: &Line<'_>) {
        let Ok(number) = u32::try_from(line.number) else {
            return;
        };
        let place = Place {
            line: number,
            repaired: line.repaired,
        };
        match line.plain {
            Some(Plain::Event(event, job)) => {
                let id = self.id(job);
                self.put(place, Packed::Event(event, id));
            }
            Some(Plain::Timing(mark)) => self.put(place, Packed::Timing(mark)),
            None => self.untyped(place, line.class, line.text),
        }
    }
}

/// Scans all that a reader gives into a builder, with a thread of its own for scanning.
///
/// # Errors
/// As [`scan_reader`].
pub(super) fn scan_into<R: Read + Send>(input: R, builder: &mut Builder) -> io::Result<Scan> {
    let (full, batches) = sync_channel(AHEAD);
    let (back, empty) = sync_channel(AHEAD + 2);
    thread::scope(|scope| {
        let scanning = scope.spawn(move || {
            let mut packer = Packer {
                batch: Batch::default(),
                id: Range { from: 0, to: 0 },
                full,
                empty,
            };
            let scan = scan_reader(input, &mut packer);
            packer.hand_over();
            scan
        });
        for batch in batches {
            batch.feed(builder);
            // Nobody takes it back at the end.
            drop(back.try_send(batch));
        }
        joined(scanning)
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::run::read::Typist;

    /// All kinds of lines, more of them than a batch holds, one torn.
    fn log() -> Vec<u8> {
        let mut log = String::from(
            "2026-02-19T04:20:17.000000Z  INFO cuzk_daemon: cuzk-daemon starting listen=x\n\
             TIMELINE,5,SYNTH_START,wdpost-1,kind=winning-post\n\
             TIMELINE,5,SYNTH_START,a,b,partition=3\n\
             TIMELINE,6,JOB_SUBMIT,c,kind=porep-c2,partitions=10,t_us=6000\n",
        );
        for at in 0..ITEMS as u64 {
            let (ms, job, part) = (at * 900, at / 10, at % 10);
            write!(
                log,
                "TIMELINE,{ms},GPU_START,job-{job},worker=0,partition={part}\n\
                 CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms={}\n\
                 some foreign line\n\
                 2026-02-19T04:20:17.{ms:06}Z  INFO cuzk_core::engine: partition done\n\
                 TIMELINE,{},GPU_END,job-{job},worker=0,partition={part},gpu_ms=800\n",
                at % 977,
                ms + 800,
            )
            .unwrap();
        }
        log.push_str(
            "CUZK_TIMING: prestage_setup=fallback err=2\n\
             CUZK_TIMING: prestage_setup=ok domain=5 lot_of_memory=1\n\
             CUZK_TIMING: prep_msm_ms=4 job=a gpu=0 t_us=77\n\
             TIMELINE,99CUZK_TIMING: prep_msm_ms=7\n\
             thread 'x' panicked at a.rs:1:2:\nout of luck\n\
             TIMELINE,9,GPU_END,a,worker=0\n\
             TIMELINE,7,SYNTH_START,\u{fffd}caf\u{e9},partition=0\n\
             CUZK_TIMING: new=1",
        );
        log.into_bytes()
    }

    #[test]
    fn two_threads_read_what_one_reads() {
        let log = log();
        let mut typist = Typist::new(7);
        let one = scan_reader(log.as_slice(), &mut typist).unwrap();
        let mut builder = Builder::new(7);
        let two = scan_into(log.as_slice(), &mut builder).unwrap();
        assert_eq!(one, two);
        let lines = u32::try_from(one.ledger.lines()).unwrap();
        let [one, two] = [typist.into_builder(), builder].map(|b| b.finish(lines, true));
        assert!(one.runs.iter().map(|run| run.marks.len()).sum::<usize>() > ITEMS);
        assert_eq!(format!("{one:?}"), format!("{two:?}"));
    }

    #[test]
    fn a_reader_that_fails_says_so() {
        struct Failing(usize);
        impl Read for Failing {
            fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                if self.0 > 3 {
                    return Err(io::Error::other("gone"));
                }
                block.fill(b'\n');
                Ok(block.len())
            }
        }
        let error = scan_into(Failing(0), &mut Builder::new(0)).unwrap_err();
        assert_eq!(error.to_string(), "gone");
    }
}
