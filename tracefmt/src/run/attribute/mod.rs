//! Which call a timing line belongs to.
//!
//! The old lines carry neither job nor time. The order of lines inside a call, the lock, the
//! lengths of phases and the stamps of neighbouring lines leave one owner for most; for the rest
//! the ways to see it are followed side by side ([`hypothesis`]) until what comes later decides,
//! and where nothing does, all owners are named.
//!
//! `Certain` means that the order of lines left one call, given the owners of the lines before;
//! `Inferred` that times decided with a margin; `Ambiguous` that they did not.

use super::assemble::{Features, Link, LinkKind};
use crate::finding::Confidence;
use crate::run::both::{self, both};
use crate::run::{Call, MarkKind, MarkStore, Run};

mod beam;
mod freeing;
mod hypothesis;
mod live;
mod rules;
mod span;
mod walk;

use rules::Form;

/// Sorts links by their lines, and gives the calls in the order of theirs.
pub(crate) fn in_file_order(run: &Run, links: &mut [Link]) -> Vec<u32> {
    links.sort_by_key(|link| (link.line, link.what != LinkKind::Left));
    let mut starts: Vec<u32> = (0..u32::try_from(run.calls.len()).unwrap_or(u32::MAX)).collect();
    starts.sort_by_key(|call| {
        run.calls
            .get(*call as usize)
            .map(|call| call.start.line.line)
    });
    starts
}

/// Gives every timing line its owner; links and calls are in the order of the file.
pub(crate) fn attribute(run: &mut Run, links: &[Link], starts: &[u32], features: &Features) {
    let form = Form::of(|kind| features.timings(kind) > 0);
    let found = walk::all(run, links, starts, form, walk::Parts::default());
    for owners in found {
        run.marks.own(owners);
    }
    let (marks, calls) = (&run.marks, &mut run.calls);
    let count = calls.len();
    let much = marks.len() >= both::MANY;
    let settle = || settle_calls(marks, calls);
    let ((), by_call) = both(much, settle, || marks.by_call(count));
    (run.mark_starts, run.mark_order) = by_call;
}

/// The confidence of each call is that of its least sure line of the GPU threads; the order in
/// which calls held a GPU is that of their first lines under the lock.
fn settle_calls(marks: &MarkStore, calls: &mut [Call]) {
    let under_lock = |kind| (MarkKind::PreLock..=MarkKind::TailMsm).contains(&kind);
    let on_gpu = |kind| (MarkKind::NttH..=MarkKind::TailMsm).contains(&kind);
    let mut worst = vec![Confidence::Certain; calls.len()];
    let mut locked = vec![false; calls.len()];
    let mut sequence: Vec<(u32, u32)> = Vec::new();
    for mark in marks {
        let Some(call) = mark.call().filter(|_| under_lock(mark.kind())) else {
            continue;
        };
        let at = call as usize;
        if let Some(worst) = worst.get_mut(at).filter(|_| on_gpu(mark.kind())) {
            *worst = mark.confidence().min(*worst);
        }
        if let Some(locked) = locked.get_mut(at)
            && !std::mem::replace(locked, true)
        {
            sequence.push((mark.line().line, call));
        }
    }
    for (call, worst) in calls.iter_mut().zip(worst) {
        call.confidence = worst;
    }
    sequence.sort_unstable();
    let mut next: Vec<(Option<u32>, u32)> = Vec::new();
    for (_, index) in sequence {
        let Some(call) = calls.get_mut(index as usize) else {
            continue;
        };
        let at = next.iter().position(|(gpu, _)| *gpu == call.gpu);
        let at = at.unwrap_or_else(|| {
            next.push((call.gpu, 0));
            next.len() - 1
        });
        if let Some((_, count)) = next.get_mut(at) {
            call.lock_seq = Some(*count);
            *count += 1;
        }
    }
}
