//! The piece of a picture of memory that matters: the time around the failing request.
//!
//! A run takes minutes and a partition holds memory for a second or two, so that in a picture of
//! the whole who held what is a hair's breadth. The piece begins when the memory that stood in the
//! way began to be taken.

use super::{Failure, Lane, Level};

/// Share of the whole above which the piece is not worth a picture of its own.
const SHARE_MAX: f64 = 0.2;

/// Room beside the piece, as a share of it.
const MARGIN: f64 = 0.15;

/// The lanes from the time at which the first failing request's card was last empty until it is
/// empty again, or about as long after it; none if nothing fails, or the whole is hardly longer.
pub fn around_failure(lanes: &[Lane]) -> Option<Vec<Lane>> {
    let (lane, failure) = lanes
        .iter()
        .find_map(|lane| Some((lane, most_telling(lane)?)))?;
    let (from, to) = window(lane, failure.at)?;
    let positions = || lanes.iter().flat_map(|lane| &lane.used).map(|(at, _)| *at);
    let first = positions().fold(f64::INFINITY, f64::min);
    let last = positions().fold(f64::NEG_INFINITY, f64::max);
    if to - from > SHARE_MAX * (last - first) {
        return None;
    }
    Some(lanes.iter().map(|lane| cut(lane, from, to)).collect())
}

/// The failure that gets words: the first that was seen, else the first.
pub(crate) fn most_telling(lane: &Lane) -> Option<&Failure> {
    let seen = lane.failures.iter().find(|failure| failure.seen);
    seen.or(lane.failures.first())
}

fn window(lane: &Lane, at: f64) -> Option<(f64, f64)> {
    let mut held = vec![0_u64; lane.bands.len()];
    let (mut start, mut end) = (None, None);
    for level in &lane.levels {
        let was_empty = held.iter().all(|bytes| *bytes == 0);
        *held.get_mut(level.band)? = level.bytes;
        let is_empty = held.iter().all(|bytes| *bytes == 0);
        if level.at <= at && was_empty && !is_empty {
            start = Some(level.at);
        }
        if level.at > at && is_empty && end.is_none() {
            end = Some(level.at);
        }
    }
    let start = start?;
    let before = (at - start).max(1.0);
    let end = end.unwrap_or(f64::INFINITY).min(at + before);
    let margin = MARGIN * (end - start);
    Some((start - margin, end + margin))
}

fn cut(lane: &Lane, from: f64, to: f64) -> Lane {
    let mut held = vec![0_u64; lane.bands.len()];
    let mut levels = Vec::new();
    for level in &lane.levels {
        if level.at <= from {
            if let Some(held) = held.get_mut(level.band) {
                *held = level.bytes;
            }
        } else if level.at <= to {
            levels.push(*level);
        }
    }
    let kept = held.into_iter().enumerate();
    let kept = kept.filter(|(_, bytes)| *bytes > 0);
    let kept = kept.map(|(band, bytes)| Level {
        at: from,
        band,
        bytes,
    });
    let before = lane.used.iter().rev().find(|(at, _)| *at <= from);
    let until = lane.used.iter().rev().find(|(at, _)| *at <= to);
    let within = lane.used.iter().filter(|(at, _)| *at > from && *at <= to);
    let fails = lane.failures.iter();
    let fails = fails.filter(|failure| failure.at >= from && failure.at <= to);
    Lane {
        levels: kept.chain(levels).collect(),
        used: [(from, before.map_or(lane.baseline, |(_, bytes)| *bytes))]
            .into_iter()
            .chain(within.copied())
            .chain(until.map(|(_, bytes)| (to, *bytes)))
            .collect(),
        failures: fails.cloned().collect(),
        span: None,
        ..lane.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Band;
    use super::*;

    fn lane(failures: &[f64]) -> Lane {
        let level = |at, bytes| Level { at, band: 0, bytes };
        let failure = |at: &f64| Failure {
            at: *at,
            name: "d_bc of worker 1".to_owned(),
            bytes: 8,
            used: 13,
            seen: true,
        };
        Lane {
            bands: vec![Band { kind: 0, worker: 0 }],
            levels: vec![
                level(10.0, 4),
                level(20.0, 0),
                level(500.0, 4),
                level(510.0, 8),
                level(530.0, 0),
                level(990.0, 4),
            ],
            used: vec![(0.0, 1), (500.0, 5), (510.0, 9), (530.0, 1), (1000.0, 1)],
            failures: failures.iter().map(failure).collect(),
            baseline: 1,
            ..Lane::default()
        }
    }

    #[test]
    fn the_piece_goes_from_empty_to_empty_around_the_failure() {
        let lanes = [lane(&[520.0]), lane(&[])];
        let pieces = around_failure(&lanes).expect("a failure");
        assert_eq!(pieces.len(), 2, "the changed rule beside it");
        let piece = &pieces[0];
        assert_eq!(piece.used.first(), Some(&(495.5, 1)));
        assert_eq!(piece.used.last(), Some(&(534.5, 1)));
        assert_eq!(piece.levels.len(), 3);
        assert_eq!((piece.failures.len(), pieces[1].failures.len()), (1, 0));
    }

    #[test]
    fn what_is_held_when_the_piece_begins_is_shown_from_there_on() {
        let piece = cut(&lane(&[]), 505.0, 520.0);
        assert_eq!((piece.levels[0].at, piece.levels[0].bytes), (505.0, 4));
        assert_eq!(piece.used, [(505.0, 5), (510.0, 9), (520.0, 9)]);
    }

    #[test]
    fn nothing_failing_or_a_short_run_needs_no_piece() {
        assert_eq!(around_failure(&[lane(&[])]), None);
        let mut short = lane(&[520.0]);
        short.used = vec![(490.0, 1), (540.0, 1)];
        assert_eq!(around_failure(&[short]), None);
    }
}
