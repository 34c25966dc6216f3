//! `vram.oom`: device memory could not be allocated, as the log's own lines say (error 2 or its
//! text in panics, fallbacks and failure lines).
//!
//! All such lines of a run are one finding, the earliest first: an engine that fails the same
//! allocation in every job has one defect, not fifty. It does not say why memory was short; that
//! takes the schedule re-executed, and a finding of replay then becomes the root instead. It does
//! not see failures that the engine swallowed without a line.

use std::collections::BTreeSet;

use tracefmt::finding::{Code, Severity};
use tracefmt::run::{Mark, Trouble, TroubleClass};
use tracefmt::timing::TimingWhat;

use super::super::classify::Topic;
use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

/// Lines that may follow a panic although the process dies of it: message, note, end of line.
const REPORT_LINES: u32 = 3;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let troubles: Vec<&Trouble> = scene.about(Topic::DeviceMemory).collect();
    let Some(first) = troubles.first() else {
        return Vec::new();
    };
    let fatal = |trouble: &&&Trouble| {
        !matches!(trouble.kind, TroubleClass::Fallback | TroubleClass::Warning)
    };
    let deaths = troubles.iter().filter(fatal).count();
    let carried_on = deaths == 0 && !scene.failed() && scene.jobs.completed > 0;
    let severity = if carried_on {
        Severity::Warning
    } else {
        Severity::Error
    };
    let role = if carried_on {
        Role::Beside
    } else {
        Role::Primary
    };
    let count = occurrences(&troubles);
    let title = if count == 1 {
        "Out of device memory: an allocation failed".to_owned()
    } else {
        format!("Out of device memory: {count} allocations failed")
    };
    let draft = Draft::new(Code::VramOom, severity, role, title)
        .of_run(scene.run.index)
        .because(explanation(scene, &troubles, carried_on))
        .fix(fix(scene))
        .counting(count)
        .quoting(telling(&troubles).iter().map(|trouble| trouble.line));
    let placed = troubles.iter().find(|trouble| trouble.task.is_some());
    vec![scene.place(draft, placed.unwrap_or(first))]
}

/// One failure shows as several lines of different kinds: the most frequent kind counts.
fn occurrences(troubles: &[&Trouble]) -> usize {
    let count = |kind| troubles.iter().filter(|t| t.kind == kind).count();
    let kinds = [
        TroubleClass::Fallback,
        TroubleClass::Panic,
        TroubleClass::Cuda,
        TroubleClass::Failure,
        TroubleClass::Warning,
        TroubleClass::Error,
    ];
    kinds.into_iter().map(count).max().unwrap_or(0).max(1)
}

/// The first line of each kind in file order, then the rest.
fn telling<'a>(troubles: &[&'a Trouble]) -> Vec<&'a Trouble> {
    let mut kinds = BTreeSet::new();
    let (mut firsts, others): (Vec<_>, Vec<_>) = troubles
        .iter()
        .copied()
        .partition(|trouble| kinds.insert(trouble.kind));
    firsts.extend(others);
    firsts
}

fn explanation(scene: &Scene<'_>, troubles: &[&Trouble], carried_on: bool) -> String {
    let Some(first) = troubles.first() else {
        return String::new();
    };
    let mut said = vec![format!("The first failure is {}.", scene.spot(first.line))];
    let before = scene
        .run
        .tasks
        .iter()
        .filter(|task| task.gpu_end.is_some_and(|end| end.line < first.line));
    match before.count() as u64 {
        0 if scene.run.tasks.is_empty() => {}
        0 => said.push("No partition had ended before it.".to_owned()),
        n => said.push(format!(
            "{} had ended before it, so the card is not too small for a single one.",
            many(n, "partition")
        )),
    }
    if let Some(numbers) = prestage(scene, first) {
        said.push(numbers);
    }
    let panics = troubles
        .iter()
        .filter(|t| t.kind == TroubleClass::Panic)
        .count() as u64;
    if panics > 0 {
        let died = if panics == 1 { "dies" } else { "die" };
        said.push(format!("{} {died} of it.", many(panics, "thread")));
    }
    said.extend(lived_on(scene, troubles));
    if carried_on {
        said.push("The engine fell back and every job ended.".to_owned());
    }
    let opencl = |t: &&&Trouble| t.text.contains("CL_MEM_OBJECT");
    let opencl: Vec<_> = troubles.iter().filter(opencl).collect();
    if opencl.iter().any(|t| t.kind != TroubleClass::Panic) {
        said.push("OpenCL reports it; the library then does the step on the CPU.".to_owned());
    } else if !opencl.is_empty() {
        said.push("OpenCL reports it, and nothing caught it.".to_owned());
    }
    said.push("The lines say that memory was short, not why.".to_owned());
    said.join(" ")
}

/// A log without partitions that goes on behind a thread's death: what the thread held on the card
/// may still be held, and no replay can tell.
fn lived_on(scene: &Scene<'_>, troubles: &[&Trouble]) -> Option<String> {
    let run = scene.run;
    let death = troubles.iter().rfind(|t| t.kind == TroubleClass::Panic)?;
    let last = run
        .troubles
        .last()
        .map_or(death.line, |trouble| trouble.line);
    let aborted = run.troubles.iter().any(|t| t.kind == TroubleClass::Abort);
    let goes_on = run.last.line > last.line.saturating_add(REPORT_LINES);
    (run.tasks.is_empty() && goes_on && !aborted).then(|| {
        format!(
            "The process lived on, the log goes to {}: what the dead thread held on the card may \
             still be held, a leak that later proofs meet.",
            scene.spot(run.last)
        )
    })
}

/// What the last pre-staging line before the failure said of free and wanted memory.
fn prestage(scene: &Scene<'_>, first: &Trouble) -> Option<String> {
    let before = |mark: &Mark| mark.line() < first.line;
    let marks = scene.run.marks.iter().rev().filter(before);
    let numbers = marks.filter_map(|mark| match scene.run.marks.what(&mark) {
        TimingWhat::PrestageVram {
            free_mib,
            total_mib,
            ..
        } => Some((free_mib, total_mib)),
        _ => None,
    });
    let (free, wanted) = numbers.take(1).next()?;
    Some(format!(
        "The last line before it that gives figures has {free} MiB free and wants {wanted} MiB."
    ))
}

/// More workers than cards: then one can be in another's way.
fn shares_cards(scene: &Scene<'_>) -> bool {
    let config = &scene.run.config;
    config.workers as usize > config.gpus.len().max(1)
}

fn fix(scene: &Scene<'_>) -> &'static str {
    if scene.run.tasks.is_empty() {
        "Look at what held the card at that time (nvidia-smi names processes and sizes), run one \
         worker per device if several share it, or take a card with more memory. This log has \
         no events of partitions, so the allocations cannot be rebuilt from it; a longer piece \
         of it may have."
    } else if !shares_cards(scene) {
        "Run `cuzk replay` on this log: it rebuilds the allocations and names the buffer that was \
         in the way. Check with nvidia-smi that nothing else holds the card."
    } else {
        "Run `cuzk replay` on this log: it rebuilds the allocations and names the buffer that \
         was in the way. Until then run with one GPU worker per device \
         (gpu_workers_per_device = 1) and check with nvidia-smi that nothing else holds the card."
    }
}
