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
        let here = |call: &Vec<String>| cfg!(feature = "prove") || call[1] == "golden";
        for call in calls.into_iter().filter(here) {
            let parsed = cli::args::Args::try_parse_from(&call);
            assert!(parsed.is_ok(), "{guide}: {call:?}: {:?}", parsed.err());
        }
    }
}

#[test]
fn the_jobs_run_on_runs_of_their_names() {
    let desk = Desk::new();
    let recorded: Vec<String> = (1..=5)
        .map(|n| desk.file(&format!("run{n}.log"), &one("b", n, 1.0)))
        .collect();
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    assert_eq!(desk.golden(&[&["record"], &recorded[..]].concat()).code, 0);
    assert_eq!(desk.golden(&["accept"]).code, 0);
    for n in 1..=4 {
        desk.file(&format!("run{n}.log"), &one("c", n, 1.0));
    }
    let checks: Vec<_> = calls("gate-a-merge.md")
        .into_iter()
        .filter(|call| call.get(2).is_some_and(|verb| verb == "check"))
        .filter(|call| call.iter().any(|word| word == "--write"))
        .collect();
    assert_eq!(checks.len(), 2, "one job a service");
    for call in checks {
        let args: Vec<&str> = call.iter().skip(2).map(String::as_str).collect();
        let said = desk.call(true, &args);
        assert_eq!(said.code, 0, "{call:?}: {}{}", said.out, said.err);
        assert!(desk.path("golden.xml").exists() && desk.path("summary.md").exists());
    }
}

/// The calls for what other tools measured have inputs that come with the guide.
#[test]
fn what_other_tools_measured_is_recorded_as_the_guide_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let records: Vec<_> = calls("gate-a-merge.md")
        .into_iter()
        .filter(|call| call.iter().any(|word| word.starts_with("docs/examples/")))
        .collect();
    let said = ["2 runs, 2 phases", "4 runs, 2 phases", "10 runs, 2 phases"];
    assert_eq!(records.len(), said.len(), "Criterion, a table, hyperfine");
    for (call, words) in records.iter().zip(said) {
        let desk = Desk::new();
        let args: Vec<String> = call
            .iter()
            .skip(2)
            .map(|word| match word.strip_prefix("docs/") {
                Some(file) => root.join("docs").join(file).to_string_lossy().into_owned(),
                None => word.clone(),
            })
            .collect();
        let recorded = desk.golden(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(recorded.code, 0, "{call:?}: {}", recorded.err);
        assert!(recorded.out.contains(words), "{call:?}: {}", recorded.out);
    }
}

/// What the guide installs is there under that name, with those features.
#[test]
fn what_the_guide_installs_is_what_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(root.join("../docs/guides/gate-a-merge.md"));
    let guide = guide.expect("the guide");
    let installs: Vec<&str> = guide
        .lines()
        .filter(|line| line.contains("cargo install "))
        .collect();
    assert_eq!(installs.len(), 3, "by hand and a job a service");
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    for line in installs {
        assert!(line.trim().ends_with("--features gate cli"), "{line}");
    }
    for word in ["name = \"cli\"", "name = \"cuzk\"", "\ngate = ["] {
        assert!(manifest.contains(word), "{word:?}");
    }
}

/// The samples of one run, one phase of it longer by a factor.
pub(super) fn one(letter: &'static str, number: u64, factor: f64) -> String {
    let all = Made {
        letter,
        runs: 6,
        ..BASE
    };
    let name = format!("\"run\":\"{letter}{number}\"");
    let text = all.bent(|_, phase, _, ms| if phase == 4 { ms * factor } else { ms });
    let mine = text
        .lines()
        .filter(|line| line.contains("schema") || line.contains(&name));
    mine.collect::<Vec<_>>().join("\n")
}
