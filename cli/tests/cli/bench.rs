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
        ("late-free", "10MiB", "vram.late_free", "d_bc"),
        ("leak-on-error:1", "12MiB", "vram.leak_on_error", "leaks"),
        ("alloc-fail:3", "16GiB", "vram.oom", "d_points"),
        ("launch-fail:2", "16GiB", "cuda.error", "LAUNCH"),
        ("double-free:2", "16GiB", "vram.double_free", "d_bc"),
        ("early-free:2", "16GiB", "vram.use_after_free", "d_points"),
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
fn a_slow_phase_is_named_against_a_good_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let (good, slow) = (dir.path().join("good.log"), dir.path().join("slow.log"));
    assert_eq!(bench(&good, &[]).code, 0);
    assert_eq!(bench(&slow, &["--inject", "slow:msm_h:30"]).code, 0);
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
fn what_is_no_benchmark_is_refused_with_what_would_be() {
    for (args, word) in [
        (&["bench", "--inject", "gremlins"][..], "slow:PHASE:FACTOR"),
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
