//! Reading and diagnosing a file for the tests.

mod examples;
mod excerpts;
mod scenarios;
mod truth;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use analyze::diagnose::{Diagnosis, Question, ReadAgain, Reading, diagnose, render};
use analyze::model::Analysis;
use tracefmt::Source;
use tracefmt::finding::{Code, Finding};
use tracefmt::run::Trace;

/// The folder of inputs, or nothing and a word about it.
fn inputs() -> Option<PathBuf> {
    let folder = std::env::var_os("CUZK_INPUTS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: CUZK_INPUTS is not set");
    }
    folder
}

fn load(paths: &[PathBuf]) -> (Trace, Analysis) {
    let sources: Vec<Source> = paths.iter().cloned().map(Source::Path).collect();
    let (trace, _) = tracefmt::read(&sources).unwrap();
    let analysis = analyze::analyze(&trace, &analyze::Options::default());
    (trace, analysis)
}

/// Diagnosis and its text.
fn diagnosis(paths: &[PathBuf], baseline: Option<&Path>) -> (Diagnosis, String) {
    let (trace, analysis) = load(paths);
    let baseline = baseline.map(|path| load(&[path.to_owned()]));
    let open = |input: u32| -> Option<Box<dyn Read>> {
        Some(Box::new(File::open(paths.get(input as usize)?).ok()?))
    };
    let said = diagnose(&Question {
        subject: Reading {
            trace: &trace,
            analysis: &analysis,
        },
        baseline: baseline
            .as_ref()
            .map(|(trace, analysis)| Reading { trace, analysis }),
        replay: Vec::new(),
        lines: &ReadAgain(open),
    });
    let text = render(&said, &analysis);
    (said, text)
}

fn of(said: &Diagnosis, code: Code) -> Vec<&Finding> {
    let findings = said.findings.iter();
    findings.filter(|finding| finding.code == code).collect()
}

fn root(said: &Diagnosis) -> Option<&Finding> {
    said.finding(said.root.as_deref()?)
}
