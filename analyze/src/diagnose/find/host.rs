//! `host.double_register`, `host.stale_registration`, `host.unregister_unknown`: pinning host
//! memory failed with 712, or unpinning it with 713.
//!
//! 712 has two causes that the code alone does not tell apart: two owners pinned one range, or an
//! earlier owner went without unpinning and its addresses came back. The second is said when,
//! before the first 712, the log shows a path that skips unpinning (pre-staging left out for lack
//! of memory, a panic, a failure); both are marked inferred. The engine falls back to slower
//! unpinned copies, so a run that gets over it and completes has no more than a warning; one in
//! which nothing can be pinned any more from the first failure on has an error, though it
//! completes (docs/decisions/0004).

use tracefmt::finding::{Code, Confidence, Severity};
use tracefmt::run::{LineRef, MarkKind, Trouble, TroubleClass};

use super::super::classify::Topic;
use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    [registered(scene), unregistered(scene)]
        .into_iter()
        .flatten()
        .collect()
}

/// Severity and role: an error when the run failed, when the line itself reports a failure that
/// nothing completed after, or when pinning never succeeds again.
fn weight(scene: &Scene<'_>, troubles: &[&Trouble]) -> (Severity, Role) {
    let mild =
        |trouble: &&Trouble| matches!(trouble.kind, TroubleClass::Fallback | TroubleClass::Warning);
    let completed = scene.jobs.completed > 0 && scene.jobs.open == 0;
    let reported = !troubles.iter().all(mild) && !completed;
    if scene.failed() || reported || is_lasting(scene, troubles) {
        (Severity::Error, Role::Follower)
    } else {
        (Severity::Warning, Role::Beside)
    }
}

/// Whether pinning fails more than once, and of the calls that start after the first failure none
/// pins its memory: a call that stages its buffers, or tries to, has.
fn is_lasting(scene: &Scene<'_>, troubles: &[&Trouble]) -> bool {
    let Some(first) = troubles.first().filter(|_| troubles.len() > 1) else {
        return false;
    };
    let calls = scene.run.calls.iter().enumerate();
    let later: Vec<usize> = calls
        .filter(|(_, call)| call.start.line > first.line)
        .map(|(index, _)| index)
        .collect();
    let stages = |kind| {
        matches!(
            kind,
            MarkKind::PrestageVram
                | MarkKind::PrestageSkip
                | MarkKind::PrestageOk
                | MarkKind::PrestageFallback
        )
    };
    let pins = |call: &usize| scene.run.marks_of(*call).any(|mark| stages(mark.kind()));
    !later.is_empty() && !later.iter().any(pins)
}

fn registered(scene: &Scene<'_>) -> Option<Draft> {
    let troubles: Vec<&Trouble> = scene.about(Topic::AlreadyRegistered).collect();
    let first = *troubles.first()?;
    let leak = leaking_path(scene, first.line);
    let (severity, role) = weight(scene, &troubles);
    let for_good = if is_lasting(scene, &troubles) {
        " No call after that can pin its memory."
    } else {
        ""
    };
    let calls = scene.run.calls.len() as u64;
    let of_calls = if calls == 0 {
        String::new()
    } else {
        format!(" of {calls}")
    };
    let count = troubles.len();
    let (code, why) = match leak {
        Some((line, what)) => (
            Code::HostStaleRegistration,
            format!(
                "Before the first one, {what} at {}: a call that takes that path does not unpin \
                 its buffers, and when the allocator hands out the same addresses again, the old \
                 registration is in the way.",
                scene.spot(line)
            ),
        ),
        None => (
            Code::HostDoubleRegister,
            "No earlier line shows a path that skips unpinning, so two owners pinned the same \
             range at once, or the log does not reach back to the first of them."
                .to_owned(),
        ),
    };
    let title = format!(
        "Host memory is registered already (712) in {count}{of_calls} prove {}",
        if count == 1 && calls == 0 {
            "call"
        } else {
            "calls"
        }
    );
    let mut draft = Draft::new(code, severity, role, title)
        .of_run(scene.run.index)
        .because(format!(
            "cudaHostRegister fails with 712 in {}, first at {}. {why}{for_good} Each such call \
             copies its inputs unpinned, which is several times slower.",
            many(count as u64, "call"),
            scene.spot(first.line),
        ))
        .fix(
            "Unpin host buffers on every way out of the call (skipped pre-staging, error, panic), \
             before their memory is given back. Restarting the daemon clears stale registrations.",
        )
        .counting(count)
        .quoting([first.line]);
    draft = draft.quoting(leak.map(|(line, _)| line));
    draft.at = first.line;
    draft = draft.quoting(troubles.iter().map(|trouble| trouble.line));
    draft.at = first.line;
    draft.finding.confidence = Confidence::Inferred;
    Some(scene.place(draft, first))
}

/// The last line before `line` that shows a path on which buffers stay pinned.
fn leaking_path(scene: &Scene<'_>, line: LineRef) -> Option<(LineRef, &'static str)> {
    let before = scene
        .troubles
        .iter()
        .filter(|(_, trouble)| trouble.line < line);
    before
        .filter_map(|(topic, trouble)| {
            let what = match (topic, trouble.kind) {
                (Topic::SkipVram, _) => "pre-staging is skipped",
                (_, TroubleClass::Panic) => "a thread panics",
                (_, TroubleClass::Failure) => "a partition fails",
                _ => return None,
            };
            Some((trouble.line, what))
        })
        .next_back()
}

fn unregistered(scene: &Scene<'_>) -> Option<Draft> {
    let troubles: Vec<&Trouble> = scene.about(Topic::NotRegistered).collect();
    let first = *troubles.first()?;
    let (severity, role) = weight(scene, &troubles);
    let draft = Draft::new(
        Code::HostUnregisterUnknown,
        severity,
        role,
        "Host memory is unregistered that is not registered (713)".to_owned(),
    )
    .of_run(scene.run.index)
    .because(format!(
        "cudaHostUnregister fails with 713, first at {}: the range was never pinned, was unpinned \
         twice, or its pinning had failed before and nobody looked at the return value.",
        scene.spot(first.line)
    ))
    .fix("Unpin exactly the ranges whose pinning succeeded, once; keep the result with the buffer.")
    .counting(troubles.len())
    .quoting(troubles.iter().map(|trouble| trouble.line));
    Some(scene.place(draft, first))
}
