//! The CI jobs of the guide, run as their service would: their shell lines in order, in a folder
//! with a benchmark and a `cargo` that installs the program as it was built.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::guides::one;
use super::{BASE, Desk};

/// The YAML of a service.
fn job(service: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/gate-a-merge.md");
    let text = std::fs::read_to_string(path).expect("the guide");
    let part = text.split("\n### ").find(|part| part.starts_with(service));
    let block = part.and_then(|part| part.split("```yaml\n").nth(1));
    let block = block.and_then(|block| block.split("\n```").next());
    block.expect("a block of YAML").to_owned()
}

/// Its shell scripts in order; each line of GitLab's list is a script, and so is each `run:`.
fn scripts(yaml: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        let text = text.strip_prefix("- ").unwrap_or(text);
        if let Some(one) = text.strip_prefix("run: ").filter(|one| *one != "|") {
            found.push(one.to_owned());
        } else if text == "run: |" {
            let mut script = String::new();
            while let Some(next) = lines.next_if(|next| indent(next) > indent(line)) {
                script.push_str(next.trim_start());
                script.push('\n');
            }
            found.push(script);
        } else if text == "script:" {
            while let Some(next) = lines.next_if(|next| next.trim_start().starts_with("- ")) {
                found.push(next.trim_start().trim_start_matches("- ").to_owned());
            }
        }
    }
    found
}

fn program(desk: &Desk, name: &str, text: &str) {
    desk.file(name, text);
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(desk.path(name), all).expect("it may be run");
}

/// A checkout with a golden, a benchmark that gives the next of four runs, and a `cargo` that can
/// install the program from where the job says.
fn checkout(factor: f64) -> Desk {
    let desk = Desk::new();
    for folder in ["golden", "tools", "runs"] {
        std::fs::create_dir_all(desk.path(folder)).expect("a folder");
    }
    let base = desk.file("base.jsonl", &BASE.text());
    let goldens = desk.path("golden/snapshots").to_string_lossy().into_owned();
    for args in [&["record", &base][..], &["accept"]] {
        let mut all = vec!["golden"];
        all.extend(args);
        all.extend(["--goldens", &goldens]);
        let mut command = crate::command(&all);
        command.env_remove("CI").current_dir(desk.path("."));
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{args:?}");
    }
    for n in 1..=4 {
        desk.file(&format!("runs/{n}"), &one("c", n, factor));
    }
    program(
        &desk,
        "measure",
        "#!/bin/sh\nn=$(ls runs | head -1); cat runs/$n; rm runs/$n\n",
    );
    let cargo = "#!/bin/sh
test \"$1 $2 $3 $4 $5\" = \"install --git here --rev now\" || exit 9
mkdir -p \"$HOME/.cargo/bin\" && ln -sf \"$BUILT\" \"$HOME/.cargo/bin/cuzk\"
";
    program(&desk, "tools/cargo", cargo);
    desk
}

/// Runs the scripts until one fails; gives the code of that one.
fn run(desk: &Desk, yaml: &str, each_alone: bool) -> i32 {
    let scripts = scripts(yaml);
    assert!(scripts.len() >= 4, "{scripts:?}");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut path = format!("{}:{path}", desk.path("tools").display());
    let all = if each_alone {
        scripts
    } else {
        vec![scripts.join("\n")]
    };
    let mut code = 0;
    for script in all {
        let mut command = Command::new("bash");
        command
            .args(["-e", "-c", &script])
            .current_dir(desk.path("."));
        command.env("CI", "true").env("PATH", &path);
        command.env("CUZK_GIT", "here").env("CUZK_REV", "now");
        command.env("HOME", desk.path("."));
        command.env("BUILT", env!("CARGO_BIN_EXE_cuzk"));
        command.env("GITHUB_PATH", desk.path("path.txt"));
        command.env("GITHUB_STEP_SUMMARY", desk.path("step.md"));
        let output = command.output().expect("bash is there");
        let now = output.status.code().unwrap_or(-1);
        if code == 0 {
            code = now;
        }
        if let Ok(more) = std::fs::read_to_string(desk.path("path.txt")) {
            path = format!("{}:{path}", more.trim());
        }
    }
    code
}

#[test]
fn a_good_merge_is_green_and_a_slow_one_red() {
    for (service, each_alone) in [("GitHub Actions", true), ("GitLab", false)] {
        let yaml = job(service);
        for (factor, expected) in [(1.0, 0), (1.1, 1)] {
            let desk = checkout(factor);
            assert_eq!(
                run(&desk, &yaml, each_alone),
                expected,
                "{service}, times {factor}"
            );
            for file in ["golden.xml", "summary.md", "run4.log"] {
                assert!(desk.path(file).exists(), "{service}: {file}");
            }
            if each_alone {
                let step = std::fs::read_to_string(desk.path("step.md")).expect("a summary");
                assert!(step.contains("### Golden timings"), "{step}");
            }
        }
    }
}
