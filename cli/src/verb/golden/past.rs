//! The history that `history` and `plot` read: our own records, or somebody else's table.

use std::io::BufReader;

use clap::Args;
use golden::history::{self, Point, TableColumns, Unit};
use golden::samples::Anomaly;
use tracefmt::input::Opened;

use super::measured::pair;
use crate::error::CliError;
use crate::inputs::{self, Source};
use crate::output;

/// Where a history is kept unless said otherwise.
pub(super) const USUAL: &str = "golden/history.jsonl";

/// How a history that is a table is read.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Columns {
    /// The history is a CSV table: which column is commit, time, phase, key or value; a value has
    /// its unit behind a colon (value=proof:ns), or the column that says it (value=x:@unit); key
    /// and value may be repeated
    #[arg(long = "column", value_name = "ROLE=COLUMN", value_parser = pair)]
    pub(super) column: Vec<(String, String)>,
}

impl Columns {
    /// Reads a history.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or a table without the columns named.
    pub(super) fn read(&self, name: &str) -> Result<Vec<Point>, CliError> {
        let source = inputs::open(name)?;
        let failed = |error: std::io::Error| CliError::input(name, &error, EXPECTED);
        let reader = BufReader::with_capacity(1 << 16, Opened::open(&source.path).map_err(failed)?);
        let read = if self.column.is_empty() {
            history::read(reader)
        } else {
            history::read_table(reader, &self.table()?)
        };
        let (points, anomalies) = read.map_err(|error| CliError::input(name, &error, EXPECTED))?;
        said(&source, &anomalies);
        Ok(points)
    }

    fn table(&self) -> Result<TableColumns, CliError> {
        let mut table = TableColumns::default();
        for (role, column) in &self.column {
            match role.as_str() {
                "commit" => table.commit = Some(column.clone()),
                "time" => table.time = Some(column.clone()),
                "phase" => table.phase = Some(column.clone()),
                "key" => table.key.push(column.clone()),
                "value" => table.value.push(valued(column)?),
                other => {
                    return Err(CliError::Usage(format!(
                        "--column {other}=...: expected commit, time, phase, key or value"
                    )));
                }
            }
        }
        if table.value.is_empty() {
            let how = "--column: name the column of the times, as in value=proof:ns";
            return Err(CliError::Usage(how.to_owned()));
        }
        Ok(table)
    }
}

const EXPECTED: &str = "a history as `cuzk golden history` writes it, or a CSV table with --column";

/// A column of times and its unit.
fn valued(column: &str) -> Result<(String, Unit), CliError> {
    let (name, unit) = column.rsplit_once(':').unwrap_or((column, column));
    if let Some(from) = unit.strip_prefix('@') {
        return Ok((name.to_owned(), Unit::InColumn(from.to_owned())));
    }
    if history::unit_ms(unit).is_none() {
        return Err(CliError::Usage(format!(
            "column {column}: expected its unit behind a colon, as in {name}:ms (ns, us, ms, s, \
             or @ and the column that says it)"
        )));
    }
    Ok((name.to_owned(), Unit::Named(unit.to_owned())))
}

/// How many oddities are said with their lines; the rest are counted.
const SAID_MAX: usize = 5;

/// What could not be used, or is odd, is located and counted.
fn said(source: &Source, anomalies: &[Anomaly]) {
    let name = &source.name;
    for odd in anomalies.iter().take(SAID_MAX) {
        output::note(&format!("{name}: line {}: {}", odd.line, odd.what));
    }
    let more = anomalies.len().saturating_sub(SAID_MAX);
    if more > 0 {
        output::note(&format!("{name}: {more} more lines like these"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_their_units() {
        assert_eq!(valued("ns").unwrap().1, Unit::Named("ns".to_owned()));
        let found = valued("a:b:us").unwrap();
        assert_eq!(found, ("a:b".to_owned(), Unit::Named("us".to_owned())));
        assert_eq!(
            valued("x:@unit").unwrap().1,
            Unit::InColumn("unit".to_owned())
        );
        assert!(
            valued("proof")
                .unwrap_err()
                .to_string()
                .contains("proof:ms")
        );
    }

    #[test]
    fn a_table_needs_its_times() {
        let column = vec![("commit".to_owned(), "c".to_owned())];
        assert!(Columns { column }.table().is_err());
        let column = vec![("colour".to_owned(), "c".to_owned())];
        assert!(
            Columns { column }
                .table()
                .unwrap_err()
                .to_string()
                .contains("colour")
        );
    }
}
