//! The reading below `trace stat`: the whole ledger, and every event and timing line typed.
//!
//! `stat_log PATH`; the benchmark scripts time it beside the command itself.

use std::fs::File;
use std::io::{self, Write};

use tracefmt::event::EventKind;
use tracefmt::grammar;
use tracefmt::scan::{Class, Classes, Line, PlainKind, Sink, scan_reader};

/// Counts typed lines.
#[derive(Default)]
struct Typed {
    events: [u64; EventKind::ALL.len() + 1],
    unread: u64,
    timings: u64,
    tagged: u64,
}

impl Sink for Typed {
    fn wants(&self) -> Classes {
        Classes::NONE.with(Class::Timeline).with(Class::Timing)
    }

    #[inline]
    fn line(&mut self, line: &Line<'_>) {
        if let Some(kind) = line.plain_kind() {
            match kind {
                PlainKind::Event(kind) => self.events[kind as usize] += 1,
                PlainKind::Timing(_) => self.timings += 1,
            }
        } else if line.class == Class::Timing {
            let timing = grammar::parse_timing(line.text);
            self.timings += 1;
            self.tagged += u64::from(timing.tag.is_some());
        } else if let Some(event) = grammar::parse_event(line.text) {
            self.events[event.what.kind() as usize] += 1;
        } else {
            self.unread += 1;
        }
    }
}

fn main() -> io::Result<()> {
    let path = std::env::args()
        .nth(1)
        .ok_or_else(|| io::Error::other("expected: stat_log PATH"))?;
    let mut typed = Typed::default();
    let scan = scan_reader(File::open(path)?, &mut typed)?;
    let mut out = io::stdout().lock();
    for (class, tally) in scan.ledger.classes() {
        writeln!(out, "{class}\t{}\t{}", tally.lines, tally.bytes)?;
    }
    for (kind, count) in EventKind::ALL
        .iter()
        .zip(typed.events)
        .filter(|(_, count)| *count > 0)
    {
        writeln!(out, "{kind}\t{count}")?;
    }
    writeln!(out, "timings\t{}\ttagged\t{}", typed.timings, typed.tagged)?;
    writeln!(out, "unread\t{}", typed.unread)?;
    writeln!(
        out,
        "repaired\t{}\nlost\t{}",
        scan.repaired.count(),
        scan.lost.count()
    )
}
