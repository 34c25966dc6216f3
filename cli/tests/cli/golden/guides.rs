//! The commands of the guides: each parses as the program's own arguments, and the calls of the
//! gate's guide run in order on files of their names.

use std::path::Path;

use clap::Parser;

use super::{BASE, Desk, Made};

/// Calls of `cuzk` in the code blocks of a guide.
fn calls(guide: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/guides")
        .join(guide);
    let text = std::fs::read_to_string(path).expect("the guide");
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        }
        let line = line
            .trim()
            .trim_start_matches("- ")
            .trim_start_matches("run: ");
        if inside && line.starts_with("cuzk ") {
            found.push(words(line));
        }
    }
    found
}

/// A line as a shell splits it, without anything but double quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is one").push(c),
        }
    }
    words
}

#[test]
fn every_call_parses() {
    for (guide, least) in [("gate-a-merge.md", 10), ("draw-a-regression.md", 2)] {
        let calls = calls(guide);
        assert!(calls.len() >= least, "{guide}: {calls:?}");
        for call in calls {
            let parsed = cli::args::Args::try_parse_from(&call);
            assert!(parsed.is_ok(), "{guide}: {call:?}: {:?}", parsed.err());
        }
    }
}

#[test]
fn the_jobs_run_on_runs_of_their_names() {
    let desk = Desk::new();
    let recorded: Vec<String> = (1..=5)
        .map(|n| desk.file(&format!("run{n}.log"), &one("b", n)))
        .collect();
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    assert_eq!(desk.golden(&[&["record"], &recorded[..]].concat()).code, 0);
    assert_eq!(desk.golden(&["accept"]).code, 0);
    for n in 1..=4 {
        desk.file(&format!("run{n}.log"), &one("c", n));
    }
    let checks: Vec<_> = calls("gate-a-merge.md")
        .into_iter()
        .filter(|call| call.get(2).is_some_and(|verb| verb == "check"))
        .collect();
    assert_eq!(checks.len(), 2, "one job a service");
    for call in checks {
        let args: Vec<&str> = call.iter().skip(2).map(String::as_str).collect();
        let said = desk.call(true, &args);
        assert_eq!(said.code, 0, "{call:?}: {}{}", said.out, said.err);
        assert!(desk.path("golden.xml").exists() && desk.path("summary.md").exists());
    }
}

/// The samples of one run.
fn one(letter: &'static str, number: u64) -> String {
    let all = Made {
        letter,
        runs: 6,
        ..BASE
    };
    let name = format!("\"run\":\"{letter}{number}\"");
    let text = all.text();
    let mine = text
        .lines()
        .filter(|line| line.contains("schema") || line.contains(&name));
    mine.collect::<Vec<_>>().join("\n")
}
