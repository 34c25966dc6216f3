//! Merges the two streams of a daemon: events carry offsets, log lines the wall clock, timing lines
//! nothing. A line without a time stays behind the line before it in its own stream, so the order
//! of the merged log is right as far as the clocks tell it, and within a stream always.

use std::io::{self, BufRead, Write};

use super::Piece;
use crate::grammar;

/// A stream with its next line.
struct Stream<'p, R, F> {
    reader: R,
    path: &'p str,
    time: F,
    line: Vec<u8>,
    /// Of the next line, from 1; the time of the last line that has one.
    number: u64,
    us: i64,
}

impl<R: BufRead, F: Fn(&[u8]) -> Option<i64>> Stream<'_, R, F> {
    /// Reads the next line; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        self.line.clear();
        if self.reader.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(false);
        }
        self.number += 1;
        if let Some(us) = (self.time)(&self.line) {
            self.us = us;
        }
        Ok(true)
    }

    /// Writes the line; says where it comes from when the stream has changed.
    fn give(&self, to: &mut impl Write, pieces: &mut Vec<Piece>, joined: u64) -> io::Result<()> {
        if pieces.last().is_none_or(|last| last.path != self.path) {
            pieces.push(Piece {
                path: self.path.to_owned(),
                first: joined,
                line: self.number,
            });
        }
        to.write_all(&self.line)
    }

    /// Whether the next line has its end; a cut one is the last of its stream.
    fn is_whole(&self) -> bool {
        self.line.last() == Some(&b'\n')
    }
}

/// Merges a stream of events and a stream of log lines, each with its path; `epoch_us` is the wall
/// clock at offset 0, microseconds since 1970.
///
/// # Errors
/// When one cannot be read or the result cannot be written.
pub fn merge(
    events: (&str, impl BufRead),
    log: (&str, impl BufRead),
    epoch_us: i64,
    mut to: impl Write,
) -> io::Result<Vec<Piece>> {
    let mut events = Stream {
        reader: events.1,
        path: events.0,
        time: offset,
        line: Vec::new(),
        number: 0,
        us: i64::MIN,
    };
    let mut log = Stream {
        reader: log.1,
        path: log.0,
        time: |line: &[u8]| stamp(line).map(|us| us.saturating_sub(epoch_us)),
        line: Vec::new(),
        number: 0,
        us: i64::MIN,
    };
    let (mut pieces, mut joined) = (Vec::new(), 0);
    let (mut more_events, mut more_log) = (events.advance()?, log.advance()?);
    while more_events || more_log {
        joined += 1;
        // A line that was cut is the last that the process wrote: it stays the end of the log.
        let first = if events.is_whole() && log.is_whole() {
            events.us <= log.us
        } else {
            events.is_whole()
        };
        let (given, more) = if more_events && (first || !more_log) {
            events.give(&mut to, &mut pieces, joined)?;
            let whole = events.is_whole();
            more_events = events.advance()?;
            (whole, more_events || more_log)
        } else {
            log.give(&mut to, &mut pieces, joined)?;
            let whole = log.is_whole();
            more_log = log.advance()?;
            (whole, more_events || more_log)
        };
        if more && !given {
            to.write_all(b"\n")?;
        }
    }
    to.flush()?;
    Ok(pieces)
}

/// Microseconds of an event.
fn offset(line: &[u8]) -> Option<i64> {
    let event = grammar::parse_event(line.trim_ascii_end())?;
    let us = event.t_us.unwrap_or(event.ms.saturating_mul(1000));
    i64::try_from(us).ok()
}

/// Stamp of a log line.
fn stamp(line: &[u8]) -> Option<i64> {
    let log = grammar::parse_log(line.trim_ascii_end())?;
    log.stamp
        .filter(|stamp| stamp.utc)
        .map(|stamp| stamp.unix_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_in_the_order_of_both_clocks() {
        let events = "TIMELINE,1000,SYNTH_START,a,partition=0\nCUZK_TIMING: prep_msm_ms=1\n\
                      TIMELINE,3000,SYNTH_END,a,partition=0,synth_ms=2000";
        let log = "no stamp\n2026-02-19T04:20:17.000000Z  INFO cuzk_daemon: cuzk-daemon starting\n\
                   2026-02-19T04:20:19.000000Z  INFO cuzk_core::engine: b\n";
        // 2026-02-19T04:20:17Z
        let epoch = 1_771_474_817_000_000;
        let mut merged = Vec::new();
        let sources = (("err", events.as_bytes()), ("out", log.as_bytes()));
        let pieces = merge(sources.0, sources.1, epoch, &mut merged).unwrap();
        let merged = String::from_utf8(merged).unwrap();
        assert!(!merged.ends_with('\n'), "the cut line stays cut");
        let starts: Vec<&str> = merged.lines().map(|line| line.split_at(8).0).collect();
        assert_eq!(
            starts,
            [
                "no stamp", "2026-02-", "TIMELINE", "CUZK_TIM", "2026-02-", "TIMELINE"
            ]
        );
        for (joined, path, line) in [(2, "out", 2), (3, "err", 1), (5, "out", 3), (6, "err", 3)] {
            assert_eq!(Piece::find(&pieces, joined), Some((path, line)));
        }
    }
}
