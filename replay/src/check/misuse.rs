//! `vram.double_free` and `vram.use_after_free`: a name that no longer means anything.
//!
//! Caught: a second free, and a launch or copy that names what was freed. Not caught: a name
//! that this schedule never allocated (a cut or foreign log), and kernels that do not say what
//! they touch.

use tracefmt::finding::Code;

use super::{Drafted, Scene};
use crate::life::Misuse;

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let frees = scene.life.double_frees.iter().filter_map(|misuse| {
        draft(
            scene,
            misuse,
            Code::VramDoubleFree,
            "is freed a second time",
        )
    });
    let uses = scene.life.late_uses.iter().filter_map(|misuse| {
        draft(
            scene,
            misuse,
            Code::VramUseAfterFree,
            "is used after its free",
        )
    });
    frees.chain(uses).collect()
}

fn draft(scene: &Scene<'_>, misuse: &Misuse, code: Code, what: &str) -> Option<Drafted> {
    let buffer = scene.life.buffers.get(misuse.buffer)?;
    let (at, step) = scene.step_at(misuse.place)?;
    let name = scene.name(buffer);
    let title = format!("{name} of worker {} {what}", buffer.worker);
    let mut drafted = scene.draft(at, code, scene.severity(at), title);
    let (freed_at, freed) = buffer.freed.and_then(|place| scene.step_at(place))?;
    drafted.finding.explanation = format!(
        "Step {freed_at} of worker {} freed {name}; step {at} of worker {} {}.",
        freed.worker.unwrap_or(0),
        step.worker.unwrap_or(0),
        if code == Code::VramDoubleFree {
            "frees it again"
        } else {
            "uses it"
        },
    );
    drafted.finding.evidence.extend(scene.evidence(freed_at));
    drafted.finding.fix = Some(match code {
        Code::VramDoubleFree => format!("Clear the pointer when {name} is freed."),
        _ => format!("Free {name} after its last use."),
    });
    Some(drafted)
}
