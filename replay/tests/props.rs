//! Properties of the model that hold for any sequence of calls, sensible or not.

#![expect(clippy::expect_used, reason = "a test may stop where it stands")]

use proptest::prelude::*;
use replay::change::{Change, FreeAt, Verdict, run_all};
use replay::explore::{Bounds, explore};
use replay::minimum::minimum;
use replay::quiet::{Quiet, Said};
use replay::report::{Report, Request, replay};
use replay::vram::{H200_580, Machine, Outcome, Profile};
use tracefmt::ops::{Header, Op, Schedule, Step, Stream, Work, strategy};

const CAPACITY: u64 = 16 << 30;

fn run(steps: &[Step], driver: &str, capacity: u64) -> Vec<Outcome> {
    let header = Header::one_gpu(capacity, 1 << 30);
    let profile = Profile::named(driver).expect("a known driver");
    let mut machine = Machine::new(profile, &header);
    steps.iter().map(|step| machine.apply(step)).collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = strategy::op().prop_map(Step::new);
    proptest::collection::vec(step, 0..200)
}

/// Sensible schedules of two workers under one lock: buffers are used and freed by their maker;
/// some of them come from the pool, if it may be used.
fn sensible(pool: bool) -> impl Strategy<Value = Schedule> {
    let gib = || 1_u64..8;
    let buffer = (
        gib(),
        any::<bool>().prop_map(move |pooled| pooled && pool),
        0_u64..2,
        any::<bool>(),
        any::<bool>(),
    );
    let partition = proptest::collection::vec(buffer, 1..4);
    proptest::collection::vec(partition, 1..5).prop_map(|partitions| {
        let mut steps = Vec::new();
        for (number, buffers) in partitions.into_iter().enumerate() {
            let worker = u32::from(number % 2 == 1);
            let mut push = |op: Op| {
                let mut step = Step::new(op).on_worker(worker);
                step.set_partition(u32::try_from(number).ok());
                steps.push(step);
            };
            let mut late = Vec::new();
            push(Op::Lock { name: "gpu".into() });
            for (index, (size, pooled, stream, early, sync)) in buffers.into_iter().enumerate() {
                let id = number as u64 * 10 + index as u64;
                let (bytes, stream) = (size << 30, Stream::Id(stream));
                push(if pooled {
                    Op::MallocAsync { id, bytes, stream }
                } else {
                    Op::Malloc { id, bytes }
                });
                let writes = vec![id];
                push(Op::Launch(Work::new(stream, Vec::new(), writes, None)));
                let free = if pooled {
                    Op::FreeAsync { id, stream }
                } else {
                    Op::Free { id }
                };
                if early {
                    push(free);
                } else {
                    late.push(free);
                }
                if sync {
                    push(Op::StreamSync { stream });
                }
            }
            push(Op::Unlock { name: "gpu".into() });
            late.into_iter().for_each(&mut push);
        }
        Schedule::new(Header::one_gpu(CAPACITY, 1 << 30), steps)
    })
}

fn verdict(changes: &[Change], schedule: &Schedule) -> Verdict {
    run_all(changes, schedule, H200_580)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn two_runs_give_the_same_answers(steps in steps()) {
        prop_assert_eq!(run(&steps, "h200-580", CAPACITY), run(&steps, "h200-580", CAPACITY));
    }

    #[test]
    fn live_bytes_never_exceed_the_card(steps in steps()) {
        for driver in ["h200-580", "strict"] {
            for outcome in run(&steps, driver, CAPACITY) {
                prop_assert!(outcome.free <= CAPACITY - (1 << 30));
                prop_assert!(outcome.pool_reserved + outcome.free <= CAPACITY - (1 << 30));
            }
        }
    }

    #[test]
    fn freeing_everything_and_waiting_leaves_an_empty_card(steps in steps()) {
        let is_device = |op: &Op| !matches!(op, Op::HostRegister { .. } | Op::MallocAsync { .. });
        let mut used_twice = std::collections::BTreeSet::new();
        let mut script: Vec<Step> = Vec::new();
        for step in steps {
            // A name used twice leaks on purpose; keep the first use only.
            let fresh = match &step.op {
                Op::Malloc { id, .. } | Op::MallocAsync { id, .. } => used_twice.insert(*id),
                _ => is_device(&step.op),
            };
            if fresh {
                script.push(step);
            }
        }
        for id in &used_twice {
            script.push(Step::new(Op::Free { id: *id }));
        }
        script.push(Step::new(Op::SetThreshold { bytes: 0 }));
        script.push(Step::new(Op::CtxSync));
        script.push(Step::new(Op::Trim { keep: 0 }));
        let last = run(&script, "h200-580", CAPACITY).pop().expect("a step");
        prop_assert_eq!(last.free, CAPACITY - (1 << 30));
        prop_assert_eq!(last.pool_reserved, 0);
    }

    #[test]
    fn a_strict_driver_never_succeeds_where_memory_was_counted_out(
        sizes in proptest::collection::vec(1_u64..(4 << 30), 1..12),
    ) {
        let allocate = |(id, bytes): (usize, &u64)| {
            Step::new(Op::Malloc { id: id as u64, bytes: *bytes })
        };
        let steps: Vec<Step> = sizes.iter().enumerate().map(allocate).collect();
        let outcomes = run(&steps, "strict", CAPACITY);
        let granted = sizes.iter().zip(&outcomes).filter(|(_, outcome)| outcome.rc == 0);
        let sum: u64 = granted.map(|(bytes, _)| bytes).sum();
        prop_assert!(sum <= CAPACITY - (1 << 30));
    }

    /// The part of a schedule that shows its first failure shows the root that the whole shows.
    #[test]
    fn the_first_failure_has_its_root_in_its_part(schedule in sensible(true)) {
        // On a card as small as this one, most of them fail.
        let header = Header::one_gpu(CAPACITY / 2, 1 << 30);
        let schedule = Schedule::new(header, schedule.steps);
        let mut quiet = Quiet::new(schedule.header.clone(), H200_580);
        let mut said = schedule.steps.iter().map(|step| quiet.step(step));
        let said = said.find(|said| *said != Said::Clear);
        if said != Some(Said::Failed) {
            return Ok(());
        }
        let mut short = quiet.short().expect("a request failed");
        for (at, step) in schedule.steps.iter().enumerate() {
            short.offer(at, at as u64 + 2, step.clone());
        }
        let part = quiet.judge(short, schedule.steps.len() as u64, "a");
        let whole = replay(&schedule, &Request::events("a")).expect("a known driver");
        if let Some(part) = part {
            let root = |report: &Report| {
                let root = report.findings.iter().find(|finding| finding.root);
                root.map(|root| (root.code, root.cause))
            };
            prop_assert_eq!(root(&part), root(&whole));
            prop_assert_eq!(part.verdict, whole.verdict);
        }
    }

    /// Not so in the pool: with room to spare the driver grows it, where a smaller card makes it
    /// reuse pages whose free was not observed; the grown pool is then in the way of `cudaMalloc`.
    #[test]
    fn more_memory_never_makes_an_allocation_fail(schedule in sensible(false), more in 0_u64..16) {
        let passes = |gib: u64| verdict(&[Change::Vram(gib << 30)], &schedule).passes;
        prop_assert!(!passes(16) || passes(16 + more));
    }

    /// Not so in the pool: an earlier free changes where later requests are laid.
    #[test]
    fn freeing_earlier_never_raises_the_peak(schedule in sensible(false)) {
        let large = Change::Vram(1 << 40);
        let at = FreeAt::LastUse;
        let early = Change::Free { buf: "*".to_owned(), at };
        let before = verdict(std::slice::from_ref(&large), &schedule);
        let after = verdict(&[large, early], &schedule);
        prop_assert!(after.peak.bytes <= before.peak.bytes);
    }

    #[test]
    fn the_recorded_order_is_among_the_explored(schedule in sensible(true)) {
        let recorded = verdict(&[], &schedule);
        let explored = explore(&schedule, H200_580, Bounds::default());
        prop_assert!(explored.failing.is_some() || explored.is_complete());
        prop_assert!(recorded.passes || explored.failing.is_some());
    }

    #[test]
    fn the_smallest_card_is_one_block_above_one_that_fails(schedule in sensible(true)) {
        let smallest = minimum(&schedule, H200_580).expect("some card is large enough").bytes;
        let passes = |bytes: u64| verdict(&[Change::Vram(bytes)], &schedule).passes;
        prop_assert!(passes(smallest));
        prop_assert!(!passes(smallest - (2 << 20)));
    }
}
