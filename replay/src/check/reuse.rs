//! `vram.early_reuse`: memory given back on one stream while work on another still uses it.
//!
//! Caught: a `cudaFreeAsync` that nothing orders after the last launch on *another* stream that
//! names the buffer: no event, no synchronisation in between. From then on the pool may hand the
//! memory to somebody else. Not caught: `cudaFree`, which waits; work that does not say what it
//! touches.

use std::collections::BTreeMap;

use tracefmt::finding::Code;
use tracefmt::ops::{Op, Step, Stream};

use super::{Drafted, Scene};
use crate::vram::{Moment, Streams};

/// Work in flight that names a buffer.
#[derive(Debug, Clone, Copy)]
struct Use {
    stream: Stream,
    moment: Moment,
    at: usize,
}

/// Uses by card and id.
type Uses = BTreeMap<(u32, u64), Vec<Use>>;

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut streams: BTreeMap<u32, Streams> = BTreeMap::new();
    let mut uses = Uses::new();
    let mut drafts = Vec::new();
    for (_, at, step, rc) in scene.ran() {
        if rc != 0 {
            continue;
        }
        let gpu = step.gpu.unwrap_or(0);
        let order = streams.entry(gpu).or_default();
        match &step.op {
            Op::FreeAsync { id, stream } => {
                let used = uses.remove(&(gpu, *id)).unwrap_or_default();
                let early = used.into_iter().find(|work| {
                    work.stream != *stream
                        && !order.is_done(work.stream, work.moment)
                        && !order.is_after(*stream, work.stream, work.moment)
                });
                drafts.extend(early.map(|work| draft(scene, at, step, work)));
            }
            Op::Malloc { id, .. } | Op::MallocAsync { id, .. } | Op::Free { id } => {
                uses.remove(&(gpu, *id));
                if matches!(step.op, Op::Free { .. }) {
                    order.sync_all();
                }
            }
            _ => follow(order, &mut uses, at, step),
        }
    }
    drafts
}

/// Keeps stream order and uses up to date.
fn follow(order: &mut Streams, uses: &mut Uses, at: usize, step: &Step) {
    match &step.op {
        Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) => {
            let moment = order.launch(work.stream);
            for id in work.ids() {
                let known = uses.entry((step.gpu.unwrap_or(0), id)).or_default();
                known.retain(|other| other.stream != work.stream);
                known.push(Use {
                    stream: work.stream,
                    moment,
                    at,
                });
            }
        }
        Op::EventRecord { event, stream } => order.record(*event, *stream),
        Op::StreamWait { stream, event } => {
            order.wait(*stream, *event);
        }
        Op::EventSync { event } => {
            order.sync_event(*event);
        }
        Op::StreamSync { stream } => order.sync(*stream),
        Op::CtxSync => order.sync_all(),
        _ => {}
    }
}

fn draft(scene: &Scene<'_>, at: usize, step: &Step, work: Use) -> Drafted {
    let name = Scene::subject(step);
    let kernel = scene.schedule.steps.get(work.at);
    let kernel = kernel.map_or_else(String::new, |step| {
        step.buf()
            .map_or_else(|| format!("step {}", work.at), str::to_owned)
    });
    let title = format!("{name} is given back while {kernel} may still use it");
    let mut drafted = scene.draft(at, Code::VramEarlyReuse, scene.severity(at), title);
    drafted.finding.explanation = format!(
        "{kernel} runs on another stream, and neither an event nor a synchronisation orders the \
         free after it: the next request of the pool can get memory that is still read."
    );
    drafted.finding.evidence.extend(scene.evidence(work.at));
    drafted.finding.fix =
        Some("Free on the stream of the last use, or wait for its event first.".to_owned());
    drafted
}
