//! Hyperfine's `--export-json`: every execution is a process, so every time is a run of its own.
//!
//! A command is a phase. An execution that exited with a code other than 0 makes its run
//! incomplete. Hyperfine checks no proof: its times are unverified.
//!
//! Hyperfine repeats a quick command more often than a slow one. Runs of a set have the same
//! phases, so the executions of a command beyond the fewest of all are left out, and that is said.

use std::io::BufRead;

use serde::Deserialize;

use super::{Sample, Samples};
use crate::GoldenError;

#[derive(Debug, Deserialize)]
struct Export {
    results: Vec<Measured>,
}

#[derive(Debug, Deserialize)]
struct Measured {
    command: String,
    #[serde(default)]
    times: Vec<f64>,
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
}

/// Reads an export; the runs are named `<run>-0`, `<run>-1`, ...
///
/// # Errors
/// A document that is not such an export.
pub fn read_hyperfine(reader: impl BufRead, run: &str) -> Result<Samples, GoldenError> {
    let export: Export = serde_json::from_reader(reader).map_err(|error| GoldenError::Format {
        expected: "hyperfine's --export-json",
        found: format!("{error}"),
    })?;
    let mut samples = Samples::default();
    let counts = || export.results.iter().map(|result| result.times.len());
    let fewest = counts().filter(|count| *count > 0).min().unwrap_or(0);
    let more: usize = counts().map(|count| count.saturating_sub(fewest)).sum();
    if more > 0 {
        samples.remarks.push(format!(
            "{more} executions left out: some command was executed {fewest} times only"
        ));
    }
    for result in &export.results {
        if result.times.is_empty() {
            samples.note(0, format!("no times for {:?}", result.command));
        }
        for (at, seconds) in result.times.iter().take(fewest).enumerate() {
            let id = format!("{run}-{at}");
            samples.push(Sample {
                run: id.clone(),
                phase: result.command.clone(),
                partition: None,
                ms: seconds * 1e3,
                verified: false,
            });
            if result
                .exit_codes
                .get(at)
                .is_some_and(|code| *code != Some(0))
            {
                samples.run_mut(&id).complete = false;
            }
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_command_has_no_more_runs_than_a_slow_one() {
        let text = r#"{"results":[
            {"command":"prove","times":[1.5,1.6],"exit_codes":[0,0],"user":1.0,
             "memory_usage_byte":[1,2],"parameters":{"threads":"4"}},
            {"command":"verify","times":[0.1,0.2,0.3,0.4],"exit_codes":[0,0,0,1]}]}"#;
        let set = read_hyperfine(text.as_bytes(), "h").unwrap();
        assert_eq!(set.runs.len(), 2);
        assert!(
            set.runs
                .iter()
                .all(|run| run.complete && run.phases.len() == 2)
        );
        assert!(
            set.remarks[0].starts_with("2 executions left out"),
            "{:?}",
            set.remarks
        );
        assert_eq!(set.anomaly_count, 0);
    }

    #[test]
    fn every_execution_is_a_run() {
        let text = r#"{"results":[
            {"command":"prove","mean":1.0,"times":[1.5,1.6,1.7],"exit_codes":[0,1,null]},
            {"command":"verify","times":[0.1,0.2,0.3],"exit_codes":[0,0,0]},
            {"command":"nothing","times":[]}]}"#;
        let set = read_hyperfine(text.as_bytes(), "h").unwrap();
        assert_eq!(set.runs.len(), 3);
        assert!((set.runs[0].phases["prove"].ms[0] - 1500.0).abs() < 1e-9);
        let complete: Vec<_> = set.runs.iter().map(|run| run.complete).collect();
        assert_eq!(complete, [true, false, false]);
        assert_eq!(set.anomaly_count, 1);
        assert!(read_hyperfine(&b"[]"[..], "h").is_err());
    }
}
