//! A history kept by somebody else: rows of a table, one a time, with named columns.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::watch::Watch;
use super::{Level, Point};
use crate::GoldenError;
use crate::samples::Anomaly;
use crate::stats::mean_variance;

/// Names of the columns of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableColumns {
    /// The commit; without the column all rows are of one commit.
    pub commit: Option<String>,
    /// When; without the column rows are in order of time.
    pub time: Option<String>,
    /// The phase; without the column it is called after the column of the values.
    pub phase: Option<String>,
    /// What must be equal for times to be compared, such as the size of the work.
    pub key: Vec<String>,
    /// The times, each with its unit; with several of them a phase is called after its column too.
    pub value: Vec<(String, Unit)>,
}

/// The unit of a column of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `ns`, `us`, `ms` or `s`, perhaps with a slash and what it is counted by behind it.
    Named(String),
    /// The name of the column that says so in every row.
    InColumn(String),
}

/// Milliseconds in a unit; `None` if it is no unit of time.
#[must_use]
pub fn unit_ms(unit: &str) -> Option<f64> {
    match unit.split('/').next()?.trim() {
        "ns" => Some(1e-6),
        "us" | "µs" => Some(1e-3),
        "ms" => Some(1.0),
        "s" => Some(1e3),
        _ => None,
    }
}

/// A stretch of rows of one commit, time and key, by phase, and the line that it begins in.
type Rows = (u64, (String, String, String), BTreeMap<String, Vec<f64>>);

/// Reads a table. Neighbouring rows of one commit, time and key are one point; rows with the same
/// phase in it are its runs. A row that cannot be used is counted and located, and so is what is
/// odd about one, as in [`super::read`].
///
/// # Errors
/// A stream that breaks off, or a header without a column that is named.
pub fn read_table(
    reader: impl BufRead,
    columns: &TableColumns,
) -> Result<(Vec<Point>, Vec<Anomaly>), GoldenError> {
    let broken = |error: csv::Error| GoldenError::Format {
        expected: "a table with a header line",
        found: error.to_string(),
    };
    let mut table = csv::ReaderBuilder::new().flexible(true).from_reader(reader);
    let places = Places::find(table.headers().map_err(broken)?, columns)?;
    let (mut stretches, mut anomalies): (Vec<Rows>, Vec<Anomaly>) = (Vec::new(), Vec::new());
    for row in table.records() {
        let row = match row {
            Ok(row) => row,
            Err(error) if matches!(error.kind(), csv::ErrorKind::Io(_)) => {
                return Err(broken(error));
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                let what = error.to_string();
                anomalies.push(Anomaly { line, what });
                continue;
            }
        };
        let line = row.position().map_or(0, csv::Position::line);
        let head = places.head(&row);
        if stretches.last().is_none_or(|(_, last, _)| *last != head) {
            stretches.push((line, head, BTreeMap::new()));
        }
        let Some((_, _, phases)) = stretches.last_mut() else {
            continue;
        };
        for (phase, time) in places.times(&row) {
            match time {
                Ok(ms) => phases.entry(phase).or_default().push(ms.ln()),
                Err(what) => anomalies.push(Anomaly { line, what }),
            }
        }
    }
    let (mut points, mut watch) = (Vec::new(), Watch::default());
    for stretch in stretches {
        let line = stretch.0;
        let Some(point) = point(stretch).filter(|point| !point.phases.is_empty()) else {
            continue;
        };
        if watch.take((line, &point), &points, &mut anomalies) {
            points.push(point);
        }
    }
    watch.end(&mut anomalies);
    Ok((points, anomalies))
}

fn point((_, (commit, time, key), phases): Rows) -> Option<Point> {
    let runs = phases.values().map(Vec::len).max()?;
    let level = |ln_ms: Vec<f64>| {
        let (mean, variance) = mean_variance(&ln_ms)?;
        Some(Level {
            ln_ms: mean,
            error: (variance / ln_ms.len() as f64).sqrt(),
        })
    };
    Some(Point {
        commit,
        time,
        key,
        runs,
        phases: phases
            .into_iter()
            .filter_map(|(phase, ln_ms)| Some((phase, level(ln_ms)?)))
            .collect(),
    })
}

/// Where the columns are.
struct Places {
    commit: Option<usize>,
    time: Option<usize>,
    phase: Option<usize>,
    key: Vec<usize>,
    value: Vec<(String, usize, Scale)>,
}

/// Milliseconds in what a column holds.
enum Scale {
    Fixed(f64),
    InColumn(usize),
}

impl Places {
    fn find(header: &csv::StringRecord, columns: &TableColumns) -> Result<Self, GoldenError> {
        let at = |name: &String| {
            let place = header
                .iter()
                .position(|column| column.trim_start_matches('\u{feff}').trim() == name);
            place.ok_or_else(|| GoldenError::Format {
                expected: "the columns that are named",
                found: format!(
                    "no column {name:?} among {}",
                    header.iter().collect::<Vec<_>>().join(", ")
                ),
            })
        };
        let maybe = |name: &Option<String>| name.as_ref().map(at).transpose();
        let value = |(name, unit): &(String, Unit)| {
            let scale = match unit {
                Unit::InColumn(column) => Scale::InColumn(at(column)?),
                Unit::Named(unit) => {
                    Scale::Fixed(unit_ms(unit).ok_or_else(|| GoldenError::Format {
                        expected: "a unit: ns, us, ms or s",
                        found: format!("{unit:?} for column {name}"),
                    })?)
                }
            };
            Ok((name.clone(), at(name)?, scale))
        };
        Ok(Self {
            commit: maybe(&columns.commit)?,
            time: maybe(&columns.time)?,
            phase: maybe(&columns.phase)?,
            key: columns.key.iter().map(at).collect::<Result<_, _>>()?,
            value: columns.value.iter().map(value).collect::<Result<_, _>>()?,
        })
    }

    /// Commit, time and key of a row.
    fn head(&self, row: &csv::StringRecord) -> (String, String, String) {
        let cell = |at: &usize| row.get(*at).unwrap_or_default().trim().to_owned();
        let maybe = |at: &Option<usize>| at.as_ref().map(cell).unwrap_or_default();
        let key: Vec<String> = self.key.iter().map(cell).collect();
        (maybe(&self.commit), maybe(&self.time), key.join(", "))
    }

    /// The times of a row by phase, or what is wrong with one.
    fn times(&self, row: &csv::StringRecord) -> Vec<(String, Result<f64, String>)> {
        let cell = |at: usize| row.get(at).unwrap_or_default().trim();
        let one = |(name, at, scale): &(String, usize, Scale)| {
            let phase = match self.phase.map(cell) {
                None => name.clone(),
                Some(phase) if self.value.len() == 1 => phase.to_owned(),
                Some(phase) => format!("{phase} {name}"),
            };
            let factor = match scale {
                Scale::Fixed(factor) => Some(*factor),
                Scale::InColumn(unit) => unit_ms(cell(*unit)),
            };
            let text = cell(*at);
            let time = match (text.parse::<f64>(), factor) {
                (_, None) => Err(format!("{phase}: its unit is none of time")),
                (Ok(value), Some(factor)) if value > 0.0 && value.is_finite() => Ok(value * factor),
                _ => Err(format!("{phase}: expected a time above 0, found {text:?}")),
            };
            (phase, time)
        };
        self.value.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> TableColumns {
        TableColumns {
            commit: Some("snapshot".to_owned()),
            time: Some("date".to_owned()),
            phase: Some("load".to_owned()),
            key: vec!["cycles".to_owned()],
            value: vec![("proof".to_owned(), Unit::Named("us".to_owned()))],
        }
    }

    #[test]
    fn rows_become_points() {
        let text = "date,snapshot,load,proof,cycles\n\
                    2024-05-18,a,fib,2000,7\n2024-05-18,a,fib,8000,7\n2024-05-18,a,sha,1000,9\n\
                    2024-05-19,b,fib,2000,7\n";
        let (points, anomalies) = read_table(text.as_bytes(), &columns()).unwrap();
        assert!(anomalies.is_empty(), "{anomalies:?}");
        let heads: Vec<_> = points
            .iter()
            .map(|p| (&*p.commit, &*p.key, p.runs))
            .collect();
        assert_eq!(heads, [("a", "7", 2), ("a", "9", 1), ("b", "7", 1)]);
        let fib = points[0].phases["fib"];
        assert!((fib.ln_ms - 4_f64.ln()).abs() < 1e-12 && fib.error > 0.0);
    }

    #[test]
    fn a_unit_may_stand_in_the_row() {
        let columns = TableColumns {
            phase: Some("metric".to_owned()),
            value: vec![("value".to_owned(), Unit::InColumn("unit".to_owned()))],
            ..TableColumns::default()
        };
        let text = "metric,value,unit\nthroughput,45.3,s/proof\ngpu,70,%\nh,0,ms\nh,x,ms\n";
        let (points, anomalies) = read_table(text.as_bytes(), &columns).unwrap();
        assert!((points[0].phases["throughput"].ln_ms - 45_300_f64.ln()).abs() < 1e-12);
        let lines: Vec<u64> = anomalies.iter().map(|a| a.line).collect();
        assert_eq!(lines, [3, 4, 5], "{anomalies:?}");
    }

    #[test]
    fn several_columns_of_times_are_several_phases() {
        let mut columns = columns();
        columns.key.clear();
        let unit = || Unit::Named("ns".to_owned());
        columns.value = vec![("proof".to_owned(), unit()), ("verify".to_owned(), unit())];
        let text = "date,snapshot,load,proof,verify\nd,a,fib,5,6\n";
        let (points, _) = read_table(text.as_bytes(), &columns).unwrap();
        let names: Vec<&str> = points[0].phases.keys().map(String::as_str).collect();
        assert_eq!(names, ["fib proof", "fib verify"]);
    }

    #[test]
    fn a_column_that_is_not_there_is_named() {
        let error = read_table("a,b\n1,2\n".as_bytes(), &columns()).unwrap_err();
        assert!(error.to_string().contains("snapshot"), "{error}");
        let mut odd = TableColumns::default();
        odd.value
            .push(("a".to_owned(), Unit::Named("cycles".to_owned())));
        assert!(read_table("a,b\n1,2\n".as_bytes(), &odd).is_err());
    }
}
