//! No output is written over a file that the same call reads, whatever name it goes by.

use std::fs;
use std::path::Path;

use crate::{cuzk, example};

/// Calls with `IN` standing for a log, `LINK` for another name of it.
const CALLS: [&[&str]; 11] = [
    &["diagnose", "IN", "--html", "IN"],
    &["diagnose", "IN", "--html", "LINK"],
    &["diagnose", "OTHER", "--baseline", "IN", "--html", "IN"],
    &["analyze", "IN", "--html", "IN"],
    &["replay", "IN", "-o", "IN"],
    &["replay", "LINK", "-o", "IN"],
    &["replay", "IN", "--svg", "IN"],
    &["replay", "OTHER", "--svg", "NEW", "-o", "./NEW"],
    &["trace", "convert", "--to", "chrome", "IN", "-o", "IN"],
    &["trace", "convert", "--to", "jsonl", "IN", "-o", "HARD"],
    &["trace", "convert", "--to", "samples", "IN", "-o", "UP/IN"],
];

fn place(dir: &Path, word: &str) -> String {
    let name = match word {
        "IN" => "in.log",
        "LINK" => "link.log",
        "HARD" => "hard.log",
        "OTHER" => "other.log",
        "NEW" => "new.out",
        "./NEW" => "./new.out",
        "UP/IN" => "sub/../in.log",
        other => return other.to_owned(),
    };
    dir.join(name).to_string_lossy().into_owned()
}

#[test]
fn a_file_that_another_call_writes_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.jsonl");
    fs::write(&path, "half of what the other").expect("a file");
    let name = path.to_string_lossy();
    let other = fs::File::options().append(true).open(&path).expect("open");
    other.lock().expect("a lock");
    let log = example("late-free.log");
    let call = || cuzk(&["trace", "convert", "--to", "jsonl", &log, "-o", &name]);
    let refused = call();
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("another process is writing it"),
        "{}",
        refused.err
    );
    assert_eq!(fs::read(&path).expect("a file"), b"half of what the other");
    drop(other);
    assert_eq!(call().code, 0);
    assert!(fs::read(&path).expect("a file").starts_with(b"{"));
}

#[test]
fn a_log_that_is_read_is_not_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let log = fs::read(example("late-free.log")).expect("a log");
    fs::write(dir.join("in.log"), &log).expect("a copy");
    fs::write(dir.join("other.log"), &log).expect("a copy");
    fs::create_dir(dir.join("sub")).expect("a folder");
    std::os::unix::fs::symlink(dir.join("in.log"), dir.join("link.log")).expect("a link");
    fs::hard_link(dir.join("in.log"), dir.join("hard.log")).expect("a link");
    for call in CALLS {
        let args: Vec<String> = call.iter().map(|word| place(dir, word)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let said = cuzk(&args);
        assert_eq!(said.code, 2, "{call:?}: {}", said.err);
        assert!(said.out.is_empty(), "{call:?}: {}", said.out);
        assert!(
            said.err.contains("name another file") || said.err.contains("name two files"),
            "{call:?}: {}",
            said.err
        );
        assert_eq!(fs::read(dir.join("in.log")).expect("it is there"), log);
    }
}

/// Pictures and schedules get their names from the program; an input may have such a name.
#[test]
fn what_is_named_by_the_program_is_not_written_over_an_input_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().to_string_lossy().into_owned();
    let log = fs::read(example("late-free.log")).expect("a log");
    for (name, verb, option) in [
        ("waterfall.svg", "analyze", "--svg"),
        ("waterfall.png", "analyze", "--png"),
        ("run0-vram.late_free.jsonl", "diagnose", "--repro-dir"),
    ] {
        if verb == "analyze" && !cfg!(feature = "plots") {
            continue;
        }
        let input = folder.path().join(name);
        fs::write(&input, &log).expect("a copy");
        let said = cuzk(&[verb, &input.to_string_lossy(), option, &dir]);
        assert_eq!(said.code, 2, "{name}: {}", said.err);
        assert!(said.err.contains("name another folder"), "{}", said.err);
        assert_eq!(fs::read(&input).expect("it is there"), log, "{name}");
    }
}

#[cfg(all(feature = "gate", feature = "plots"))]
#[test]
fn pictures_of_a_history_are_not_written_over_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().to_string_lossy().into_owned();
    let history = fs::read(example("history.csv")).expect("a history");
    let input = folder.path().join("phases.svg");
    fs::write(&input, &history).expect("a copy");
    let name = input.to_string_lossy().into_owned();
    let mut call = vec!["golden", "plot", &name, "--svg", &dir];
    for column in "commit=commit time=date phase=phase key=domain value=ms:ms".split(' ') {
        call.extend(["--column", column]);
    }
    let said = cuzk(&call);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("name another folder"), "{}", said.err);
    assert_eq!(fs::read(&input).expect("it is there"), history);
}

#[cfg(feature = "gate")]
#[test]
fn neither_runs_nor_goldens_are_written_over_by_a_check() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let runs = dir.join("runs.jsonl");
    let golden = dir.join("goldens/cpu/a.toml");
    fs::create_dir_all(dir.join("goldens/cpu")).expect("a folder");
    fs::write(&runs, "{}\n").expect("a file");
    fs::write(&golden, "kept").expect("a file");
    let (runs, golden, goldens) = (text(&runs), text(&golden), text(&dir.join("goldens")));
    let outputs = [
        vec!["--write".to_owned(), format!("json={runs}")],
        vec!["--write".to_owned(), format!("text={golden}")],
        vec!["--svg".to_owned(), runs.clone()],
        vec!["--html".to_owned(), runs.clone()],
    ];
    for output in outputs {
        let output: Vec<&str> = output.iter().map(String::as_str).collect();
        let check = ["golden", "check", &runs, "--goldens", &goldens];
        let said = cuzk(&[&check[..], &output].concat());
        assert_eq!(said.code, 2, "{output:?}: {}", said.err);
        assert!(
            said.err.contains("name another file"),
            "{output:?}: {}",
            said.err
        );
        assert_eq!(fs::read(&golden).expect("it is there"), b"kept");
        assert_eq!(fs::read(&runs).expect("it is there"), b"{}\n");
    }
}
