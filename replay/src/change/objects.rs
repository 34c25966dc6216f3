//! Whether a change is about something that the schedule has.
//!
//! A change that names a buffer or a phase that is not there changes nothing, and its verdict
//! would be that of the recorded run under another name. It is a mistake of who asks.

use std::collections::BTreeSet;

use tracefmt::ops::{Op, Schedule};

use super::{Change, FreeAt};

/// Names that a message lists.
const LISTED_MAX: usize = 12;

/// A change that is about something the schedule does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what-if \"{change}\": the schedule has no {what}; it has {known}")]
pub struct NoObject {
    /// The change.
    pub change: String,
    /// What it is about.
    pub what: String,
    /// What there is instead.
    pub known: String,
}

/// Whether a schedule has what some changes are about.
///
/// # Errors
/// [`NoObject`] for the first change that is about something it does not have.
pub fn objects(changes: &[Change], schedule: &Schedule) -> Result<(), NoObject> {
    changes
        .iter()
        .try_for_each(|change| match missing(change, schedule) {
            None => Ok(()),
            Some((what, known)) => Err(NoObject {
                change: change.to_string(),
                what,
                known,
            }),
        })
}

/// What a change is about that the schedule does not have, and what it has instead.
fn missing(change: &Change, schedule: &Schedule) -> Option<(String, String)> {
    match change {
        Change::Free { buf, at } => buffer(buf, schedule).or_else(|| place(at, schedule)),
        Change::Margin(_) => {
            let asks = |op: &Op| matches!(op, Op::MemGetInfo { need: Some(_), .. });
            let asks = schedule.steps.iter().any(|step| asks(&step.op));
            let what = "memGetInfo with a need, whose margin could change";
            (!asks).then(|| (what.to_owned(), operations(schedule)))
        }
        Change::Sync | Change::SyncOften | Change::Trim | Change::TrimOften => {
            let asks = schedule.steps.iter().any(|step| allocates(&step.op));
            (!asks).then(|| ("allocation".to_owned(), operations(schedule)))
        }
        Change::OneWorker => {
            let workers: BTreeSet<u32> = schedule
                .steps
                .iter()
                .map(|step| step.worker.unwrap_or(0))
                .collect();
            let only = || format!("worker {}", workers.first().copied().unwrap_or(0));
            let second = "second worker to take turns with";
            (workers.len() < 2).then(|| (second.to_owned(), only()))
        }
        Change::Vram(_) | Change::Baseline(_) | Change::Driver(_) => None,
    }
}

fn buffer(buf: &str, schedule: &Schedule) -> Option<(String, String)> {
    let made = schedule.steps.iter().filter(|step| allocates(&step.op));
    let names: BTreeSet<&str> = made.clone().filter_map(|step| step.buf()).collect();
    if names.contains(buf) || (buf == "*" && made.count() > 0) {
        return None;
    }
    Some((format!("buffer {buf}"), listed(&names, "buffers")))
}

fn place(at: &FreeAt, schedule: &Schedule) -> Option<(String, String)> {
    match at {
        FreeAt::LastUse => None,
        FreeAt::BeforeUnlock => {
            let unlocks = |op: &Op| matches!(op, Op::Unlock { .. });
            let unlocks = schedule.steps.iter().any(|step| unlocks(&step.op));
            (!unlocks).then(|| ("unlock".to_owned(), operations(schedule)))
        }
        FreeAt::After(name) => {
            let launches = schedule.steps.iter();
            let launches = launches.filter(|step| matches!(step.op, Op::Launch(_)));
            let names: BTreeSet<&str> = launches.filter_map(|step| step.buf()).collect();
            let missing = !names.contains(name.as_str());
            missing.then(|| (format!("launch {name}"), listed(&names, "launches")))
        }
    }
}

fn allocates(op: &Op) -> bool {
    matches!(op, Op::Malloc { .. } | Op::MallocAsync { .. })
}

fn operations(schedule: &Schedule) -> String {
    let names = schedule.steps.iter().map(|step| step.op.name()).collect();
    listed(&names, "operations")
}

fn listed(names: &BTreeSet<&str>, what: &str) -> String {
    if names.is_empty() {
        return format!("no {what} with a name");
    }
    let some: Vec<&str> = names.iter().copied().take(LISTED_MAX).collect();
    let more = names.len().saturating_sub(LISTED_MAX);
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!("the {what} {}{more}", some.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::run_all;
    use crate::testing::schedule;
    use crate::vram::H200_580;

    const LINES: &str = "0 lock name=gpu
                         0 malloc id=1 bytes=1G buf=d_a
                         0 launch stream=1 reads=[1] buf=ntt
                         0 unlock name=gpu
                         0 malloc id=2 bytes=1G buf=d_b rc=2 on_error=ignore
                         0 free id=1";

    fn refused(change: &str, lines: &str) -> Option<String> {
        let change: Change = change.parse().expect("a change");
        let refused = objects(&[change], &schedule(lines)).err()?;
        Some(refused.to_string())
    }

    #[test]
    fn what_the_schedule_does_not_have_is_refused_with_what_it_has() {
        for (change, lines, known) in [
            ("free:d_x=after:last-use", LINES, "the buffers d_a, d_b"),
            ("free:d_a=after:msm", LINES, "the launches ntt"),
            (
                "free:d_a=before:unlock",
                "0 malloc id=1 bytes=1 buf=d_a",
                "malloc",
            ),
            (
                "free:*=after:last-use",
                "0 ctxSync",
                "no buffers with a name",
            ),
            ("margin=1GiB", LINES, "the operations free, launch"),
            ("workers=1", LINES, "worker 0"),
            ("sync=every-partition", "0 ctxSync", "ctxSync"),
        ] {
            let said = refused(change, lines).unwrap_or_default();
            assert!(said.contains(known), "{change}: {said}");
        }
        for change in [
            "free:d_a=after:ntt",
            "free:*=before:unlock",
            "trim=every-partition",
            "vram=1GiB",
            "driver=strict",
        ] {
            assert_eq!(refused(change, LINES), None, "{change}");
        }
    }

    #[test]
    fn a_change_that_comes_to_nothing_leaves_what_was_recorded() {
        for (change, is_changed) in [
            ("vram=16GiB", false),
            ("driver=h200-580", false),
            ("free:d_b=after:last-use", false),
            ("vram=17GiB", true),
            ("driver=strict", true),
            ("free:d_a=after:ntt", true),
        ] {
            let parsed: Change = change.parse().expect("a change");
            let verdict = run_all(&[parsed], &schedule(LINES), H200_580);
            assert_eq!(verdict.is_changed, is_changed, "{change}");
            assert!(!verdict.passes, "{change} drops the answer, and is no cure");
        }
    }
}
