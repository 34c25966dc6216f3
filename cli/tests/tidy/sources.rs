//! Budgets of the sources: file sizes, line lengths, module heads, leftover markers, tests.

use crate::tree::{files, is_production, production_lines, root, rust_files, text};

const PROD_FILE_LINES_MAX: usize = 500;
const PROD_FILE_LINES_MEDIAN_MAX: usize = 180;
const LINE_CHARS_MAX: usize = 100;
const BLOB_BYTES_MAX: u64 = 256 * 1024;

/// Folders whose files are data.
const DATA: &[&str] = &[
    "testdata/",
    "docs/examples/",
    "docs/pictures/",
    "golden/snapshots/",
];

#[test]
fn production_files_are_one_noun_long() {
    let mut lengths = Vec::new();
    for path in rust_files().iter().filter(|path| is_production(path)) {
        let lines = production_lines(&text(path));
        assert!(
            lines <= PROD_FILE_LINES_MAX,
            "{path}: {lines} lines, split it"
        );
        lengths.push(lines);
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(
        median <= PROD_FILE_LINES_MEDIAN_MAX,
        "median file: {median} lines"
    );
}

#[test]
fn lines_fit_a_screen() {
    let mut long = Vec::new();
    for path in rust_files() {
        for (index, line) in text(&path).lines().enumerate() {
            let chars = line.chars().count();
            let quoted = !is_production(&path) && line.contains('"');
            let data = ["TIMELINE,", "CUZK_", "http", "=> \""]
                .iter()
                .any(|part| line.contains(part));
            if chars > LINE_CHARS_MAX && !data && !quoted {
                long.push(format!("{path}:{}: {chars} characters", index + 1));
            }
        }
    }
    assert!(long.is_empty(), "lines that do not fit: {long:#?}");
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    for path in rust_files() {
        let source = text(&path);
        let first = source.lines().next().unwrap_or_default();
        assert!(first.starts_with("//!"), "{path} has no module head");
    }
}

#[test]
fn nothing_is_left_for_later() {
    let markers = [
        ["TO", "DO"],
        ["FIX", "ME"],
        ["XX", "X:"],
        ["unimplemented", "!("],
    ];
    for path in files() {
        let known = [".rs", ".md", ".sh", ".py", ".toml"]
            .iter()
            .any(|end| path.ends_with(end));
        if !known {
            continue;
        }
        let source = text(&path);
        for (index, line) in source.lines().enumerate() {
            for marker in &markers {
                assert!(
                    !line.contains(&marker.concat()),
                    "{path}:{}: {line}",
                    index + 1
                );
            }
        }
    }
}

#[test]
fn no_blob_outside_the_data_folders() {
    for path in files() {
        let size = root().join(&path).metadata().map_or(0, |meta| meta.len());
        let data = DATA.iter().any(|folder| path.contains(folder)) || path == "Cargo.lock";
        assert!(size <= BLOB_BYTES_MAX || data, "{path}: {size} bytes");
    }
}

/// The budget of the house is one line of test for one line of code.
#[test]
fn tests_are_as_long_as_the_code() {
    let (mut code, mut tests) = (0, 0);
    for path in rust_files() {
        let source = text(&path);
        let counted = |lines: &[&str]| lines.iter().filter(|line| is_code(line)).count();
        let lines: Vec<&str> = source.lines().collect();
        if is_production(&path) {
            let at = production_lines(&source);
            code += counted(&lines[..at]);
            tests += counted(&lines[at..]);
        } else if !path.contains("examples/") {
            tests += counted(&lines);
        }
    }
    println!("code {code} lines, tests {tests} lines");
    assert!(
        tests * 100 >= code * TESTS_PER_CODE_PERCENT,
        "code {code}, tests {tests}"
    );
}

/// Lines of test per hundred lines of code; only ever raised, the aim is 100.
const TESTS_PER_CODE_PERCENT: usize = 45;

fn is_code(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with("//")
}
