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
use crate::run::{MarkKind, Run};

mod beam;
mod freeing;
mod hypothesis;
mod live;
mod rules;
mod span;

use beam::Beam;
use live::Live;
use rules::Form;
use span::Span;

/// From `GPU_START` to the entry of the call.
const ENTRY_US: i64 = 2_000;

/// Gives every timing line its owner.
pub(crate) fn attribute(run: &mut Run, mut links: Vec<Link>, features: &mut Features) {
    let form = Form::of(|kind| features.timings(kind) > 0);
    links.sort_by_key(|link| (link.line, link.what != LinkKind::Left));
    let mut starts: Vec<u32> = (0..u32::try_from(run.calls.len()).unwrap_or(u32::MAX)).collect();
    starts.sort_by_key(|call| {
        run.calls
            .get(*call as usize)
            .map(|call| call.start.line.line)
    });
    walk(run, &links, &starts, form);
    run.index_marks();
    settle_calls(run);
}

/// One of the three kinds of things that come in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Link,
    Start,
    Mark,
}

/// Takes links, starts of calls and marks in file order.
fn walk(run: &mut Run, links: &[Link], starts: &[u32], form: Form) {
    let mut beam = Beam::new(form);
    let mut order: Vec<u32> = Vec::new();
    if !run.marks.is_sorted() {
        order = (0..u32::try_from(run.marks.len()).unwrap_or(u32::MAX)).collect();
        order.sort_by_key(|mark| run.marks.line(*mark as usize));
    }
    let index_of = |at: usize| order.get(at).map_or(at, |mark| *mark as usize);
    let (mut link, mut start, mut mark) = (0, 0, 0);
    loop {
        let line_of_start = starts
            .get(start)
            .and_then(|call| run.calls.get(*call as usize));
        let next = [
            links.get(link).map(|link| (link.line, Next::Link)),
            line_of_start.map(|call| (call.start.line.line, Next::Start)),
            run.marks
                .line(index_of(mark))
                .map(|line| (line, Next::Mark)),
        ];
        match next.into_iter().flatten().min() {
            None => break,
            Some((_, Next::Link)) => {
                if let Some(link) = links.get(link) {
                    follow(run, &mut beam, *link);
                }
                link += 1;
            }
            Some((_, Next::Start)) => {
                if let Some(call) = starts.get(start) {
                    begin(run, &mut beam, *call);
                }
                start += 1;
            }
            Some((_, Next::Mark)) => {
                // All lines up to the next thing of another kind.
                let others = [next[0], next[1]].into_iter().flatten();
                let until = others.min().map_or(u32::MAX, |(line, _)| line);
                loop {
                    give(run, &mut beam, index_of(mark));
                    mark += 1;
                    let next = run.marks.line(index_of(mark));
                    if next.is_none_or(|line| line >= until) {
                        break;
                    }
                }
            }
        }
    }
    beam.finish(&mut run.marks);
}

/// A timing line that has no owner yet.
fn give(run: &mut Run, beam: &mut Beam, index: usize) {
    if let Some(line) = run.marks.get(index)
        && line.call().is_none()
        && line.kind() <= MarkKind::AsyncDealloc
    {
        beam.mark(&mut run.marks, index, &line);
    }
}

fn begin(run: &Run, beam: &mut Beam, index: u32) {
    let Some(call) = run.calls.get(index as usize) else {
        return;
    };
    let us = call.start.us;
    let start = Span::new(us, us + 999 + ENTRY_US);
    let place = (call.worker.unwrap_or(u32::MAX), call.gpu.unwrap_or(0));
    beam.begin(&Live::new(index, place, start));
}

fn follow(run: &mut Run, beam: &mut Beam, link: Link) {
    match link.what {
        LinkKind::Started(ms) => beam.started(link.call, ms),
        LinkKind::Left => beam.left(&mut run.marks, link.call),
        LinkKind::Ended => {
            let call = run.calls.get(link.call as usize);
            let task = call.and_then(|call| run.tasks.get(call.task as usize));
            let Some((task, end)) = task.and_then(|task| Some((task, task.gpu_end?))) else {
                return;
            };
            let gpu_ms = task.gpu_ms.and_then(|ms| i64::try_from(ms).ok());
            let at = Span::new(end.us, end.us + 999);
            beam.end(&mut run.marks, link.call, at, gpu_ms);
        }
    }
}

/// The confidence of each call is that of its least sure line of the GPU threads; the order in
/// which calls held a GPU is that of their first lines under the lock.
fn settle_calls(run: &mut Run) {
    let mut sequence: Vec<(u32, u32)> = Vec::new();
    for index in 0..run.calls.len() {
        let under_lock = |kind| (MarkKind::PreLock..=MarkKind::TailMsm).contains(&kind);
        let on_gpu = |kind| (MarkKind::NttH..=MarkKind::TailMsm).contains(&kind);
        let mut worst = Confidence::Certain;
        let mut first = None;
        for mark in run.marks_of(index) {
            if on_gpu(mark.kind()) {
                worst = worst.min(mark.confidence());
            }
            if under_lock(mark.kind()) {
                first = first.or(Some(mark.line().line));
            }
        }
        if let Some(call) = run.calls.get_mut(index) {
            call.confidence = worst;
        }
        if let Some(line) = first {
            sequence.push((line, u32::try_from(index).unwrap_or(u32::MAX)));
        }
    }
    sequence.sort_unstable();
    let mut next: Vec<(Option<u32>, u32)> = Vec::new();
    for (_, index) in sequence {
        let Some(call) = run.calls.get_mut(index as usize) else {
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
