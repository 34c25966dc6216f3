//! The history of a configuration: one record a merge, and where its phases changed.
//!
//! `history.jsonl` grows by one line a merge and is never rewritten. A change is blamed on code
//! only if the commit changed while it happened; if the key changed it is a change of shape or
//! machine by name, and otherwise the machine's.

mod table;
mod trend;
mod watch;

pub use table::{TableColumns, Unit, read_table, unit_ms};
pub use trend::{LevelRatio, Ratio, Trend, trend, trends};
pub use watch::seconds;

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

use self::watch::Watch;
use crate::GoldenError;
use crate::evidence::Evidence;
use crate::samples::Anomaly;
use crate::stats::{Change, ChangeOptions, changes, mean_variance};

/// The level of a phase at one point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Mean over the runs of the median log time in ms.
    pub ln_ms: f64,
    /// Its standard error; 0 for one run.
    pub error: f64,
}

/// One record: what some runs of one commit said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The commit.
    pub commit: String,
    /// When, as the caller wrote it.
    pub time: String,
    /// Digest of the key.
    pub key: String,
    /// Runs behind it.
    pub runs: usize,
    /// Levels by phase.
    pub phases: BTreeMap<String, Level>,
}

impl Point {
    /// The record of some evidence.
    #[must_use]
    pub fn of(evidence: &Evidence, commit: &str, time: &str) -> Self {
        let level = |ln_ms: &[f64]| {
            let (mean, variance) = mean_variance(ln_ms)?;
            Some(Level {
                ln_ms: mean,
                error: (variance / ln_ms.len() as f64).sqrt(),
            })
        };
        Self {
            commit: commit.to_owned(),
            time: time.to_owned(),
            key: evidence.key.digest(),
            runs: evidence.runs.len(),
            phases: evidence
                .phases
                .iter()
                .filter_map(|(name, column)| Some((name.clone(), level(&column.ln_ms)?)))
                .collect(),
        }
    }
}

/// Reads records, in the order of the file. A line that is none is counted and located, and so is
/// what is odd about one: a clock that goes back, a missing commit, a record that is there twice
/// and is left out.
///
/// # Errors
/// A stream that breaks off.
pub fn read(reader: impl BufRead) -> Result<(Vec<Point>, Vec<Anomaly>), GoldenError> {
    let (mut points, mut anomalies) = (Vec::new(), Vec::new());
    let mut watch = Watch::default();
    for (line, text) in (1_u64..).zip(reader.lines()) {
        let text = text.map_err(|source| GoldenError::Stream {
            line: line - 1,
            source,
        })?;
        if text.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&text) {
            Ok(point) => {
                if watch.take((line, &point), &points, &mut anomalies) {
                    points.push(point);
                }
            }
            Err(error) => anomalies.push(Anomaly {
                line,
                what: error.to_string(),
            }),
        }
    }
    watch.end(&mut anomalies);
    Ok((points, anomalies))
}

/// Appends a record as one line, in one write.
///
/// # Errors
/// What the writer says.
pub fn append(point: &Point, mut out: impl Write) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(point)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// What a change came with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The commit changed; these are the ones it may be.
    Commits(Vec<String>),
    /// The key changed: other work or another machine, no change of speed.
    Key,
    /// Nothing that is recorded changed: the machine, or its surroundings.
    Machine,
}

/// A change of level of a phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseChange {
    /// Where and how much; indices into the points of the history that have the phase.
    #[serde(flatten)]
    pub change: Change,
    /// What it came with.
    pub cause: Cause,
}

/// The series of a phase: the indices of the points that have it, and its levels.
#[must_use]
pub fn series(points: &[Point], phase: &str) -> (Vec<usize>, Vec<Level>) {
    points
        .iter()
        .enumerate()
        .filter_map(|(at, point)| Some((at, *point.phases.get(phase)?)))
        .filter(|(_, level)| level.ln_ms.is_finite())
        .unzip()
}

/// The changes of a phase. Levels are compared within stretches of one key only; where the key
/// changes there is always a change, of [`Cause::Key`].
#[must_use]
pub fn phase_changes(points: &[Point], phase: &str, options: &ChangeOptions) -> Vec<PhaseChange> {
    let (indices, levels) = series(points, phase);
    let mut found = Vec::new();
    let mut start = 0;
    for end in 1..=indices.len() {
        let same_key = |at: usize| points[indices[at]].key == points[indices[start]].key;
        if end < indices.len() && same_key(end) {
            continue;
        }
        let stretch: Vec<f64> = levels[start..end].iter().map(|level| level.ln_ms).collect();
        for mut change in changes(&stretch, options) {
            change.at += start;
            change.low += start;
            change.high += start;
            let cause = cause(points, &indices[change.low - 1..=change.high]);
            found.push(PhaseChange { change, cause });
        }
        if end < indices.len() {
            let shift = levels[end].ln_ms - levels[end - 1].ln_ms;
            let (at, strength) = (end, f64::INFINITY);
            let change = Change {
                at,
                low: at,
                high: at,
                shift,
                strength,
                confirmed: true,
            };
            found.push(PhaseChange {
                change,
                cause: Cause::Key,
            });
        }
        start = end;
    }
    found
}

/// The commits that came within a window of points, the first of which is still the old level.
fn cause(points: &[Point], window: &[usize]) -> Cause {
    let mut commits: Vec<String> = Vec::new();
    for pair in window.windows(2) {
        let (before, after) = (&points[pair[0]].commit, &points[pair[1]].commit);
        if before != after && !commits.contains(after) {
            commits.push(after.clone());
        }
    }
    if commits.is_empty() {
        Cause::Machine
    } else {
        Cause::Commits(commits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points with small fixed wiggles around levels; `(points, level, commit, key)` in a row.
    fn points(parts: &[(usize, f64, &str, &str)]) -> Vec<Point> {
        let mut out: Vec<Point> = Vec::new();
        for (count, level, commit, key) in parts {
            for _ in 0..*count {
                let wiggle = [0.0, 0.004, -0.003, 0.002, -0.004, 0.001, 0.003][out.len() % 7];
                let level = Level {
                    ln_ms: level + wiggle,
                    error: 0.001,
                };
                out.push(Point {
                    commit: (*commit).to_owned(),
                    time: String::new(),
                    key: (*key).to_owned(),
                    runs: 3,
                    phases: BTreeMap::from([("p".to_owned(), level)]),
                });
            }
        }
        out
    }

    fn causes(points: &[Point]) -> Vec<(usize, Cause)> {
        phase_changes(points, "p", &ChangeOptions::default())
            .into_iter()
            .map(|found| (found.change.at, found.cause))
            .collect()
    }

    #[test]
    fn a_change_with_a_commit_is_the_commits() {
        let found = causes(&points(&[(20, 5.0, "a", "k"), (20, 5.1, "b", "k")]));
        assert_eq!(found, [(20, Cause::Commits(vec!["b".to_owned()]))]);
    }

    #[test]
    fn a_change_within_a_commit_is_the_machines() {
        let found = causes(&points(&[(20, 5.0, "a", "k"), (20, 5.1, "a", "k")]));
        assert_eq!(found, [(20, Cause::Machine)]);
    }

    #[test]
    fn another_key_is_a_change_of_shape() {
        let found = causes(&points(&[(20, 5.0, "a", "k"), (20, 7.0, "b", "l")]));
        assert_eq!(found, [(20, Cause::Key)]);
        // Also where the level happens to be the same.
        let found = causes(&points(&[(4, 5.0, "a", "k"), (4, 5.0, "a", "l")]));
        assert_eq!(found, [(4, Cause::Key)]);
    }

    #[test]
    fn records_survive_their_file() {
        let written = points(&[(3, 5.0, "a,\"b\"", "k")]);
        let mut bytes = Vec::new();
        for point in &written {
            append(point, &mut bytes).unwrap();
        }
        bytes.extend(b"{\"commit\":\"cut");
        let (read, anomalies) = read(bytes.as_slice()).unwrap();
        assert_eq!(read, written);
        assert_eq!(anomalies.len(), 1);
        assert_eq!(anomalies[0].line, 4);
        assert!(causes(&read).is_empty());
        assert_eq!(phase_changes(&read, "none", &ChangeOptions::default()), []);
    }
}
