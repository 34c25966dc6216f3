//! The arrows between the crates, read from the manifests. An arrow that is not in this table is
//! a design change: change docs/architecture.md and this table together.

use std::collections::BTreeSet;

use toml::Table;

use crate::tree::text;

/// Crate, the crates of ours that it may use, and crates of others that it must never use.
const ARROWS: &[(&str, &[&str], &[&str])] = &[
    (
        "tracefmt",
        &[],
        &["polars", "plotters", "tonic", "cudarc", "clap"],
    ),
    (
        "replay",
        &["tracefmt"],
        &["polars", "plotters", "tonic", "cudarc", "clap"],
    ),
    (
        "golden",
        &["tracefmt"],
        &["polars", "plotters", "tonic", "cudarc", "clap"],
    ),
    (
        "analyze",
        &["tracefmt", "replay", "golden"],
        &["tonic", "cudarc", "clap"],
    ),
    ("prover", &["tracefmt"], &["polars", "plotters", "clap"]),
    (
        "cli",
        &["tracefmt", "replay", "golden", "analyze", "prover"],
        &["tonic", "cudarc"],
    ),
];

/// Crates of others that only one module of ours may name: dependency, file or folder.
const BEHIND_ONE_MODULE: &[(&str, &str)] = &[
    ("polars", "analyze/src/frames/"),
    ("plotters", "analyze/src/plot/"),
    ("nom", "tracefmt/src/"),
    ("statrs", "golden/src/"),
];

fn manifest(path: &str) -> Table {
    text(path)
        .parse()
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let names = manifest.get("dependencies").and_then(toml::Value::as_table);
    names
        .map(|table| table.keys().cloned().collect())
        .unwrap_or_default()
}

#[test]
fn the_workspace_has_exactly_the_crates_of_the_design() {
    let root = manifest("Cargo.toml");
    let members: BTreeSet<&str> = root["workspace"]["members"]
        .as_array()
        .expect("members is a list")
        .iter()
        .filter_map(|member| member.as_str())
        .collect();
    let designed: BTreeSet<&str> = ARROWS.iter().map(|(name, _, _)| *name).collect();
    assert_eq!(members, designed);
}

#[test]
fn every_arrow_points_the_designed_way() {
    let ours: BTreeSet<&str> = ARROWS.iter().map(|(name, _, _)| *name).collect();
    for (name, allowed, forbidden) in ARROWS {
        let found = dependencies(&manifest(&format!("{name}/Cargo.toml")));
        for dependency in &found {
            if ours.contains(dependency.as_str()) {
                assert!(
                    allowed.contains(&dependency.as_str()),
                    "{name} uses {dependency}"
                );
            }
            assert!(
                !forbidden.contains(&dependency.as_str()),
                "{name} uses {dependency}"
            );
        }
    }
}

#[test]
fn heavy_libraries_stay_behind_their_module() {
    for path in crate::tree::rust_files() {
        if !crate::tree::is_production(&path) {
            continue;
        }
        let source = text(&path);
        for (dependency, home) in BEHIND_ONE_MODULE {
            let named = source.lines().any(|line| {
                let line = line.trim_start();
                !line.starts_with("//") && line.contains(&format!("{dependency}::"))
            });
            assert!(
                !named || path.starts_with(home),
                "{path} names {dependency}, not in {home}"
            );
        }
    }
}

#[test]
fn heavy_dependencies_of_analyze_are_optional() {
    let analyze = manifest("analyze/Cargo.toml");
    for name in ["polars", "plotters"] {
        if let Some(dependency) = analyze["dependencies"].get(name) {
            let optional = dependency.get("optional").and_then(toml::Value::as_bool);
            assert_eq!(optional, Some(true), "{name} must be behind a feature");
        }
    }
}

#[test]
fn every_crate_inherits_the_lints() {
    for (name, _, _) in ARROWS {
        let manifest = manifest(&format!("{name}/Cargo.toml"));
        assert_eq!(
            manifest["lints"]["workspace"].as_bool(),
            Some(true),
            "{name}"
        );
    }
}
