//! The commands of the guides, run as they are printed, with the exit codes that they promise.

use std::path::Path;
use std::process::Command;

/// The commands of the shell blocks of a guide, with their exit codes.
fn commands(text: &str) -> Vec<(String, i32)> {
    let mut inside = false;
    let mut commands = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside && line.starts_with("cuzk ") {
            let (command, comment) = line.split_once('#').unwrap_or((line, ""));
            let code = comment.trim().strip_prefix("exits with ").map(|rest| {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                digits.parse().expect("an exit code")
            });
            commands.push((command.trim().to_owned(), code.unwrap_or(0)));
        }
    }
    commands
}

#[test]
fn the_commands_of_replaying_a_failed_run_do_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let guide = std::fs::read_to_string(root.join("docs/guides/replay-a-failed-run.md")).unwrap();
    let commands = commands(&guide);
    assert!(commands.len() >= 12, "{commands:?}");
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("docs"), folder.path().join("docs")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_cuzk")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    for (command, code) in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(folder.path());
        shell.env("PATH", format!("{}:{path}", program.display()));
        let said = crate::said(shell.output().unwrap());
        assert_eq!(said.code, code, "{command}\n{}{}", said.out, said.err);
    }
    for file in [
        "report.html",
        "memory.svg",
        "small.jsonl",
        "replay.json",
        "repro",
    ] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
    let drawn = std::fs::read_to_string(folder.path().join("memory.svg")).unwrap();
    for word in ["d_bc", "capacity", "what if", "prefers-color-scheme"] {
        assert!(drawn.contains(word), "{word} in the picture");
    }
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("Device memory by buffer and worker"));
}
