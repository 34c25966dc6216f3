//! The whole program on the simulated runs whose truth is known; the folder is given by
//! `CUZK_INPUTS`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{cuzk, json};

/// Logs with their truth.
fn runs(folder: &Path) -> Vec<(String, Value)> {
    let folder = folder.join("runs");
    let entries = std::fs::read_dir(&folder).expect("a folder");
    let mut logs: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    logs.retain(|path| path.extension().is_some_and(|end| end == "log"));
    logs.sort();
    logs.into_iter()
        .map(|log| {
            let truth = std::fs::read(log.with_extension("truth.json")).expect("a truth");
            let truth = serde_json::from_slice(&truth).expect("JSON");
            (log.to_string_lossy().into_owned(), truth)
        })
        .collect()
}

/// The findings that are root.
fn roots(report: &Value) -> Vec<&Value> {
    let findings = report["findings"].as_array().expect("a list");
    findings.iter().filter(|one| one["root"] == true).collect()
}

#[test]
fn memory_roots_are_the_truths_and_healthy_runs_have_no_error() {
    let Some(folder) = std::env::var_os("CUZK_INPUTS") else {
        println!("skipped: CUZK_INPUTS is not set");
        return;
    };
    for (log, truth) in runs(Path::new(&folder)) {
        for verb in ["replay", "diagnose"] {
            let said = cuzk(&[verb, &log, "--format", "json"]);
            let report = json(&said);
            let roots = roots(&report);
            let cause = &truth["root_cause"];
            let code = cause["code"].as_str().unwrap_or_default();
            let errors = report["findings"].as_array().unwrap().iter();
            let errors = errors.filter(|one| one["severity"] == "error").count();
            if code.starts_with("vram.") || code.starts_with("host.") {
                assert_eq!((roots.len(), said.code), (1, 1), "{verb} {log}");
                let accepted = cause["accept"].as_array().unwrap();
                assert!(accepted.contains(&roots[0]["code"]), "{verb} {log}");
                assert_eq!(
                    roots[0]["evidence"][0]["line"], cause["line"],
                    "{verb} {log}"
                );
            } else if code == "run.truncated" {
                assert_eq!((roots.len(), said.code), (1, 1), "{verb} {log}");
                assert_eq!(roots[0]["code"], code, "{verb} {log}");
            } else {
                let silent = code.is_empty() || code.starts_with("perf.");
                assert!(silent, "{code}: what should be seen of it?");
                assert_eq!((roots.len(), errors, said.code), (0, 0, 0), "{verb} {log}");
            }
        }
    }
}
