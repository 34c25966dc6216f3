//! Figures of a trace that repeat exactly, beside the times that do not.

use std::collections::BTreeMap;

use tracefmt::event::What;
use tracefmt::run::Run;

/// The most device bytes that one worker holds at a time, where the trace records allocations.
///
/// Not the peak of the card: that depends on how the workers happen to meet, and would be another
/// figure with the same code.
const WORKER_PEAK: &str = "worker_peak_bytes";

/// The exact figures of a run, by name.
pub(super) fn figures(run: &Run) -> BTreeMap<String, u64> {
    let mut live: BTreeMap<(Option<u32>, u64), (Option<u32>, u64)> = BTreeMap::new();
    let mut held: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    let mut peak = 0;
    for event in &run.device_events {
        match &event.what {
            What::VramAlloc(alloc) if alloc.rc == 0 => {
                let worker = event.place.worker;
                live.insert((event.place.gpu, alloc.id), (worker, alloc.bytes));
                let sum = held.entry(worker).or_insert(0);
                *sum = sum.saturating_add(alloc.bytes);
                peak = peak.max(*sum);
            }
            What::VramFree { id, rc: 0, .. } => {
                if let Some((worker, bytes)) = live.remove(&(event.place.gpu, *id)) {
                    let sum = held.entry(worker).or_insert(0);
                    *sum = sum.saturating_sub(bytes);
                }
            }
            _ => {}
        }
    }
    let mut figures = BTreeMap::new();
    if peak > 0 {
        figures.insert(WORKER_PEAK.to_owned(), peak);
    }
    figures
}
