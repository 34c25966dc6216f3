//! Host memory that streams: pinned once, all or nothing, every call in the trace.

use std::sync::atomic::{AtomicI64, Ordering};

use tracefmt::event::What;

use super::*;
use crate::device::{Info, Reply};
use crate::plan::{Plan, PlanStep, Room, Sizes};

/// A device on which one call that pins fails, or that is as slow to allocate as a card.
#[derive(Debug)]
pub(super) struct Reluctant {
    pub(super) inner: Arc<CpuDevice<Fake>>,
    /// How many ranges of 32 bytes are pinned before one fails; the ones after it are.
    pub(super) before: AtomicI64,
    pub(super) is_slow: bool,
    /// GiB that a range of 32 bytes counts as, if not as what it is.
    pub(super) gib: u64,
}

impl Reluctant {
    /// As good as any: its pins are what they are, and never fail.
    pub(super) fn willing(inner: Arc<CpuDevice<Fake>>) -> Self {
        Self {
            inner,
            before: i64::MAX.into(),
            is_slow: false,
            gib: 0,
        }
    }

    /// Where a range is pinned: large ones lie far apart, where nothing else does.
    fn place(&self, addr: u64) -> u64 {
        match self.gib {
            0 => addr,
            _ => 1 << 63 | (addr & 0x7fff) << 48,
        }
    }
}

const RC: i32 = 304;

impl Device<Fake> for Reluctant {
    fn info(&self) -> Info {
        self.inner.info()
    }

    fn is_slow_to_allocate(&self) -> bool {
        self.is_slow
    }

    fn execute(&self, step: &PlanStep, plan: &Plan, state: &mut work::State) -> Reply {
        self.inner.execute(step, plan, state)
    }

    fn alloc(&self, id: u64, bytes: u64) -> i32 {
        self.inner.alloc(id, bytes)
    }

    fn free(&self, id: u64) -> i32 {
        self.inner.free(id)
    }

    fn pin(&self, addr: u64, bytes: u64) -> i32 {
        if bytes == 32 && self.before.fetch_sub(1, Ordering::SeqCst) == 0 {
            return RC;
        }
        if bytes == 32 && self.gib > 0 {
            return self.inner.pin(self.place(addr), self.gib << 30);
        }
        self.inner.pin(addr, bytes)
    }

    fn unpin(&self, addr: u64) -> i32 {
        match self.inner.unpin(self.place(addr)) {
            0 => 0,
            _ => self.inner.unpin(addr),
        }
    }
}

/// What a run says of the ranges that stream, in order: address and code of those that were pinned,
/// and of those that were unpinned.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Pinned(u64, i32),
    Unpinned(u64, i32),
}

/// The ranges that stream are of nobody, but for one that could not be pinned.
fn said(run: &Run, ranges: &[u64]) -> Vec<Said> {
    let ours = |addr: &u64| ranges.contains(addr);
    let events = run.device_events.iter();
    events
        .filter_map(|event| {
            let said = match &event.what {
                What::HostReg { addr, rc, .. } if ours(addr) => Said::Pinned(*addr, *rc),
                What::HostUnreg { addr, rc } if ours(addr) => Said::Unpinned(*addr, *rc),
                _ => return None,
            };
            let failed = matches!(said, Said::Pinned(_, rc) if rc != 0);
            assert_eq!(event.job.is_some(), failed, "{said:?}");
            Some(said)
        })
        .collect()
}

/// Two jobs of three partitions that have to stream, on a device that refuses to pin after so many
/// ranges: their ends, and what is said.
fn streamed(before: i64) -> ([JobEnd; 2], Vec<u64>, Run) {
    const VRAM: u64 = 26 * MIB;
    let room = Room {
        workers: 1,
        ..Room::of(VRAM)
    };
    let plan = Plan::new(&Sizes::like_a_sector(1 << 14), room).expect("fits");
    assert!(!plan.is_resident(), "it streams");
    let config = Config {
        device_workers: 1,
        ..config(&[])
    };
    let bench = Bench::over(&config, VRAM, |device| {
        Arc::new(Reluctant {
            before: AtomicI64::new(before),
            ..Reluctant::willing(device)
        })
    });
    let ranges = bench.work.key_ranges();
    let ends = ["first", "second"].map(|id| {
        let ticket = bench.submit(id, (0..3).map(Part::good).collect());
        bench.end_of(ticket)
    });
    let (_, run) = bench.close(Shutdown::Drain);
    (ends, ranges, run)
}

#[test]
fn what_streams_is_pinned_once_and_unpinned_at_the_end() {
    let (ends, ranges, run) = streamed(i64::MAX);
    assert_eq!(ends, [JobEnd::Verified, JobEnd::Verified]);
    let pinned = ranges.iter().map(|addr| Said::Pinned(*addr, 0));
    let unpinned = ranges.iter().rev().map(|addr| Said::Unpinned(*addr, 0));
    let all: Vec<Said> = pinned.chain(unpinned).collect();
    assert_eq!(said(&run, &ranges), all);
    room::healthy(&run);
}

#[test]
fn a_range_that_cannot_be_pinned_takes_those_before_it_along() {
    for before in 0..3 {
        let (ends, ranges, run) = streamed(before);
        let JobEnd::Failed(why) = &ends[0] else {
            panic!("{ends:?}");
        };
        assert!(why.contains("rc=304"), "{why}");
        assert!(why.contains(&format!("{before} ranges before")), "{why}");
        assert_eq!(ends[1], JobEnd::Verified, "the next pins all of it");
        let taken = usize::try_from(before).expect("small");
        let pinned = |addr: &u64| Said::Pinned(*addr, 0);
        let unpinned = |addr: &u64| Said::Unpinned(*addr, 0);
        let mut all: Vec<Said> = ranges[..taken].iter().map(pinned).collect();
        all.push(Said::Pinned(ranges[taken], RC));
        all.extend(ranges[..taken].iter().rev().map(unpinned));
        all.extend(ranges.iter().map(pinned));
        all.extend(ranges.iter().rev().map(unpinned));
        assert_eq!(said(&run, &ranges), all);
    }
}

#[test]
fn what_stays_on_the_device_is_not_pinned() {
    let bench = Bench::new(&config(&[]), 64);
    let ranges = bench.work.key_ranges();
    let ticket = bench.submit("resident", vec![Part::good(1)]);
    assert_eq!(bench.end_of(ticket), JobEnd::Verified);
    let (_, run) = bench.close(Shutdown::Drain);
    assert_eq!(said(&run, &ranges), []);
}
