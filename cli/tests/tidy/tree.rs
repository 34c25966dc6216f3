//! The tracked files of the project, read once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the root")
        .to_owned()
}

/// Paths that git tracks or would track, relative to the root, sorted. Where git is not at hand
/// (a source archive), all files outside build folders.
pub(crate) fn files() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output();
    let mut files: Vec<String> = match listed {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout)
            .expect("paths are UTF-8")
            .lines()
            .map(str::to_owned)
            .collect(),
        _ => walk(&root(), &root()),
    };
    files.retain(|path| root().join(path).is_file());
    files.sort();
    files.dedup();
    files
}

fn walk(dir: &Path, base: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("a readable folder").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if name != "target" && name != ".git" {
                found.extend(walk(&path, base));
            }
        } else if let Ok(relative) = path.strip_prefix(base) {
            found.push(relative.to_string_lossy().into_owned());
        }
    }
    found
}

/// Text of a file, relative to the root.
pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Rust sources of the workspace's crates.
pub(crate) fn rust_files() -> Vec<String> {
    files()
        .into_iter()
        .filter(|path| path.ends_with(".rs"))
        .collect()
}

/// Whether a Rust file is production code: in a `src` folder, no test, example or bench.
pub(crate) fn is_production(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let side = ["tests", "benches", "examples", "testdata", "fuzz", "bench"];
    let named = parts
        .last()
        .is_some_and(|file| *file == "tests.rs" || file.ends_with("_tests.rs"));
    !named && parts.contains(&"src") && !parts.iter().any(|part| side.contains(part))
}

/// Lines of production code of a file: what stands before its inline test module.
pub(crate) fn production_lines(source: &str) -> usize {
    let lines: Vec<&str> = source.lines().collect();
    let tests = lines.windows(2).position(|pair| {
        pair[0].trim() == "#[cfg(test)]" && pair[1].trim_start().starts_with("mod ")
    });
    match tests {
        Some(at) if lines[at + 1].trim_end().ends_with('{') => at,
        _ => lines.len(),
    }
}
