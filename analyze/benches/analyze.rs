//! `analyze` on simulated runs: 10 thousand and 1 million prove calls, each with its seven or
//! eight timing lines, on two workers of one GPU. Reading a log is not part of it.
//!
//! `cargo bench -p analyze --bench analyze`; memory, and reading too: `bench/analyze_speed.sh`.

#[path = "../tests/common/mod.rs"]
mod common;

use analyze::{Options, analyze};
use common::{Part, Shape, simulate};
use tracefmt::run::Trace;

fn main() {
    divan::main();
}

/// A run that keeps the GPU nine tenths busy, with durations that vary from call to call.
fn trace(shape: Shape, calls: usize) -> Trace {
    let parts: Vec<Part> = (0..calls)
        .map(|at| {
            let at = i64::try_from(at).unwrap_or_default();
            let wave = |period: i64, size: i64| (at * 7919 % period) * size / period;
            Part {
                synth_start: at * 3_400_000,
                synth: 29_000_000 + wave(101, 3_000_000),
                split: 1_000 + wave(37, 90_000),
                prep: 1_600_000 + wave(53, 700_000),
                ntt: 2_300_000 + wave(71, 200_000),
                batch: 620_000 + wave(31, 40_000),
                ..Part::default()
            }
        })
        .collect();
    simulate(shape, &parts, 10, (1, 2)).0
}

#[divan::bench(args = [10_000, 1_000_000], sample_count = 5, sample_size = 1)]
fn old(bencher: divan::Bencher<'_, '_>, calls: usize) {
    let trace = trace(Shape::Old, calls);
    bencher.bench(|| analyze(&trace, &Options::default()));
}

#[divan::bench(args = [10_000, 1_000_000], sample_count = 5, sample_size = 1)]
fn locked(bencher: divan::Bencher<'_, '_>, calls: usize) {
    let trace = trace(Shape::Locked, calls);
    bencher.bench(|| analyze(&trace, &Options::default()));
}
