//! How long each phase takes: count, median, 10 % and 90 % quantile, median absolute deviation;
//! over all, per GPU, per worker.
//!
//! Durations are those that the log prints, in milliseconds as printed. Phases nest, see
//! [`names`]; nothing here adds two phases up.

mod durations;
pub mod names;
mod tally;

pub use durations::durations;
pub use tally::Tally;

use std::collections::BTreeMap;

use tracefmt::run::{Run, Trace};

use crate::interval::gpu_of;
use crate::model::{KnownPhase, PhaseRow};
use durations::{Length, Name, Owner, each_duration};

/// GPU and worker.
type Place = (Option<u32>, Option<u32>);

/// Rows of all phases: totals first, then per GPU, then per worker; each part sorted by phase.
pub fn rows(trace: &Trace) -> Vec<PhaseRow> {
    let mut tallies = Tallies::default();
    for run in &trace.runs {
        tallies.add_run(run);
    }
    tallies.rows()
}

/// Durations by phase and place.
#[derive(Debug, Default)]
struct Tallies {
    places: Vec<Place>,
    /// Where a place is in the list.
    index: BTreeMap<Place, usize>,
    known: Vec<Vec<Tally>>,
    own: BTreeMap<String, Vec<Tally>>,
}

impl Tallies {
    fn add_run(&mut self, run: &Run) {
        let calls: Vec<usize> = run
            .calls
            .iter()
            .map(|call| self.place((Some(gpu_of(run, call)), call.worker)))
            .collect();
        let nowhere = self.place((None, None));
        each_duration(run, |name, length, owner| {
            let place = match owner {
                Owner::Call(call) => calls.get(call as usize).copied(),
                Owner::Task(task) => {
                    let task = run.tasks.get(task as usize);
                    task.map(|task| self.place((task.gpu, task.worker)))
                }
                Owner::None => None,
            };
            let Some(tally) = self.tally(name, place.unwrap_or(nowhere)) else {
                return;
            };
            match length {
                Length::Ms(ms) => tally.add(ms),
                Length::Exact(ms) => tally.add_exact(ms),
            }
        });
    }

    /// Index of a place; most runs have few, but a log can name any number of workers.
    fn place(&mut self, place: Place) -> usize {
        *self.index.entry(place).or_insert_with(|| {
            self.places.push(place);
            self.places.len() - 1
        })
    }

    fn tally(&mut self, name: Name<'_>, place: usize) -> Option<&mut Tally> {
        let list = match name {
            Name::Known(phase) => {
                if self.known.is_empty() {
                    self.known.resize_with(KnownPhase::COUNT, Vec::new);
                }
                self.known.get_mut(phase.index())?
            }
            Name::Own(name) => {
                if !self.own.contains_key(name) {
                    self.own.insert(name.to_owned(), Vec::new());
                }
                self.own.get_mut(name)?
            }
        };
        if list.len() <= place {
            list.resize_with(place + 1, Tally::default);
        }
        list.get_mut(place)
    }

    fn rows(self) -> Vec<PhaseRow> {
        let mut phases: BTreeMap<String, Vec<Tally>> = self.own;
        for (phase, list) in KnownPhase::all().zip(self.known) {
            if !list.is_empty() {
                phases.insert(phase.name().to_owned(), list);
            }
        }
        let (mut totals, mut per_gpu, mut per_worker) = (Vec::new(), Vec::new(), Vec::new());
        for (name, list) in &phases {
            let nested_in = names::nearest_parent(name, |whole| phases.contains_key(whole));
            let row = |(gpu, worker): Place, tally: &Tally| {
                let summary = tally.summary()?;
                Some(PhaseRow {
                    phase: name.clone(),
                    gpu,
                    worker,
                    n: summary.n as u64,
                    median_ms: summary.median,
                    p10_ms: summary.p10,
                    p90_ms: summary.p90,
                    mad_ms: summary.mad,
                    nested_in: nested_in.map(str::to_owned),
                })
            };
            let groups = |key: fn(&Place) -> Place| grouped(&self.places, list, key);
            for (place, tally) in groups(|_| (None, None)) {
                totals.extend(row(place, &tally));
            }
            for (place, tally) in groups(|(gpu, _)| (*gpu, None)) {
                per_gpu.extend(place.0.and_then(|_| row(place, &tally)));
            }
            for (place, tally) in groups(|place| *place) {
                per_worker.extend(place.1.and_then(|_| row(place, &tally)));
            }
        }
        totals.extend(per_gpu);
        totals.extend(per_worker);
        totals
    }
}

/// The tallies of one phase added up by a key of their place, in order of the key.
fn grouped(places: &[Place], list: &[Tally], key: fn(&Place) -> Place) -> BTreeMap<Place, Tally> {
    let mut groups: BTreeMap<Place, Tally> = BTreeMap::new();
    for (place, tally) in places.iter().zip(list) {
        groups.entry(key(place)).or_default().merge(tally);
    }
    groups
}
