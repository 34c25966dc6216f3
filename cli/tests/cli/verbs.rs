//! Every verb on the bundled logs: text for people, JSON for programs.

use crate::{cuzk, cuzk_with, example, json};

#[test]
fn help_shows_examples_and_exit_codes() {
    for args in [
        &["--help"][..],
        &["diagnose", "--help"],
        &["analyze", "--help"],
        &["compare", "--help"],
        &["trace", "stat", "--help"],
        &["trace", "cat", "--help"],
        &["trace", "lint", "--help"],
        &["trace", "convert", "--help"],
    ] {
        let said = cuzk(args);
        assert_eq!(said.code, 0, "{args:?}");
        assert!(said.out.contains("Example"), "{args:?}: {}", said.out);
    }
}

#[test]
fn stat_accounts_for_every_byte() {
    let path = example("late-free.log");
    let said = cuzk(&["trace", "stat", &path, "--format", "json"]);
    let stat = json(&said);
    let size = std::fs::metadata(&path).unwrap().len();
    assert_eq!(stat["schema"], "cuzk.trace_stat/1");
    assert_eq!(
        (stat["bytes"].as_u64(), stat["file_bytes"].as_u64()),
        (Some(size), Some(size))
    );
    let classes = stat["classes"].as_object().unwrap();
    assert_eq!(classes.len(), 10);
    let bytes: u64 = classes
        .values()
        .map(|tally| tally["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(bytes, size);
    assert_eq!(stat["events"]["SYNTH_START"], 30);
    assert_eq!(stat["runs"][0]["epoch"], "2026-02-19T04:20:17.307Z");
}

#[test]
fn cat_prints_the_original_bytes() {
    let path = example("late-free.log");
    let said = cuzk(&["trace", "cat", &path]);
    assert_eq!(said.out, std::fs::read_to_string(&path).unwrap());
    let ends = cuzk(&["trace", "cat", "--kind", "GPU_END", &path]);
    assert_eq!(ends.out.lines().count(), 6);
    assert!(ends.out.lines().all(|line| line.contains(",GPU_END,")));
    let both = cuzk(&["trace", "cat", "--match", "err=2$", "-n", &path]);
    assert!(
        both.out
            .starts_with("53:CUZK_TIMING: prestage_setup=fallback err=2\n")
    );
}

#[test]
fn cat_finds_trouble_and_says_so_by_its_exit() {
    let said = cuzk(&["trace", "cat", "--trouble", &example("late-free.log")]);
    assert_eq!(said.code, 1);
    for what in [
        "err=2",
        "panicked at",
        "out of memory",
        "skipping GPU prove",
    ] {
        assert!(said.out.contains(what), "{what} is missing");
    }
    let open = cuzk(&["trace", "cat", "--trouble", &example("killed.log")]);
    assert!(
        open.out.contains(",SYNTH_START,"),
        "missing ends: {}",
        open.out
    );
    let well = cuzk(&["trace", "cat", "--trouble", &example("two-workers.log")]);
    assert_eq!((well.code, well.out.as_str()), (0, ""));
}

#[test]
fn cat_gives_a_partition_its_timing_lines() {
    let path = example("two-workers.log");
    let said = cuzk(&[
        "trace",
        "cat",
        "--partition",
        "2",
        "--kind",
        "batch_add",
        &path,
    ]);
    assert_eq!(
        said.out.lines().count(),
        5,
        "one for each of the five jobs: {}",
        said.out
    );
}

#[test]
fn cat_describes_lines_as_json() {
    let path = example("two-workers.log");
    let said = cuzk(&[
        "trace", "cat", "--kind", "GPU_END", "--format", "json", &path,
    ]);
    let lines: Vec<serde_json::Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 30);
    assert!(
        lines
            .iter()
            .all(|line| line["kind"] == "GPU_END" && line["worker"].is_u64())
    );
}

#[test]
fn analyze_sums_its_causes() {
    let said = cuzk(&["analyze", &example("two-workers.log"), "--format", "json"]);
    let analysis = json(&said);
    let gpu = &analysis["gpus"][0];
    let causes = gpu["idle_by_cause_ms"].as_object().unwrap();
    let sum: f64 = causes.values().map(|ms| ms.as_f64().unwrap()).sum();
    let idle = gpu["span_ms"].as_f64().unwrap() - gpu["busy_kernel_ms"].as_f64().unwrap();
    assert!((sum - idle).abs() < 1e-6, "{sum} {idle}");
    assert_eq!(analysis["regions"].as_array().unwrap().len(), 30);
    let text = cuzk(&["analyze", &example("two-workers.log")]).out;
    for what in [
        "busy by kernel",
        "synthesis_starved",
        "ntt_msm_h",
        "critical path",
    ] {
        assert!(text.contains(what), "{what} is missing in {text}");
    }
}

#[test]
fn compare_finds_a_run_equal_to_itself() {
    let path = example("two-workers.log");
    let said = cuzk(&["compare", &path, &path, "--format", "json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let comparison = json(&said);
    assert_eq!(comparison["comparable"], true);
    let phases = comparison["phases"].as_array().unwrap();
    assert!(phases.len() >= 5);
    // A phase of under a millisecond prints 0 and has no ratio.
    for phase in phases.iter().filter(|phase| phase["a_ms"] != 0.0) {
        assert_eq!(phase["ratio"], 1.0, "{phase}");
        assert!(phase["low"].as_f64().unwrap() <= 1.0 && phase["high"].as_f64().unwrap() >= 1.0);
    }
}

#[test]
fn convert_writes_forms_that_parse() {
    let path = example("two-workers.log");
    let lines = cuzk(&["trace", "convert", "--to", "jsonl", &path]).out;
    for line in lines.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    let chrome = json(&cuzk(&["trace", "convert", "--to", "chrome", &path]));
    let events = chrome["traceEvents"]
        .as_array()
        .or(chrome.as_array())
        .unwrap();
    assert!(events.len() > 90, "three spans a partition at least");
    let samples = cuzk(&["trace", "convert", "--to", "samples", &path]).out;
    let count = samples
        .lines()
        .filter(|line| line.contains("\"batch_add\""))
        .count();
    assert_eq!(count, 30);
}

#[test]
fn convert_to_perfetto_writes_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run.pftrace");
    let path = example("two-workers.log");
    let said = cuzk(&[
        "trace",
        "convert",
        "--to",
        "perfetto",
        &path,
        "-o",
        out.to_str().unwrap(),
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(std::fs::metadata(&out).unwrap().len() > 1000);
}

#[test]
#[cfg(feature = "plots")]
fn the_report_is_one_page_under_two_megabytes() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("report.html");
    let page = out.to_str().unwrap();
    let said = cuzk(&["diagnose", &example("late-free.log"), "--html", page]);
    assert_eq!(said.code, 1);
    let html = std::fs::read_to_string(&out).unwrap();
    assert!(html.len() < 2 << 20, "{} bytes", html.len());
    for outside in ["<link", "src=\"http", "@import", "url(http"] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
#[cfg(feature = "plots")]
fn pictures_are_written_in_both_forms() {
    let dir = tempfile::tempdir().unwrap();
    let into = dir.path().to_str().unwrap();
    let said = cuzk(&[
        "analyze",
        &example("two-workers.log"),
        "--svg",
        into,
        "--png",
        into,
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    for name in ["waterfall", "utilisation", "depth", "phases"] {
        assert!(
            dir.path().join(format!("{name}.svg")).exists(),
            "{name}.svg"
        );
        let png = std::fs::read(dir.path().join(format!("{name}.png"))).unwrap();
        assert_eq!(png.get(1..4), Some(&b"PNG"[..]));
    }
}

#[test]
fn compressed_and_piped_logs_read_like_plain_ones() {
    let path = example("two-workers.log");
    let plain = cuzk(&["analyze", &path]);
    let piped = cuzk_with(&["analyze", "-"], &std::fs::read(&path).unwrap());
    assert_eq!(plain.out, piped.out);
}

#[test]
fn completions_and_manual_are_generated() {
    assert!(cuzk(&["completions", "bash"]).out.contains("_cuzk"));
    assert!(cuzk(&["man"]).out.contains(".TH cuzk"));
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(
        cuzk(&["man", "--dir", dir.path().to_str().unwrap()]).code,
        0
    );
    let cat = std::fs::read_to_string(dir.path().join("cuzk-trace-cat.1")).unwrap();
    assert!(cat.contains(".TH cuzk-trace-cat 1"), "{cat}");
    let examples = cat.split_once(".SH EXAMPLES\n.nf\n").unwrap().1;
    let lines: Vec<&str> = examples.lines().collect();
    assert_eq!(lines.last(), Some(&".fi"));
    assert!(
        lines.contains(&"\\&  cuzk trace cat \\-\\-match \\(aqerr=(2|712)\\(aq \\-n daemon.log"),
        "an example stays one line: {examples}"
    );
}

#[test]
fn manual_pages_go_into_a_new_folder() {
    let dir = tempfile::tempdir().unwrap();
    let into = dir.path().join("share/man1");
    let said = cuzk(&["man", "--dir", into.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(into.join("cuzk.1").exists());
}

#[test]
fn help_says_what_the_program_is_for() {
    let said = cuzk(&["--help"]);
    assert!(said.out.starts_with("Tools for people"), "{}", said.out);
}

#[test]
fn cat_says_when_it_chose_nothing() {
    let path = example("late-free.log");
    for kind in ["PLAN_FALLBACK", "ops", "async_dealloc,HOST_REG"] {
        let none = cuzk(&["trace", "cat", "--kind", kind, "--job", "no-such", &path]);
        assert_eq!((none.code, none.out.as_str()), (0, ""));
        assert!(none.err.contains("no line was chosen"), "{}", none.err);
    }
    let slip = cuzk(&[
        "trace",
        "cat",
        "--kind",
        "GPU_END,GPU_STOP",
        "--job",
        "no-such",
        &path,
    ]);
    assert_eq!((slip.code, slip.out.as_str()), (2, ""));
    assert!(slip.err.contains("GPU_STOP"), "{}", slip.err);
    let some = cuzk(&["trace", "cat", "--kind", "GPU_END", &path]);
    assert_eq!(some.err, "");
}

#[test]
fn compare_words_fit_what_is_there() {
    let (well, killed) = (example("two-workers.log"), example("killed.log"));
    let text = cuzk(&["compare", &well, &killed]).out;
    let row = |name: &str| {
        let found = text.lines().find(|line| line.starts_with(name));
        found.map_or_else(String::new, str::to_owned)
    };
    assert!(
        row("epilogue").ends_with("below the clock's tick"),
        "{text}"
    );
    assert!(row("ntt_msm_h").contains("no interval"), "{text}");
    assert!(!text.contains("on one side only"), "{text}");
    let completed: Vec<String> = row("proofs completed")
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    assert_eq!(completed[2..], ["5", "2"]);
}

#[test]
fn diagnose_says_that_it_looked_at_the_baseline() {
    let (killed, well) = (example("killed.log"), example("two-workers.log"));
    let text = cuzk(&["diagnose", &killed, "--baseline", &well]).out;
    let said = format!("Compared with {well}: no phase is clearly slower.");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&text).contains(&words(&said)), "{text}");
    assert!(!cuzk(&["diagnose", &killed]).out.contains("Compared with"));
}

#[test]
#[cfg(not(feature = "frames"))]
fn a_refused_table_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.csv");
    let (path, into) = (example("late-free.log"), out.to_str().unwrap());
    let said = cuzk(&["trace", "convert", "--to", "csv", &path, "-o", into]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("--features frames"), "{}", said.err);
    assert!(!out.exists());
}

#[test]
fn the_readme_shows_what_its_command_prints() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let names = ["late-free.log", "late-free.bench"].map(|name| format!("docs/examples/{name}"));
    let mut command = crate::command(&["diagnose", &names[0], &names[1]]);
    let said = crate::said(command.current_dir(&root).output().unwrap());
    let (head, _) = said.out.split_once("\n\nFollowed from it").unwrap();
    assert!(readme.contains(&format!("```text\n{head}\n```")), "{head}");
}
