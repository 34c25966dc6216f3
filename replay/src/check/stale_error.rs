//! `vram.stale_error`: a success misread as a failure because of an older error.
//!
//! The runtime keeps a thread's last error until somebody asks for it. Caught: a
//! `getLastError` or `peekLastError` that returns an error although the call before it, on the
//! same thread, succeeded. Not caught: errors that no recorded call left behind.

use std::collections::BTreeMap;

use tracefmt::finding::Code;
use tracefmt::ops::Op;

use super::{Drafted, Scene};

/// Worker and thread.
type Thread = (Option<u32>, Option<u64>);

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    // Per thread: the last call with its code, and the last failed call.
    let mut last: BTreeMap<Thread, (u32, Option<usize>)> = BTreeMap::new();
    let mut drafts = Vec::new();
    for (_, at, step, rc) in scene.ran() {
        let state = last.entry((step.worker, step.thread())).or_default();
        match &step.op {
            Op::GetLastError | Op::PeekLastError => {
                if let (true, (0, Some(failed))) = (rc != 0, *state) {
                    drafts.push(draft(scene, at, failed, rc));
                }
                if step.op == Op::GetLastError {
                    *state = (0, None);
                }
            }
            op if is_silent(op) => {}
            _ if rc == 0 => state.0 = 0,
            _ => *state = (rc, Some(at)),
        }
    }
    drafts
}

/// Ops that are no calls into the driver.
fn is_silent(op: &Op) -> bool {
    matches!(
        op,
        Op::Lock { .. } | Op::Unlock { .. } | Op::Barrier { .. } | Op::Label { .. }
    )
}

fn draft(scene: &Scene<'_>, at: usize, failed: usize, rc: u32) -> Drafted {
    let culprit = scene.schedule.steps.get(failed);
    let name = culprit.map_or_else(String::new, Scene::subject);
    let title = format!("error {rc} is reported for a call that succeeded");
    let mut drafted = scene.draft(at, Code::VramStaleError, scene.severity(at), title);
    drafted.finding.explanation = format!(
        "The error is that of step {failed} ({name}), which nobody fetched; the call right before \
         the check succeeded."
    );
    drafted.finding.evidence.extend(scene.evidence(failed));
    drafted.finding.fix = Some(
        "Check the result of every call, and fetch the last error after a failure.".to_owned(),
    );
    drafted
}
