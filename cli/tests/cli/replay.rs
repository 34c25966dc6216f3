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
        &["replay", &log, "--what-if", "free:d_x=after:last-use"],
        &["replay", &log, "--what-if", "free:d_bc=after:nothing"],
        &["replay", &log, "--what-if", "workers=2"],
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

/// The code of the root of a report.
fn root_of(report: &serde_json::Value) -> Option<String> {
    let findings = report["findings"].as_array().expect("a list");
    let root = findings.iter().find(|one| one["root"] == true)?;
    root["code"].as_str().map(str::to_owned)
}

/// What the command of a `reproduce` line finds, run by a shell as it is printed, and its root.
fn as_printed(command: &str) -> (Vec<(String, String)>, Option<String>) {
    let program = format!("'{}'", env!("CARGO_BIN_EXE_cuzk"));
    let line = command.strip_prefix("cuzk ").expect("it calls cuzk");
    let line = format!("{program} {line} --format json");
    let shell = std::process::Command::new("sh")
        .args(["-c", &line])
        .output();
    let said = crate::said(shell.expect("a shell"));
    let report = json(&said);
    let kinds = found(&report).into_iter().map(|(kind, _)| kind);
    (kinds.collect(), root_of(&report))
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
        let report = json(&cuzk(&args));
        let root = root_of(&report);
        for (kind, line) in found(&report) {
            let Some(line) = line else { continue };
            let (shown, again) = lines
                .entry(line.clone())
                .or_insert_with(|| as_printed(&line));
            let same = |other: &(String, String)| {
                other == &kind || (args.contains(&"--repro-dir") && other.0 == kind.0)
            };
            assert!(
                shown.iter().any(same),
                "{args:?}: {line}: {kind:?} in {shown:?}"
            );
            if root.as_deref() == Some(&kind.0) {
                assert_eq!(*again, root, "{args:?}: {line}: its root");
            }
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

/// One op on a card of 1 GiB, with a header before it.
fn ops(lines: &[&str]) -> (tempfile::TempDir, String) {
    let header = r#"{"schema":"cuzk.ops/1","capacity":1073741824,"driver":"h200-580"}"#;
    let text = format!("{header}\n{}\n", lines.join("\n"));
    let (dir, path) = crate::file("case.jsonl", text.as_bytes());
    (dir, path.to_string_lossy().into_owned())
}

#[test]
fn a_card_that_is_no_other_keeps_what_was_recorded() {
    // The call failed though there was room: only the record says so.
    let refused = r#"{"op":"malloc","id":1,"bytes":4194304,"buf":"d_a","rc":2}"#;
    let (_dir, path) = ops(&[refused]);
    let said = json(&cuzk(&["replay", &path, "--format", "json"]));
    assert_eq!(said["findings"][0]["cause"], "unexplained");
    assert_eq!(said["findings"][0]["confidence"], "ambiguous");
    for (option, value, code) in [
        ("--vram", "1GiB", 1),
        ("--baseline", "0", 1),
        ("--driver", "h200-580", 1),
        ("--vram", "2GiB", 0),
        ("--driver", "strict", 0),
    ] {
        let said = cuzk(&["replay", &path, option, value]);
        assert_eq!(said.code, code, "{option} {value}: {}", said.out);
    }
    let same = cuzk(&[
        "replay",
        &path,
        "--what-if",
        "vram=1GiB",
        "--format",
        "json",
    ]);
    let same = &json(&same)["what_if"][0];
    assert_eq!(
        (&same["passes"], &same["changes_nothing"]),
        (&false.into(), &true.into())
    );
}

#[test]
fn what_was_assumed_of_the_card_may_be_given_too() {
    let log = example("late-free.log");
    let plain = json(&cuzk(&["replay", &log, "--format", "json"]));
    let (vram, baseline) = (plain["capacity"].to_string(), plain["baseline"].to_string());
    let args = ["replay", &log, "--vram", &vram, "--baseline", &baseline];
    let said = cuzk(&args);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("vram.late_free"), "{}", said.out);
}

#[test]
fn every_run_of_a_file_is_replayed_and_the_worst_decides() {
    let sick = std::fs::read_to_string(example("late-free.log")).unwrap();
    let well = std::fs::read_to_string(example("two-workers.log")).unwrap();
    for (first, second, worst) in [(&sick, &well, 0), (&well, &sick, 1)] {
        let text = format!("{first}{second}");
        let (dir, path) = crate::file("two.log", text.as_bytes());
        let path = path.to_str().unwrap();
        let said = cuzk(&["replay", path, "--format", "json"]);
        assert_eq!(said.code, 1, "{}", said.err);
        let whole = json(&said);
        assert_eq!(whole["run"], worst);
        assert_eq!(whole["runs"].as_array().unwrap().len(), 2);
        for (run, code) in [("0", 1 - worst), ("1", worst)] {
            let alone = cuzk(&["replay", path, "--run", run]);
            assert_eq!(alone.code, code, "run {run}: {}", alone.out);
        }
        let mut all = whole["findings"].as_array().unwrap().iter();
        let root = all.find(|finding| finding["root"] == true).unwrap();
        let line = root["reproduce"].as_str().unwrap();
        assert!(line.ends_with(&format!(" --run {worst}")), "{line}");
        let text = cuzk(&["replay", path]).out;
        assert!(
            text.contains("run 0 of 2") && text.contains("run 1 of 2"),
            "{text}"
        );
        let svg = dir.path().join("a.svg");
        let svg = svg.to_str().unwrap();
        assert_eq!(cuzk(&["replay", path, "--svg", svg]).code, 2, "of which?");
        let html = dir.path().join("a.html");
        let html = html.to_str().unwrap();
        cuzk(&["diagnose", path, "--html", html]);
        let page = std::fs::read_to_string(html).unwrap_or_default();
        if cfg!(feature = "plots") {
            assert!(page.contains("Run 0 of 2.") && page.contains("Run 1 of 2."));
        }
    }
}

#[test]
fn a_log_that_breaks_off_does_not_pass() {
    let well = std::fs::read_to_string(example("two-workers.log")).unwrap();
    let half = well.lines().count() / 2;
    let lines: Vec<&str> = well.lines().take(half).collect();
    for (end, code) in [("\n", 3), ("\nTIMELINE,99999", 1)] {
        let (_dir, path) = crate::file("cut.log", format!("{}{end}", lines.join("\n")).as_bytes());
        let path = path.to_str().unwrap();
        let said = cuzk(&["replay", path]);
        assert!(said.out.starts_with("TRUNCATED"), "{}", said.out);
        assert_eq!(said.code, code, "{}", said.out);
        assert_eq!(cuzk(&["diagnose", path]).code, code, "as diagnose has it");
        let report = json(&cuzk(&["replay", path, "--format", "json"]));
        let findings = report["findings"].as_array().unwrap();
        assert!(findings.iter().any(|one| one["code"] == "run.truncated"));
    }
}

#[test]
fn lines_that_cannot_be_read_leave_it_undecided() {
    let (_dir, path) = ops(&[
        r#"{"op":"ctxSync"}"#,
        r#"{"op":"malloc","id":1,"bytes":-5}"#,
    ]);
    let said = cuzk(&["replay", &path]);
    assert_eq!(said.code, 3, "{}", said.out);
    assert!(said.out.starts_with("UNDECIDED"), "{}", said.out);
    assert!(
        said.err.contains("line 3") && said.err.contains("bytes"),
        "{}",
        said.err
    );
}

#[test]
fn a_long_schedule_has_the_verdict_of_a_short_one() {
    let note = "x".repeat(4096);
    let op = |rest: &str| format!(r#"{{"note":"{note}",{rest}}}"#);
    let well = [
        op(r#""op":"malloc","id":1,"bytes":4194304,"rc":0"#),
        op(r#""op":"free","id":1,"rc":0"#),
    ];
    let mut lines: Vec<String> = well.iter().cycle().take(2400).cloned().collect();
    let verdict = |lines: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (_dir, path) = ops(&lines);
        let said = cuzk(&["replay", &path, "--format", "json"]);
        let report = json(&said);
        let counts = (report["steps"].clone(), report["truth"]["agree"].clone());
        (said.code, report["verdict"].clone(), counts)
    };
    let all = (2400.into(), 2400.into());
    assert_eq!(verdict(&lines), (0, "passes".into(), all));
    let mut large = lines.clone();
    large.insert(1000, op(r#""op":"malloc","id":2,"bytes":4294967296"#));
    let (_dir, path) = ops(&large.iter().map(String::as_str).collect::<Vec<_>>());
    let said = cuzk(&["replay", &path]);
    assert_eq!(said.code, 1, "{}", said.out);
    for words in ["up to its first failure, step 1000", "case.jsonl:1002: "] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    let whole = cuzk(&["replay", &path, "--min-vram"]);
    assert!(whole.out.contains("case.jsonl:1002: "), "{}", whole.out);
    assert!(!whole.out.contains("first failure"), "{}", whole.out);
    lines.push(op(r#""op":"free","id":1,"rc":1"#));
    let all = (2401.into(), 2401.into());
    assert_eq!(verdict(&lines), (1, "fails".into(), all), "freed twice");
}

#[test]
fn the_smallest_card_of_a_schedule_that_failed_is_a_lower_bound() {
    let (_dir, path) = ops(&[
        r#"{"op":"malloc","id":1,"bytes":4294967296,"rc":0,"buf":"d_a"}"#,
        r#"{"op":"malloc","id":2,"bytes":17179869184,"rc":2,"on_error":"fallback:out"}"#,
        r#"{"op":"label","name":"out"}"#,
        r#"{"op":"free","id":1}"#,
    ]);
    let args = ["replay", &path, "--min-vram", "--what-if", "vram=64GiB"];
    let said = cuzk(&args);
    assert_eq!(said.code, 1, "{}", said.err);
    for words in [
        "at least 20482 MiB; what comes after step 1, malloc id 2, 16384 MiB is not recorded",
        "no allocation fails as far as the run was recorded",
    ] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    assert!(!said.out.contains("passes"), "{}", said.out);
    let report = json(&cuzk(&[&args[..], &["--format", "json"]].concat()));
    assert_eq!(report["min_vram_unrecorded"], 1);
    let whole = cuzk(&["replay", &path, "--vram", "64GiB", "--min-vram"]);
    assert_eq!(whole.code, 3, "{}", whole.out);
    assert!(whole.out.starts_with("UNDECIDED"), "{}", whole.out);
    assert!(whole.out.contains("at least"), "{}", whole.out);
}

#[test]
fn where_it_depends_on_the_order_one_of_each_is_shown_op_by_op() {
    let (_dir, path) = ops(&[
        r#"{"op":"malloc","id":1,"bytes":629145600,"worker":0,"buf":"d_a"}"#,
        r#"{"op":"free","id":1,"worker":0,"buf":"d_a"}"#,
        r#"{"op":"malloc","id":2,"bytes":629145600,"worker":1,"buf":"d_b"}"#,
        r#"{"op":"free","id":2,"worker":1,"buf":"d_b"}"#,
    ]);
    let said = cuzk(&["replay", &path, "--explore"]);
    assert_eq!(said.code, 1, "{}", said.err);
    for line in [
        "the shortest order that fails, 2 ops",
        "step 0     worker 0  malloc d_a, 600 MiB",
        "step 2     worker 1  malloc d_b, 600 MiB",
        "an order that passes, 4 ops",
        "step 0     worker 0  malloc d_a, 600 MiB, 2 ops to step 1: free d_a",
        "step 2     worker 1  malloc d_b, 600 MiB, 2 ops to step 3: free d_b",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    let report = json(&cuzk(&["replay", &path, "--explore", "--format", "json"]));
    assert_eq!(report["passing_order"], serde_json::json!([0, 1, 2, 3]));
    assert_eq!(report["failing_order"], serde_json::json!([0, 2]));
}

/// Both orders of two locks, and a barrier between them; a search that ends before it is over.
#[test]
fn orders_of_locks_decide_the_exit_as_far_as_they_are_known() {
    let head = r#"{"schema":"cuzk.ops/1","capacity":1073741824,"driver":"h200-580","workers":2}"#;
    let lock = |op: &str, worker: usize, name: &str| {
        format!("{{\"op\":\"{op}\",\"name\":\"{name}\",\"worker\":{worker}}}\n")
    };
    let nest = |worker: usize, one: &str, other: &str| {
        let taken = lock("lock", worker, one) + &lock("lock", worker, other);
        taken + &lock("unlock", worker, other) + &lock("unlock", worker, one)
    };
    let barrier = |worker: usize| {
        format!("{{\"op\":\"barrier\",\"name\":\"x\",\"n\":2,\"worker\":{worker}}}\n")
    };
    let ordered = nest(0, "A", "B") + &barrier(0) + &barrier(1) + &nest(1, "B", "A");
    // Layers of locks; worker 0 alone closes a circle, and would have to be in two places.
    let mut layers = String::new();
    for n in 0..9 {
        for one in 0..7 {
            for other in 0..7 {
                let worker = if n == 3 || n == 8 {
                    0
                } else {
                    1 + n * 49 + one * 7 + other
                };
                let names = (format!("l{n}{one}"), format!("l{}{other}", (n + 1) % 9));
                layers.push_str(&nest(worker, &names.0, &names.1));
            }
        }
    }
    for (ops, args, code, says) in [
        (&ordered, &[][..], 1, "error: A and B"),
        (&ordered, &["--explore"], 0, "warning: A and B"),
        (&layers, &[], 3, "UNDECIDED"),
    ] {
        let (_dir, path) = crate::file("locks.jsonl", format!("{head}\n{ops}").as_bytes());
        let said = cuzk(&[&["replay", path.to_str().unwrap()], args].concat());
        assert_eq!(said.code, code, "{}{}", said.out, said.err);
        assert!(said.out.contains(says), "{}", said.out);
    }
}
