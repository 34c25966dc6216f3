//! Configurations side by side: what the work was, what it ran on, and what else differs.
//!
//! The shape of the work and the GPUs come first: where they differ, times answer another
//! question. A value that only one side's log gives is shown and refuses nothing.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::run::{JobOutcome, Run, Trace};

use super::model::Setting;

/// All settings of both sides, the shape first.
pub(super) fn settings(a: &Trace, b: &Trace) -> Vec<Setting> {
    let (one, other) = (facts(a), facts(b));
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    names.sort_by_key(|name| {
        (
            !SHAPE.contains(&name.as_str()),
            rank(plain(name)),
            (*name).clone(),
        )
    });
    names.dedup();
    names
        .into_iter()
        .map(|name| Setting {
            // What the log itself names is told apart where this list has the same word.
            name: if rank(plain(name)) == usize::MAX {
                plain(name).to_owned()
            } else {
                name.clone()
            },
            a: one.get(name).cloned(),
            b: other.get(name).cloned(),
            shape: SHAPE.contains(&name.as_str()),
        })
        .collect()
}

/// Settings in which two runs must agree.
const SHAPE: [&str; 5] = ["kinds", "partitions", "domain", "gpus", "device"];

/// The others, in order of report; settings that a log adds follow by name.
const REST: [&str; 9] = [
    "dialect",
    "build",
    "vram",
    "free_mib",
    "lot_of_memory",
    "workers",
    "jobs",
    "concurrency",
    "synthesis_at_once",
];

/// Prefix of settings that only the log itself names.
const MORE: &str = "config.";

fn plain(name: &str) -> &str {
    name.strip_prefix(MORE).unwrap_or(name)
}

fn rank(name: &str) -> usize {
    let order = SHAPE.iter().chain(&REST);
    order
        .into_iter()
        .position(|known| *known == name)
        .unwrap_or(usize::MAX)
}

/// What the runs of a trace say, values of several runs joined.
fn facts(trace: &Trace) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in trace.runs.iter().filter(|run| !run.tasks.is_empty()) {
        for (name, value) in facts_of(run) {
            all.entry(name).or_default().insert(value);
        }
    }
    let joined = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(" | ");
    all.into_iter()
        .map(|(name, values)| (name, joined(values)))
        .collect()
}

fn facts_of(run: &Run) -> Vec<(String, String)> {
    let config = &run.config;
    let mut facts = Vec::new();
    let mut put = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| (name.to_owned(), value)));
    };
    put("kinds", kinds(run));
    put("partitions", partitions(run));
    put("domain", config.domain.map(|n| n.to_string()));
    let gpus = crate::interval::gpus_of(run).len();
    put("gpus", (gpus > 0).then(|| gpus.to_string()));
    put("device", config.device.clone());
    put("dialect", Some(run.dialect.name.to_owned()));
    put("build", config.build.clone());
    put("vram", config.vram_bytes.map(|n| n.to_string()));
    put("free_mib", config.free_bytes.map(|n| (n >> 20).to_string()));
    put(
        "lot_of_memory",
        config.lot_of_memory.map(|yes| yes.to_string()),
    );
    put(
        "workers",
        (config.workers > 0).then(|| config.workers.to_string()),
    );
    put("jobs", Some(run.jobs.len().to_string()));
    let bench = run.bench.as_ref();
    put(
        "concurrency",
        bench.and_then(|bench| Some(bench.concurrency?.to_string())),
    );
    put("synthesis_at_once", at_once(run).map(|n| n.to_string()));
    for (key, value) in &config.more {
        facts.push((format!("{MORE}{key}"), value.clone()));
    }
    facts
}

fn kinds(run: &Run) -> Option<String> {
    let kinds: BTreeSet<&str> = run
        .jobs
        .iter()
        .filter_map(|job| job.kind.as_deref())
        .collect();
    (!kinds.is_empty()).then(|| kinds.into_iter().collect::<Vec<_>>().join("+"))
}

/// Partitions of a job, by kind where there are several: those of the complete jobs, whose number
/// no cut can have made smaller.
fn partitions(run: &Run) -> Option<String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for job in &run.jobs {
        let seen = job.tasks.len() as u64;
        let whole = job
            .partitions
            .map(u64::from)
            .or_else(|| matches!(job.outcome, JobOutcome::Completed).then_some(seen));
        if let Some(n) = whole {
            let most = counts
                .entry(job.kind.as_deref().unwrap_or("proof"))
                .or_default();
            *most = (*most).max(n);
        }
    }
    let text = match counts.len() {
        0 => return None,
        1 => counts.values().next()?.to_string(),
        _ => {
            let each = counts.iter().map(|(kind, n)| format!("{kind}:{n}"));
            each.collect::<Vec<_>>().join(" ")
        }
    };
    Some(text)
}

/// Most syntheses under way at one time.
fn at_once(run: &Run) -> Option<i64> {
    let mut steps: Vec<(i64, i64)> = Vec::new();
    for task in &run.tasks {
        if let (Some(start), Some(end)) = (task.synth_start, task.synth_end) {
            steps.push((start.us, 1));
            steps.push((end.us, -1));
        }
    }
    steps.sort_unstable();
    let mut level = 0;
    let levels = steps.into_iter().map(|(_, step)| {
        level += step;
        level
    });
    levels.max()
}
