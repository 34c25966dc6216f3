//! The tables: shapes, nulls, and files that read back as the same frame.
#![cfg(feature = "frames")]

mod sim;

use std::io::Cursor;

use analyze::frames::{Format, Table, frame, write};
use polars::prelude::{CsvReader, ParquetReader, SerReader};
use sim::{ODD_ID, Size};

#[test]
fn every_value_has_its_row() {
    let (trace, analysis) = sim::run(Size::SMALL);
    for (table, rows) in [
        (Table::Events, 50 * 6 + 5),
        (Table::Regions, 50),
        (Table::Phases, analysis.phases.len()),
        (Table::Idle, analysis.gpus[0].idle.len()),
    ] {
        let frame = frame(table, &trace, &analysis).unwrap();
        assert_eq!(frame.height(), rows, "{}", table.as_str());
        assert!(frame.width() >= 8);
    }
}

#[test]
fn regions_have_a_column_a_phase_and_keep_odd_ids() {
    let (trace, analysis) = sim::run(Size::SMALL);
    let frame = frame(Table::Regions, &trace, &analysis).unwrap();
    let phase = frame.column("phase.ntt_msm_h").unwrap().f64().unwrap();
    let expected: f64 = analysis
        .regions
        .iter()
        .filter_map(|r| r.phases.get("ntt_msm_h"))
        .sum();
    let sum: f64 = phase.iter().flatten().sum();
    assert!((sum - expected).abs() < 1e-6);
    let jobs = frame.column("job").unwrap().str().unwrap();
    assert_eq!(
        jobs.iter().flatten().filter(|job| *job == ODD_ID).count(),
        10
    );
}

#[test]
fn parquet_reads_back_as_the_same_frame() {
    let (trace, analysis) = sim::run(Size::SMALL);
    for table in Table::ALL {
        let mut file = Vec::new();
        write(table, (&trace, &analysis), Format::Parquet, &mut file).unwrap();
        let back = ParquetReader::new(Cursor::new(file)).finish().unwrap();
        let made = frame(table, &trace, &analysis).unwrap();
        assert!(back.equals_missing(&made), "{}: {back:?}", table.as_str());
    }
}

#[test]
fn csv_quotes_what_must_be_quoted() {
    let (trace, analysis) = sim::run(Size::SMALL);
    let mut file = Vec::new();
    write(Table::Events, (&trace, &analysis), Format::Csv, &mut file).unwrap();
    let back = CsvReader::new(Cursor::new(file)).finish().unwrap();
    assert_eq!(back.height(), 305);
    let jobs = back.column("job").unwrap().str().unwrap();
    assert_eq!(
        jobs.iter().flatten().filter(|job| *job == ODD_ID).count(),
        61
    );
}

#[test]
fn an_empty_trace_gives_empty_tables() {
    let (mut trace, mut analysis) = sim::run(Size::SMALL);
    trace.runs.clear();
    analysis.regions.clear();
    analysis.gpus.clear();
    analysis.phases.clear();
    for table in Table::ALL {
        let mut file = Vec::new();
        write(table, (&trace, &analysis), Format::Parquet, &mut file).unwrap();
        assert!(file.starts_with(b"PAR1"));
        assert_eq!(frame(table, &trace, &analysis).unwrap().height(), 0);
    }
}
