//! What is odd about the records of a history, with its line: a clock that goes back, a record
//! that is there twice, a commit that nobody wrote down.
//!
//! Order is the order of the file, and it stays: what is odd is said, and only a record that is
//! there twice is left out.

use std::collections::BTreeMap;

use super::Point;
use crate::samples::Anomaly;

/// Looks at the records of a history one after the other.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Where a record of that commit, time and key begins.
    heads: BTreeMap<(String, String, String), (u64, usize)>,
    /// Per phase, when it was measured last, and the line that says so.
    clocks: BTreeMap<String, (f64, u64)>,
    /// Whether a record before this one has a commit.
    named: bool,
    /// The first record without one.
    nameless: Option<u64>,
}

impl Watch {
    /// Takes a record, or says that it is there already. `points` are those before it.
    pub(super) fn take(
        &mut self,
        (line, point): (u64, &Point),
        points: &[Point],
        found: &mut Vec<Anomaly>,
    ) -> bool {
        let mut say = |what: String| found.push(Anomaly { line, what });
        let head = (point.commit.clone(), point.time.clone(), point.key.clone());
        if let Some((first, at)) = self.heads.get(&head).filter(|_| !point.time.is_empty()) {
            let known = points.get(*at);
            if known == Some(point) {
                say(format!("the same record as in line {first}, left out"));
                return false;
            }
            let again = |known: &Point| point.phases.keys().any(|p| known.phases.contains_key(p));
            if known.is_some_and(again) {
                say(format!("commit, time and key are those of line {first}"));
            }
        } else {
            self.heads.insert(head, (line, points.len()));
        }
        if let Some(before) = self.clock((line, point)) {
            let time = &point.time;
            say(format!(
                "the clock goes back: {time} lies before line {before}"
            ));
        }
        if point.commit.is_empty() {
            self.nameless.get_or_insert(line);
        } else {
            self.named = true;
        }
        true
    }

    /// The line that lies later in time than this record.
    fn clock(&mut self, (line, point): (u64, &Point)) -> Option<u64> {
        let now = seconds(&point.time)?;
        let mut later = None;
        for phase in point.phases.keys() {
            match self.clocks.get_mut(phase) {
                Some((then, before)) => {
                    if now < *then {
                        later = Some(*before);
                    }
                    (*then, *before) = (now, line);
                }
                None => {
                    self.clocks.insert(phase.clone(), (now, line));
                }
            }
        }
        later
    }

    /// What can be said at the end only.
    pub(super) fn end(&self, found: &mut Vec<Anomaly>) {
        if let Some(line) = self.nameless.filter(|_| self.named) {
            let what = "no commit: a change here cannot be laid to code".to_owned();
            found.push(Anomaly { line, what });
        }
    }
}

/// Seconds since 1970 of a date, an instant (RFC 3339) or a number of seconds as text.
#[must_use]
pub fn seconds(time: &str) -> Option<f64> {
    let time = time.trim();
    if let Ok(number) = time.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let number = |from: usize, to: usize| -> Option<f64> {
        let part = time.get(from..to)?;
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok())?
    };
    let sign = |at: usize| time.as_bytes().get(at).copied();
    if sign(4) != Some(b'-') || sign(7) != Some(b'-') {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    if !(1.0..=12.0).contains(&month) || !(1.0..=31.0).contains(&day) {
        return None;
    }
    let midnight = days(year, month, day) * 86_400.0;
    if !matches!(sign(10), Some(b'T' | b't' | b' ')) || sign(13) != Some(b':') {
        return Some(midnight);
    }
    let clock = number(11, 13)? * 3600.0 + number(14, 16)? * 60.0 + number(17, 19).unwrap_or(0.0);
    Some(midnight + clock - offset(time.get(19..).unwrap_or_default()))
}

/// Seconds that a zone such as `+02:00` is ahead; 0 for `Z` and where none is given.
fn offset(rest: &str) -> f64 {
    let zone = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let ahead = match zone.as_bytes().first() {
        Some(b'+') => 1.0,
        Some(b'-') => -1.0,
        _ => return 0.0,
    };
    let part = |from: usize| zone.get(from..from + 2).and_then(|text| text.parse().ok());
    let (hours, minutes): (f64, f64) = (part(1).unwrap_or(0.0), part(4).unwrap_or(0.0));
    ahead * (hours * 3600.0 + minutes * 60.0)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, counted in years that begin in March.
fn days(year: f64, month: f64, day: f64) -> f64 {
    let (year, month) = if month > 2.0 {
        (year, month - 3.0)
    } else {
        (year - 1.0, month + 9.0)
    };
    let leap = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    let of_year = (153.0_f64.mul_add(month, 2.0) / 5.0).floor() + day - 1.0;
    365.0_f64.mul_add(year, leap) + of_year - 719_468.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Level;

    #[test]
    fn moments_as_text() {
        for (text, expected) in [
            ("1970-01-01", Some(0.0)),
            ("2000-03-01", Some(951_868_800.0)),
            ("2024-02-29", Some(1_709_164_800.0)),
            ("2026-11-29T19:37:32Z", Some(1_795_981_052.0)),
            ("2026-11-29T21:37:32.5+02:00", Some(1_795_981_052.0)),
            ("2026-11-29 19:37", Some(1_795_981_020.0)),
            ("1694326553", Some(1_694_326_553.0)),
            ("2026-13-01", None),
            ("soon", None),
            ("", None),
            ("2026-1é-01", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    fn point(commit: &str, time: &str, ln_ms: f64) -> Point {
        let level = Level { ln_ms, error: 0.0 };
        Point {
            commit: commit.to_owned(),
            time: time.to_owned(),
            phases: BTreeMap::from([("p".to_owned(), level)]),
            ..Point::default()
        }
    }

    #[test]
    fn what_is_odd_is_said_with_its_line() {
        let all = [
            point("a", "2026-01-01", 1.0),
            point("b", "2026-01-02", 1.0),
            point("b", "2026-01-02", 1.0),
            point("b", "2026-01-02", 2.0),
            point("", "2025-12-31", 1.0),
            point("c", "2026-01-01", 1.0),
        ];
        let (mut watch, mut found, mut kept) = (Watch::default(), Vec::new(), Vec::new());
        for (line, point) in (1..).zip(&all) {
            if watch.take((line, point), &kept, &mut found) {
                kept.push(point.clone());
            }
        }
        watch.end(&mut found);
        let said: Vec<(u64, &str)> = found.iter().map(|a| (a.line, a.what.as_str())).collect();
        assert_eq!(
            said,
            [
                (3, "the same record as in line 2, left out"),
                (4, "commit, time and key are those of line 2"),
                (5, "the clock goes back: 2025-12-31 lies before line 4"),
                (5, "no commit: a change here cannot be laid to code"),
            ]
        );
        assert_eq!(kept.len(), 5);
    }

    #[test]
    fn a_history_without_commits_or_times_is_not_odd() {
        let (mut watch, mut found) = (Watch::default(), Vec::new());
        let one = point("", "", 1.0);
        for line in 1..4 {
            assert!(watch.take((line, &one), &[], &mut found));
        }
        watch.end(&mut found);
        assert!(found.is_empty(), "{found:?}");
    }
}
