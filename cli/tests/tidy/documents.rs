//! The documents: links resolve, the README names every crate, its two commands are there.

use std::path::Path;

use crate::tree::{files, root, text};

/// Targets of `[text](target)` in a Markdown text, without anchors and web addresses.
fn links(markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in markdown.split("](").skip(1) {
        let Some((target, _)) = piece.split_once(')') else {
            continue;
        };
        let target = target.split('#').next().unwrap_or_default();
        if !target.is_empty() && !target.contains("://") && !target.contains(' ') {
            found.push(target.to_owned());
        }
    }
    found
}

#[test]
fn links_in_documents_resolve() {
    for path in files().iter().filter(|path| path.ends_with(".md")) {
        let dir = Path::new(path)
            .parent()
            .map(Path::to_owned)
            .unwrap_or_default();
        for link in links(&text(path)) {
            let target = root().join(&dir).join(&link);
            assert!(
                target.exists(),
                "{path} links to {link}, which is not there"
            );
        }
    }
}

#[test]
fn the_readme_maps_every_crate() {
    let readme = text("README.md");
    for name in [
        "tracefmt", "replay", "golden", "analyze", "cli", "fuzz", "docs",
    ] {
        assert!(
            readme.contains(&format!("`{name}/`")),
            "README.md does not name {name}/"
        );
    }
}

#[test]
fn the_readme_commands_are_what_ci_runs() {
    let readme = text("README.md");
    let test = "cargo test --workspace";
    assert!(readme.contains(test), "README.md has no test command");
    assert!(
        text(".ci/run").contains(test),
        ".ci/run does not call the README's test command"
    );
}

#[test]
fn link_finder_sees_files_only() {
    let found = links("[a](docs/a.md#x) [b](https://b) [c](#here) ![d](p/d.svg)");
    assert_eq!(found, ["docs/a.md", "p/d.svg"]);
}
