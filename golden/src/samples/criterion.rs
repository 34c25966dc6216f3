//! Criterion's results: a `sample.json`, or the message stream of `cargo criterion`.
//!
//! One process measured them, so all of them are one run. A benchmark is a phase, a sample (total
//! time over its iterations) a time. Criterion checks no proof: its times are unverified.

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

/// Reads Criterion's JSON. `run` names the run; a bare `sample.json` names no benchmark, so its
/// phase is called after the run too.
///
/// # Errors
/// A stream that breaks off or is not JSON.
pub fn read_criterion(reader: impl BufRead, run: &str) -> Result<Samples, GoldenError> {
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
        take(&message, number, run, &mut samples);
    }
    Ok(samples)
}

fn take(message: &Message, number: u64, run: &str, samples: &mut Samples) {
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
            run: run.to_owned(),
            phase: message.id.clone().unwrap_or_else(|| run.to_owned()),
            partition: None,
            ms: total / iterations * to_ms,
            verified: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_file() {
        let text = r#"{"sampling_mode":"Linear","iters":[1.0,2.0],"times":[1000000.0,2200000.0]}"#;
        let set = read_criterion(text.as_bytes(), "ntt").unwrap();
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
        let set = read_criterion(text.as_bytes(), "r").unwrap();
        assert_eq!(set.runs[0].phases.len(), 1);
        assert!((set.runs[0].phases["g/a"].ms[0] - 0.003).abs() < 1e-12);
        assert_eq!(set.anomaly_count, 2);
        assert!(read_criterion(&b"{\"iters\":"[..], "r").is_err());
    }
}
