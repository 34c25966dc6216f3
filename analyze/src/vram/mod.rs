//! Device memory of a replayed schedule over time: what holds it, whose it is, and the requests
//! that fail. Read off the run of a schedule; drawn by `plot`.
//!
//! A rebuilt schedule has no times of its own. A step happens no later than the line that it is
//! placed at, so the steps of a line are spread over the time since the line before. A schedule
//! without a log counts steps instead.

mod window;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use replay::change::{Change, Changed};
use replay::life::{Buffer, Life};
use replay::run::{Options, Record};
use replay::vram::Profile;
use tracefmt::ops::{OnError, Op, Schedule, Step};
use tracefmt::run::{LineRef, Run};

pub use window::around_failure;
#[cfg(feature = "plots")]
pub(crate) use window::most_telling;

/// Most kinds of buffer that are told apart; the smallest beyond them are one kind.
const KINDS_MAX: usize = 6;

/// What holds memory: a buffer's name, and the worker that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// Index into [`Lane::kinds`].
    pub kind: usize,
    /// The worker.
    pub worker: u32,
}

/// From a moment on a band holds so many bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Milliseconds, or steps.
    pub at: f64,
    /// Index into [`Lane::bands`].
    pub band: usize,
    /// Bytes asked for and not given back.
    pub bytes: u64,
}

/// A request that fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Milliseconds, or steps.
    pub at: f64,
    /// What is asked for, and by whom.
    pub name: String,
    /// Bytes asked for.
    pub bytes: u64,
    /// Bytes in use at that moment, the use by others included.
    pub used: u64,
    /// Whether somebody noticed.
    pub seen: bool,
}

/// Memory of one card.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// `GPU 0`, or that and the changed rule.
    pub name: String,
    /// Bytes of the card.
    pub capacity: u64,
    /// Bytes in use by others.
    pub baseline: u64,
    /// Names of buffers, the largest first.
    pub kinds: Vec<String>,
    /// What holds memory, in the order in which it is stacked.
    pub bands: Vec<Band>,
    /// Changes, in order of time.
    pub levels: Vec<Level>,
    /// Bytes in use as the driver counts them, idle pool pages included, from when on.
    pub used: Vec<(f64, u64)>,
    /// Requests that fail, in order of time.
    pub failures: Vec<Failure>,
    /// Whether positions are milliseconds; steps otherwise.
    pub timed: bool,
    /// What is to be shown, in the same unit, if not just what there is: the run's whole time, so
    /// that pictures below each other have one axis.
    pub span: Option<(f64, f64)>,
}

impl Lane {
    /// The highest use, the use by others included.
    pub fn peak(&self) -> u64 {
        let used = self.used.iter().map(|(_, bytes)| *bytes);
        used.max().unwrap_or(0).max(self.baseline)
    }
}

/// When each step of a run's schedule happens, in milliseconds since the run's start.
pub fn times(run: &Run, refs: &[LineRef]) -> Vec<f64> {
    let mut known: BTreeMap<LineRef, i64> = BTreeMap::new();
    // A line without a time was printed behind the last stamp before it.
    for mark in &run.marks {
        known.insert(mark.line(), mark.after_us());
    }
    let troubles = run.troubles.iter();
    known.extend(troubles.filter_map(|trouble| Some((trouble.line, trouble.us?))));
    let ends = run
        .tasks
        .iter()
        .flat_map(|task| [task.gpu_start, task.gpu_end]);
    known.extend(ends.flatten().map(|at| (at.line, at.us)));
    let events = run.device_events.iter();
    known.extend(events.map(|event| (event.at.line, event.at.us)));
    let at = |line: &LineRef| known.range(..=*line).next_back().map(|(_, us)| *us);
    let mut times = Vec::with_capacity(refs.len());
    let mut before = refs.first().and_then(at).unwrap_or(0) as f64 / 1000.0;
    for group in refs.chunk_by(|a, b| a == b) {
        let end = group
            .first()
            .and_then(at)
            .map_or(before, |us| us as f64 / 1000.0);
        let end = end.max(before);
        for step in 1..=group.len() {
            times.push(before + (end - before) * step as f64 / group.len() as f64);
        }
        before = end;
    }
    times
}

/// The lanes of a schedule, one a card, and one more for each card under a changed rule, if one
/// is given and can be read. `times_ms` gives the time of each step; steps are counted without.
pub fn lanes(
    schedule: &Schedule,
    times_ms: Option<&[f64]>,
    profile: Profile,
    what_if: Option<&str>,
) -> Vec<Lane> {
    let steps = 0..schedule.steps.len();
    let positions = match times_ms {
        Some(times) => times.to_vec(),
        None => steps.map(|step| step as f64).collect(),
    };
    let timed = times_ms.is_some();
    let options = Options::recorded(profile);
    let cards = 0..u32::try_from(schedule.header.gpus.len()).unwrap_or(u32::MAX);
    let record = Record::of(schedule, &options);
    let mut lanes: Vec<Lane> = cards
        .clone()
        .map(|gpu| of_card(schedule, &record, &positions, gpu))
        .collect();
    if let Some(text) = what_if
        && let Some((changed, profile)) = changed(schedule, text, profile)
    {
        let positions = positions_of(&changed, &positions);
        let record = Record::of(&changed.schedule, &Options::hypothetical(profile));
        for gpu in cards {
            let mut lane = of_card(&changed.schedule, &record, &positions, gpu);
            lane.name = format!("{}, what if {text}", lane.name);
            lanes.push(lane);
        }
    }
    lanes.retain(|lane| !lane.levels.is_empty() || !lane.failures.is_empty());
    for lane in &mut lanes {
        lane.timed = timed;
    }
    lanes
}

/// The schedule under a changed rule, as `--what-if` takes it, and the driver it runs under.
fn changed(schedule: &Schedule, text: &str, profile: Profile) -> Option<(Changed, Profile)> {
    let mut changed = Changed::unchanged(schedule);
    let mut driver = profile;
    for change in text.split(',') {
        let change: Change = change.parse().ok()?;
        if let Change::Driver(other) = &change {
            driver = *other;
        }
        changed = changed.then(&change, driver);
    }
    Some((changed, driver))
}

/// Added steps happen when the step before them does.
fn positions_of(changed: &Changed, positions: &[f64]) -> Vec<f64> {
    let mut before = positions.first().copied().unwrap_or(0.0);
    let mut at = |origin: &Option<usize>| {
        before = origin
            .and_then(|step| positions.get(step))
            .copied()
            .unwrap_or(before);
        before
    };
    changed.origin.iter().map(&mut at).collect()
}

fn of_card(schedule: &Schedule, record: &Record, positions: &[f64], gpu: u32) -> Lane {
    let spec = schedule.header.gpus.get(gpu as usize);
    let mut lane = Lane {
        name: format!("GPU {gpu}"),
        capacity: spec.map_or(0, |spec| spec.capacity),
        baseline: spec.map_or(0, |spec| spec.baseline),
        ..Lane::default()
    };
    let life = Life::of(schedule, record);
    let mut clock = Vec::with_capacity(record.ran.len());
    let mut now = f64::MIN;
    for ran in &record.ran {
        now = now.max(positions.get(ran.at).copied().unwrap_or(now));
        clock.push(now);
    }
    let buffers: Vec<&Buffer> = life
        .buffers
        .iter()
        .filter(|buffer| buffer.gpu == gpu)
        .collect();
    fill(&mut lane, schedule, &buffers, &clock);
    for (place, ran) in record.ran.iter().enumerate() {
        let step = schedule.steps.get(ran.at);
        let Some(step) = step.filter(|step| step.gpu.unwrap_or(0) == gpu) else {
            continue;
        };
        let at = clock.get(place).copied().unwrap_or(0.0);
        let used = lane.capacity.saturating_sub(ran.outcome.free);
        if lane.used.last().is_none_or(|(_, bytes)| *bytes != used) {
            lane.used.push((at, used));
        }
        if ran.is_failed_allocation(step) {
            lane.failures.push(failure(step, at, used));
        }
    }
    lane
}

fn failure(step: &Step, at: f64, used: u64) -> Failure {
    let bytes = match step.op {
        Op::Malloc { bytes, .. } | Op::MallocAsync { bytes, .. } => bytes,
        _ => 0,
    };
    let name = step.buf().unwrap_or("a request");
    Failure {
        at,
        name: format!("{name} of worker {}", step.worker.unwrap_or(0)),
        bytes,
        used,
        seen: *step.on_error() != OnError::Ignore,
    }
}

fn name_of(made: Option<&Step>) -> &str {
    made.and_then(|step| step.buf()).unwrap_or("unnamed")
}

/// The names of the buffers that a schedule asks for, the largest first; the same for every card
/// and every changed rule, so that a colour means one thing.
fn kinds(schedule: &Schedule) -> Vec<&str> {
    let mut largest: BTreeMap<&str, u64> = BTreeMap::new();
    for step in &schedule.steps {
        if let Op::Malloc { bytes, .. } | Op::MallocAsync { bytes, .. } = step.op {
            let known = largest.entry(name_of(Some(step))).or_default();
            *known = bytes.max(*known);
        }
    }
    let mut kinds: Vec<(&str, u64)> = largest.into_iter().collect();
    kinds.sort_by_key(|(name, bytes)| (Reverse(*bytes), *name));
    kinds.into_iter().map(|(name, _)| name).collect()
}

/// Kinds, bands and levels of the buffers of a card.
fn fill(lane: &mut Lane, schedule: &Schedule, buffers: &[&Buffer], clock: &[f64]) {
    let kinds = kinds(schedule);
    let last = kinds.len().saturating_sub(1).min(KINDS_MAX);
    let kind = |buffer: &Buffer| {
        let name = name_of(schedule.steps.get(buffer.at));
        let found = kinds.iter().position(|known| *known == name);
        found.unwrap_or(last).min(last)
    };
    lane.kinds = kinds
        .iter()
        .take(KINDS_MAX)
        .map(|&kind| kind.to_owned())
        .collect();
    if kinds.len() > KINDS_MAX {
        lane.kinds.push("others".to_owned());
    }
    let mut bands: Vec<(u32, usize)> = buffers.iter().map(|b| (b.worker, kind(b))).collect();
    bands.sort_unstable();
    bands.dedup();
    let mut changes: Vec<(usize, usize, i128)> = Vec::new();
    for buffer in buffers {
        let band = bands
            .binary_search(&(buffer.worker, kind(buffer)))
            .unwrap_or(0);
        changes.push((buffer.made, band, i128::from(buffer.bytes)));
        changes.extend(
            buffer
                .freed
                .map(|freed| (freed, band, -i128::from(buffer.bytes))),
        );
    }
    changes.sort_unstable();
    let mut held = vec![0_i128; bands.len()];
    for (place, band, bytes) in changes {
        if let Some(held) = held.get_mut(band) {
            *held += bytes;
            lane.levels.push(Level {
                at: clock.get(place).copied().unwrap_or(0.0),
                band,
                bytes: u64::try_from((*held).max(0)).unwrap_or(u64::MAX),
            });
        }
    }
    let band = |(worker, kind)| Band { kind, worker };
    lane.bands = bands.into_iter().map(band).collect();
}

#[cfg(test)]
mod tests {
    use replay::vram::H200_580;

    use super::*;

    fn schedule(lines: &[&str]) -> Schedule {
        let head = r#"{"schema":"cuzk.ops/1","capacity":17179869184,"workers":2}"#;
        let text = [head]
            .into_iter()
            .chain(lines.iter().copied())
            .collect::<Vec<_>>();
        let schedule = Schedule::read(text.join("\n").as_bytes()).unwrap();
        assert_eq!(schedule.errors, []);
        schedule
    }

    const SICK: [&str; 5] = [
        r#"{"op":"malloc","id":1,"bytes":8589934592,"worker":0,"buf":"d_bc"}"#,
        r#"{"op":"launch","stream":1,"writes":[1],"worker":0,"buf":"ntt"}"#,
        r#"{"op":"malloc","id":2,"bytes":8589934592,"worker":1,"buf":"d_bc","on_error":"ignore"}"#,
        r#"{"op":"malloc","id":3,"bytes":4294967296,"worker":1,"buf":"d_a"}"#,
        r#"{"op":"free","id":1,"worker":0}"#,
    ];

    /// A record may say that anything succeeded.
    #[test]
    fn a_level_that_no_number_holds_is_the_highest() {
        let most = r#"{"op":"malloc","id":1,"bytes":18446744073709551615,"rc":0}"#;
        let again = most.replace("\"id\":1", "\"id\":2");
        let lanes = lanes(&schedule(&[most, &again]), None, H200_580, None);
        let levels: Vec<u64> = lanes[0].levels.iter().map(|level| level.bytes).collect();
        assert_eq!(levels, [u64::MAX, u64::MAX]);
    }

    #[test]
    fn a_lane_has_bands_levels_and_the_failure() {
        let lanes = lanes(&schedule(&SICK), None, H200_580, None);
        let lane = &lanes[0];
        assert_eq!((lanes.len(), lane.timed), (1, false));
        assert_eq!(lane.kinds, ["d_bc", "d_a"]);
        let held: Vec<_> = lane
            .levels
            .iter()
            .map(|l| (l.at, l.band, l.bytes >> 30))
            .collect();
        assert_eq!(held, [(0.0, 0, 8), (3.0, 1, 4), (4.0, 0, 0)]);
        assert_eq!(lane.peak() >> 30, 12);
        let failure = &lane.failures[0];
        assert_eq!(
            (failure.name.as_str(), failure.at, failure.seen),
            ("d_bc of worker 1", 2.0, false)
        );
        assert_eq!((failure.used >> 30, failure.bytes >> 30), (8, 8));
    }

    #[test]
    fn the_changed_rule_stands_beside_it() {
        let lanes = lanes(
            &schedule(&SICK),
            None,
            H200_580,
            Some("free:d_bc=after:last-use"),
        );
        assert_eq!(lanes[1].name, "GPU 0, what if free:d_bc=after:last-use");
        assert_eq!((lanes.len(), lanes[1].failures.len()), (2, 0));
        let none = super::lanes(&schedule(&SICK), None, H200_580, Some("luck=more"));
        assert_eq!(none.len(), 1, "what is no change draws nothing");
    }

    #[test]
    fn many_names_are_told_apart_by_size_and_the_rest_is_one() {
        let lines: Vec<String> = (1..=9)
            .map(|n| {
                format!(
                    r#"{{"op":"malloc","id":{n},"bytes":{},"buf":"b{n}"}}"#,
                    n << 20
                )
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let lane = &lanes(&schedule(&lines), None, H200_580, None)[0];
        assert_eq!(lane.kinds, ["b9", "b8", "b7", "b6", "b5", "b4", "others"]);
        let others = lane.levels.iter().filter(|level| level.band == 6);
        assert_eq!(others.map(|level| level.bytes >> 20).max(), Some(1 + 2 + 3));
        assert_eq!(lane.bands.len(), 7);
    }

    #[test]
    fn a_line_without_a_time_lies_behind_the_stamp_before_it() {
        // The lengths that timing lines print are no times.
        let text = "TIMELINE,5000,GPU_START,j,worker=0,partition=0\n\
                    CUZK_TIMING: prep_msm_ms=2734\n\
                    TIMELINE,9000,GPU_START,k,worker=1,partition=0\n\
                    CUZK_TIMING: prestage_setup=fallback err=2\n";
        let source = tracefmt::Source::Bytes("a.log".to_owned(), text.as_bytes().to_vec());
        let run = tracefmt::read(&[source]).unwrap().0.runs.remove(0);
        let refs = [1, 2, 3, 4].map(|line| LineRef::new(0, line));
        assert_eq!(times(&run, &refs), [5000.0, 5000.0, 9000.0, 9000.0]);
    }

    #[test]
    fn steps_of_a_line_are_spread_over_the_time_before_it() {
        let text = "TIMELINE,1000,GPU_START,j,worker=0,partition=0\n\
                    TIMELINE,3000,GPU_END,j,worker=0,partition=0,gpu_ms=2000\n";
        let source = tracefmt::Source::Bytes("a.log".to_owned(), text.as_bytes().to_vec());
        let run = tracefmt::read(&[source]).unwrap().0.runs.remove(0);
        let line = |line| LineRef::new(0, line);
        assert_eq!(
            times(&run, &[line(1), line(2), line(2)]),
            [1000.0, 2000.0, 3000.0]
        );
    }
}
