//! Diagnoses of hand-built runs, one topic a file.

mod archives;
mod causes;
mod counted;
mod doubts;
mod endings;
mod properties;
mod rendering;
mod troubles;

use tracefmt::finding::{Code, Finding, Severity};

use super::model::{Diagnosis, SCHEMA};
use crate::schema_check::{load, misfits};

/// The findings of one code.
fn of(diagnosis: &Diagnosis, code: Code) -> Vec<&Finding> {
    let findings = diagnosis.findings.iter();
    findings.filter(|finding| finding.code == code).collect()
}

/// The only finding of one code.
fn only(diagnosis: &Diagnosis, code: Code) -> &Finding {
    let found = of(diagnosis, code);
    assert_eq!(found.len(), 1, "{code}: {:#?}", diagnosis.findings);
    found[0]
}

/// Code of the root, if there is one; also checks what holds for every diagnosis.
fn root(diagnosis: &Diagnosis) -> Option<Code> {
    let mut runs_with_root = Vec::new();
    for (rank, finding) in diagnosis.findings.iter().enumerate() {
        assert_eq!(finding.id, format!("f{rank}"));
        assert!(!finding.title.is_empty() && !finding.explanation.is_empty());
        assert!(finding.fix.is_some(), "{} says what to do", finding.code);
        for cause in &finding.caused_by {
            assert!(*cause != finding.id && diagnosis.finding(cause).is_some());
        }
        if finding.root {
            assert_eq!(finding.severity, Severity::Error, "a warning is never root");
            assert!(finding.caused_by.is_empty());
            runs_with_root.push(finding.run);
        }
    }
    let roots = runs_with_root.len();
    runs_with_root.dedup();
    assert_eq!(roots, runs_with_root.len(), "at most one root a run");
    let json = serde_json::to_value(diagnosis).unwrap();
    let schema = load(SCHEMA);
    assert_eq!(misfits(&schema, &json), Vec::<String>::new());
    let back: Diagnosis = serde_json::from_value(json).unwrap();
    assert_eq!(&back, diagnosis);
    let id = diagnosis.root.as_deref()?;
    diagnosis.finding(id).map(|finding| finding.code)
}
