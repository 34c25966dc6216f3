//! What the golden verbs measure from: traces and files of times, put together under one key.

use std::io::{BufReader, Read};

use clap::{Args, ValueEnum};
use golden::GoldenError;
use golden::evidence::Rules;
use golden::key::{Difference, Key};
use golden::samples::{self, Benchmark, CsvColumns, Format, Samples};
use tracefmt::input::Opened;
use tracefmt::run::{self, Reading, Trace};

use crate::error::CliError;
use crate::inputs::{self, Source};

/// Inputs of the golden verbs and how they are read.
#[derive(Args, Clone, Debug)]
pub(super) struct Measured {
    /// Traces of any dialect, or times as cuzk.samples/1, Criterion or hyperfine JSON, or CSV; -
    /// is standard input
    #[arg(value_name = "INPUT")]
    pub(super) inputs: Vec<String>,
    /// How to read the inputs
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    input_format: Form,
    /// What the inputs do not say of themselves, or say wrong, such as circuit=porep-32g; another
    /// name lists the fields; may be repeated
    #[arg(long = "key", value_name = "FIELD=VALUE", value_parser = pair)]
    key: Vec<(String, String)>,
    /// Which column of a CSV is run, phase, partition, verified or commit, and the one of the
    /// times with its unit (time=elapsed:us); may be repeated
    #[arg(long = "column", value_name = "ROLE=COLUMN", value_parser = pair)]
    column: Vec<(String, String)>,
    /// Count times of proofs that nobody verified; the verdict says so
    #[arg(long)]
    allow_unverified: bool,
    /// Times of each phase dropped at the beginning of a run
    #[arg(long, value_name = "N", default_value_t = 1)]
    warmup: usize,
}

/// Forms of input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Told by the first bytes
    #[default]
    Auto,
    /// A log of any dialect
    Trace,
    /// cuzk.samples/1
    Samples,
    /// Criterion's sample.json, or the message stream of cargo criterion
    Criterion,
    /// Hyperfine's --export-json
    Hyperfine,
    /// Comma-separated with a header line
    Csv,
}

impl Form {
    /// As the first bytes tell; a trace if they tell nothing else.
    fn of(self, head: &[u8]) -> Option<Format> {
        match self {
            Self::Auto => Format::sniff(head),
            Self::Trace => None,
            Self::Samples => Some(Format::Samples),
            Self::Criterion => Some(Format::Criterion),
            Self::Hyperfine => Some(Format::Hyperfine),
            Self::Csv => Some(Format::Csv),
        }
    }
}

/// Parses `NAME=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// Bytes of an input that its form is told by.
const HEAD: u64 = 64 << 10;

impl Measured {
    /// How samples become evidence.
    pub(super) const fn rules(&self) -> Rules {
        Rules {
            warmup: self.warmup,
            allow_unverified: self.allow_unverified,
            injected: false,
        }
    }

    /// The columns, where no input is there that they could speak of: then they are a history's.
    pub(super) fn columns_if_alone(&self) -> Vec<(String, String)> {
        if self.inputs.is_empty() {
            self.column.clone()
        } else {
            Vec::new()
        }
    }

    /// Reads all inputs and puts them together.
    ///
    /// # Errors
    /// No input, one that cannot be read or is not of its form, or inputs that were measured on
    /// different things.
    pub(super) fn read(&self) -> Result<Samples, CliError> {
        if self.inputs.is_empty() {
            return Err(CliError::Usage(
                "no input: name the logs or files of times that were measured".to_owned(),
            ));
        }
        let columns = columns(&self.column)?;
        let mut traces: Vec<Reading> = Vec::new();
        let mut sets: Vec<(String, Samples)> = Vec::new();
        let mut criterion: Option<Samples> = None;
        let mut barren: Vec<String> = Vec::new();
        for source in inputs::open_all(&self.inputs)? {
            let (head, opened) = open(&source)?;
            match self.form(&head) {
                None => {
                    let index = u32::try_from(traces.len()).unwrap_or(u32::MAX);
                    let reading = run::read_opened(index, source.name.clone(), opened)
                        .map_err(|error| CliError::Read(error.to_string()))?;
                    if is_empty(&reading) {
                        barren.push(source.name);
                        continue;
                    }
                    traces.push(reading);
                }
                Some(Format::Criterion) => {
                    let set = times(Format::Criterion, opened, &columns, &source)?;
                    barren.extend(set.runs.is_empty().then(|| source.name.clone()));
                    criterion.get_or_insert_default().merge(set);
                }
                Some(format) => {
                    let set = times(format, opened, &columns, &source)?;
                    if set.runs.is_empty() {
                        barren.push(source.name.clone());
                        if set.key == Key::default() {
                            continue;
                        }
                    }
                    sets.push((source.name.clone(), set));
                }
            }
        }
        if !traces.is_empty() {
            let trace = run::join(traces).0;
            let set = self.of_trace(&trace)?;
            sets.insert(0, ("the traces".to_owned(), set));
        }
        sets.extend(criterion.map(|set| ("Criterion's samples".to_owned(), set)));
        let mut all = self.together(sets)?;
        all.barren = barren;
        Ok(all)
    }

    /// The form of an input; none for a trace. Who names columns means a table.
    fn form(&self, head: &[u8]) -> Option<Format> {
        let table = self.input_format == Form::Auto && !self.column.is_empty();
        self.input_format
            .of(head)
            .or_else(|| table.then_some(Format::Csv))
    }

    fn of_trace(&self, trace: &Trace) -> Result<Samples, CliError> {
        let told = |field: &str| self.key.iter().any(|(name, _)| name == field);
        let mut differ = samples::runs_differ(trace);
        differ.retain(|difference| !told(difference.field));
        if !differ.is_empty() {
            return Err(mixed("runs of the traces", &differ));
        }
        Ok(samples::of_trace(trace))
    }

    /// One set under one key.
    fn together(&self, sets: Vec<(String, Samples)>) -> Result<Samples, CliError> {
        let mut all: Option<Samples> = None;
        for (name, mut set) in sets {
            self.complete(&mut set.key)?;
            match &mut all {
                None => all = Some(set),
                Some(all) => {
                    let differ = all.key.differences(&set.key);
                    if !differ.is_empty() {
                        return Err(mixed(&format!("{name} and what stands before it"), &differ));
                    }
                    all.append(set);
                }
            }
        }
        Ok(all.unwrap_or_default())
    }

    fn complete(&self, key: &mut Key) -> Result<(), CliError> {
        for (field, value) in &self.key {
            key.set(field, value)
                .map_err(|error| CliError::Usage(format!("--key: {error}")))?;
        }
        Ok(())
    }
}

/// Whether a log says nothing of any job: prose, a foreign table, an empty file.
fn is_empty(reading: &Reading) -> bool {
    let silent = |run: &run::Run| {
        let events = run.jobs.len() + run.tasks.len() + run.calls.len() + run.marks.len();
        events == 0
    };
    reading.part.benches.is_empty() && reading.part.runs.iter().all(silent)
}

fn mixed(what: &str, differ: &[Difference]) -> CliError {
    let value = |side: &Option<String>| side.clone().unwrap_or_else(|| "unknown".to_owned());
    let fields: Vec<String> = differ
        .iter()
        .map(|field| {
            let (a, b) = (value(&field.baseline), value(&field.candidate));
            format!("{} ({a}, {b})", field.field)
        })
        .collect();
    CliError::Usage(format!(
        "{what} were not measured on the same thing: {}; give them apart, or say what holds \
         for all with --key FIELD=VALUE",
        fields.join(", ")
    ))
}

/// Opens an input and looks at its beginning.
fn open(source: &Source) -> Result<(Vec<u8>, Opened<'static>), CliError> {
    let failed = |error: std::io::Error| {
        CliError::input(&source.name, &error, "a file that can be read to its end")
    };
    let mut head = Vec::new();
    let first = Opened::open(&source.path).map_err(failed)?;
    first.take(HEAD).read_to_end(&mut head).map_err(failed)?;
    Ok((head, Opened::open(&source.path).map_err(failed)?))
}

fn times(
    format: Format,
    opened: Opened<'_>,
    columns: &CsvColumns,
    source: &Source,
) -> Result<Samples, CliError> {
    let run = source.name.as_str();
    let reader = BufReader::with_capacity(1 << 16, opened);
    let read = match format {
        Format::Csv => samples::read_csv(reader, columns, run),
        Format::Criterion => samples::read_criterion(reader, &benchmark(source)),
        other => other.read(reader, run),
    };
    read.map_err(|error| match error {
        GoldenError::Format { expected, found } => CliError::input(run, &found, expected),
        other => CliError::Read(format!("{run}: {other}")),
    })
}

/// Which benchmark a file of Criterion's is of, with the word of the file beside it.
fn benchmark(source: &Source) -> Benchmark {
    let beside = source.path.with_file_name("benchmark.json");
    let text = std::fs::read_to_string(beside).ok();
    Benchmark::at(&source.name, text.as_deref())
}

/// The columns as asked for; the rest by their usual names.
fn columns(asked: &[(String, String)]) -> Result<CsvColumns, CliError> {
    let mut columns = CsvColumns::default();
    for (role, column) in asked {
        let place = match role.as_str() {
            "run" => &mut columns.run,
            "phase" => &mut columns.phase,
            "partition" => &mut columns.partition,
            "verified" => &mut columns.verified,
            "commit" => &mut columns.commit,
            "time" => {
                let (name, factor) = timed(column)?;
                columns.asked.push(name.clone());
                columns.time = Some((name, factor));
                continue;
            }
            other => {
                return Err(CliError::Usage(format!(
                    "--column {other}=...: expected run, phase, time, partition, verified or commit"
                )));
            }
        };
        place.clone_from(column);
        columns.asked.push(column.clone());
    }
    Ok(columns)
}

/// A column of times and the factor from its unit to milliseconds.
pub(super) fn timed(column: &str) -> Result<(String, f64), CliError> {
    let (name, unit) = column.rsplit_once(':').unwrap_or((column, column));
    let factor = match unit {
        "ns" => 1e-6,
        "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        _ => {
            return Err(CliError::Usage(format!(
                "column {column}: expected its unit behind a colon, as in {name}:ms (ns, us, ms, s)"
            )));
        }
    };
    Ok((name.to_owned(), factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_units() {
        let asked = [("phase", "bench"), ("time", "p50:us"), ("run", "run_index")];
        let asked: Vec<_> = asked
            .iter()
            .map(|(role, column)| ((*role).to_owned(), (*column).to_owned()))
            .collect();
        let found = columns(&asked).unwrap();
        assert_eq!(
            (found.phase.as_str(), found.run.as_str()),
            ("bench", "run_index")
        );
        assert_eq!(found.time, Some(("p50".to_owned(), 1e-3)));
        assert_eq!(timed("ms").unwrap(), ("ms".to_owned(), 1.0));
        assert!(
            timed("elapsed")
                .unwrap_err()
                .to_string()
                .contains("elapsed:ms")
        );
        let wrong = [("when".to_owned(), "x".to_owned())];
        assert!(
            columns(&wrong)
                .unwrap_err()
                .to_string()
                .contains("--column when")
        );
    }

    #[test]
    fn pairs() {
        assert_eq!(pair("a=b=c").unwrap(), ("a".to_owned(), "b=c".to_owned()));
        for wrong in ["a", "=b", "a="] {
            assert!(pair(wrong).is_err(), "{wrong}");
        }
    }
}
