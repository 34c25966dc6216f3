//! The binary as a user calls it: every verb on the bundled logs, every exit code, hostile inputs.

#![expect(clippy::expect_used, reason = "helpers of a test")]
#![cfg_attr(
    any(feature = "logs", feature = "gate"),
    expect(clippy::panic, reason = "helpers of a test")
)]

#[cfg(feature = "logs")]
mod archives;
#[cfg(feature = "prove")]
mod bench;
#[cfg(feature = "logs")]
mod exits;
#[cfg(feature = "gate")]
mod golden;
#[cfg(feature = "plots")]
mod guides;
#[cfg(feature = "logs")]
mod hostile;
#[cfg(feature = "logs")]
mod joining;
mod left_out;
#[cfg(feature = "logs")]
mod overwrites;
#[cfg(feature = "prove")]
mod preflight;
#[cfg(feature = "prove")]
mod prover;
#[cfg(feature = "logs")]
mod replay;
#[cfg(feature = "prove")]
#[path = "../../../analyze/src/schema_check.rs"]
mod schema_check;
#[cfg(feature = "prove")]
mod schemas;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "logs")]
mod simulated;
#[cfg(all(feature = "prove", feature = "gate"))]
mod spared;
#[cfg(feature = "logs")]
mod verbs;

#[cfg(feature = "logs")]
use std::io::Write;
#[cfg(feature = "logs")]
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Held while a daemon runs, and while one would be found and disturb.
#[cfg(feature = "prove")]
static DAEMONS: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// What one call gave.
struct Said {
    code: i32,
    out: String,
    err: String,
}

/// A bundled example.
#[cfg(feature = "logs")]
fn example(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the root");
    root.join("docs/examples")
        .join(name)
        .to_string_lossy()
        .into_owned()
}

/// Writes a file into a fresh folder, which lives as long as the returned guard.
#[cfg(feature = "logs")]
fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).expect("a file");
    (dir, path)
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.args(args).stdin(Stdio::null());
    command
}

fn said(output: Output) -> Said {
    Said {
        code: output.status.code().expect("it exits, no signal"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Calls `cuzk`.
fn cuzk(args: &[&str]) -> Said {
    said(command(args).output().expect("it runs"))
}

/// Calls `cuzk` with bytes on standard input.
#[cfg(feature = "logs")]
fn cuzk_with(args: &[&str], stdin: &[u8]) -> Said {
    let mut command = command(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    // A program that refuses its input may close the pipe first.
    drop(child.stdin.take().expect("piped").write_all(stdin));
    said(child.wait_with_output().expect("it ends"))
}

/// Standard output as JSON.
#[cfg(any(feature = "logs", feature = "gate"))]
fn json(said: &Said) -> serde_json::Value {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.out))
}
