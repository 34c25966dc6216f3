//! Lifecycle profiles: schedules for logs that carry no memory events.
//!
//! An old log says when partitions were proved and how their phases went, not what they
//! allocated. What a version of the engine allocates, in which order and under which API, is
//! known; [`rebuild`] puts both together. The order of calls is the order of their lines; where
//! a buffer is freed between two lines, it is freed as late as what follows allows.
//!
//! A rebuilt schedule is inferred, never certain. Two things are assumed beyond the log: the
//! size of the card and its use by others, if the log does not say (then 16 GiB and 1609 MiB,
//! the card of the published runs); and that what is freed on the legacy stream is back before
//! the batch additions, since they would not have fit otherwise.

mod calls;
mod host;
mod ops;
mod sizes;

use tracefmt::finding::Confidence;
use tracefmt::ops::{GpuSpec, Header, Schedule, Step};
use tracefmt::run::{LineRef, Run};

use crate::check::REBUILT_BY;

pub use ops::Version;
pub use sizes::Sizes;

const MIB: u64 = 1 << 20;

/// What the caller knows better than the log.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Bytes of memory of each card.
    pub vram: Option<u64>,
    /// Bytes in use by others.
    pub baseline: Option<u64>,
    /// The version, by the name of its dialect.
    pub version: Option<String>,
}

/// A schedule that was rebuilt from a log.
#[derive(Debug, Clone)]
pub struct Rebuilt {
    /// The schedule; [`Schedule::lines`] are lines of the log.
    pub schedule: Schedule,
    /// The line of each step.
    pub refs: Vec<LineRef>,
    /// The name of the lifecycle profile.
    pub profile: &'static str,
    /// How sure the choice of the profile is; the schedule is never better than inferred.
    pub confidence: Confidence,
    /// What was assumed, in words.
    pub assumed: Vec<String>,
}

/// Rebuilds the schedule of a run; none when no version is known whose lifecycle is known, or
/// no partition reached a GPU.
pub fn rebuild(run: &Run, given: &Given) -> Option<Rebuilt> {
    let name = given.version.as_deref().unwrap_or(run.dialect.name);
    let version = Version::named(name)?;
    let sizes = Sizes::of(run.config.domain, run.config.lot_of_memory);
    let mut assumed = Vec::new();
    if run.config.domain.is_none() {
        assumed.push("a domain of 2^27, that of a 32 GiB sector".to_owned());
    }
    let card = card(run, given, &mut assumed);
    let gpus = run.config.gpus.last().map_or(1, |last| *last as usize + 1);
    let by = serde_json::Value::from(version.name());
    let header = Header {
        gpus: vec![card; gpus.min(64)],
        extra: std::iter::once((REBUILT_BY.to_owned(), by)).collect(),
        workers: u64::from(run.config.workers),
        ..Header::one_gpu(0, 0)
    };
    let (refs, steps): (Vec<LineRef>, Vec<Step>) = calls::steps(run, version, &sizes)?;
    let mut schedule = Schedule::new(header, steps);
    schedule.lines = refs.iter().map(|at| u64::from(at.line)).collect();
    Some(Rebuilt {
        schedule,
        refs,
        profile: version.name(),
        confidence: match given.version {
            Some(_) => Confidence::Inferred,
            None => run.dialect.confidence.min(Confidence::Inferred),
        },
        assumed,
    })
}

/// The card, as given, as the log says, or as assumed.
fn card(run: &Run, given: &Given, assumed: &mut Vec<String>) -> GpuSpec {
    /// Cards as they are sold, GiB.
    const SIZES_GIB: [u64; 12] = [6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 80, 141];
    let free = run.config.free_bytes;
    let own = run.config.vram_bytes.unwrap_or_else(|| {
        let holds = |gib: &&u64| **gib << 30 > free.unwrap_or(0);
        let gib = match free {
            Some(_) => SIZES_GIB.iter().find(holds).copied().unwrap_or(192),
            None => 16,
        };
        match (given.vram, given.baseline, free) {
            (None, _, _) => assumed.push(format!("a card of {gib} GiB")),
            (Some(_), None, Some(_)) => {
                assumed.push(format!("the use by others on the log's card, of {gib} GiB"));
            }
            _ => {}
        }
        gib << 30
    });
    let capacity = given.vram.unwrap_or(own);
    // What others use is read off the card of the log, whatever card is asked about.
    let left = free.map(|free| own.saturating_sub(free));
    let baseline = given.baseline.or(left).unwrap_or_else(|| {
        assumed.push("1609 MiB in use by others".to_owned());
        1609 * MIB
    });
    GpuSpec::new(capacity, baseline)
}

#[cfg(test)]
mod tests;
