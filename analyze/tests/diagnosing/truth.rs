//! Simulated runs against what the simulation knows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use analyze::diagnose::{Diagnosis, Verdict};
use serde_json::Value;
use tracefmt::finding::{Code, Finding, Severity};

use super::{diagnosis, inputs, of, root};

/// Codes of `expected` that only a re-executed schedule can find.
const OF_REPLAY: [&str; 2] = ["vram.swallowed_oom", "vram.late_free"];

struct Simulated {
    name: String,
    truth: Value,
    said: Diagnosis,
    text: String,
}

fn simulated(folder: &Path) -> Vec<Simulated> {
    let runs = folder.join("runs");
    let mut logs: Vec<PathBuf> = std::fs::read_dir(&runs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "log"))
        .collect();
    logs.sort();
    assert!(logs.len() >= 15);
    logs.into_iter()
        .map(|log| {
            let name = log.file_stem().unwrap().to_string_lossy().into_owned();
            let truth = std::fs::read(log.with_extension("truth.json")).unwrap();
            let good = runs.join("d05-head-base.log");
            let baseline = (name == "d05-head-slow_batch").then_some(good.as_path());
            let bench = log.with_extension("bench.txt");
            let (said, text) = diagnosis(&[log, bench], baseline);
            Simulated {
                name,
                truth: serde_json::from_slice(&truth).unwrap(),
                said,
                text,
            }
        })
        .collect()
}

/// The truth of each run of a log.
fn runs(truth: &Value) -> Vec<&Value> {
    match truth["runs"].as_array() {
        Some(runs) => runs.iter().collect(),
        None => vec![truth],
    }
}

#[test]
fn the_first_cause_is_named_and_clean_runs_have_none() {
    let Some(folder) = inputs() else { return };
    for run in simulated(&folder) {
        let Simulated {
            name,
            truth,
            said,
            text,
        } = run;
        let found = root(&said);
        let errors = said
            .findings
            .iter()
            .filter(|f| f.severity == Severity::Error);
        match truth["root_cause"]["code"].as_str() {
            None => {
                assert_eq!(errors.count(), 0, "{name}\n{text}");
                assert_eq!(said.exit_code(), 0, "{name}");
            }
            // Only replay can say why memory was short; the lines say where it first was.
            Some("vram.late_free") => {
                let root = found.unwrap();
                assert_eq!(root.code, Code::VramOom, "{name}\n{text}");
                assert_eq!(truth["root_cause"]["line"], root.evidence[0].line, "{name}");
                assert!(
                    errors.clone().all(|f| f.root || !f.caused_by.is_empty()),
                    "{text}"
                );
            }
            Some(_) => {
                let root = found.unwrap();
                let accepted = truth["root_cause"]["accept"].as_array().unwrap();
                assert!(
                    accepted.iter().any(|code| code == root.code.as_str()),
                    "{name}\n{text}"
                );
                if let Some(line) = truth["root_cause"]["line"].as_u64() {
                    assert_eq!(root.evidence[0].line, line, "{name}\n{text}");
                }
                if let Some(phase) = truth["root_cause"]["phase_key"].as_str() {
                    assert!(root.title.contains(phase), "{name}\n{text}");
                }
            }
        }
    }
}

#[test]
fn expected_findings_are_there_with_their_counts() {
    let Some(folder) = inputs() else { return };
    for Simulated {
        name,
        truth,
        said,
        text,
    } in simulated(&folder)
    {
        for (index, run) in (0_u32..).zip(runs(&truth)) {
            let mut left: Vec<&Finding> = said
                .findings
                .iter()
                .filter(|finding| finding.run == Some(index))
                .collect();
            for expected in run["expected"].as_array().unwrap() {
                let code = expected["code"].as_str().unwrap();
                if OF_REPLAY.contains(&code) {
                    continue;
                }
                let fits = |finding: &&Finding| {
                    finding.code.as_str() == code
                        && expected["n"] == finding.count
                        && serde_json::to_value(finding.confidence).unwrap()
                            == expected["confidence"]
                };
                let at = left.iter().position(fits);
                let at = at.unwrap_or_else(|| panic!("{name} run {index}: {expected}\n{text}"));
                left.remove(at);
            }
        }
    }
}

/// Partitions as the truth lists them.
fn listed(list: &Value) -> BTreeSet<(String, Option<u64>)> {
    let pairs = list.as_array().into_iter().flatten();
    pairs
        .map(|pair| (pair[0].as_str().unwrap().to_owned(), pair[1].as_u64()))
        .collect()
}

#[test]
fn lost_partitions_are_named_one_by_one() {
    let Some(folder) = inputs() else { return };
    for Simulated {
        name, truth, said, ..
    } in simulated(&folder)
    {
        for (index, run) in (0_u32..).zip(runs(&truth)) {
            let found = |codes: &[Code]| -> BTreeSet<(String, Option<u64>)> {
                said.findings
                    .iter()
                    .filter(|finding| finding.run == Some(index) && codes.contains(&finding.code))
                    .flat_map(|finding| &finding.partitions)
                    .map(|named| (named.job.clone(), named.partition.map(u64::from)))
                    .collect()
            };
            let lost = &run["lost"];
            let mut never_ended = listed(&lost["never_ended"]);
            never_ended.extend(listed(&lost["synth_never_ended"]));
            assert_eq!(
                found(&[Code::SchedNeverEnded]),
                never_ended,
                "{name} {index}"
            );
            let rows = [
                (Code::SchedNeverPicked, "never_picked"),
                (Code::SchedNeverStarted, "never_started"),
            ];
            for (code, key) in rows {
                assert_eq!(found(&[code]), listed(&lost[key]), "{name} {index} {code}");
            }
        }
    }
}

#[test]
fn verdicts_and_counts_match() {
    let Some(folder) = inputs() else { return };
    for Simulated {
        name,
        truth,
        said,
        text,
    } in simulated(&folder)
    {
        for (row, run) in said.runs.iter().zip(runs(&truth)) {
            let jobs = run["jobs"].as_array().unwrap();
            let ended = |status: &str| jobs.iter().filter(|job| job["status"] == status).count();
            let said_jobs = (row.jobs.completed, row.jobs.failed, row.jobs.total);
            let truth_jobs = (ended("COMPLETED"), ended("FAILED"), jobs.len());
            assert_eq!(
                said_jobs,
                (
                    truth_jobs.0 as u64,
                    truth_jobs.1 as u64,
                    truth_jobs.2 as u64
                )
            );
            let parts = ["completed", "failed", "unfinished"]
                .map(|key| run[key].as_array().map_or(0, |list| list.len() as u64));
            let said_parts = row.partitions;
            assert_eq!(
                [said_parts.completed, said_parts.failed, said_parts.open],
                parts,
                "{name}\n{text}"
            );
            assert_eq!(of(&said, Code::SchedDuplicate).len(), 0, "{name}");
            let torn = run["torn"]["timeline_lines_torn"].as_u64();
            let found = of(&said, Code::RunTornLines)
                .iter()
                .map(|torn| torn.count)
                .sum::<u64>();
            assert_eq!(found, torn.unwrap_or(0), "{name}\n{text}");
        }
        let wanted = match name.get(..3) {
            Some("d02") => Verdict::Failed,
            Some("d07" | "d09" | "d12") => Verdict::Truncated,
            Some("d04" | "d05") => Verdict::Verified,
            _ => Verdict::CompleteUnverified,
        };
        assert_eq!(said.verdict, wanted, "{name}\n{text}");
        assert_eq!(of(&said, Code::RunBenchMismatch).len(), 0, "{name}\n{text}");
        assert!(text.lines().count() <= 60, "{name}\n{text}");
    }
}
