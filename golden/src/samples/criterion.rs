//! Criterion's results: a `sample.json`, or the message stream of `cargo criterion`.
//!
//! One process measured them, so all of them are one run. A benchmark is a phase, a sample (total
//! time over its iterations) a time. Criterion checks no proof: its times are unverified.
//!
//! A `sample.json` does not say which benchmark it is of. The `benchmark.json` beside it does, or
//! else its path: `<run>/criterion/<group>/<benchmark>/new/sample.json`.

use std::io::BufRead;

use serde::Deserialize;

use super::{Sample, Samples};
use crate::GoldenError;

/// One message of the stream, or the whole of a `sample.json`; fields of both.
#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default, alias = "iters")]
    iteration_count: Vec<f64>,
    #[serde(default, alias = "times")]
    measured_values: Vec<f64>,
    #[serde(default)]
    unit: Option<String>,
}

/// Where the samples of a file belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Benchmark {
    /// The run: one process, which may have written many such files.
    pub run: String,
    /// The benchmark, where the file itself does not name it.
    pub phase: String,
}

/// What a benchmark is called that nothing names: several such files are runs of it.
const UNNAMED: &str = "benchmark";

/// What `benchmark.json` says.
#[derive(Deserialize)]
struct Beside {
    full_id: String,
}

impl Benchmark {
    /// From the path of a file, and the text of the `benchmark.json` beside it if there is one.
    ///
    /// Files below one folder `criterion` are one run, called after what stands before it (and
    /// `base` where they are of the run before). Elsewhere each file is a run of its own.
    #[must_use]
    pub fn at(path: &str, beside: Option<&str>) -> Self {
        let said = beside.and_then(|text| serde_json::from_str::<Beside>(text).ok());
        let parts: Vec<&str> = path.split('/').collect();
        let below = match parts.as_slice() {
            [folders @ .., which @ ("new" | "base"), "sample.json"] => Some((folders, *which)),
            _ => None,
        };
        let Some((folders, which)) = below else {
            let above = match parts.as_slice() {
                [.., folder, "sample.json"] if !matches!(*folder, "" | "." | "..") => Some(*folder),
                _ => None,
            };
            let name = said.map(|said| said.full_id);
            let phase = name.or_else(|| above.map(str::to_owned));
            return Self {
                run: path.to_owned(),
                phase: phase.unwrap_or_else(|| UNNAMED.to_owned()),
            };
        };
        let root = folders.iter().rposition(|part| *part == "criterion");
        let (before, names) = match root {
            Some(at) => (&folders[..at], &folders[at + 1..]),
            None => folders.split_at(folders.len().saturating_sub(1)),
        };
        let mut run: Vec<&str> = before
            .iter()
            .copied()
            .filter(|part| *part != "target")
            .collect();
        if which == "base" {
            run.push(which);
        }
        let run = run.join("/");
        let name = said.map_or_else(|| names.join("/"), |said| said.full_id);
        Self {
            run: if run.is_empty() {
                "criterion".to_owned()
            } else {
                run
            },
            phase: if name.is_empty() {
                UNNAMED.to_owned()
            } else {
                name
            },
        }
    }
}

/// Reads Criterion's JSON.
///
/// # Errors
/// A stream that breaks off or is not JSON.
pub fn read_criterion(reader: impl BufRead, of: &Benchmark) -> Result<Samples, GoldenError> {
    let mut samples = Samples::default();
    let messages = serde_json::Deserializer::from_reader(reader).into_iter::<Message>();
    for (number, message) in (1_u64..).zip(messages) {
        let message = message.map_err(|error| GoldenError::Format {
            expected: "criterion's sample.json or message stream",
            found: format!("{error}"),
        })?;
        if message
            .reason
            .as_deref()
            .is_some_and(|reason| reason != "benchmark-complete")
        {
            continue;
        }
        take(&message, number, of, &mut samples);
    }
    Ok(samples)
}

fn take(message: &Message, number: u64, of: &Benchmark, samples: &mut Samples) {
    let to_ms = match message.unit.as_deref() {
        None | Some("ns") => 1e-6,
        Some("us" | "µs") => 1e-3,
        Some("ms") => 1.0,
        Some("s") => 1e3,
        Some(other) => {
            samples.note(number, format!("unit {other:?} is not a time"));
            return;
        }
    };
    if message.iteration_count.len() != message.measured_values.len() {
        let (iterations, values) = (message.iteration_count.len(), message.measured_values.len());
        samples.note(
            number,
            format!("{iterations} iteration counts for {values} values"),
        );
        return;
    }
    for (iterations, total) in message.iteration_count.iter().zip(&message.measured_values) {
        samples.push(Sample {
            run: of.run.clone(),
            phase: message.id.clone().unwrap_or_else(|| of.phase.clone()),
            partition: None,
            ms: total / iterations * to_ms,
            verified: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(run: &str, phase: &str) -> Benchmark {
        Benchmark {
            run: run.to_owned(),
            phase: phase.to_owned(),
        }
    }

    #[test]
    fn a_file_is_placed_by_its_path_and_its_neighbour() {
        let beside = r#"{"group_id":"ntt","function_id":"cpu","full_id":"ntt/cpu/2^18","x":1}"#;
        for (path, beside, run, phase) in [
            (
                "target/criterion/ntt/cpu/new/sample.json",
                None,
                "criterion",
                "ntt/cpu",
            ),
            (
                "target/criterion/ntt/new/sample.json",
                None,
                "criterion",
                "ntt",
            ),
            (
                "run1/target/criterion/ntt/cpu/new/sample.json",
                None,
                "run1",
                "ntt/cpu",
            ),
            (
                "/b/run2/criterion/ntt/cpu/new/sample.json",
                None,
                "/b/run2",
                "ntt/cpu",
            ),
            (
                "criterion/ntt/cpu/base/sample.json",
                None,
                "base",
                "ntt/cpu",
            ),
            (
                "criterion/ntt/cpu_2_18/new/sample.json",
                Some(beside),
                "criterion",
                "ntt/cpu/2^18",
            ),
            (
                "criterion/ntt/cpu/new/sample.json",
                Some("{}"),
                "criterion",
                "ntt/cpu",
            ),
            ("old/ntt/new/sample.json", None, "old", "ntt"),
            ("ntt/sample.json", None, "ntt/sample.json", "ntt"),
            ("sample.json", Some(beside), "sample.json", "ntt/cpu/2^18"),
            ("run1.json", None, "run1.json", "benchmark"),
            ("./sample.json", None, "./sample.json", "benchmark"),
        ] {
            assert_eq!(Benchmark::at(path, beside), of(run, phase), "{path}");
        }
    }

    #[test]
    fn a_sample_file() {
        let text = r#"{"sampling_mode":"Linear","iters":[1.0,2.0],"times":[1000000.0,2200000.0]}"#;
        let set = read_criterion(text.as_bytes(), &of("r", "ntt")).unwrap();
        let ms = &set.runs[0].phases["ntt"].ms;
        assert!(
            (ms[0] - 1.0).abs() < 1e-12 && (ms[1] - 1.1).abs() < 1e-12,
            "{ms:?}"
        );
        assert_eq!(set.runs[0].phases["ntt"].verified, [false, false]);
    }

    #[test]
    fn a_message_stream() {
        let text = concat!(
            r#"{"reason":"group-complete","group_name":"g","benchmarks":["g/a"]}"#,
            "\n",
            r#"{"reason":"benchmark-complete","id":"g/a","unit":"us","#,
            r#""iteration_count":[10],"measured_values":[30.0]}"#,
            "\n",
            r#"{"reason":"benchmark-complete","id":"g/b","unit":"ns","#,
            r#""iteration_count":[10],"measured_values":[]}"#,
            "\n",
            r#"{"reason":"benchmark-complete","id":"g/c","unit":"cycles","#,
            r#""iteration_count":[1],"measured_values":[1]}"#,
        );
        let set = read_criterion(text.as_bytes(), &of("r", "x")).unwrap();
        assert_eq!(set.runs[0].phases.len(), 1);
        assert!((set.runs[0].phases["g/a"].ms[0] - 0.003).abs() < 1e-12);
        assert_eq!(set.anomaly_count, 2);
        assert!(read_criterion(&b"{\"iters\":"[..], &of("r", "x")).is_err());
    }
}
