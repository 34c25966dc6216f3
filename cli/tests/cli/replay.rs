//! `cuzk replay` on the bundled run that a late free killed, and on its own output.

use crate::{cuzk, example, json};

#[test]
fn the_late_free_is_the_root_and_the_fix_passes() {
    let log = example("late-free.log");
    let said = cuzk(&[
        "replay",
        &log,
        "--what-if",
        "free:d_bc=after:last-use",
        "--what-if",
        "vram=64GiB",
        "--min-vram",
        "--format",
        "json",
    ]);
    assert_eq!(said.code, 1, "{}", said.err);
    let report = json(&said);
    let findings = report["findings"].as_array().unwrap();
    let root = findings
        .iter()
        .find(|finding| finding["root"] == true)
        .unwrap();
    assert_eq!(root["code"], "vram.late_free");
    assert_eq!(root["evidence"][0]["line"], 53);
    let what_if = report["what_if"].as_array().unwrap();
    assert!(
        what_if.iter().all(|one| one["passes"] == true),
        "{what_if:?}"
    );
    let smallest = report["min_vram_bytes"].as_u64().unwrap().to_string();
    let passes = cuzk(&["replay", &log, "--vram", &smallest]);
    assert!(passes.out.starts_with("PASSES"), "{}", passes.out);
}

#[test]
fn a_shrunk_schedule_shows_the_same_finding_when_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let small = dir.path().join("small.jsonl");
    let small = small.to_str().unwrap();
    let log = example("late-free.log");
    let shrunk = cuzk(&["replay", &log, "--shrink", "vram.oom", "-o", small]);
    assert_eq!(shrunk.code, 1, "{}", shrunk.err);
    let report = json(&cuzk(&["replay", small, "--format", "json"]));
    assert!(
        report["steps"].as_u64().unwrap() <= 20,
        "{}",
        report["steps"]
    );
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == "vram.oom"));
}

#[test]
fn a_healthy_schedule_is_silent() {
    let ops = concat!(
        r#"{"schema":"cuzk.ops/1","capacity":1073741824,"baseline":0,"#,
        r#""driver":"h200-580","workers":1}"#,
        "\n",
        r#"{"op":"malloc","id":1,"bytes":4194304,"worker":0,"buf":"d_a"}"#,
        "\n",
        r#"{"op":"free","id":1,"worker":0,"buf":"d_a"}"#,
        "\n"
    );
    let (_dir, path) = crate::file("well.jsonl", ops.as_bytes());
    let said = cuzk(&[
        "replay",
        path.to_str().unwrap(),
        "--explore",
        "--format",
        "json",
    ]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let report = json(&said);
    assert_eq!(report["findings"].as_array().unwrap().len(), 0);
    assert_eq!(report["explored"]["complete"], true);
}

#[test]
fn what_is_no_size_change_code_or_schedule_is_refused() {
    let log = example("late-free.log");
    for args in [
        &["replay", &log, "--vram", "much"][..],
        &["replay", &log, "--what-if", "luck=more"],
        &["replay", &log, "--shrink", "vram.nothing"],
        &["replay", &log, "--driver", "hope"],
        &["replay", &log, "--run", "7"],
        &["replay", &example("late-free.bench")],
    ] {
        let said = cuzk(args);
        assert_eq!(said.code, 2, "{args:?}: {}{}", said.out, said.err);
        assert!(!said.err.is_empty(), "{args:?}");
    }
}

#[test]
fn diagnose_names_the_late_free_with_its_numbers() {
    let said = cuzk(&["diagnose", &example("late-free.log"), "--format", "json"]);
    let diagnosis = json(&said);
    let root = diagnosis["root"].as_str().unwrap();
    let findings = diagnosis["findings"].as_array().unwrap();
    let root = findings
        .iter()
        .find(|finding| finding["id"] == root)
        .unwrap();
    assert_eq!(root["code"], "vram.late_free");
    assert_eq!(root["what_if"]["passes"], true);
    let words = root["explanation"].as_str().unwrap();
    for number in ["8192 MiB", "22089 MiB wanted", "16384 MiB"] {
        assert!(words.contains(number), "{number} is missing in {words}");
    }
}

/// What the command of a `reproduce` line finds, run by a shell as it is printed.
fn as_printed(command: &str) -> Vec<(String, String)> {
    let program = format!("'{}'", env!("CARGO_BIN_EXE_cuzk"));
    let line = command.strip_prefix("cuzk ").expect("it calls cuzk");
    let line = format!("{program} {line} --format json");
    let shell = std::process::Command::new("sh")
        .args(["-c", &line])
        .output();
    let said = crate::said(shell.expect("a shell"));
    found(&json(&said))
        .into_iter()
        .map(|(kind, _)| kind)
        .collect()
}

/// Code and title of every finding, and how to show it again.
fn found(report: &serde_json::Value) -> Vec<((String, String), Option<String>)> {
    let text = |one: &serde_json::Value, key: &str| one[key].as_str().map(str::to_owned);
    let findings = report["findings"].as_array().expect("a list").iter();
    findings
        .map(|one| {
            let kind = (
                text(one, "code").expect("a code"),
                text(one, "title").expect("a title"),
            );
            (kind, text(one, "reproduce"))
        })
        .collect()
}

#[test]
fn every_reproduce_line_run_as_printed_shows_its_finding() {
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join("it's a log.log");
    std::fs::copy(example("late-free.log"), &odd).unwrap();
    let odd = odd.to_str().unwrap();
    let core = dir.path().join("core.jsonl");
    let core = core.to_str().unwrap();
    for args in [
        &["replay", odd][..],
        &["replay", odd, "--vram", "20GiB", "--profile", "phase9-v0"],
        &["replay", odd, "--shrink", "vram.oom", "-o", core],
        &["replay", odd, "--shrink", "vram.swallowed_oom"],
        &["diagnose", odd],
        &["diagnose", odd, "--repro-dir", dir.path().to_str().unwrap()],
    ] {
        let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
        let mut lines = std::collections::BTreeMap::new();
        for (kind, line) in found(&json(&cuzk(&args))) {
            let Some(line) = line else { continue };
            let shown = lines
                .entry(line.clone())
                .or_insert_with(|| as_printed(&line));
            let same = |other: &(String, String)| {
                other == &kind || (args.contains(&"--repro-dir") && other.0 == kind.0)
            };
            assert!(
                shown.iter().any(same),
                "{args:?}: {line}: {kind:?} in {shown:?}"
            );
        }
        assert!(!lines.is_empty(), "{args:?}");
    }
}

#[test]
fn a_pipe_has_no_command_but_a_word_on_how_to_get_one() {
    let log = std::fs::read(example("late-free.log")).unwrap();
    for (verb, way) in [("replay", "-o FILE"), ("diagnose", "--repro-dir DIR")] {
        let said = crate::cuzk_with(&[verb, "-", "--format", "json"], &log);
        assert!(!said.out.contains("cuzk replay -"), "{verb}");
        assert!(
            found(&json(&said)).iter().all(|(_, line)| line.is_none()),
            "{verb}"
        );
        assert!(said.err.contains(way), "{verb}: {}", said.err);
    }
}

#[test]
fn the_reproduce_line_shows_the_same_finding() {
    let dir = tempfile::tempdir().unwrap();
    let repro = dir.path().to_str().unwrap();
    let args = [
        "diagnose",
        &example("late-free.log"),
        "--repro-dir",
        repro,
        "--format",
        "json",
    ];
    let diagnosis = json(&cuzk(&args));
    let findings = diagnosis["findings"].as_array().unwrap();
    let root = findings
        .iter()
        .find(|finding| finding["id"] == diagnosis["root"])
        .unwrap();
    let line = root["reproduce"].as_str().unwrap();
    let words: Vec<&str> = line
        .split(' ')
        .skip(1)
        .chain(["--format", "json"])
        .collect();
    let again = json(&cuzk(&words));
    let shown = again["findings"].as_array().unwrap();
    assert!(
        shown.iter().any(|finding| finding["code"] == root["code"]),
        "{line}: {shown:?}"
    );
}
