//! Folds what replay found: a bug of the schedule shows in every partition, and a report wants it
//! once, with how often. Which of the folded findings is the root is replay's word; whether it is
//! the root of the run is decided in [`super::cause`].

use tracefmt::finding::{Code, Confidence, Finding, OomCause, Severity};

/// Lines quoted of a folded finding.
const EVIDENCE_MAX: usize = 8;

/// What an operator can do before the engine is mended.
const WAY_OUT: &str = " Until that is built, run one GPU worker per device \
    (gpu_workers_per_device = 1): the next partition then asks only after this one has freed. \
    Verify its proofs: a request that fails unseen is not cured by that.";

/// What makes two findings the same one for a reader.
type Sameness = (
    Option<u32>,
    Code,
    Severity,
    Confidence,
    Option<OomCause>,
    String,
);

/// The findings with repeats folded into the first of each kind, or into the root among them.
/// A late free without a what-if takes that of the failed allocation that it explains.
pub(super) fn fold(findings: &[Finding]) -> Vec<Finding> {
    let mut kinds: Vec<(Sameness, Finding)> = Vec::new();
    for finding in findings {
        let same = sameness(finding);
        match kinds.iter_mut().find(|(kind, _)| *kind == same) {
            Some((_, folded)) => add(folded, finding),
            None => kinds.push((same, finding.clone())),
        }
    }
    let mut folded: Vec<Finding> = kinds.into_iter().map(|(_, finding)| finding).collect();
    for finding in &mut folded {
        explain(finding, findings);
    }
    folded
}

fn sameness(finding: &Finding) -> Sameness {
    let title = without_worker(&finding.title);
    let Finding {
        run,
        code,
        severity,
        confidence,
        cause,
        ..
    } = finding;
    (*run, *code, *severity, *confidence, *cause, title)
}

/// The words of a title, worker numbers left out.
fn without_worker(title: &str) -> String {
    let mut words = Vec::new();
    let mut after_worker = false;
    for word in title.split(' ') {
        if !(after_worker && word.bytes().all(|byte| byte.is_ascii_digit())) {
            words.push(word);
        }
        after_worker = word.eq_ignore_ascii_case("worker");
    }
    words.join(" ")
}

fn add(folded: &mut Finding, other: &Finding) {
    let count = folded.count + other.count;
    if other.root && !folded.root {
        let evidence = std::mem::replace(folded, other.clone()).evidence;
        folded.evidence.extend(evidence);
    } else {
        folded.evidence.extend(other.evidence.first().cloned());
    }
    folded.evidence.truncate(EVIDENCE_MAX);
    folded.count = count;
}

/// Gives a late free the numbers of the allocation that failed because of it.
fn explain(finding: &mut Finding, all: &[Finding]) {
    if finding.code != Code::VramLateFree || finding.what_if.is_some() {
        return;
    }
    let line = finding.evidence.first().map(|evidence| evidence.line);
    let failed = all.iter().find(|other| {
        matches!(other.code, Code::VramOom | Code::VramSwallowedOom)
            && other.cause == Some(OomCause::LateFree)
            && other.run == finding.run
            && other.evidence.first().map(|evidence| evidence.line) == line
    });
    let unowned = all.iter().find(|other| {
        other.code == Code::VramUnowned
            && other.run == finding.run
            && other.evidence.first().map(|evidence| evidence.line) == line
    });
    if let Some(taken) = unowned.and_then(|unowned| unowned.evidence.get(1)) {
        finding.evidence.insert(1, taken.clone());
        finding.evidence.truncate(EVIDENCE_MAX);
    }
    if let Some(failed) = failed {
        // A worker that is in its own way is not helped by the others' absence.
        let others = finding
            .worker
            .zip(failed.worker)
            .is_some_and(|(a, b)| a != b);
        if let Some(fix) = finding.fix.as_mut().filter(|_| others) {
            fix.push_str(WAY_OUT);
        }
        finding.explanation.push(' ');
        finding.explanation.push_str(&failed.explanation);
        finding.what_if.clone_from(&failed.what_if);
        finding.cause = Some(OomCause::LateFree);
    }
}

#[cfg(test)]
mod tests {
    use tracefmt::finding::{Evidence, WhatIf};

    use super::*;

    fn finding(code: Code, title: &str, line: u64) -> Finding {
        let mut made = Finding::new(
            code,
            Severity::Error,
            Confidence::Inferred,
            title.to_owned(),
        );
        made.evidence = vec![Evidence {
            path: "a.log".to_owned(),
            line,
            text: String::new(),
        }];
        made
    }

    #[test]
    fn repeats_fold_whoever_the_worker_was() {
        let all = [
            finding(Code::VramLateFree, "d_bc of worker 0 outlives its lock", 53),
            finding(Code::VramLateFree, "d_bc of worker 1 outlives its lock", 97),
            finding(Code::VramLateFree, "d_a of worker 1 outlives its lock", 99),
        ];
        let folded = fold(&all);
        assert_eq!(folded.len(), 2);
        assert_eq!((folded[0].count, folded[0].evidence.len()), (2, 2));
        assert_eq!(folded[0].title, "d_bc of worker 0 outlives its lock");
        assert_eq!(folded[1].count, 1);
    }

    #[test]
    fn the_root_stands_for_its_kind() {
        let mut root = finding(Code::VramLateFree, "d_bc of worker 1 outlives its lock", 97);
        root.root = true;
        let folded = fold(&[
            finding(Code::VramLateFree, "d_bc of worker 0 outlives its lock", 53),
            root,
        ]);
        assert!(folded[0].root);
        assert_eq!(folded[0].evidence[0].line, 97);
    }

    #[test]
    fn a_late_free_takes_the_what_if_of_what_it_made_fail() {
        let mut oom = finding(Code::VramOom, "out of memory", 53);
        oom.cause = Some(OomCause::LateFree);
        oom.worker = Some(1);
        oom.explanation = "22089 MiB wanted.".to_owned();
        let change = "free:d_bc=after:last-use".to_owned();
        oom.what_if = Some(WhatIf {
            change,
            passes: true,
            unrecorded: 0,
            peak_bytes: 1,
        });
        let mut late = finding(Code::VramLateFree, "d_bc of worker 0 outlives its lock", 53);
        late.fix = Some("Free d_bc.".to_owned());
        late.worker = Some(0);
        let folded = fold(&[late.clone(), oom.clone()]);
        let own = Finding {
            worker: Some(1),
            ..late
        };
        let alone = fold(&[own, oom]);
        assert_eq!(
            alone[0].fix.as_deref(),
            Some("Free d_bc."),
            "no other worker"
        );
        assert!(
            folded[0]
                .what_if
                .as_ref()
                .is_some_and(|what_if| what_if.passes)
        );
        assert!(folded[0].explanation.ends_with("22089 MiB wanted."));
        assert!(
            folded[0]
                .fix
                .as_ref()
                .is_some_and(|fix| fix.contains("gpu_workers_per_device"))
        );
    }
}
