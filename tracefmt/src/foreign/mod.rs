//! Timings of other programs: what bellperson, lotus, supraseal and other provers print of their
//! own phases. They are no part of an engine's run and count in none of its figures; a log that
//! holds nothing else is told by them instead of by silence.
//!
//! Durations are taken as the lines state them; the wait from a prover's start to its first use
//! of the GPU, and the time between taking and giving back the GPU lock, are the distance of two
//! stamps of one program and marked so.

mod duration;
mod phrase;

use std::collections::BTreeMap;

pub use duration::parse as parse_duration;

use crate::grammar;
use crate::record::LogLine;
use crate::scan::{Class, Line, Sink};

/// Different timings kept at most.
const ROWS_MAX: usize = 256;

/// A timing of another program, over all its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignTiming {
    /// The program or library, as its lines name it; empty where they do not.
    pub who: String,
    /// What took so long, in the line's own words.
    pub what: String,
    /// How many lines say so.
    pub n: u64,
    /// Sum, milliseconds.
    pub total_ms: f64,
    /// Largest, milliseconds.
    pub max_ms: f64,
    /// The line of the largest, 1-based.
    pub line: u64,
    /// Whether it is the distance of two stamps and not what a line states.
    pub between: bool,
}

/// A sink that collects them.
#[derive(Debug, Default)]
pub struct Timings {
    rows: BTreeMap<(String, String), ForeignTiming>,
    /// When a prover started and has not used the GPU since, microseconds.
    started: Option<i64>,
    /// When the GPU lock was taken.
    locked: Option<i64>,
}

impl Timings {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// All timings, in the order of the log.
    pub fn finish(self) -> Vec<ForeignTiming> {
        let mut rows: Vec<ForeignTiming> = self.rows.into_values().collect();
        rows.sort_by_key(|row| row.line);
        rows
    }

    fn add(&mut self, (who, what): (&str, &str), ms: f64, line: u64, between: bool) {
        let key = (who.to_owned(), what.to_owned());
        if self.rows.len() >= ROWS_MAX && !self.rows.contains_key(&key) {
            return;
        }
        let row = self.rows.entry(key).or_insert_with(|| ForeignTiming {
            who: who.to_owned(),
            what: what.to_owned(),
            n: 0,
            total_ms: 0.0,
            max_ms: 0.0,
            line,
            between,
        });
        row.n += 1;
        row.total_ms += ms;
        if ms > row.max_ms {
            (row.max_ms, row.line) = (ms, line);
        }
    }

    fn log(&mut self, log: &LogLine<'_>, line: u64) {
        let who = log.target.split([':', '/']).next().unwrap_or_default();
        if let Some((what, ms)) = phrase::of(&log.message) {
            self.add((who, what), ms, line, false);
        }
        for (key, value) in &log.fields {
            if let Some(ms) = phrase::of_field(key, value) {
                self.add((who, key), ms, line, false);
            }
        }
        if let Some(stamp) = log.stamp {
            self.steps(&log.message, who, stamp.unix_us, line);
        }
    }

    /// The start of a prover, its first use of the GPU, its lock.
    fn steps(&mut self, message: &str, who: &str, us: i64, line: u64) {
        let has = |words: &str| message.contains(words);
        let ms = |since: i64| us.saturating_sub(since) as f64 / 1000.0;
        if has("snark_proof:start") || has("is being used!") {
            self.started.get_or_insert(us);
        } else if has("GPU is available") || has("Acquiring") && has("lock") {
            if let Some(start) = self.started.take() {
                let what = "from the prover's start to its first use of the GPU";
                self.add((who, what), ms(start), line, true);
            }
        } else if has("lock acquired") {
            self.locked = Some(us);
        } else if has("lock released")
            && let Some(start) = self.locked.take()
        {
            self.add((who, "GPU lock held"), ms(start), line, true);
        }
    }
}

impl Sink for Timings {
    fn line(&mut self, line: &Line<'_>) {
        if !matches!(line.class, Class::EngineOther | Class::Foreign) {
            return;
        }
        if let Some(log) = grammar::parse_log(line.text) {
            self.log(&log, line.number);
        } else if let Ok(text) = std::str::from_utf8(line.text)
            && let Some((what, ms)) = phrase::of(text)
        {
            self.add(("", what), ms, line.number, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scan_slice;

    fn timings(log: &str) -> Vec<ForeignTiming> {
        let mut sink = Timings::new();
        scan_slice(log.as_bytes(), &mut sink);
        sink.finish()
    }

    fn rows(log: &str) -> Vec<(String, String, u64, i64)> {
        let us = |ms: f64| format!("{:.0}", ms * 1000.0).parse().unwrap();
        let rows = timings(log).into_iter();
        rows.map(|row| (row.who, row.what, row.line, us(row.max_ms)))
            .collect()
    }

    fn row(who: &str, what: &str, line: u64, us: i64) -> (String, String, u64, i64) {
        (who.to_owned(), what.to_owned(), line, us)
    }

    #[test]
    fn a_library_states_its_phases() {
        let log = "2022-11-24T23:07:17.750 INFO bellperson::groth16::prover > Bellperson 0.22.0 is \
            being used!\n\
            2022-11-24T23:07:55.019 INFO bellperson::groth16::prover > synthesis time: \
            37.268746346s\n\
            2022-11-24T23:07:59.294 INFO bellperson::gpu::locks > GPU is available for FFT!\n";
        let wait = "from the prover's start to its first use of the GPU";
        assert_eq!(
            rows(log),
            [
                row("bellperson", "synthesis time", 2, 37_268_746),
                row("bellperson", wait, 3, 41_544_000),
            ]
        );
        assert!(timings(log)[1].between && !timings(log)[0].between);
    }

    #[test]
    fn a_wait_over_midnight_is_a_wait() {
        let log = "2020-07-30T23:43:13.221 INFO filecoin_proofs::api::seal > snark_proof:start\n\
            2020-07-30T23:43:13.344 INFO bellperson::groth16::prover > Bellperson 0.9.2 is being \
            used!\n\
            2020-07-31T01:01:29.177 DEBUG bellperson::gpu::locks > Acquiring GPU lock...\n\
            2020-07-31T01:01:29.177 DEBUG bellperson::gpu::locks > GPU lock acquired!\n\
            2020-07-31T01:01:44.177 DEBUG bellperson::gpu::locks > GPU lock released!\n\
            2020-07-31T01:01:45.177 DEBUG bellperson::gpu::locks > GPU lock released!\n";
        let wait = "from the prover's start to its first use of the GPU";
        assert_eq!(
            rows(log),
            [
                row("bellperson", wait, 3, 4_695_956_000),
                row("bellperson", "GPU lock held", 5, 15_000_000),
            ]
        );
    }

    #[test]
    fn keys_of_a_miner_are_trimmed_and_in_seconds() {
        let log = "2021-04-03T15:13:58.116+0800\tWARN\tminer\tminer/miner.go:508\tCAUTION: slow\t\
            {\"tProof \": 47.5, \"tDrand \": 0.001, \"round\": 7, \"tookMilliseconds\": 12}\n";
        assert_eq!(
            rows(log),
            [
                row("miner", "tDrand", 1, 1000),
                row("miner", "tProof", 1, 47_500_000),
                row("miner", "tookMilliseconds", 1, 12_000),
            ]
        );
    }

    #[test]
    fn lines_without_a_logger_count_too() {
        let log = "seal: commit phase 2: 16m5.5s (33.93 MiB/s)\n\
            generate candidates: 242.142\u{b5}s (129.1 TiB/s)\n\
            20240517_045204_374752 b668064 <-- CIRCOM_LOAD done: 0.002529 s\n\
            Multiexp A: 1816 ms\n\
            hello: world\nport: 8080\n";
        assert_eq!(
            rows(log),
            [
                row("", "seal: commit phase 2", 1, 965_500_000),
                row("", "generate candidates", 2, 242),
                row("", "CIRCOM_LOAD", 3, 2529),
                row("", "Multiexp A", 4, 1_816_000),
            ]
        );
    }

    #[test]
    fn repeats_are_one_row_with_their_sum() {
        let line = "2021-02-17T10:51:21.309 INFO bellperson::groth16::prover > ZQ: a_s end: 2.5s\n";
        let all = timings(&line.repeat(3));
        assert_eq!((all.len(), all[0].n), (1, 3));
        assert!((all[0].total_ms - 7500.0).abs() < 1e-9 && (all[0].max_ms - 2500.0).abs() < 1e-9);
    }
}
