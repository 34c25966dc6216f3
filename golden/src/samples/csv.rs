//! Comma-separated times with a header line that names the columns.
//!
//! The unit of the times is the name of their column: `s`, `ms`, `us` or `ns`. Columns that are
//! not asked for are ignored; rows that cannot be used are counted.

use std::io::BufRead;

use super::{Sample, Samples};
use crate::GoldenError;

/// Names of the columns that are read.
#[derive(Clone, Debug)]
pub struct CsvColumns {
    /// Run; where the file has no such column all rows are one run.
    pub run: String,
    /// Phase; must be there.
    pub phase: String,
    /// Time and the factor from its unit to milliseconds; `None` looks for `ms`, `s`, `us`, `ns`.
    pub time: Option<(String, f64)>,
    /// Partition index; optional.
    pub partition: String,
    /// `true`, `1` or `yes` for a verified time; without the column none is.
    pub verified: String,
    /// Commit of the run; optional.
    pub commit: String,
    /// Columns that have to be there, since somebody named them.
    pub asked: Vec<String>,
}

impl Default for CsvColumns {
    fn default() -> Self {
        Self {
            run: "run".to_owned(),
            phase: "phase".to_owned(),
            time: None,
            partition: "partition".to_owned(),
            verified: "verified".to_owned(),
            commit: "commit".to_owned(),
            asked: Vec::new(),
        }
    }
}

/// Where the columns are.
struct Places {
    run: Option<usize>,
    phase: usize,
    time: usize,
    to_ms: f64,
    partition: Option<usize>,
    verified: Option<usize>,
    commit: Option<usize>,
}

/// Reads a table; `run` names the run where no column does.
///
/// # Errors
/// A stream that breaks off, or a header without a phase or a time column.
pub fn read_csv(
    reader: impl BufRead,
    columns: &CsvColumns,
    run: &str,
) -> Result<Samples, GoldenError> {
    let mut table = csv::ReaderBuilder::new().flexible(true).from_reader(reader);
    let header = table.headers().map_err(|error| unreadable(&error))?.clone();
    let places = find(&header, columns)?;
    let mut samples = Samples::default();
    let mut row = csv::StringRecord::new();
    loop {
        match table.read_record(&mut row) {
            Ok(true) => {}
            Ok(false) => return Ok(samples),
            Err(error) if matches!(error.kind(), csv::ErrorKind::Io(_)) => {
                return Err(unreadable(&error));
            }
            Err(error) => {
                samples.note(table.position().line(), error.to_string());
                continue;
            }
        }
        let line = row.position().map_or(0, csv::Position::line);
        take(&row, line, &places, run, &mut samples);
    }
}

fn unreadable(error: &csv::Error) -> GoldenError {
    GoldenError::Format {
        expected: "a table with a header line",
        found: error.to_string(),
    }
}

fn find(header: &csv::StringRecord, columns: &CsvColumns) -> Result<Places, GoldenError> {
    let at = |name: &str| {
        header
            .iter()
            .position(|column| column.trim_start_matches('\u{feff}').trim() == name)
    };
    let missing = |expected: &'static str| GoldenError::Format {
        expected,
        found: format!(
            "the columns {}",
            header.iter().collect::<Vec<_>>().join(", ")
        ),
    };
    if let Some(name) = columns.asked.iter().find(|name| at(name).is_none()) {
        let all: Vec<&str> = header.iter().collect();
        return Err(GoldenError::Format {
            expected: "the columns that are named",
            found: format!("no column {name:?} among {}", all.join(", ")),
        });
    }
    let (time, to_ms) = match &columns.time {
        Some((name, factor)) => (at(name), *factor),
        None => [("ms", 1.0), ("s", 1e3), ("us", 1e-3), ("ns", 1e-6)]
            .into_iter()
            .find_map(|(name, factor)| Some((Some(at(name)?), factor)))
            .unwrap_or((None, 1.0)),
    };
    Ok(Places {
        run: at(&columns.run),
        phase: at(&columns.phase).ok_or_else(|| missing("a column for the phase"))?,
        time: time.ok_or_else(|| missing("a column for the time: ms, s, us or ns"))?,
        to_ms,
        partition: at(&columns.partition),
        verified: at(&columns.verified),
        commit: at(&columns.commit),
    })
}

fn take(row: &csv::StringRecord, line: u64, places: &Places, run: &str, out: &mut Samples) {
    let cell = |at: Option<usize>| at.and_then(|at| row.get(at)).map(str::trim);
    let Some(phase) = cell(Some(places.phase)).filter(|phase| !phase.is_empty()) else {
        out.note(line, "no phase in the row".to_owned());
        return;
    };
    let text = cell(Some(places.time)).unwrap_or("");
    let Ok(time) = text.parse::<f64>() else {
        out.note(line, format!("expected a time, found {text:?}"));
        return;
    };
    let index = cell(places.partition).filter(|text| !text.is_empty());
    let partition = index.map(str::parse::<u32>).transpose();
    let Ok(partition) = partition else {
        let found = index.unwrap_or_default();
        out.note(
            line,
            format!("expected a partition's index, found {found:?}"),
        );
        return;
    };
    let run = cell(places.run)
        .filter(|run| !run.is_empty())
        .unwrap_or(run);
    if let Some(commit) = cell(places.commit).filter(|commit| !commit.is_empty()) {
        out.run_mut(run).commit = Some(commit.to_owned());
    }
    out.push(Sample {
        run: run.to_owned(),
        phase: phase.to_owned(),
        partition,
        ms: time * places.to_ms,
        verified: cell(places.verified).is_some_and(yes),
    });
}

/// Words for yes, however they are written.
fn yes(word: &str) -> bool {
    ["true", "1", "yes"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Samples, GoldenError> {
        read_csv(text.as_bytes(), &CsvColumns::default(), "only")
    }

    #[test]
    fn columns_by_name_in_any_order() {
        let set = read("us,partition,phase,run,verified,x\n1500,2,\"a, b\",r0,true,-\n").unwrap();
        let times = &set.runs[0].phases["a, b"];
        assert!((times.ms[0] - 1.5).abs() < 1e-12);
        assert_eq!((times.partitions, times.verified[0]), (3, true));
        let alone = read("\u{feff}phase,s\np,2\n").unwrap();
        assert_eq!(alone.runs[0].id, "only");
        assert!((alone.runs[0].phases["p"].ms[0] - 2000.0).abs() < 1e-12);
    }

    #[test]
    fn bad_rows_are_counted() {
        let set = read("phase,ms,run\np,abc,r\n,1,r\np\np,1,r\np,NaN,r\n").unwrap();
        assert_eq!(set.anomaly_count, 3, "{:?}", set.anomalies);
        assert_eq!(set.anomalies[0].line, 2);
        // NaN is a number to the parser: the gate refuses it, not the reader.
        assert_eq!(set.runs[0].phases["p"].ms.len(), 2);
    }

    #[test]
    fn a_named_column_that_is_not_there_is_refused() {
        let columns = CsvColumns {
            run: "start".to_owned(),
            asked: vec!["start".to_owned()],
            ..CsvColumns::default()
        };
        let error = read_csv("phase,ms\np,1\n".as_bytes(), &columns, "x").unwrap_err();
        assert!(error.to_string().contains("no column \"start\""), "{error}");
        let set = read("phase,ms,partition,verified\np,1,x,1\np,1,,True\np,1,3,no\n").unwrap();
        assert_eq!((set.anomaly_count, set.anomalies[0].line), (1, 2));
        assert_eq!(set.runs[0].phases["p"].verified, [true, false]);
    }

    #[test]
    fn a_header_without_what_is_needed() {
        for text in ["", "run,ms\n", "phase,when\np,1\n"] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("expected a column"), "{text:?}: {error}");
        }
    }
}
