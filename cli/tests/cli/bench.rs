//! `cuzk bench` and what the other verbs make of its trace: a healthy run is clean, every injected
//! fault is named as the root.

use std::path::Path;

use crate::{Said, cuzk, json};

/// A small batch with its trace; more arguments may follow.
fn bench(trace: &Path, more: &[&str]) -> Said {
    let trace = trace.to_string_lossy();
    let mut args = vec![
        "bench",
        "-c",
        "4",
        "-j",
        "3",
        "--partitions",
        "4",
        "--circuit",
        "mimc",
        "--size",
        "2^7",
        "--trace",
        &trace,
    ];
    args.extend(more);
    cuzk(&args)
}

/// The root of a diagnosis: its code, and all that is said of it.
fn root(logs: &[&str]) -> (i32, String, String) {
    let mut args = vec!["diagnose", "--format", "json"];
    args.extend(logs);
    let said = cuzk(&args);
    let report = json(&said);
    let findings = report["findings"].as_array().expect("findings");
    let root = findings.iter().find(|finding| finding["root"] == true);
    let code = root.map_or("", |root| root["code"].as_str().expect("text"));
    let all = root.map_or_else(String::new, ToString::to_string);
    (said.code, code.to_owned(), all)
}

#[test]
#[cfg(feature = "plots")]
fn a_page_without_a_kept_trace_names_no_file_of_the_moment() {
    let dir = tempfile::tempdir().expect("a folder");
    let html = dir.path().join("report.html");
    let said = cuzk(&[
        "bench",
        "-c",
        "1",
        "-j",
        "1",
        "--circuit",
        "mimc",
        "--size",
        "2^7",
        "--html",
        &html.to_string_lossy(),
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    let page = std::fs::read_to_string(&html).expect("the page");
    let title = "<title>verified: trace of the batch (not kept), output of the batch</title>";
    assert!(page.contains(title));
    let temporary = std::env::temp_dir();
    assert!(
        !page.contains(&*temporary.to_string_lossy()),
        "{temporary:?}"
    );
}

#[test]
fn a_trace_that_takes_the_place_of_a_file_says_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("run.log");
    let replaces = format!("replaces {}", trace.display());
    let first = bench(&trace, &[]);
    assert!(!first.err.contains(&replaces), "{}", first.err);
    let second = bench(&trace, &[]);
    assert!(second.err.contains(&replaces), "{}", second.err);
}

#[test]
fn a_healthy_batch_is_clean_everywhere() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("run.log");
    let html = dir.path().join("report.html");
    let said = bench(&trace, &["--html", &html.to_string_lossy()]);
    assert_eq!(said.code, 0, "{}", said.err);
    for line in [
        "count:       4",
        "[4/4] COMPLETED",
        "completed:   4",
        "throughput:",
        "memory:",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    let page = std::fs::read_to_string(&html);
    if cfg!(feature = "plots") {
        assert!(page.expect("the page").contains("<svg"));
    }
    let trace = trace.to_string_lossy();
    let diagnosed = cuzk(&["diagnose", &trace]);
    assert_eq!(diagnosed.code, 0, "{}", diagnosed.out);
    assert!(diagnosed.out.contains("VERIFIED"), "{}", diagnosed.out);
    let replayed = cuzk(&["replay", &trace, "--format", "json"]);
    let report = json(&replayed);
    assert_eq!(
        (replayed.code, report["source"].as_str()),
        (0, Some("events"))
    );
    assert_eq!(report["findings"], serde_json::json!([]));
    assert_eq!(report["truth"]["agree"], report["truth"]["checked"]);
    let analysis = json(&cuzk(&["analyze", &trace, "--format", "json"]));
    let phases = analysis["phases"].as_array().expect("phases");
    for name in [
        "quotient", "msm_h", "msm_l", "msm_a", "msm_b_g1", "msm_b_g2", "verify",
    ] {
        let phase = phases.iter().find(|phase| phase["phase"] == name);
        assert_eq!(phase.expect(name)["n"], 16, "{name}");
    }
    let gpu = &analysis["gpus"][0];
    assert!(gpu["busy_kernel_ms"].as_f64().expect("a number") > 0.0);
    let lint = cuzk(&["trace", "lint", &trace]);
    assert_eq!(lint.code, 0, "{}", lint.out);
}

#[test]
fn every_fault_is_named_as_the_root() {
    let dir = tempfile::tempdir().expect("a folder");
    // Fault, card, code of the root, a word that it must say.
    let table = [
        ("late-free", "16MiB", "vram.late_free", "d_bc"),
        ("leak-on-error:1", "16MiB", "vram.leak_on_error", "leaks"),
        ("alloc-fail:3", "16GiB", "vram.oom", "d_srs"),
        ("launch-fail:2", "16GiB", "cuda.error", "LAUNCH"),
        ("double-free:2", "16GiB", "vram.double_free", "d_bc"),
        ("early-free:2", "16GiB", "vram.use_after_free", "d_scratch"),
        ("synth-fail:2", "16GiB", "sched.failed", "synthesis"),
        ("bad-proof:2", "16GiB", "proof.invalid", "proof"),
        ("panic:synthesis:2", "16GiB", "sched.failed", "panicked"),
        ("panic:worker:9", "16GiB", "sched.failed", "panicked"),
        ("panic:finisher:2", "16GiB", "sched.failed", "panicked"),
    ];
    let mut wrong = Vec::new();
    for (fault, vram, code, word) in table {
        let trace = dir.path().join("fault.log");
        let said = bench(&trace, &["--inject", fault, "--vram", vram]);
        assert_eq!(said.code, 1, "{fault}: {}", said.err);
        let (exit, found, said) = root(&[&trace.to_string_lossy()]);
        if (exit, found.as_str()) != (1, code) || !said.contains(word) {
            wrong.push(format!("{fault}: exit {exit}, {found}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_a_smaller_plan_makes_good_is_said_and_is_no_error() {
    let dir = tempfile::tempdir().expect("a folder");
    for (fault, vram, code) in [
        ("late-free", "18MiB", "vram.late_free"),
        ("alloc-once:3", "16GiB", "vram.oom"),
        ("alloc-once:9", "16GiB", "vram.oom"),
    ] {
        let trace = dir.path().join("fault.log");
        let said = bench(&trace, &["--inject", fault, "--vram", vram]);
        // A late free was asked for that fails something.
        let exit = if fault == "late-free" { 3 } else { 0 };
        assert_eq!(said.code, exit, "{fault}: {}", said.err);
        let trace = trace.to_string_lossy();
        let text = std::fs::read_to_string(&*trace).expect("written");
        assert!(text.contains(",PLAN_FALLBACK,"), "{fault}");
        let said = cuzk(&["diagnose", "--format", "json", &trace]);
        let report = json(&said);
        assert_eq!(said.code, 0, "{fault}: {}", said.out);
        let findings = report["findings"].as_array().expect("findings");
        assert!(findings.iter().all(|finding| finding["root"] == false));
        let ooms: Vec<_> = findings
            .iter()
            .filter(|finding| finding["code"] == "vram.oom")
            .collect();
        assert_eq!(ooms.len(), 1, "{fault}: {}", said.out);
        assert_eq!(ooms[0]["severity"], "warning", "{fault}");
        let named = findings.iter().any(|finding| finding["code"] == code);
        assert!(named, "{fault}: {}", said.out);
        let replayed = cuzk(&["replay", &trace]);
        assert_eq!(replayed.code, 0, "{}", replayed.out);
        assert!(
            replayed.out.contains("a smaller plan was taken"),
            "{}",
            replayed.out
        );
    }
}

#[test]
fn a_slow_phase_is_named_against_a_good_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let (good, slow) = (dir.path().join("good.log"), dir.path().join("slow.log"));
    assert_eq!(bench(&good, &[]).code, 0);
    assert_eq!(bench(&slow, &["--inject", "slow:msm_h:60"]).code, 0);
    let (good, slow) = (good.to_string_lossy(), slow.to_string_lossy());
    let (exit, code, said) = root(&[&slow, "--baseline", &good]);
    assert_eq!(
        (exit, code.as_str()),
        (1, "perf.phase_regression"),
        "{said}"
    );
    assert!(said.contains("msm_h"), "{said}");
}

#[test]
fn a_fault_that_never_strikes_is_said_and_proves_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("run.log");
    let said = bench(&trace, &["--inject", "alloc-fail:9999"]);
    assert_eq!(said.code, 3, "{}", said.err);
    for text in [&said.out, &said.err] {
        assert!(text.contains("alloc-fail:9999 never struck"), "{text}");
    }
}

#[test]
fn a_late_free_on_a_roomy_card_names_a_card_on_which_it_shows() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("run.log");
    let said = bench(&trace, &["--inject", "late-free"]);
    assert_eq!(said.code, 3, "{}", said.out);
    let after = said
        .out
        .split("no job failed: the card had room for it; --vram ");
    let card = after.last().and_then(|rest| rest.split(' ').next());
    let card = card.expect("a card");
    let said = bench(&trace, &["--inject", "late-free", "--vram", card]);
    assert_eq!(said.code, 1, "{card}: {}", said.out);
    assert_eq!(root(&[&trace.to_string_lossy()]).1, "vram.late_free");
    assert_eq!(
        bench(&trace, &["--vram", card]).code,
        0,
        "{card}: it alone fails"
    );
}

/// The lines of the help, as they stand there.
#[test]
fn the_example_of_a_late_free_shows_one() {
    let help = cuzk(&["bench", "--help"]).out;
    let lines = help
        .lines()
        .skip_while(|line| !line.contains("--inject late-free"))
        .take(2);
    let lines: Vec<&str> = lines.collect();
    let dir = tempfile::tempdir().expect("a folder");
    let mut said = Vec::new();
    for call in &lines {
        let words: Vec<String> = call
            .split_whitespace()
            .skip(1)
            .map(|word| match word {
                "late.log" => dir.path().join(word).to_string_lossy().into_owned(),
                word => word.to_owned(),
            })
            .collect();
        said.push(cuzk(&words.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    let codes: Vec<i32> = said.iter().map(|said| said.code).collect();
    assert_eq!(codes, [1, 1], "{lines:?}");
    let diagnosis = said.last().expect("two calls");
    assert!(
        diagnosis.out.contains("[vram.late_free]"),
        "{}",
        diagnosis.out
    );
}

#[test]
fn what_prove_time_and_a_proof_are_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let said = bench(&dir.path().join("run.log"), &[]);
    assert!(said.out.contains("a job of 4 partitions"), "{}", said.out);
    assert!(said.out.contains("sum over the partitions"), "{}", said.out);
    assert!(said.err.contains("% ones"), "{}", said.err);
}

#[test]
fn a_panic_is_the_reason_of_its_job_wherever_the_job_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("run.log");
    let said = bench(&trace, &["--inject", "panic:worker:9"]);
    let why = "device worker panicked: injected panic of a worker thread";
    assert!(said.out.contains(why), "{}", said.out);
    let text = std::fs::read_to_string(&trace).expect("written");
    let text = text.replace("%20", " ");
    for event in [",PARTITION_FAILED,", ",JOB_END,"] {
        let line = text
            .lines()
            .find(|line| line.contains(event) && line.contains(why));
        assert!(line.is_some(), "{event}: {text}");
    }
}

#[test]
fn a_batch_that_is_refused_is_in_its_trace_with_the_reason() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("run.log");
    let said = bench(&trace, &["--memory", "1KiB"]);
    assert_eq!(said.code, 1, "{}", said.err);
    let text = std::fs::read_to_string(&trace).expect("written");
    let text = text.replace("%20", " ");
    assert_eq!(text.matches(",JOB_SUBMIT,").count(), 4, "{text}");
    assert!(text.contains("not accepted: a partition of job"), "{text}");
    let (exit, _, all) = root(&[&trace.to_string_lossy()]);
    assert_eq!(exit, 1);
    assert!(all.contains("budget"), "{all}");
}

#[test]
fn what_is_no_benchmark_is_refused_with_what_would_be() {
    for (args, word) in [
        (&["bench", "--inject", "gremlins"][..], "slow:PHASE:FACTOR"),
        (
            &["bench", "--inject", "slow:ntt:2"],
            "synth, quotient, msm_h",
        ),
        (&["bench", "--circuit", "sudoku"], "mimc"),
        (
            &["bench", "--circuit", "mimc", "--size", "100"],
            "power of two",
        ),
        (&["bench", "--vram", "much"], "16GiB"),
        (&["bench", "-c", "0"], "0"),
    ] {
        let said = cuzk(args);
        assert_eq!(said.code, 2, "{args:?}: {}", said.err);
        assert!(said.err.contains(word), "{args:?}: {}", said.err);
    }
}

#[test]
fn the_plan_of_our_own_prover_is_replayed_without_a_log() {
    let said = cuzk(&[
        "replay",
        "--plan",
        "2^27",
        "--vram",
        "16GiB",
        "--partitions",
        "6",
        "--min-vram",
        "--format",
        "json",
    ]);
    let report = json(&said);
    assert_eq!(
        (said.code, report["profile"].as_str()),
        (0, Some("own")),
        "{}",
        said.err
    );
    assert_eq!(report["findings"], serde_json::json!([]));
    assert!(report["peak_bytes"].as_u64() < report["min_vram_bytes"].as_u64());
    let small = cuzk(&["replay", "--plan", "2^27", "--vram", "4GiB"]);
    assert_eq!(small.code, 2);
    assert!(small.err.contains("larger card"), "{}", small.err);
    assert_eq!(cuzk(&["replay"]).code, 2);
}
