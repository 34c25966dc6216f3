//! Which of several files are one log, and how they are put together.

use super::names::{self, Name};
use super::survey::Survey;

/// Offsets of a piece may reach so far into the next: lines are printed late.
const LATE_MS: u64 = 10_000;

/// How some of the files become one log; numbers are places in the list of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Join {
    /// A file by itself.
    Alone(usize),
    /// Pieces of one log, oldest first.
    InTurn(Vec<usize>),
    /// The two streams of one daemon.
    Streams {
        /// The file with events and timing lines.
        events: usize,
        /// The file with the engine's log.
        log: usize,
        /// Wall clock at offset 0, microseconds since 1970.
        epoch_us: i64,
    },
    /// Files that speak of the same jobs and that nothing puts in order: each stays by itself.
    Unordered(usize, usize),
}

/// Decides, from the names of the files and what is in them.
pub fn plan(files: &[(&str, Survey)]) -> Vec<Join> {
    let names: Vec<Name> = files.iter().map(|(path, _)| names::of(path)).collect();
    let mut taken = vec![false; files.len()];
    let mut joins = Vec::new();
    for at in 0..files.len() {
        if taken.get(at).copied().unwrap_or(true) {
            continue;
        }
        let join = rotated(files, &names, &taken, at)
            .or_else(|| of_same_jobs(files, &taken, at))
            .unwrap_or(Join::Alone(at));
        let members: &[usize] = match &join {
            Join::Alone(only) => &[*only],
            Join::InTurn(all) => all,
            Join::Streams { events, log, .. } => &[*events, *log],
            Join::Unordered(..) => &[at],
        };
        for member in members {
            if let Some(slot) = taken.get_mut(*member) {
                *slot = true;
            }
        }
        joins.push(join);
    }
    joins
}

/// Files whose names say that they are pieces of one log.
fn rotated(files: &[(&str, Survey)], names: &[Name], taken: &[bool], at: usize) -> Option<Join> {
    let base = &names.get(at)?.base;
    let mut members: Vec<usize> = (at..files.len())
        .filter(|other| !taken.get(*other).copied().unwrap_or(true))
        .filter(|other| names.get(*other).is_some_and(|name| name.base == *base))
        .collect();
    if members.len() < 2 {
        return None;
    }
    // The clock of the log knows better than the names, where all have it.
    let stamp = |member: &usize| files.get(*member).and_then(|(_, survey)| survey.stamp);
    if members.iter().all(|member| stamp(member).is_some()) {
        members.sort_by_key(|member| stamp(member));
    } else {
        members.sort_by_key(|member| names.get(*member).map(|name| name.rank));
    }
    Some(Join::InTurn(members))
}

/// Files that speak of the same jobs: one behind the other, or side by side.
fn of_same_jobs(files: &[(&str, Survey)], taken: &[bool], at: usize) -> Option<Join> {
    let (_, this) = files.get(at)?;
    let shares = |other: &Survey| this.jobs.iter().any(|job| other.jobs.contains(job));
    let mut members = vec![at];
    for other in at + 1..files.len() {
        let (_, survey) = files.get(other)?;
        if taken.get(other).copied().unwrap_or(true) || !shares(survey) {
            continue;
        }
        if let Some(streams) = streams((at, this), (other, survey)) {
            return Some(streams);
        }
        members.push(other);
    }
    if members.len() < 2 {
        return None;
    }
    let offsets = |member: &usize| files.get(*member).and_then(|(_, survey)| survey.offsets);
    members.sort_by_key(|member| offsets(member).map(|(_, low, _)| low));
    let in_turn = members.windows(2).all(|pair| match pair {
        [a, b] => offsets(a)
            .zip(offsets(b))
            .is_some_and(|((.., end), (_, begin, _))| end <= begin.saturating_add(LATE_MS)),
        _ => false,
    });
    if in_turn {
        return Some(Join::InTurn(members));
    }
    let other = members.iter().find(|member| **member != at)?;
    Some(Join::Unordered(at, *other))
}

/// One file with events only and one with the engine's log only.
fn streams(one: (usize, &Survey), other: (usize, &Survey)) -> Option<Join> {
    let pure = |survey: &Survey| (survey.events > 0, survey.logs > 0);
    let (events, log) = match (pure(one.1), pure(other.1)) {
        ((true, false), (false, true)) => (one, other),
        ((false, true), (true, false)) => (other, one),
        _ => return None,
    };
    let epoch_us = events.1.epoch_with(log.1)?;
    Some(Join::Streams {
        events: events.0,
        log: log.0,
        epoch_us,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scan_slice;

    fn survey(log: &str) -> Survey {
        let mut survey = Survey::new();
        scan_slice(log.as_bytes(), &mut survey);
        survey
    }

    const EARLY: &str = "TIMELINE,1000,SYNTH_START,a,partition=0\nTIMELINE,90000,SYNTH_END,a,\
                         partition=0,synth_ms=89000\n";
    const LATE: &str = "TIMELINE,90001,CHAN_SEND,a,partition=0\n";
    const LOG: &str = "2026-02-19T04:20:17.000000Z  INFO cuzk_daemon: cuzk-daemon starting \
        listen=x\n\
        2026-02-19T04:21:47.400000Z  INFO cuzk_core::engine: partition synthesis complete, sending \
        to GPU job_id=a partition=0 synth_ms=89000\n";

    #[test]
    fn rotated_pieces_are_put_in_order() {
        let files = [
            ("run.log", survey(LATE)),
            ("bench.txt", survey("=== Batch Benchmark ===\n")),
            ("run.log.1", survey(EARLY)),
        ];
        assert_eq!(plan(&files), [Join::InTurn(vec![2, 0]), Join::Alone(1)]);
    }

    #[test]
    fn pieces_of_any_name_are_told_by_their_jobs() {
        let files = [("b", survey(LATE)), ("a", survey(EARLY))];
        assert_eq!(plan(&files), [Join::InTurn(vec![1, 0])]);
        let other = EARLY.replace(",a,", ",b,");
        let files = [("b", survey(LATE)), ("a", survey(&other))];
        assert_eq!(plan(&files), [Join::Alone(0), Join::Alone(1)]);
    }

    #[test]
    fn two_copies_are_not_joined() {
        let files = [("x", survey(EARLY)), ("y", survey(EARLY))];
        assert_eq!(plan(&files), [Join::Unordered(0, 1), Join::Alone(1)]);
    }

    #[test]
    fn the_two_streams_of_a_daemon_find_their_epoch() {
        let files = [("out", survey(LOG)), ("err", survey(EARLY))];
        let [
            Join::Streams {
                events,
                log,
                epoch_us,
            },
        ] = plan(&files)[..]
        else {
            panic!("{:?}", plan(&files))
        };
        // 04:21:47.4 less 90 s.
        assert_eq!((events, log, epoch_us % 60_000_000), (1, 0, 17_400_000));
    }
}
