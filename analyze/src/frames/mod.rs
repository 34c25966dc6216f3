//! Tables of a run as polars frames, and as Parquet and CSV files: events, regions, phases, idle
//! gaps. The one module that knows polars; everything else of the crate builds without it.
//!
//! Times are milliseconds since each run's start, unknown values are null. Rows keep the order
//! of the values they are made from.

mod columns;
mod events;
mod regions;

use std::io::Write;

use polars::prelude::{
    Column, CsvWriter, DataFrame, ParquetCompression, ParquetWriter, PolarsResult, SerWriter,
};

use crate::error::AnalyzeError;
use crate::model::{Analysis, GpuTime, IdleGap};
use columns::{column, sureness};
use tracefmt::run::Trace;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// A row an event: those of partitions, jobs and devices.
    Events,
    /// A row a region, with a column a phase.
    Regions,
    /// A row a phase, in total, by GPU and by worker.
    Phases,
    /// A row an idle gap.
    Idle,
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Parquet, compressed with Zstandard.
    Parquet,
    /// Comma-separated, with a header; null is empty.
    Csv,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 4] = [Self::Events, Self::Regions, Self::Phases, Self::Idle];

    /// Name in file names and options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Regions => "regions",
            Self::Phases => "phases",
            Self::Idle => "idle",
        }
    }
}

/// A table as a frame.
///
/// # Errors
/// [`AnalyzeError::Table`] with what polars says; it has no reason to.
pub fn frame(table: Table, trace: &Trace, analysis: &Analysis) -> Result<DataFrame, AnalyzeError> {
    let columns = match table {
        Table::Events => events::columns(trace),
        Table::Regions => regions::columns(&analysis.regions),
        Table::Phases => phases(analysis),
        Table::Idle => idle(analysis),
    };
    let height = columns.first().map_or(0, Column::len);
    DataFrame::new(height, columns).map_err(|error| failed(table, &error.to_string()))
}

/// A table as a file.
///
/// # Errors
/// [`AnalyzeError::Table`] with what polars or the writer says.
pub fn write(
    table: Table,
    (trace, analysis): (&Trace, &Analysis),
    format: Format,
    out: impl Write,
) -> Result<(), AnalyzeError> {
    let mut frame = frame(table, trace, analysis)?;
    put(&mut frame, format, out).map_err(|error| failed(table, &error.to_string()))
}

fn put(frame: &mut DataFrame, format: Format, out: impl Write) -> PolarsResult<()> {
    match format {
        Format::Parquet => {
            let compression = ParquetCompression::Zstd(None);
            let writer = ParquetWriter::new(out).with_compression(compression);
            writer.finish(frame).map(|_| ())
        }
        Format::Csv => CsvWriter::new(out).finish(frame),
    }
}

fn failed(table: Table, why: &str) -> AnalyzeError {
    AnalyzeError::Table {
        table: table.as_str(),
        why: why.to_owned(),
    }
}

fn phases(analysis: &Analysis) -> Vec<Column> {
    let rows = &analysis.phases;
    vec![
        column("phase", rows.iter().map(|row| row.phase.as_str())),
        column("gpu", rows.iter().map(|row| row.gpu)),
        column("worker", rows.iter().map(|row| row.worker)),
        column("n", rows.iter().map(|row| row.n)),
        column("median_ms", rows.iter().map(|row| row.median_ms)),
        column("p10_ms", rows.iter().map(|row| row.p10_ms)),
        column("p90_ms", rows.iter().map(|row| row.p90_ms)),
        column("mad_ms", rows.iter().map(|row| row.mad_ms)),
        column("nested_in", rows.iter().map(|row| row.nested_in.as_deref())),
    ]
}

fn idle(analysis: &Analysis) -> Vec<Column> {
    let gaps = |gpu| -> Vec<(&GpuTime, &IdleGap)> {
        let gpu: &GpuTime = gpu;
        gpu.idle.iter().map(|gap| (gpu, gap)).collect()
    };
    let rows: Vec<(&GpuTime, &IdleGap)> = analysis.gpus.iter().flat_map(gaps).collect();
    vec![
        column("run", rows.iter().map(|(gpu, _)| gpu.run)),
        column("gpu", rows.iter().map(|(gpu, _)| gpu.gpu)),
        column("start_ms", rows.iter().map(|(_, gap)| gap.start_ms)),
        column("end_ms", rows.iter().map(|(_, gap)| gap.end_ms)),
        column("ms", rows.iter().map(|(_, gap)| gap.ms)),
        column("cause", rows.iter().map(|(_, gap)| gap.cause.as_str())),
        column(
            "confidence",
            rows.iter().map(|(_, gap)| sureness(gap.confidence)),
        ),
        column(
            "line",
            rows.iter().map(|(_, gap)| gap.lines.first().copied()),
        ),
    ]
}
