//! Which version of the engine wrote a run: told by which lines it has, never by its date.

use super::features::{Features, Sign};
use crate::event::EventKind;
use crate::finding::Confidence;
use crate::run::{Dialect, MarkKind};

/// Calls that must end without an epilogue line before its absence says something.
const ENOUGH: u32 = 2;

/// Tells the dialect.
pub(super) fn tell(features: &Features) -> Dialect {
    let rules = [own, head, cache, split_api, prestage, early];
    rules
        .iter()
        .find_map(|rule| rule(features))
        .unwrap_or_else(|| {
            let why = "no line that only some version prints";
            say("unknown", Confidence::Ambiguous, why)
        })
}

fn say(name: &'static str, confidence: Confidence, why: &str) -> Dialect {
    Dialect {
        name,
        confidence,
        why: why.to_owned(),
    }
}

fn own(features: &Features) -> Option<Dialect> {
    features.has(Sign::Own).then_some(())?;
    let why = "events or tags that only our own writer has";
    Some(say("own", Confidence::Certain, why))
}

fn head(features: &Features) -> Option<Dialect> {
    let lock_lines = [
        MarkKind::PreLock,
        MarkKind::BarrierWait,
        MarkKind::MutexHeld,
    ];
    let lock_lines = lock_lines.iter().any(|kind| features.timings(*kind) > 0);
    let queue = features.events(EventKind::GpuQueue) > 0;
    let timing = features.has(Sign::GpuTiming);
    let why = match (lock_lines, queue, timing) {
        (true, ..) => "lock lines (pre_lock, barrier_wait or mutex_held)",
        (_, true, _) => "GPU_QUEUE in the place of CHAN_SEND",
        (_, _, true) => "GPU_TIMING or FIN_TIMING messages",
        _ => return None,
    };
    Some(say("head", Confidence::Certain, why))
}

fn cache(features: &Features) -> Option<Dialect> {
    let kinds = [MarkKind::NttH, MarkKind::DaCache, MarkKind::PoolThreshold];
    let kinds = kinds.iter().any(|kind| features.timings(*kind) > 0);
    kinds.then_some(())?;
    let why = "CUZK_NTT_H or cache lines, but no lock lines and no GPU_QUEUE";
    Some(say("cache", Confidence::Certain, why))
}

/// The start function came back before the proof was done: no epilogue line any more.
fn split_api(features: &Features) -> Option<Dialect> {
    if features.has(Sign::FlightCounters) {
        let why = "buffer flight counters, but no line of a later version";
        return Some(say("phase12", Confidence::Certain, why));
    }
    let ended = features.events(EventKind::GpuEnd);
    let tails = features.timings(MarkKind::TailMsm);
    let none = features.timings(MarkKind::Epilogue) == 0;
    (none && ended >= ENOUGH && tails >= ENOUGH).then_some(())?;
    let why = "calls end without an epilogue line";
    Some(say("phase12", Confidence::Inferred, why))
}

fn prestage(features: &Features) -> Option<Dialect> {
    let lines = [
        MarkKind::PrestageOk,
        MarkKind::PrestageSkip,
        MarkKind::PrestageFallback,
        MarkKind::PrestageVram,
    ];
    let any = lines.iter().any(|kind| features.timings(*kind) > 0);
    if features.has(Sign::FinePrestage) {
        let why = "prestage_setup=ok with the times of its steps";
        return Some(say("phase9-fine", Confidence::Certain, why));
    }
    if features.timings(MarkKind::PrestageVram) > 0 {
        let why = "prestage_vram and epilogue lines; phase11 prints the same";
        return Some(say("phase9", Confidence::Inferred, why));
    }
    if !any {
        let pinned = features.timings(MarkKind::HostRegister) > 0;
        pinned.then_some(())?;
        let why = "host_register lines";
        return Some(say("phase9", Confidence::Inferred, why));
    }
    if features.has(Sign::PrestageOutsideLock) {
        let why = "prestage lines while another call holds the lock";
        return Some(say("phase9-v0", Confidence::Inferred, why));
    }
    let why = if features.has(Sign::FallbackOom) {
        "prestage_setup=fallback err=2, which the fixed version keeps to itself"
    } else {
        "prestage lines without prestage_vram"
    };
    Some(say("phase9-v1", Confidence::Inferred, why))
}

fn early(features: &Features) -> Option<Dialect> {
    let events = features.all_events() > 0;
    let timings = features.all_timings() > 0;
    if !events {
        timings.then_some(())?;
        let why = "CUZK_TIMING lines of no later version, and no TIMELINE";
        return Some(say("phase4", Confidence::Ambiguous, why));
    }
    if !features.has(Sign::Partitions) {
        if !timings && features.events(EventKind::GpuStart) == 0 {
            return None;
        }
        let why = "TIMELINE without partitions";
        return Some(say("phase6", Confidence::Ambiguous, why));
    }
    if !timings {
        let why = "partitions, but no CUZK_TIMING lines";
        return Some(say("unknown", Confidence::Ambiguous, why));
    }
    if features.has(Sign::SharedGpu) {
        let why = "two workers on one GPU, and no line of a later version";
        return Some(say("phase8", Confidence::Certain, why));
    }
    let why = "partitions, one worker a GPU, and no line of a later version";
    Some(say("phase7", Confidence::Ambiguous, why))
}
