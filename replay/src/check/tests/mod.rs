//! Each check on a sick schedule and on its healthy twin, which must stay silent.

mod causes;
mod circles;
mod cut;
mod errors;
mod late;
mod lives;
mod locks;

use tracefmt::finding::{Code, Confidence, OomCause, Severity};

use super::*;
use crate::testing::{schedule, with_header};
use crate::vram::H200_580;

fn find_in(schedule: &tracefmt::ops::Schedule, source: Source) -> Vec<Finding> {
    let profile = crate::vram::Profile::named(&schedule.header.driver).unwrap_or(H200_580);
    all(&Scene::new(schedule, source, profile, "case.jsonl"))
}

fn find(lines: &str) -> Vec<Finding> {
    find_in(&schedule(lines), Source::Events)
}

fn codes(findings: &[Finding]) -> Vec<(Code, Severity)> {
    findings
        .iter()
        .map(|finding| (finding.code, finding.severity))
        .collect()
}

fn one(findings: &[Finding], code: Code) -> &Finding {
    let mut matching = findings.iter().filter(|finding| finding.code == code);
    let first = matching
        .next()
        .unwrap_or_else(|| panic!("no {code} in {findings:#?}"));
    assert!(matching.next().is_none(), "more than one {code}");
    first
}

/// Worker 0's `d_bc` outlives the lock; worker 1 asks for its own.
const LATE: &str = "
    0 lock name=gpu partition=0
    0 malloc id=1 bytes=4G buf=d_a partition=0
    0 malloc id=2 bytes=8G buf=d_bc partition=0
    0 launch stream=1 writes=[1,2] buf=ntt partition=0
    0 launch stream=1 reads=[1] buf=msm partition=0
    0 free id=1 partition=0
    0 unlock name=gpu partition=0
    1 lock name=gpu partition=1
    1 malloc id=3 bytes=4G buf=d_a partition=1
    1 malloc id=4 bytes=8G buf=d_bc partition=1
    1 unlock name=gpu partition=1
    0 free id=2 partition=0";

#[test]
fn a_partition_belongs_to_one_worker() {
    let sick = "0 ctxSync job=j partition=1
                1 ctxSync job=j partition=1
                1 ctxSync job=j partition=1";
    assert_eq!(
        codes(&find(sick)),
        [(Code::SchedDuplicate, Severity::Error)]
    );
    let healthy = "0 ctxSync job=j partition=1\n1 ctxSync job=k partition=1";
    assert_eq!(codes(&find(healthy)), []);
}

#[test]
fn at_most_one_finding_is_root_and_ids_are_in_order() {
    let findings = find(LATE);
    assert_eq!(findings.iter().filter(|finding| finding.root).count(), 1);
    for (index, finding) in findings.iter().enumerate() {
        assert_eq!(finding.id, format!("f{index}"));
    }
}
