//! docs/reference is what the program with its default features says of itself.

#![cfg(all(
    feature = "plots",
    feature = "gate",
    feature = "prove",
    not(feature = "serve")
))]
#![expect(clippy::expect_used, reason = "a helper of tests")]

use std::fs;
use std::path::Path;

fn check(file: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/reference")
        .join(file);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::write(&path, made).expect("docs/reference can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let how = "UPDATE_REFERENCE=1 cargo test -p cli --test reference";
    assert!(kept == made, "docs/reference/{file} is stale; run {how}");
}

#[test]
fn exit_codes_are_fresh() {
    check("exit-codes.md", &cli::reference::exit_codes());
}

#[test]
fn command_line_is_fresh() {
    check("cli.md", &cli::reference::command_line());
}
