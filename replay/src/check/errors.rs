//! `cuda.error` and `cuda.sticky_error`: a call failed for a reason other than memory.
//!
//! Caught: every result code that is none of those other checks own (2, 712, 713, and the 1 of
//! a free), once per code and op. After a sticky error every call fails: the first is
//! reported, the rest follow from it, leaks included. Not caught: errors that nobody recorded.

use std::collections::BTreeSet;

use tracefmt::finding::Code;
use tracefmt::ops::{OnError, Op};

use super::{Drafted, Scene};
use crate::vram::{RC_INVALID, STICKY};

/// Codes that other checks report.
const OWNED: [u32; 3] = [2, 712, 713];

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut told: BTreeSet<(u32, &str)> = BTreeSet::new();
    let mut drafts = Vec::new();
    for (_, at, step, rc) in scene.ran() {
        let asks = matches!(step.op, Op::GetLastError | Op::PeekLastError);
        // An unknown pointer: freed twice, or made before a cut log begins.
        let frees = matches!(step.op, Op::Free { .. } | Op::FreeAsync { .. });
        let unknown = frees && rc == RC_INVALID;
        if rc == 0 || asks || unknown || OWNED.contains(&rc) {
            continue;
        }
        let op = step.op.name();
        if STICKY.contains(&rc) {
            drafts.push(sticky(scene, at, op, rc));
            break;
        }
        if told.insert((rc, op)) {
            let title = format!("{op} fails with {rc}");
            let drafted = scene.draft(at, Code::CudaError, scene.severity(at), title);
            let past = match step.on_error() {
                OnError::Ignore => " The schedule carries on as if it had gone well.",
                OnError::Abort => " Its worker stops there.",
                OnError::Fallback(_) => " Its worker goes another way from there.",
            };
            drafts.push(drafted.says(
                &(answer(rc) + past),
                "Look up the call; its result code says what it did not accept.",
            ));
        }
    }
    drafts
}

/// The first error after which every call of the process fails: it explains them all.
fn sticky(scene: &Scene<'_>, at: usize, op: &str, rc: u32) -> Drafted {
    let title = format!("{op} fails with {rc}, after which every call fails");
    let drafted = scene.draft(at, Code::CudaStickyError, scene.severity(at), title);
    let mut drafted = drafted.says(
        &(answer(rc)
            + " It is noticed here and lies in work that was launched before; the process can use \
               the card again only when it is started anew."),
        "Start the process anew, and look for the kernel, with compute-sanitizer or \
         CUDA_LAUNCH_BLOCKING=1.",
    );
    let later = scene.ran().filter(|(_, _, _, other)| *other == rc);
    drafted.explains = later
        .map(|(_, other, _, _)| other)
        .filter(|other| *other != at)
        .collect();
    drafted
}

/// What a result code says.
fn answer(rc: u32) -> String {
    let known = i32::try_from(rc).ok().and_then(tracefmt::cuda::by_code);
    known.map_or_else(
        || format!("The call answers {rc}, a code that is not known here."),
        |error| format!("The call answers {} ({}).", error.name, error.text),
    )
}
