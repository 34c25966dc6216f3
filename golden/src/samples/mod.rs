//! Timings as they come in, grouped by run and phase, whatever file they were in.
//!
//! Readers count and locate what they cannot use ([`Anomaly`]) and go on; they judge nothing.
//! Times are milliseconds and stay in recorded order, since the first ones of a run are warm-up.

mod criterion;
mod csv;
mod hyperfine;
mod jsonl;
mod trace;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::BufRead;

pub use self::criterion::{Benchmark, read_criterion};
pub use self::csv::{CsvColumns, read_csv};
pub use self::hyperfine::read_hyperfine;
pub use self::jsonl::{SCHEMA, read_jsonl, write_jsonl};
pub use self::trace::{key_of_trace, of_trace, runs_differ, write_trace};

use crate::{GoldenError, Key};

/// How many anomalies are kept with their place; the rest are only counted.
const ANOMALIES_KEPT: usize = 50;

/// One time of one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The run: one start of the process, one piece of evidence.
    pub run: String,
    /// The phase.
    pub phase: String,
    /// Partition index, where the work has partitions.
    pub partition: Option<u32>,
    /// Milliseconds.
    pub ms: f64,
    /// Whether the proof of this partition, or of its whole job, was verified.
    pub verified: bool,
}

/// The times of one phase in one run, in recorded order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Milliseconds; may hold anything a broken clock gives.
    pub ms: Vec<f64>,
    /// Per time, whether its proof was verified.
    pub verified: Vec<bool>,
    /// Largest partition index plus one; 0 where none was given.
    pub partitions: u32,
    /// Partition index of each time; empty where they are not known.
    pub indices: Vec<u32>,
}

impl Times {
    /// Verified times without partition indices.
    #[must_use]
    pub fn of_verified(ms: Vec<f64>) -> Self {
        Self {
            verified: vec![true; ms.len()],
            ms,
            partitions: 0,
            indices: Vec::new(),
        }
    }
}

/// One run: one start of the process under measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its name, unique within the set.
    pub id: String,
    /// The commit that was measured.
    pub commit: Option<String>,
    /// When, as the source wrote it.
    pub time: Option<String>,
    /// False for a run that was cut off or failed: it is no evidence of speed.
    pub complete: bool,
    /// Faults that were injected into it, as its source lists them.
    pub injected: Option<String>,
    /// Exact figures of the run, such as peak bytes.
    pub exact: BTreeMap<String, u64>,
    /// Times by phase.
    pub phases: BTreeMap<String, Times>,
}

impl Run {
    /// A complete run without times.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            commit: None,
            time: None,
            complete: true,
            injected: None,
            exact: BTreeMap::new(),
            phases: BTreeMap::new(),
        }
    }
}

/// Something in the input that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// 1-based line; 0 where the format has no lines.
    pub line: u64,
    /// What was wrong.
    pub what: String,
}

/// Runs measured under one key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// What they were measured on.
    pub key: Key,
    /// The runs, in order of first appearance.
    pub runs: Vec<Run>,
    /// The first anomalies, located.
    pub anomalies: Vec<Anomaly>,
    /// All anomalies.
    pub anomaly_count: u64,
    /// What is worth saying and forbids nothing.
    pub remarks: Vec<String>,
    /// Inputs that were named and held no time at all, such as prose or a foreign table.
    pub barren: Vec<String>,
}

impl Samples {
    /// Groups samples by run and phase.
    #[must_use]
    pub fn from_samples(key: Key, samples: impl IntoIterator<Item = Sample>) -> Self {
        let mut set = Self {
            key,
            ..Self::default()
        };
        for sample in samples {
            set.push(sample);
        }
        set
    }

    /// Adds one sample, making its run if it is new.
    pub fn push(&mut self, sample: Sample) {
        let run = self.run_mut(&sample.run);
        let times = run.phases.entry(sample.phase).or_default();
        times.ms.push(sample.ms);
        times.verified.push(sample.verified);
        if let Some(partition) = sample.partition {
            times.partitions = times.partitions.max(partition.saturating_add(1));
            times.indices.push(partition);
        }
    }

    /// The run of that name, made if it is new.
    pub fn run_mut(&mut self, id: &str) -> &mut Run {
        // Samples of a run mostly stand together: look at the last run first.
        let at = self
            .runs
            .iter()
            .rposition(|run| run.id == id)
            .unwrap_or_else(|| {
                self.runs.push(Run::new(id));
                self.runs.len() - 1
            });
        &mut self.runs[at]
    }

    /// Counts something unusable.
    pub fn note(&mut self, line: u64, what: String) {
        self.anomaly_count += 1;
        if self.anomalies.len() < ANOMALIES_KEPT {
            self.anomalies.push(Anomaly { line, what });
        }
    }

    /// Adds the phases of another set to the runs of the same names: files that one process
    /// wrote. A phase that such a run has already is another run, as in [`Samples::append`].
    pub fn merge(&mut self, mut other: Self) {
        for run in &mut other.runs {
            let Some(known) = self.runs.iter_mut().find(|known| known.id == run.id) else {
                continue;
            };
            let phases = std::mem::take(&mut run.phases);
            for (name, times) in phases {
                match known.phases.entry(name) {
                    Entry::Vacant(free) => {
                        free.insert(times);
                    }
                    Entry::Occupied(taken) => {
                        run.phases.insert(taken.key().clone(), times);
                    }
                }
            }
        }
        let taken = |run: &Run| self.runs.iter().any(|known| known.id == run.id);
        other
            .runs
            .retain(|run| !run.phases.is_empty() || !taken(run));
        self.append(other);
    }

    /// Appends the runs of another set. A key that differs is for the caller to refuse; a run
    /// name that is taken gets a suffix.
    pub fn append(&mut self, other: Self) {
        self.remarks.extend(other.remarks);
        self.barren.extend(other.barren);
        for mut run in other.runs {
            let wanted = run.id.clone();
            let mut n = 2;
            while self.runs.iter().any(|known| known.id == run.id) {
                run.id = format!("{wanted}-{n}");
                n += 1;
            }
            self.runs.push(run);
        }
        self.anomaly_count += other.anomaly_count;
        let room = ANOMALIES_KEPT.saturating_sub(self.anomalies.len());
        self.anomalies
            .extend(other.anomalies.into_iter().take(room));
    }
}

/// A file format that timings come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `cuzk.samples/1`, JSON Lines.
    Samples,
    /// Criterion's `sample.json`, or its message stream.
    Criterion,
    /// Hyperfine's `--export-json`.
    Hyperfine,
    /// Comma-separated with a header line.
    Csv,
}

impl Format {
    /// Guesses the format from the beginning of a file; `None` if it is none of these.
    #[must_use]
    pub fn sniff(head: &[u8]) -> Option<Self> {
        let head = head
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(head)
            .trim_ascii_start();
        let text = String::from_utf8_lossy(head);
        let line = text.lines().next().unwrap_or("");
        if line.starts_with('{') {
            let has = |name: &str| text.contains(name);
            return if has("\"results\"") && !has("\"phase\"") {
                Some(Self::Hyperfine)
            } else if has("\"sampling_mode\"") || has("\"reason\"") {
                Some(Self::Criterion)
            } else if has("\"phase\"") || has(SCHEMA) {
                Some(Self::Samples)
            } else {
                None
            };
        }
        let named = |name: &str| line.split(',').any(|column| column.trim() == name);
        (named("phase") && !line.contains('{')).then_some(Self::Csv)
    }

    /// Reads samples of this format; `run` names the run where the format itself does not.
    ///
    /// # Errors
    /// A stream that breaks off, or a document that is not of the format at all.
    pub fn read(self, reader: impl BufRead, run: &str) -> Result<Samples, GoldenError> {
        match self {
            Self::Samples => read_jsonl(reader),
            Self::Criterion => read_criterion(reader, &Benchmark::at(run, None)),
            Self::Hyperfine => read_hyperfine(reader, run),
            Self::Csv => read_csv(reader, &CsvColumns::default(), run),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        for (head, format) in [
            ("{\"schema\":\"cuzk.samples/1\"}\n", Some(Format::Samples)),
            (
                "{\"run\":\"b0\",\"phase\":\"x\",\"ms\":1}\n",
                Some(Format::Samples),
            ),
            ("\u{feff}{\n \"results\": [\n", Some(Format::Hyperfine)),
            (
                "{\"sampling_mode\":\"Linear\",\"iters\":[1.0]",
                Some(Format::Criterion),
            ),
            (
                "{\"reason\":\"benchmark-complete\"}",
                Some(Format::Criterion),
            ),
            ("run,phase,ms\nb0,x,1\n", Some(Format::Csv)),
            ("TIMELINE,0,GPU_START,j,worker=0\n", None),
            ("{\"a\":1}", None),
            ("", None),
        ] {
            assert_eq!(Format::sniff(head.as_bytes()), format, "{head}");
        }
    }

    #[test]
    fn files_of_one_process_are_one_run() {
        let file = |run: &str, phase: &str, ms: f64| {
            let sample = Sample {
                run: run.to_owned(),
                phase: phase.to_owned(),
                partition: None,
                ms,
                verified: false,
            };
            Samples::from_samples(Key::default(), [sample])
        };
        let mut set = file("a", "ntt", 1.0);
        for (run, phase) in [("a", "msm"), ("b", "ntt"), ("b", "msm"), ("a", "ntt")] {
            set.merge(file(run, phase, 2.0));
        }
        let found: Vec<(&str, Vec<&String>)> = set
            .runs
            .iter()
            .map(|run| (run.id.as_str(), run.phases.keys().collect()))
            .collect();
        let (ntt, msm) = ("ntt".to_owned(), "msm".to_owned());
        assert_eq!(
            found,
            [
                ("a", vec![&msm, &ntt]),
                ("b", vec![&msm, &ntt]),
                ("a-2", vec![&ntt])
            ]
        );
    }

    #[test]
    fn appended_runs_keep_their_own_names() {
        let sample = |ms| Sample {
            run: "r".to_owned(),
            phase: "p".to_owned(),
            partition: Some(3),
            ms,
            verified: true,
        };
        let mut set = Samples::from_samples(Key::default(), [sample(1.0), sample(2.0)]);
        assert_eq!(set.runs[0].phases["p"].partitions, 4);
        set.append(Samples::from_samples(Key::default(), [sample(3.0)]));
        set.append(Samples::from_samples(Key::default(), [sample(4.0)]));
        let ids: Vec<_> = set.runs.iter().map(|run| run.id.as_str()).collect();
        assert_eq!(ids, ["r", "r-2", "r-3"]);
    }
}
