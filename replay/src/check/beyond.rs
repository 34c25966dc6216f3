//! `vram.beyond_card`: a record that contradicts the card.
//!
//! Caught: a request that is recorded as given although what is allocated by then and the request
//! are more bytes together than the whole card has; once a card. What the run says of memory from
//! there on is as doubtful as the record. Not caught: what others use of the card, and what the
//! driver rounds up; a model that is off by some pages is no contradiction.

use std::collections::BTreeSet;

use tracefmt::finding::{Code, Severity};
use tracefmt::ops::Op;

use super::text::{buffers, mib};
use super::{Drafted, Scene};
use crate::life::Buffer;
use crate::vram::RC_OUT_OF_MEMORY;

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut told: BTreeSet<u32> = BTreeSet::new();
    let mut drafts = Vec::new();
    for (place, ran) in scene.record.ran.iter().enumerate() {
        // Only where the model would have refused what the record says was given.
        if ran.predicted != RC_OUT_OF_MEMORY || ran.outcome.rc != 0 {
            continue;
        }
        let Some((at, step)) = scene.step_at(place) else {
            continue;
        };
        let (Op::Malloc { bytes, .. } | Op::MallocAsync { bytes, .. }) = step.op else {
            continue;
        };
        let gpu = step.gpu.unwrap_or(0);
        if told.contains(&gpu) {
            continue;
        }
        let capacity = scene.capacity(step);
        let live: Vec<Buffer> = scene.life.live_at(place, gpu).copied().collect();
        let sizes = live.iter().map(|buffer| buffer.bytes);
        let given = sizes.fold(bytes, u64::saturating_add);
        if given > capacity {
            told.insert(gpu);
            let name = Scene::subject(step);
            let title = format!(
                "{} are recorded as given by a card of {}",
                mib(given),
                mib(capacity)
            );
            let drafted = scene.draft(at, Code::VramBeyondCard, Severity::Warning, title);
            let meaning = format!(
                "{name} ({}) succeeds by the record beside {}. The size of the card is wrong here, \
                 or the record: a free is missing, or a failure is written as a success. What \
                 follows is judged with a card that is full.",
                mib(bytes),
                buffers(scene, &live)
            );
            drafts.push(drafted.says(
                &meaning,
                "Give the card's true size (--vram), or look for frees that are not recorded.",
            ));
        }
    }
    drafts
}
