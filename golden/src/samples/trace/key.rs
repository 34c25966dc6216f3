//! What a log says its times were measured on.

use std::collections::BTreeSet;

use tracefmt::run::{Run, Trace};

use crate::Key;
use crate::key::Difference;

/// The key of a trace; a field that no line gives, or in which its runs differ, is left open.
///
/// Our own traces carry `circuit`, `constraints`, `driver`, `cuda`, `clocks`, `cpu`,
/// `partition_workers`, `host_bytes`, `build_profile` and `features` as `cfg.*` of `TRACE_START`.
#[must_use]
pub fn key_of_trace(trace: &Trace) -> Key {
    key_of(&trace.runs)
}

fn key_of(all: &[Run]) -> Key {
    let runs = || all.iter();
    let jobs = || runs().flat_map(|run| &run.jobs);
    let text = |name: &str| only(runs().map(|run| setting(run, name).map(str::to_owned)));
    let number = |name: &str| only(runs().map(|run| setting(run, name)?.parse::<u64>().ok()));
    let concurrency = |run: &Run| {
        let client = run.bench.as_ref().and_then(|bench| bench.concurrency);
        client.or_else(|| setting(run, "concurrency")?.parse().ok())
    };
    let vram = |run: &Run| run.config.vram_bytes.filter(|bytes| *bytes > 0);
    Key {
        circuit: text("circuit"),
        proof_kind: only(jobs().map(|job| job.kind.clone())),
        constraints: number("constraints"),
        domain: only(runs().map(|run| run.config.domain)),
        partitions: only(jobs().map(|job| job.partitions.map(u64::from))),
        gpu: only(runs().map(|run| run.config.device.clone())),
        vram_bytes: only(runs().map(vram)),
        driver: text("driver"),
        cuda: text("cuda"),
        clocks: text("clocks"),
        cpu: text("cpu"),
        workers: only(runs().map(|run| Some(u64::from(run.config.workers)))),
        partition_workers: number("partition_workers"),
        host_bytes: number("host_bytes"),
        concurrency: only(runs().map(concurrency)),
        build_profile: text("build_profile"),
        features: text("features"),
        dialect: only(runs().map(|run| Some(run.dialect.name.to_owned()))),
    }
}

/// Fields in which the runs of a trace differ: they are not measurements of one thing. Runs
/// without any work are not looked at.
#[must_use]
pub fn runs_differ(trace: &Trace) -> Vec<Difference> {
    let mut keys = trace
        .runs
        .iter()
        .filter(|run| !run.tasks.is_empty())
        .map(|run| key_of(std::slice::from_ref(run)));
    let Some(first) = keys.next() else {
        return Vec::new();
    };
    let mut found: Vec<Difference> = Vec::new();
    for difference in keys.flat_map(|key| first.differences(&key)) {
        if found.iter().all(|known| known.field != difference.field) {
            found.push(difference);
        }
    }
    found
}

/// The faults that were injected into a run, as its header lists them.
pub(super) fn injected(run: &Run) -> Option<String> {
    setting(run, "inject").map(str::to_owned)
}

/// A setting of the run's header.
fn setting<'r>(run: &'r Run, name: &str) -> Option<&'r str> {
    let found = run.config.more.iter().find(|(key, _)| key == name);
    found
        .map(|(_, value)| value.as_str())
        .filter(|value| !value.is_empty())
}

fn only<T: Ord>(values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let mut all: BTreeSet<Option<T>> = values.collect();
    if all.len() == 1 {
        all.pop_first().flatten()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracefmt::run::Task;

    #[test]
    fn a_field_that_differs_between_runs_is_left_open() {
        assert_eq!(only([Some(3), Some(3)].into_iter()), Some(3));
        assert_eq!(only([Some(3), Some(4)].into_iter()), None);
        assert_eq!(only([Some(3), None].into_iter()), None);
        assert_eq!(only(std::iter::empty::<Option<u8>>()), None);
    }

    #[test]
    fn settings_of_the_header_become_fields() {
        let mut run = Run::default();
        for (key, value) in [("circuit", "synthetic-2^18"), ("constraints", "200000")] {
            run.config.more.push((key.to_owned(), value.to_owned()));
        }
        run.config.more.push(("driver".to_owned(), String::new()));
        let trace = Trace {
            runs: vec![run],
            ..Trace::default()
        };
        let key = key_of_trace(&trace);
        assert_eq!(key.circuit.as_deref(), Some("synthetic-2^18"));
        assert_eq!((key.constraints, key.driver), (Some(200_000), None));
    }

    #[test]
    fn runs_on_different_machines_are_told_apart() {
        let run = |device: &str, tasks: usize| {
            let mut run = Run {
                tasks: vec![Task::default(); tasks],
                ..Run::default()
            };
            run.config.device = Some(device.to_owned());
            run
        };
        let trace = |runs| Trace {
            runs,
            ..Trace::default()
        };
        let idle = trace(vec![run("A100", 0), run("H200", 2)]);
        assert_eq!(runs_differ(&idle), [], "a run without work is none");
        let found = runs_differ(&trace(vec![run("A100", 1), run("H200", 2), run("L4", 1)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].field, "gpu");
    }
}
