//! The golden verbs as a user and a CI job call them.

mod forms;
mod guides;
mod jobs;
mod making;
mod others;
mod past;
mod traps;
mod walk;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use crate::{Said, command, said};

/// A fresh folder with goldens in it, out of CI.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and gives its path as text.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    }

    /// `cuzk golden` with this folder's goldens; `ci` sets the variable `CI`.
    fn call(&self, ci: bool, args: &[&str]) -> Said {
        said(self.output(ci, args))
    }

    fn output(&self, ci: bool, args: &[&str]) -> Output {
        let goldens = self.path("goldens").to_string_lossy().into_owned();
        let mut all = vec!["golden"];
        all.extend(args);
        if args.first() != Some(&"plot") && args.first() != Some(&"history") {
            all.extend(["--goldens", &goldens]);
        }
        let mut command = command(&all);
        command.current_dir(self.folder.path());
        if ci {
            command.env("CI", "true");
        } else {
            command.env_remove("CI");
        }
        command.output().expect("it runs")
    }

    fn golden(&self, args: &[&str]) -> Said {
        self.call(false, args)
    }

    /// Records and accepts the runs of a file.
    fn accepted(&self, file: &str) {
        let recorded = self.golden(&["record", file]);
        assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
        let accepted = self.golden(&["accept", "--by", "a"]);
        assert_eq!(accepted.code, 0, "{}{}", accepted.out, accepted.err);
    }

    /// Files below the goldens, by name.
    fn stored(&self) -> Vec<String> {
        let mut found = Vec::new();
        let folders = std::fs::read_dir(self.path("goldens"));
        for folder in folders.into_iter().flatten().flatten() {
            let files = std::fs::read_dir(folder.path()).expect("a folder");
            for file in files.flatten() {
                found.push(file.file_name().to_string_lossy().into_owned());
            }
        }
        found.sort();
        found
    }
}

/// Deterministic noise in -1..1.
fn noise(seed: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^= z >> 27;
    (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// What a file of samples is made of.
struct Made {
    letter: &'static str,
    runs: u64,
    phases: u64,
    header: &'static str,
    exact: &'static str,
}

const HEADER: &str = "{\"schema\":\"cuzk.samples/1\",\"verified\":true,\"key\":{\"gpu\":\"H200\",\
     \"circuit\":\"porep-32g\",\"domain\":134217728,\"partitions\":10}}";

const GOOD: Made = Made {
    letter: "c",
    runs: 6,
    phases: 8,
    header: HEADER,
    exact: "{\"worker_peak_bytes\":14000000000}",
};

/// The golden's side.
const BASE: Made = Made {
    letter: "b",
    runs: 8,
    ..GOOD
};

impl Made {
    /// The file, with every time bent: run, phase, number of the time, milliseconds.
    fn bent(&self, bend: impl Fn(u64, u64, u64, f64) -> f64) -> String {
        let mut text = format!("{}\n", self.header);
        let salt = self.letter.bytes().map(u64::from).sum::<u64>();
        for run in 0..self.runs {
            let id = format!("{}{run}", self.letter);
            writeln!(text, "{{\"run\":\"{id}\",\"exact\":{}}}", self.exact)
                .expect("memory takes it");
            for phase in 0..self.phases {
                let seed = (salt * 1000 + run) * 64 + phase;
                let level = 200.0 * (phase + 1) as f64 * (1.0 + 0.005 * noise(seed));
                for at in 0..20 {
                    let ms = level * (1.0 + 0.01 * noise(seed * 4096 + at));
                    let ms = bend(run, phase, at, ms);
                    let partition = at % 10;
                    writeln!(
                        text,
                        "{{\"run\":\"{id}\",\"phase\":\"phase{phase}\",\
                         \"partition\":{partition},\"ms\":{ms}}}"
                    )
                    .expect("memory takes it");
                }
            }
        }
        text
    }

    fn text(&self) -> String {
        self.bent(|_, _, _, ms| ms)
    }
}

/// Whether a file is there.
fn there(path: &Path) -> bool {
    path.exists()
}
