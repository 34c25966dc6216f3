//! Idle time by cause against the truth of the simulated runs in the folder that `CUZK_INPUTS`
//! names; skipped, and said so, when it is not set. With `CUZK_IDLE_TABLE=FILE` the table of
//! truth and result is written to that file.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a broken input folder fails the test, and a skipped test says so"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use analyze::analysis::Options;
use analyze::idle::{Demand, Ledger, usage};
use analyze::interval::reconstruct;
use analyze::model::IdleCause;
use serde_json::Value;
use tracefmt::finding::Confidence;
use tracefmt::run::{Run, Source, Trace, read};

/// Allowed error: this share of the span, or [`SHARE_OF_CAUSE`] of the cause, the larger.
const SHARE_OF_SPAN: f64 = 0.005;
const SHARE_OF_CAUSE: f64 = 0.10;

fn inputs() -> Option<PathBuf> {
    let folder = std::env::var_os("CUZK_INPUTS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: CUZK_INPUTS is not set");
    }
    folder
}

/// Logs with a truth file, sorted.
fn logs(folder: &Path) -> Vec<(String, Trace, Value)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".truth.json"))
        .collect();
    files.sort();
    let load = |path: PathBuf| {
        let name = path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .replace(".truth.json", "");
        let truth = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let log = path.with_file_name(format!("{name}.log"));
        let (trace, _) = read(&[Source::Path(log)]).unwrap();
        (name, trace, truth)
    };
    files.into_iter().map(load).collect()
}

fn runs_of(truth: &Value) -> Vec<&Value> {
    let several = truth["runs"].as_array();
    several.map_or_else(|| vec![truth], |runs| runs.iter().collect())
}

/// Gives every timing line its true owner.
fn own(run: &mut Run, truth: &Value) {
    let mut owners = BTreeMap::new();
    for region in truth["regions"].as_array().unwrap() {
        let job = region["job"].as_str().unwrap();
        let partition = region["partition"].as_u64();
        let call = run.calls.iter().position(|call| {
            let task = &run.tasks[call.task as usize];
            run.jobs[task.job as usize].id == job && task.partition.map(u64::from) == partition
        });
        let lines = region["lines"]["timing"].as_object();
        for line in lines.into_iter().flat_map(|lines| lines.values()) {
            let list = line
                .as_array()
                .cloned()
                .unwrap_or_else(|| vec![line.clone()]);
            for line in list.iter().filter_map(Value::as_u64) {
                owners.insert(line, call);
            }
        }
    }
    for index in 0..run.marks.len() {
        let line = run.marks.get(index).unwrap().line().line;
        let owner = owners.get(&u64::from(line)).copied().flatten();
        let call = owner.map(|call| u32::try_from(call).unwrap());
        run.marks.assign(index, call, Confidence::Certain, &[]);
    }
    run.index_marks();
}

/// One line of the table; returns how many causes lie outside the bar.
fn compare(table: &mut String, label: &str, ledger: &Ledger, truth: &Value, span_us: f64) -> usize {
    let mut bad = 0;
    for cause in IdleCause::ALL {
        let wanted = truth[cause.as_str()].as_f64().unwrap_or(0.0);
        let found = ledger.us(cause) as f64;
        let allowed = (SHARE_OF_SPAN * span_us).max(SHARE_OF_CAUSE * wanted);
        let over = (found - wanted).abs() > allowed;
        bad += usize::from(over);
        if wanted != 0.0 || found != 0.0 {
            writeln!(
                table,
                "{label:<44} {:<18} {:>12.3} {:>12.3} {:>10.3} {:>9.3} {}",
                cause.as_str(),
                wanted / 1e6,
                found / 1e6,
                (found - wanted) / 1e6,
                allowed / 1e6,
                if over { "OUTSIDE" } else { "ok" },
            )
            .unwrap();
        }
    }
    bad
}

fn table_of(name: &str, run: &Run, truth: &Value, table: &mut String) -> usize {
    let mut all = reconstruct(run);
    // The truth tells what a failed call did under the lock by what it did, as of any other.
    for hold in &mut all.holds {
        hold.failed = false;
    }
    let Some(span) = all.span else {
        return usize::from(
            truth["gpus"]
                .as_array()
                .is_some_and(|gpus| !gpus.is_empty()),
        );
    };
    let demand = Demand::of(run, span);
    let mut bad = 0;
    for gpu in truth["gpus"].as_array().unwrap() {
        let ordinal = u32::try_from(gpu["gpu"].as_u64().unwrap()).unwrap();
        let usage = usage(&all, &demand, ordinal, Options::default().listing()).unwrap();
        let span_us = gpu["span_end_us"].as_f64().unwrap() - gpu["span_start_us"].as_f64().unwrap();
        let label = format!("{name} run {} gpu {ordinal}", run.index);
        let by_kernel = &gpu["idle_by_cause_us"];
        let kernel = format!("{label} kernel");
        bad += compare(table, &kernel, &usage.by_kernel, by_kernel, span_us);
        let by_hold = &gpu["idle_hold_by_cause_us"];
        bad += compare(
            table,
            &format!("{label} hold"),
            &usage.by_hold,
            by_hold,
            span_us,
        );
    }
    bad
}

fn check(owners_from_truth: bool) {
    let Some(folder) = inputs() else { return };
    let mut table = format!(
        "{:<44} {:<18} {:>12} {:>12} {:>10} {:>9}\n",
        "log", "cause", "truth s", "ours s", "error s", "allowed"
    );
    let mut bad = 0;
    for (name, mut trace, truth) in logs(&folder) {
        let runs = runs_of(&truth);
        assert_eq!(trace.runs.len(), runs.len(), "{name}: runs");
        for (run, truth) in trace.runs.iter_mut().zip(runs) {
            if owners_from_truth {
                own(run, truth);
            }
            bad += table_of(&name, run, truth, &mut table);
        }
    }
    if let Some(file) = std::env::var_os("CUZK_IDLE_TABLE").filter(|_| !owners_from_truth) {
        std::fs::write(file, &table).unwrap();
    }
    let outside: Vec<&str> = table
        .lines()
        .filter(|line| line.contains("OUTSIDE"))
        .collect();
    assert!(
        bad == 0,
        "{bad} causes outside the bar\n{}",
        outside.join("\n")
    );
}

/// The estimate of times alone: every timing line is given to its true owner.
#[test]
fn idle_time_with_true_owners() {
    check(true);
}
/// As a user gets it.
#[test]
fn idle_time_by_cause() {
    check(false);
}
