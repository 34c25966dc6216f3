//! Tables of log lines, each as it is printed, with lost ESC bytes, and plain.

use super::*;

/// Puts escapes where the table has `<code>`.
fn escaped(line: &str, esc: &str) -> String {
    let mut text = line.to_owned();
    for code in ["0m", "1m", "2m", "3m", "31m", "32m", "33m", "34m"] {
        text = text.replace(&format!("<{code}>"), &format!("{esc}[{code}"));
    }
    text
}

fn plain(line: &str) -> String {
    let mut text = line.to_owned();
    for code in ["0m", "1m", "2m", "3m", "31m", "32m", "33m", "34m"] {
        text = text.replace(&format!("<{code}>"), "");
    }
    text
}

const PICKUP: &str = "<2m>2026-02-19T04:24:22.996374Z<0m> <32m> INFO<0m> \
 <1m>gpu_worker<0m><1m>{<0m>\
    <3m>worker_id<0m><2m>=<0m>0 <3m>gpu<0m><2m>=<0m>1 <3m>job_id<0m><2m>=<0m>wdpost-1-[1 2 3] \
    <3m>partition<0m><2m>=<0m>Some(3)<1m>}<0m><2m>:<0m> <2m>cuzk_core::engine<0m><2m>:<0m> GPU \
    worker \
    picked up synthesized proof <3m>batched<0m><2m>=<0m>false <3m>partition<0m><2m>=<0m>Some(4)";

const PANICKED: &str = "<2m>2026-02-19T04:24:22.996374Z<0m> <31m>ERROR<0m> \
 <2m>cuzk_core::engine<0m><2m>:<0m> \
    GPU prove start task panicked <3m>job_id<0m><2m>=<0m>j <3m>error<0m><2m>=<0m>task 5 \
    panicked with message \
    \"f(n = 5)@a.cuh:7 failed: \\\"out of memory\\\" x=y\" <3m>partition<0m><2m>=<0m>3";

const THREADS: &str = "<2m>2026-02-19T04:24:22.996374Z<0m> <33m> WARN<0m> \
 <2m>cuzk_daemon<0m><2m>:<0m> GPU threads \
    configured CUZK_GPU_THREADS=32 <3m>gpu_threads<0m><2m>=<0m>32 <3m>log_level<0m><2m>=<0m>\"a \
    b=c\"";

#[test]
fn tracing_lines_in_three_states_say_the_same() {
    for line in [PICKUP, PANICKED, THREADS] {
        let whole = escaped(line, "\u{1b}");
        let lost = escaped(line, "");
        let plain = plain(line);
        let whole = parse_log(whole.as_bytes()).unwrap();
        assert_eq!(parse_log(lost.as_bytes()).as_ref(), Some(&whole));
        assert_eq!(parse_log(plain.as_bytes()).as_ref(), Some(&whole));
    }
}

#[test]
fn spans_and_fields() {
    let line = escaped(PICKUP, "\u{1b}");
    let log = parse_log(line.as_bytes()).unwrap();
    assert_eq!(log.stamp.unwrap().unix_us, 1_771_475_062_996_374);
    assert!(log.stamp.unwrap().utc);
    assert_eq!(log.level, Level::Info);
    assert_eq!(log.target, "cuzk_core::engine");
    assert_eq!(log.message, "GPU worker picked up synthesized proof");
    assert_eq!(log.field("worker_id"), Some("0"));
    assert_eq!(log.field("job_id"), Some("wdpost-1-[1 2 3]"));
    assert_eq!(log.field("partition"), Some("4"));
    assert_eq!(log.fields.len(), 6);
}

#[test]
fn values_with_quotes_blanks_and_equal_signs() {
    let log = plain(PANICKED);
    let log = parse_log(log.as_bytes()).unwrap();
    assert_eq!(log.message, "GPU prove start task panicked");
    let error =
        "task 5 panicked with message \"f(n = 5)@a.cuh:7 failed: \\\"out of memory\\\" x=y\"";
    assert_eq!(log.field("error"), Some(error));
    assert_eq!(log.field("partition"), Some("3"));

    let log = plain(THREADS);
    let log = parse_log(log.as_bytes()).unwrap();
    assert_eq!(log.message, "GPU threads configured CUZK_GPU_THREADS=32");
    assert_eq!(log.field("log_level"), Some("a b=c"));
}

#[test]
fn a_cut_line_keeps_what_is_whole() {
    let line = escaped(PICKUP, "");
    let cut = line.find("<3m>").unwrap_or(line.len() - 25);
    let log = parse_log(&line.as_bytes()[..cut]).unwrap();
    assert_eq!(log.field("batched"), Some("false"));
    assert_eq!(log.field("partition"), Some("3"));
}

#[test]
fn nested_spans_and_spans_without_fields() {
    let line = "2026-02-19T04:24:22Z DEBUG outer{a=1}:inner{b=2 c=\"}: \"}: x::y: hello d=4";
    let log = parse_log(line.as_bytes()).unwrap();
    assert_eq!((&*log.target, &*log.message), ("x::y", "hello"));
    let fields: Vec<_> = log.fields.iter().map(|(k, v)| (&**k, &**v)).collect();
    assert_eq!(
        fields,
        [("a", "1"), ("b", "2"), ("c", "\"}: \""), ("d", "4")]
    );
    let line = "2026-02-19T04:24:22Z  INFO synth_batch_full: x::y: hello: there";
    let log = parse_log(line.as_bytes()).unwrap();
    assert_eq!((&*log.target, &*log.message), ("x::y", "hello: there"));
    let coloured = "<2m>2026-02-19T04:24:22Z<0m> <32m> INFO<0m> <1m>synth_batch_full<0m><2m>:<0m> \
                    <2m>x::y<0m><2m>:<0m> hello: there";
    assert_eq!(parse_log(escaped(coloured, "\u{1b}").as_bytes()), Some(log));
}

#[test]
fn env_logger_and_its_relatives() {
    let table = [
        (
            "2026-03-01T05:16:09.278 INFO a::b > synthesis time: 7.5s x=1",
            Some(false),
            Level::Info,
        ),
        (
            "2020-02-26T13:33:11.534 6150 high DEBUG a::b > synthesis time: 7.5s x=1",
            Some(false),
            Level::Debug,
        ),
        (
            "[2021-09-21T04:48:55Z WARN  a::b] synthesis time: 7.5s x=1",
            Some(true),
            Level::Warn,
        ),
        ("ERROR a::b] synthesis time: 7.5s x=1", None, Level::Error),
    ];
    for (line, utc, level) in table {
        let log = parse_log(line.as_bytes()).unwrap();
        assert_eq!(log.stamp.map(|stamp| stamp.utc), utc, "{line}");
        assert_eq!((log.level, &*log.target), (level, "a::b"), "{line}");
        assert_eq!(log.message, "synthesis time: 7.5s x=1", "{line}");
        assert!(log.fields.is_empty());
    }
}

#[test]
fn go_lines_with_tabs_and_with_blanks() {
    let tabs = "2021-04-03T15:13:58.116+0800\tWARN\tminer\tminer/miner.go:508\tCAUTION: late\t\
                {\"tProof \": 47.77, \"note\": \"a,b=c\"}";
    let blanks = tabs.replace('\t', "    ");
    let log = parse_log(tabs.as_bytes()).unwrap();
    assert_eq!(log.stamp.unwrap().unix_us, 1_617_434_038_116_000);
    assert!(log.stamp.unwrap().utc);
    assert_eq!((&*log.target, &*log.message), ("miner", "CAUTION: late"));
    assert_eq!(log.field("tProof"), Some("47.77"));
    assert_eq!(log.field("note"), Some("a,b=c"));
    assert_eq!(log.field("caller"), Some("miner/miner.go:508"));
    assert_eq!(parse_log(blanks.as_bytes()), Some(log));
    let cut = "2021-06-09T09:38:59.861+0800    WARN    storageminer    \
    storage/wdpost_run.go:226       Checked sectors {\"c";
    let log = parse_log(cut.as_bytes()).unwrap();
    assert_eq!(log.message, "Checked sectors {\"c");
}

#[test]
fn other_lines_are_not_log_lines() {
    for line in [
        "",
        "TIMELINE,5,CHAN_SEND,J,",
        "thread 'main' panicked at a.rs:1:2:",
        "[Fri Jun 27 23:32:32 2025] Out of memory: Killed process 526101",
        "2026/01/06 15:13:03.389, NVIDIA GeForce RTX 5090, 0 %",
        "2026-02-19T04:24:22.996374Z",
        "2026-02-19T04:24:22.996374Z NOTICE a::b: x",
        "ERRORS in the build",
        "INFO",
    ] {
        assert_eq!(parse_log(line.as_bytes()), None, "{line}");
    }
}
