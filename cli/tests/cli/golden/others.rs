//! What other tools measured: Criterion's folders, hyperfine's exports, tables with named columns.

use std::fmt::Write as _;

use super::Desk;
use crate::json;

/// Writes what one process of Criterion leaves behind for two benchmarks.
fn criterion(desk: &Desk, process: u32) -> Vec<String> {
    let mut files = Vec::new();
    for (at, (folder, id)) in [("ntt_2_18", "ntt/2^18"), ("msm", "msm")]
        .into_iter()
        .enumerate()
    {
        let dir = format!("run{process}/target/criterion/{folder}/new");
        std::fs::create_dir_all(desk.path(&dir)).expect("a folder");
        let times: Vec<String> = (1..=12_u32)
            .map(|n| {
                let wiggle = f64::from((n * 7 + process * 5) % 11) / 1000.0;
                let level = 1e6 * f64::from(u32::try_from(at).expect("two") + 1);
                (level * f64::from(n) * (1.0 + wiggle)).to_string()
            })
            .collect();
        let iters: Vec<String> = (1..=12).map(|n| format!("{n}.0")).collect();
        let (iters, times) = (iters.join(","), times.join(","));
        let text =
            format!("{{\"sampling_mode\":\"Linear\",\"iters\":[{iters}],\"times\":[{times}]}}");
        files.push(desk.file(&format!("{dir}/sample.json"), &text));
        desk.file(
            &format!("{dir}/benchmark.json"),
            &format!("{{\"group_id\":\"g\",\"full_id\":\"{id}\"}}"),
        );
    }
    files
}

#[test]
fn the_files_of_one_process_of_criterion_are_one_run() {
    let desk = Desk::new();
    let files: Vec<String> = (1..=4)
        .flat_map(|process| criterion(&desk, process))
        .collect();
    let mut args = vec![
        "record",
        "--allow-unverified",
        "--key",
        "circuit=c",
        "--format",
        "json",
    ];
    args.extend(files.iter().map(String::as_str));
    let said = desk.golden(&args);
    assert_eq!(said.code, 0, "{}", said.err);
    let made = json(&said);
    assert_eq!(made["runs"], 4, "{made}");
    assert_eq!(
        made["phases"],
        serde_json::json!(["msm", "ntt/2^18"]),
        "{made}"
    );
}

#[test]
fn hyperfine_may_repeat_one_command_more_often() {
    let desk = Desk::new();
    let times = |count: u32, level: f64| {
        let all: Vec<String> = (0..count)
            .map(|n| (level * (1.0 + f64::from(n * 7 % 11) / 1000.0)).to_string())
            .collect();
        all.join(",")
    };
    let text = format!(
        "{{\"results\":[{{\"command\":\"prove\",\"times\":[{}]}},\
         {{\"command\":\"verify\",\"times\":[{}]}}]}}",
        times(10, 2.5),
        times(17, 0.25)
    );
    let file = desk.file("h.json", &text);
    let said = desk.golden(&["record", &file, "--allow-unverified", "--key", "circuit=c"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for words in ["10 runs, 2 phases", "7 executions left out"] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
}

#[test]
fn a_column_that_somebody_named_has_to_be_there() {
    let desk = Desk::new();
    let mut text = "start,name,elapsed,ok\n".to_owned();
    for run in 0..4_u32 {
        for at in 0..6_u32 {
            let us = 1500.0 + f64::from((run * 5 + at * 7) % 11) / 7.0;
            writeln!(text, "s{run},prove,{us},YES").expect("memory");
        }
    }
    let file = desk.file("t.csv", &text);
    let named = [
        "--column",
        "phase=name",
        "--column",
        "time=elapsed:us",
        "--column",
        "verified=ok",
    ];
    let call = |run: &str| {
        let run = format!("run={run}");
        let args = [&["record", &file, "--column", &run], &named[..]].concat();
        desk.golden(&args)
    };
    let wrong = call("begin");
    assert!(
        wrong.code == 2 && wrong.err.contains("no column \"begin\""),
        "{}",
        wrong.err
    );
    let right = call("start");
    assert!(
        right.out.contains("4 runs, 1 phases"),
        "{}{}",
        right.out,
        right.err
    );
}
