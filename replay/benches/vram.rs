//! How fast the model runs: a million ops over a thousand live buffers, as items a second.
//!
//! `mixed` has the proportions of a proving engine: large `cudaMalloc` buffers, small ones,
//! pool temporaries, a launch for each, a synchronisation for every eighth.

#![expect(clippy::expect_used, reason = "a test may stop where it stands")]

use divan::counter::ItemsCount;
use replay::run::{Options, execute};
use replay::vram::{Machine, Profile};
use tracefmt::ops::{Header, Op, Schedule, Step, Stream, Work};

const OPS: usize = 1_000_000;
const LIVE: u64 = 1000;

fn main() {
    divan::main();
}

/// A repeatable stream of numbers (`SplitMix64`, Steele and others 2014).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Fills up to `LIVE` buffers, then frees one and allocates one in turn.
fn schedule(make: impl Fn(u64, &mut Numbers) -> Op, free: impl Fn(u64) -> Op) -> Vec<Step> {
    let mut numbers = Numbers(1);
    let mut steps = Vec::with_capacity(OPS);
    for id in 0..LIVE {
        steps.push(Step::new(make(id, &mut numbers)));
    }
    while steps.len() < OPS {
        let id = numbers.below(LIVE);
        steps.push(Step::new(free(id)));
        steps.push(Step::new(make(id, &mut numbers)));
    }
    steps
}

fn run(bencher: divan::Bencher<'_, '_>, steps: &[Step]) {
    let header = Header::one_gpu(1 << 42, 0);
    let profile = Profile::named("h200-580").expect("a known driver");
    bencher
        .counter(ItemsCount::new(steps.len()))
        .with_inputs(|| Machine::new(profile, &header))
        .bench_local_values(|mut machine| {
            let failed = steps
                .iter()
                .filter(|step| machine.apply(step).rc != 0)
                .count();
            assert_eq!(failed, 0, "the card is large enough for all of it");
            machine
        });
}

#[divan::bench(sample_count = 10)]
fn blocks(bencher: divan::Bencher<'_, '_>) {
    let make = |id, numbers: &mut Numbers| Op::Malloc {
        id,
        bytes: (2 << 20) + numbers.below(1 << 30),
    };
    run(bencher, &schedule(make, |id| Op::Free { id }));
}

#[divan::bench(sample_count = 10)]
fn slabs(bencher: divan::Bencher<'_, '_>) {
    let make = |id, numbers: &mut Numbers| Op::Malloc {
        id,
        bytes: 1 + numbers.below(1 << 20),
    };
    run(bencher, &schedule(make, |id| Op::Free { id }));
}

#[divan::bench(sample_count = 10)]
fn pool(bencher: divan::Bencher<'_, '_>) {
    let make = |id, numbers: &mut Numbers| Op::MallocAsync {
        id,
        bytes: 1 + numbers.below(64 << 20),
        stream: Stream::Id(id % 3),
    };
    let free = |id| Op::FreeAsync {
        id,
        stream: Stream::Id(id % 3),
    };
    run(bencher, &schedule(make, free));
}

#[divan::bench(sample_count = 10)]
fn mixed(bencher: divan::Bencher<'_, '_>) {
    run(bencher, &mixed_steps());
}

/// The same through the runner: workers, locks, failures.
#[divan::bench(sample_count = 10)]
fn plain_replay(bencher: divan::Bencher<'_, '_>) {
    let schedule = Schedule::new(Header::one_gpu(1 << 42, 0), mixed_steps());
    let profile = Profile::named("h200-580").expect("a known driver");
    let options = Options::hypothetical(profile);
    bencher
        .counter(ItemsCount::new(schedule.steps.len()))
        .bench_local(|| {
            let mut failed = 0_u64;
            execute(&schedule, &options, |ran| {
                failed += u64::from(ran.outcome.rc != 0);
            });
            assert_eq!(failed, 0, "the card is large enough for all of it");
        });
}

fn mixed_steps() -> Vec<Step> {
    let mut numbers = Numbers(2);
    let mut steps = Vec::with_capacity(OPS);
    for id in 0..LIVE {
        steps.push(Step::new(Op::Malloc { id, bytes: 1 << 30 }));
    }
    while steps.len() < OPS {
        let id = numbers.below(LIVE);
        let stream = Stream::Id(id % 3);
        steps.push(Step::new(Op::Free { id }));
        let bytes = if id < 100 {
            4096
        } else {
            numbers.below(8 << 30)
        };
        steps.push(Step::new(Op::Malloc {
            id,
            bytes: bytes + 1,
        }));
        for _ in 0..4 {
            let work = Work::new(stream, vec![id], Vec::new(), None);
            steps.push(Step::new(Op::Launch(work)));
        }
        let temporary = LIVE + id;
        let bytes = numbers.below(256 << 20) + 1;
        steps.push(Step::new(Op::MallocAsync {
            id: temporary,
            bytes,
            stream,
        }));
        steps.push(Step::new(Op::FreeAsync {
            id: temporary,
            stream,
        }));
        steps.push(Step::new(Op::StreamSync { stream }));
    }
    steps
}
