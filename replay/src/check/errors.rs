//! `cuda.error` and `cuda.sticky_error`: a call failed for a reason other than memory.
//!
//! Caught: every result code that is none of those other checks own (2, 712, 713, and the 1 of
//! a double free), once per code and op. After a sticky error every call fails: the first is
//! reported, the rest follow from it. Not caught: errors that nobody recorded.

use std::collections::BTreeSet;

use tracefmt::finding::Code;
use tracefmt::ops::Op;

use super::{Drafted, Scene};
use crate::vram::STICKY;

/// Codes that other checks report, or that mean nothing in a cut log.
const OWNED: [u32; 4] = [1, 2, 712, 713];

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut told: BTreeSet<(u32, &str)> = BTreeSet::new();
    let mut drafts = Vec::new();
    for (_, at, step, rc) in scene.ran() {
        let asks = matches!(step.op, Op::GetLastError | Op::PeekLastError);
        if rc == 0 || asks || OWNED.contains(&rc) {
            continue;
        }
        let op = step.op.name();
        if STICKY.contains(&rc) {
            let title = format!("{op} fails with {rc}, after which every call fails");
            drafts.push(scene.draft(at, Code::CudaStickyError, scene.severity(at), title));
            break;
        }
        if told.insert((rc, op)) {
            let title = format!("{op} fails with {rc}");
            drafts.push(scene.draft(at, Code::CudaError, scene.severity(at), title));
        }
    }
    drafts
}
