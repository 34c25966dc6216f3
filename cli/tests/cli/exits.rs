//! Each exit code by a call that earns it.

use crate::{cuzk, cuzk_with, example, file};

#[test]
fn zero_when_nothing_is_wrong() {
    let said = cuzk(&["diagnose", &example("two-workers.log")]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(
        said.out.starts_with("COMPLETE, NOT VERIFIED"),
        "{}",
        said.out
    );
}

#[test]
fn one_when_a_run_failed() {
    let said = cuzk(&[
        "diagnose",
        &example("late-free.log"),
        &example("late-free.bench"),
    ]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.starts_with("FAILED"), "{}", said.out);
}

#[test]
fn one_when_a_log_was_cut_with_jobs_open() {
    let said = cuzk(&["diagnose", &example("killed.log"), "--format", "json"]);
    assert_eq!(said.code, 1, "{}", said.out);
    let diagnosis = crate::json(&said);
    assert_eq!(diagnosis["verdict"], "truncated");
    let root = diagnosis["root"].as_str().unwrap();
    let findings = diagnosis["findings"].as_array().unwrap();
    let found = findings
        .iter()
        .find(|finding| finding["id"] == root)
        .unwrap();
    assert_eq!(found["code"], "run.truncated");
}

#[test]
fn two_for_what_cannot_be_read() {
    for args in [
        &["diagnose", "/no/such.log"][..],
        &["diagnose", "/"],
        &["trace", "stat", "/dev/zero"],
        &["analyze", "-", "-"],
        &["trace", "cat", "--match", "(", "Cargo.toml"],
        &["trace", "cat", "--kind", "GPU_ENDD", "Cargo.toml"],
        &["replay", "--plan", "2^20", "--workers", "0"],
        &["replay", "--plan", "2^20", "--partitions", "0"],
        &["analyze", "--gap-floor-ms", "NaN", "Cargo.toml"],
        &["compare", "one"],
        &["no-such-verb"],
    ] {
        let said = cuzk(args);
        assert_eq!(said.code, 2, "{args:?}: {}", said.err);
        assert!(!said.err.is_empty() && said.out.is_empty(), "{args:?}");
    }
}

#[test]
fn two_for_a_log_named_twice() {
    let log = example("two-workers.log");
    let said = cuzk(&["diagnose", &log, &log]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("named twice"), "{}", said.err);
}

#[test]
fn pieces_of_one_log_are_joined_and_it_is_said() {
    let log = std::fs::read(example("two-workers.log")).unwrap();
    let half = log.len() / 2;
    let middle = half + log[half..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (_a, older) = file("older.log", &log[..middle]);
    let (_b, newer) = file("newer.log", &log[middle..]);
    let said = cuzk(&["diagnose", older.to_str().unwrap(), newer.to_str().unwrap()]);
    assert!(said.err.contains("read as one log"), "{}", said.err);
    let whole = cuzk(&[
        "diagnose",
        &example("two-workers.log"),
        &example("late-free.log"),
    ]);
    assert_eq!(whole.err, "");
}

#[test]
fn two_for_an_empty_file_with_what_would_have_done() {
    let (_dir, path) = file("empty.log", b"");
    let said = cuzk(&["diagnose", path.to_str().unwrap()]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("empty") && said.err.contains("expected"),
        "{}",
        said.err
    );
}

#[test]
fn three_when_the_log_ends_before_its_jobs_without_a_sign_of_death() {
    let log = b"TIMELINE,10,SYNTH_START,job-a,partition=0\n";
    let said = cuzk_with(&["diagnose", "-"], log);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
}

#[test]
fn four_when_two_runs_are_not_comparable() {
    let log = |partitions: u32| -> Vec<u8> {
        let mut log = Vec::new();
        for part in 0..partitions {
            let at = 1000 * u64::from(part);
            let lines = format!(
                "TIMELINE,{at},SYNTH_START,job-a,partition={part}\n\
                 TIMELINE,{},SYNTH_END,job-a,partition={part},synth_ms=500\n\
                 TIMELINE,{},GPU_PICKUP,job-a,worker=0,partition={part}\n\
                 TIMELINE,{},GPU_START,job-a,worker=0,partition={part}\n\
                 TIMELINE,{},GPU_END,job-a,worker=0,partition={part},gpu_ms=90\n",
                at + 500,
                at + 501,
                at + 502,
                at + 592
            );
            log.extend(lines.into_bytes());
        }
        log
    };
    let (_a, a) = file("a.log", &log(10));
    let (_b, b) = file("b.log", &log(16));
    let said = cuzk(&["compare", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert_eq!(said.code, 4, "{}", said.out);
    assert!(said.out.contains("not comparable"), "{}", said.out);
}

#[test]
fn three_when_there_is_nothing_to_analyze() {
    let said = cuzk_with(&["analyze", "-"], b"no engine wrote this\n");
    assert_eq!(said.code, 3, "{}", said.out);
}
