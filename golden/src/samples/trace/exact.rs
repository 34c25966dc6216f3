//! Figures of a trace that repeat exactly, beside the times that do not.

use std::collections::BTreeMap;

use tracefmt::event::What;
use tracefmt::run::Run;

/// The most device bytes that one worker holds at a time, where the trace records allocations.
///
/// Not the peak of the card: that depends on how the workers happen to meet, and would be another
/// figure with the same code.
const WORKER_PEAK: &str = "worker_peak_bytes";

/// The most allocations, and kernels launched, of one partition.
const PARTITION_ALLOCS: &str = "partition_allocs";
const PARTITION_KERNELS: &str = "partition_kernels";

/// What is counted of a partition.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    allocs: u64,
    kernels: u64,
}

/// The exact figures of a run, by name.
pub(super) fn figures(run: &Run) -> BTreeMap<String, u64> {
    let mut live: BTreeMap<(Option<u32>, u64), (Option<u32>, u64)> = BTreeMap::new();
    let mut held: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    let mut counts: BTreeMap<(u32, u32), Count> = BTreeMap::new();
    let mut peak = 0;
    for event in &run.device_events {
        let mut nobody = Count::default();
        let count = match event.job.zip(event.place.partition) {
            Some(partition) => counts.entry(partition).or_default(),
            None => &mut nobody,
        };
        match &event.what {
            What::VramAlloc(alloc) if alloc.rc == 0 => {
                count.allocs += 1;
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
            What::Launch { op, rc: 0, .. } if *op == "kernel" => count.kernels += 1,
            _ => {}
        }
    }
    let most = |of: fn(&Count) -> u64| counts.values().map(of).max().unwrap_or(0);
    let figures = [
        (PARTITION_ALLOCS, most(|count| count.allocs)),
        (PARTITION_KERNELS, most(|count| count.kernels)),
        (WORKER_PEAK, peak),
    ];
    let there = figures.into_iter().filter(|(_, figure)| *figure > 0);
    there
        .map(|(name, figure)| (name.to_owned(), figure))
        .collect()
}
