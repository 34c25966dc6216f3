//! How long it takes to try all orders of the engine's own plan: `<profile> <workers>x<partitions>`
//! on a card on which no order fails, so that every state is visited.

#[path = "../tests/common/mod.rs"]
mod common;

use divan::counter::ItemsCount;
use replay::explore::{Bounds, explore};
use replay::vram::H200_580;

fn main() {
    divan::main();
}

const PROFILES: [&str; 5] = ["phase8", "phase9-v0", "phase9-v1", "phase9", "head"];

fn run(bencher: divan::Bencher<'_, '_>, profile: &str, workers: u32, partitions: u32) {
    let plan = common::plan(profile, workers, partitions, 80);
    let found = explore(&plan, H200_580, Bounds::default());
    assert!(found.is_complete() && found.failing.is_none());
    bencher
        .counter(ItemsCount::new(found.states))
        .bench_local(|| explore(&plan, H200_580, Bounds::default()));
}

#[divan::bench(args = PROFILES, sample_count = 5)]
fn two_by_ten(bencher: divan::Bencher<'_, '_>, profile: &str) {
    run(bencher, profile, 2, 10);
}

#[divan::bench(args = PROFILES, sample_count = 5)]
fn three_by_three(bencher: divan::Bencher<'_, '_>, profile: &str) {
    run(bencher, profile, 3, 3);
}
