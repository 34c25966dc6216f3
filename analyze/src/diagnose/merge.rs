//! Puts a diagnosis together: drafts of all runs, the analyzer's and replay's findings beside
//! them, roots and causes, order, ids, quoted lines, verdict.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tracefmt::finding::{Code, Evidence, Finding, Severity};
use tracefmt::run::{LineRef, Trace};

use super::device;
use super::doubt;
use super::draft::{Draft, EVIDENCE_MAX, Role};
use super::find;
use super::lines;
use super::model::{Diagnosis, InputRow, RunRow, SCHEMA, Verdict};
use super::scene::Scene;
use super::{Question, cause, verdict};

/// One finding on its way into the report, with the positions of its causes in the same list.
struct Settled {
    draft: Draft,
    causes: Vec<usize>,
}

pub(super) fn diagnose(question: &Question<'_>) -> Diagnosis {
    let trace = question.subject.trace;
    let mut all: Vec<Settled> = Vec::new();
    let mut rows = Vec::new();
    let (regressions, baseline) = find::regression::find(question);
    let mut beside = by_run(trace, foreign(question).chain(regressions));
    for run in &trace.runs {
        let calls = device::failures(run);
        let scene = Scene::new(trace, run, &calls);
        let mut drafts = find::all(&scene);
        let beside = beside.remove(&run.index).unwrap_or_default();
        let known = |other: &Draft| drafts.iter().any(|draft| is_twin(draft, other));
        let beside: Vec<Draft> = beside.into_iter().filter(|other| !known(other)).collect();
        drafts.extend(beside);
        doubt::cast(run, &mut drafts);
        let causes = cause::settle(&mut drafts);
        lend_lines(&mut drafts);
        rows.push(row(&scene, &drafts));
        let first = all.len();
        for (draft, causes) in drafts.into_iter().zip(causes) {
            let causes = causes.into_iter().map(|at| first + at).collect();
            all.push(Settled { draft, causes });
        }
    }
    let findings = order(trace, question, all);
    let mut diagnosis = Diagnosis {
        schema: SCHEMA.to_owned(),
        inputs: inputs(trace),
        verdict: rows
            .iter()
            .map(|row| row.verdict)
            .max()
            .unwrap_or(Verdict::Silent),
        summary: String::new(),
        runs: rows,
        baseline,
        root: None,
        findings,
        foreign: crate::foreign::rows(trace),
    };
    point_to_roots(&mut diagnosis);
    diagnosis.summary = summary(trace, &diagnosis);
    diagnosis
}

fn inputs(trace: &Trace) -> Vec<InputRow> {
    let row = |input: &tracefmt::run::Input| InputRow {
        path: input.path.clone(),
        bytes: input.bytes,
        lines: input.lines,
    };
    trace.inputs.iter().map(row).collect()
}

/// The findings of replay and of the analyzer, as drafts.
fn foreign<'a>(question: &'a Question<'_>) -> impl Iterator<Item = Draft> + use<'a> {
    let trace = question.subject.trace;
    let analysis = &question.subject.analysis.findings;
    let replay = super::replayed::fold(&question.replay);
    // Replay names the one of its findings that explains the others; else each may be a cause.
    let named = replay.iter().any(|finding| finding.root);
    let replay = replay.into_iter().map(move |finding| {
        let role = if finding.root || !named {
            Role::Primary
        } else {
            Role::Follower
        };
        (finding, role)
    });
    let analysis = analysis
        .iter()
        .map(|finding| (finding.clone(), Role::Beside));
    replay
        .chain(analysis)
        .map(|(finding, role)| adopt(trace, &finding, role))
}

/// Whether replay says of host memory or of a failed call what the lines say already: the same
/// code at the same line. What the lines say counts calls, and names the way around that was
/// taken.
fn is_twin(ours: &Draft, replay: &Draft) -> bool {
    let code = ours.finding.code;
    let of_lines = matches!(
        code,
        Code::HostStaleRegistration
            | Code::HostDoubleRegister
            | Code::HostUnregisterUnknown
            | Code::CudaError
            | Code::CudaStickyError
    );
    of_lines && code == replay.finding.code && ours.lines.first() == replay.lines.first()
}

/// How many lines of the failure itself a root that explains it quotes.
const LENT_MAX: usize = 2;

/// A root that replay made quotes the lines by which the run died, too: those that follow its
/// own line in the failure that the log shows.
fn lend_lines(drafts: &mut [Draft]) {
    let Some(root) = drafts.iter().position(|draft| draft.finding.root) else {
        return;
    };
    let at = drafts
        .get(root)
        .and_then(|draft| draft.lines.first().copied());
    let shown = drafts.iter().enumerate().find(|(index, draft)| {
        *index != root && draft.lines.first().copied() == at && draft.finding.what_if.is_none()
    });
    let lent: Vec<LineRef> = shown.map_or_else(Vec::new, |(_, draft)| {
        draft.lines.iter().skip(1).take(LENT_MAX).copied().collect()
    });
    if let Some(draft) = drafts.get_mut(root)
        && draft.finding.what_if.is_some()
    {
        let fresh: Vec<LineRef> = lent
            .into_iter()
            .filter(|line| !draft.lines.contains(line))
            .collect();
        draft.lines.splice(1..1, fresh);
        draft.lines.truncate(EVIDENCE_MAX);
    }
}

/// Drafts by the run that they are about: the last one when they name none that there is.
fn by_run(trace: &Trace, drafts: impl Iterator<Item = Draft>) -> BTreeMap<u32, Vec<Draft>> {
    let last = trace.runs.last().map_or(0, |run| run.index);
    let mut runs: BTreeMap<u32, Vec<Draft>> = BTreeMap::new();
    for draft in drafts {
        let run = draft.finding.run.unwrap_or(0).min(last);
        runs.entry(run).or_default().push(draft);
    }
    runs
}

/// A finding made elsewhere as a draft; its quoted lines are found again by path and number.
fn adopt(trace: &Trace, finding: &Finding, role: Role) -> Draft {
    let line_of = |evidence: &Evidence| trace.line_at(&evidence.path, evidence.line);
    let role = if finding.severity == Severity::Error {
        role
    } else {
        Role::Beside
    };
    let mut draft = Draft::new(finding.code, finding.severity, role, String::new())
        .quoting(finding.evidence.iter().filter_map(line_of));
    draft.finding = Finding {
        root: false,
        caused_by: Vec::new(),
        evidence: Vec::new(),
        ..finding.clone()
    };
    draft
}

fn row(scene: &Scene<'_>, drafts: &[Draft]) -> RunRow {
    let run = scene.run;
    let input = scene.trace.inputs.get(run.first.input() as usize);
    RunRow {
        run: run.index,
        dialect: run.dialect.name.to_owned(),
        dialect_confidence: run.dialect.confidence,
        verdict: verdict::of_run(scene, drafts),
        path: input.map_or_else(String::new, |input| input.path.clone()),
        first_line: u64::from(run.first.line),
        last_line: u64::from(run.last.line),
        jobs: scene.jobs,
        partitions: scene.partitions,
        root: None,
    }
}

/// Sorts, gives ids, fills in causes and quoted lines.
fn order(trace: &Trace, question: &Question<'_>, mut all: Vec<Settled>) -> Vec<Finding> {
    let wanted = all
        .iter()
        .flat_map(|settled| settled.draft.lines.iter().copied());
    let texts = lines::texts(trace, question.lines, wanted.collect());
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by_key(|at| {
        all.get(*at).map(|settled| {
            let finding = &settled.draft.finding;
            let run = finding.run.unwrap_or(0);
            (
                !finding.root,
                Reverse(finding.severity),
                run,
                settled.draft.at,
                *at,
            )
        })
    });
    let ids: BTreeMap<usize, String> = places
        .iter()
        .enumerate()
        .map(|(rank, at)| (*at, format!("f{rank}")))
        .collect();
    let mut findings = Vec::with_capacity(all.len());
    for at in places {
        let Some(settled) = all.get_mut(at) else {
            continue;
        };
        let mut finding = settled.draft.finding.clone();
        finding.id = ids.get(&at).cloned().unwrap_or_default();
        finding.caused_by = settled
            .causes
            .iter()
            .filter_map(|cause| ids.get(cause).cloned())
            .collect();
        finding.evidence = quote(trace, &settled.draft.lines, &texts);
        findings.push(finding);
    }
    findings
}

fn quote(trace: &Trace, lines: &[LineRef], texts: &BTreeMap<LineRef, String>) -> Vec<Evidence> {
    lines
        .iter()
        .take(EVIDENCE_MAX)
        .map(|line| {
            let (path, number) = trace.place(*line).unwrap_or(("", line.line));
            Evidence {
                path: path.to_owned(),
                line: u64::from(number),
                text: texts.get(line).cloned().unwrap_or_default(),
            }
        })
        .collect()
}

/// Names the roots in the rows of their runs, and the first of them for the whole diagnosis.
fn point_to_roots(diagnosis: &mut Diagnosis) {
    let roots = diagnosis.findings.iter().filter(|finding| finding.root);
    let roots: BTreeMap<u32, String> = roots
        .map(|root| (root.run.unwrap_or(0), root.id.clone()))
        .collect();
    for row in &mut diagnosis.runs {
        row.root = roots.get(&row.run).cloned();
    }
    diagnosis.root = diagnosis.runs.iter().find_map(|row| row.root.clone());
}

/// Several runs that all came to the same end without an error, as one.
fn together(diagnosis: &Diagnosis) -> Option<RunRow> {
    let alike = matches!(
        diagnosis.verdict,
        Verdict::Verified | Verdict::CompleteUnverified
    );
    let same = |row: &RunRow| row.verdict == diagnosis.verdict && row.root.is_none();
    let (first, more) = diagnosis.runs.split_first()?;
    if !alike || more.is_empty() || !diagnosis.runs.iter().all(same) {
        return None;
    }
    let mut all = first.clone();
    for row in more {
        all.jobs.add(row.jobs);
        all.partitions.add(row.partitions);
    }
    Some(all)
}

/// The verdict of the worst run in a sentence, and how many other runs there are; of all runs,
/// where all are well.
fn summary(trace: &Trace, diagnosis: &Diagnosis) -> String {
    let worst = diagnosis
        .runs
        .iter()
        .find(|row| row.verdict == diagnosis.verdict);
    let Some(row) = worst else {
        return "no errors seen, but nothing of an engine's run either".to_owned();
    };
    let root = row.root.as_deref().and_then(|id| diagnosis.finding(id));
    let at = root
        .and_then(|root| root.evidence.first())
        .map(|evidence| format!("{}:{}", evidence.path, evidence.line));
    let cut = diagnosis
        .findings
        .iter()
        .find(|finding| finding.code == Code::RunTruncated && finding.run.unwrap_or(0) == row.run);
    let cut = cut.map(|finding| finding.title.as_str());
    let run = trace.runs.iter().find(|run| run.index == row.run);
    let count = diagnosis.runs.len();
    let mut said = if let Some(all) = together(diagnosis) {
        let runs = if count == 2 {
            "both runs".to_owned()
        } else {
            format!("all {count} runs")
        };
        format!("{runs}: {}", verdict::sentence(&all, None, None, None))
    } else {
        let said = verdict::sentence(row, run, at.as_deref(), cut);
        if count == 1 {
            said
        } else {
            format!("run {} of {count}: {said}", row.run)
        }
    };
    let slower = |finding: &&Finding| {
        finding.code == Code::PerfPhaseRegression && finding.severity == Severity::Error
    };
    let slower = diagnosis.findings.iter().filter(slower).count();
    if slower > 0 {
        let phases = if slower == 1 {
            "1 phase is".to_owned()
        } else {
            format!("{slower} phases are")
        };
        said = format!("{said}; {phases} slower than the baseline");
    }
    said
}
