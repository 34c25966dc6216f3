//! `vram.free_never_retired`: freed on a stream that nothing synchronises.
//!
//! A `cudaMalloc`ed pointer freed with `cudaFreeAsync` returns only when its stream, or the
//! context, is synchronised. Caught: a stream with at least two such frees pending, the oldest
//! since another buffer was allocated; an error if a request fails while they are pending. Not
//! caught: pool blocks, whose pages the pool reuses, and the one free that a run ends with.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::finding::{Code, OomCause, Severity};
use tracefmt::ops::{Op, Step, Stream};

use super::text::{mib, total};
use super::{Drafted, Scene};

/// A free that is pending: the step, the bytes.
type Pending = Vec<(usize, u64)>;

#[derive(Debug, Default)]
struct Watch {
    /// Live `cudaMalloc`ed buffers, by card and id.
    blocks: BTreeMap<(u32, u64), u64>,
    pending: BTreeMap<(u32, Stream), Pending>,
}

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    // Only what an observation would have saved failed because of it.
    let failures = scene.failures().iter();
    let of_it = failures.filter(|failure| failure.cause == OomCause::UnobservedFree);
    let unobserved: BTreeSet<usize> = of_it.map(|failure| failure.at).collect();
    let mut watch = Watch::default();
    let mut drafts: BTreeMap<(u32, Stream), Drafted> = BTreeMap::new();
    for (_, at, step, rc) in scene.ran() {
        let gpu = step.gpu.unwrap_or(0);
        watch.step(at, step, rc);
        let failed = rc != 0 && unobserved.contains(&at);
        for (&(card, stream), pending) in &watch.pending {
            if failed && card == gpu && !pending.is_empty() {
                let severity = scene.severity(at);
                let drafted = draft(scene, pending, stream, severity, Some(at));
                drafts.entry((card, stream)).or_insert(drafted);
            }
        }
    }
    for (&(card, stream), pending) in &watch.pending {
        if pending.len() > 1 {
            let drafted = draft(scene, pending, stream, Severity::Warning, None);
            drafts.entry((card, stream)).or_insert(drafted);
        }
    }
    drafts.into_values().collect()
}

impl Watch {
    fn step(&mut self, at: usize, step: &Step, rc: u32) {
        let gpu = step.gpu.unwrap_or(0);
        match &step.op {
            Op::Malloc { id, bytes } if rc == 0 => {
                self.blocks.insert((gpu, *id), *bytes);
            }
            Op::MallocAsync { id, .. } | Op::Free { id } => {
                self.blocks.remove(&(gpu, *id));
            }
            Op::FreeAsync { id, stream } => {
                if let Some(bytes) = self.blocks.remove(&(gpu, *id)) {
                    self.pending
                        .entry((gpu, *stream))
                        .or_default()
                        .push((at, bytes));
                }
            }
            Op::StreamSync { stream } => {
                self.pending.remove(&(gpu, *stream));
            }
            Op::CtxSync => self.pending.retain(|(card, _), _| *card != gpu),
            // An event observes what lies before it; to be silent when in doubt, all of it.
            Op::EventSync { .. } => self.pending.retain(|(card, _), _| *card != gpu),
            _ => {}
        }
    }
}

fn draft(
    scene: &Scene<'_>,
    pending: &[(usize, u64)],
    stream: Stream,
    severity: Severity,
    failed: Option<usize>,
) -> Drafted {
    let stream = match stream {
        Stream::Legacy => "the legacy stream".to_owned(),
        Stream::Id(number) => format!("stream {number}"),
    };
    let bytes = mib(total(pending.iter().map(|(_, bytes)| *bytes)));
    let first = pending.first().map_or(0, |(at, _)| *at);
    let title = format!("{bytes} freed on {stream} never come back");
    let mut drafted = scene.draft(first, Code::VramFreeNeverRetired, severity, title);
    drafted.finding.explanation = format!(
        "{} frees on {stream} are pending and nothing synchronises it; \
         synchronising other streams does not help.",
        pending.len()
    );
    drafted.finding.fix =
        Some("Free with cudaFree, or on the stream that is synchronised.".to_owned());
    drafted.explains = failed.into_iter().collect();
    drafted
}
