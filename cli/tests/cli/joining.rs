//! Files that are one log: pieces cut anywhere, and the two streams of a daemon, are read as the
//! log that they come from.

use std::fs;

use serde_json::Value;

use crate::{cuzk, example, json};

/// What is said of a run: jobs, partitions, verdict, root and its first line of evidence.
fn essence(report: &Value) -> Value {
    let root = report["findings"].as_array().expect("a list").iter();
    let root = root.clone().find(|one| one["root"] == true);
    let line = root.map_or(Value::Null, |root| root["evidence"][0]["text"].clone());
    let runs = report["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 1, "{report}");
    serde_json::json!([
        runs[0]["jobs"],
        runs[0]["partitions"],
        report["verdict"],
        root.map(|root| root["code"].clone()),
        line,
    ])
}

fn diagnosis(args: &[&str]) -> Value {
    let mut all = vec!["diagnose", "--format", "json"];
    all.extend(args);
    json(&cuzk(&all))
}

#[test]
fn rotated_pieces_say_what_the_whole_says() {
    for name in ["late-free.log", "killed.log", "two-workers.log"] {
        let path = example(name);
        let log = fs::read(&path).unwrap();
        let want = essence(&diagnosis(&[&path]));
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        let (new, middle, old) = (at("run.log"), at("run.log.1"), at("run.log.2"));
        // Both cuts part a line.
        let (a, b) = (log.len() / 3, log.len() * 2 / 3);
        fs::write(&old, &log[..a]).unwrap();
        fs::write(&middle, &log[a..b]).unwrap();
        fs::write(&new, &log[b..]).unwrap();
        let found = diagnosis(&[&new, &middle, &old]);
        assert_eq!(essence(&found), want, "{name}");
        // Every quoted line is where it is said to be.
        for finding in found["findings"].as_array().unwrap() {
            for quote in finding["evidence"].as_array().unwrap() {
                let file = quote["path"].as_str().unwrap();
                let text = fs::read(file).unwrap_or_else(|_| panic!("{quote}"));
                let number = quote["line"].as_u64().unwrap();
                assert!(number <= 1 + text.split(|b| *b == b'\n').count() as u64);
            }
        }
    }
}

#[test]
fn the_two_streams_of_a_daemon_say_what_both_say_together() {
    for name in ["killed.log", "two-workers.log"] {
        let path = example(name);
        let log = fs::read_to_string(&path).unwrap();
        let want = essence(&diagnosis(&[&path]));
        let traced = |line: &&str| line.starts_with('\u{1b}') || line.starts_with("[2m");
        let part = |keep: bool| {
            let lines = log
                .split_inclusive('\n')
                .filter(|line| traced(line) == keep);
            lines.collect::<String>()
        };
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        let (out, err) = (at("stdout.txt"), at("stderr.txt"));
        fs::write(&out, part(true)).unwrap();
        fs::write(&err, part(false)).unwrap();
        let found = diagnosis(&[&out, &err]);
        let (mut found, mut want) = (essence(&found), want);
        // Where a cut line came from cannot be told from its stream alone.
        found[4].take();
        want[4].take();
        assert_eq!(found, want, "{name}");
    }
}

#[test]
fn two_copies_of_a_log_stay_two_runs() {
    let path = example("two-workers.log");
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy.log");
    fs::copy(&path, &copy).unwrap();
    let said = cuzk(&[
        "diagnose",
        &path,
        copy.to_str().unwrap(),
        "--format",
        "json",
    ]);
    assert_eq!(json(&said)["runs"].as_array().unwrap().len(), 2);
    assert!(said.err.contains("both hold job"), "{}", said.err);
}

#[test]
fn timings_of_other_programs_are_told_as_such() {
    let log = "2022-11-24T23:07:17.750 INFO bellperson::groth16::prover > Bellperson 0.22.0 is \
        being used!\n2022-11-24T23:07:55.019 INFO bellperson::groth16::prover > synthesis time: \
        37.268746346s\n";
    let (_dir, path) = crate::file("bellperson.log", log.as_bytes());
    let path = path.to_str().unwrap();
    for verb in ["diagnose", "analyze"] {
        let said = cuzk(&[verb, path]);
        assert_eq!(said.code, 3);
        assert!(
            said.out.contains("37.269 s  bellperson: synthesis time"),
            "{}",
            said.out
        );
    }
    let report = diagnosis(&[path]);
    assert_eq!(report["foreign"][0]["line"], 2, "{report}");
}
