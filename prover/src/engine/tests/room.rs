//! Partitions of several sizes on one device, and devices on which memory gets short: what nobody
//! uses goes, plans get smaller, and the trace says so.

use proptest::prelude::*;
use tracefmt::event::What;
use tracefmt::ops::Op;

use super::*;
use crate::device::PIN_BYTES_PER_GIB;
use crate::plan::{MULTIPLES_PAY_FROM, Plan, Room, Sizes};

fn parts(log_domain: u32, count: u64) -> Vec<Part> {
    let part = |number| Part {
        log_domain,
        ..Part::good(number)
    };
    (0..count).map(part).collect()
}

/// Replays a run that is to be healthy: no finding, and the model agrees at every step.
pub(super) fn healthy(run: &Run) {
    let given = replay::lifecycle::Given::default();
    let report = replay::log::replay_run(run, &given, "engine.log", None);
    let report = report.expect("a known driver").expect("memory events");
    assert_eq!(report.findings, []);
    assert_eq!(report.truth.agree, report.truth.checked);
}

/// The plans that were fallen back to.
fn fallbacks(run: &Run) -> Vec<String> {
    let events = run.device_events.iter();
    let plans = events.filter_map(|event| match &event.what {
        What::PlanFallback { plan, .. } => Some(plan.to_string()),
        _ => None,
    });
    plans.collect()
}

#[test]
fn a_small_job_does_not_keep_a_large_one_from_the_device() {
    let bench = Bench::new(&config(&[]), 28);
    for (id, log_domain) in [("small", 10), ("large", 14), ("again", 10)] {
        let ticket = bench.submit(id, parts(log_domain, 3));
        assert_eq!(bench.end_of(ticket), JobEnd::Verified, "{id}");
    }
    let (_, run) = bench.close(Shutdown::Drain);
    let of_nobody = run
        .device_events
        .iter()
        .filter(|event| matches!(event.what, What::VramFree { .. }) && event.job.is_none());
    assert!(of_nobody.count() > 4, "what stayed was freed in between");
    healthy(&run);
}

#[test]
fn jobs_of_several_sizes_take_turns_where_they_must() {
    let bench = Bench::new(&config(&[]), 28);
    let sizes = [10, 14, 12, 14, 10, 13, 14, 11];
    let tickets = sizes
        .iter()
        .enumerate()
        .map(|(job, log_domain)| bench.submit(&format!("job-{job}"), parts(*log_domain, 2)));
    let tickets: Vec<Ticket> = tickets.collect();
    for ticket in tickets {
        assert_eq!(bench.end_of(ticket), JobEnd::Verified);
    }
    let (_, run) = bench.close(Shutdown::Drain);
    assert_eq!(fallbacks(&run), [""; 0]);
    healthy(&run);
}

#[test]
fn memory_that_others_take_is_met_with_a_smaller_plan() {
    const FOREIGN: u64 = u64::MAX;
    let bench = Bench::new(&config(&[]), 64);
    let ticket = bench.submit("before", parts(14, 2));
    assert_eq!(bench.end_of(ticket), JobEnd::Verified);
    let held = bench.device.held_bytes();
    let device: &dyn Device<Fake> = bench.device.as_ref();
    assert_eq!(device.alloc(FOREIGN, 64 * MIB - held - 14 * MIB), 0);
    for job in 0..3 {
        let ticket = bench.submit(&format!("short-{job}"), parts(14, 4));
        assert_eq!(bench.end_of(ticket), JobEnd::Verified, "{job}");
    }
    let taken = device.free(FOREIGN);
    assert_eq!(taken, 0);
    let (_, run) = bench.close(Shutdown::Drain);
    let plans = fallbacks(&run);
    assert!(
        plans.contains(&"tables:16384+ahead".to_owned()),
        "{plans:?}"
    );
    assert!(plans.len() <= 2, "once a worker at most: {plans:?}");
}

#[test]
fn a_device_without_room_fails_its_partitions_until_there_is_room_again() {
    const FOREIGN: u64 = u64::MAX;
    let bench = Bench::new(&config(&[]), 64);
    let device: &dyn Device<Fake> = bench.device.as_ref();
    assert_eq!(device.alloc(FOREIGN, 50 * MIB), 0);
    let ticket = bench.submit("short", parts(14, 2));
    let JobEnd::Failed(why) = bench.end_of(ticket) else {
        panic!("there was no room");
    };
    assert!(why.contains("out of memory"), "{why}");
    assert_eq!(device.free(FOREIGN), 0);
    let ticket = bench.submit("after", parts(14, 2));
    assert_eq!(bench.end_of(ticket), JobEnd::Verified);
    let (_, run) = bench.close(Shutdown::Drain);
    assert_eq!(fallbacks(&run), [""; 0]);
}

#[test]
fn multiples_of_points_go_when_memory_gets_short() {
    const VRAM: u64 = 8 << 30;
    const FOREIGN: u64 = u64::MAX;
    let config = Config {
        expected: MULTIPLES_PAY_FROM,
        ..config(&[])
    };
    let bench = Bench::over(&config, VRAM, |device| {
        Arc::new(pins::Reluctant {
            is_slow: true,
            ..pins::Reluctant::willing(device)
        })
    });
    let without = Room {
        keep: true,
        ..Room::of(VRAM)
    };
    let without = Plan::new(&Sizes::like_a_sector(1 << 20), without).expect("fits");
    let memory: &dyn Device<Fake> = bench.device.as_ref();
    let left = without.peak_bytes() + 8 * MIB;
    assert_eq!(memory.alloc(FOREIGN, VRAM - left), 0);
    let ticket = bench.submit("short", parts(20, 3));
    assert_eq!(bench.end_of(ticket), JobEnd::Verified);
    assert_eq!(memory.free(FOREIGN), 0);
    let (_, run) = bench.close(Shutdown::Drain);
    assert_eq!(fallbacks(&run), ["all+ahead"]);
    let asked = run
        .device_events
        .iter()
        .filter_map(|event| match &event.what {
            What::VramAlloc(alloc) if alloc.buf == "d_srs" => Some((alloc.bytes, alloc.rc)),
            _ => None,
        });
    let key = without.key_layout().bytes().next_multiple_of(2 * MIB);
    let asked: Vec<(u64, i32)> = asked.collect();
    assert!(asked[0].0 > 2 * key && asked[0].1 == 2, "{asked:?}");
    assert_eq!(asked[1..], [(key, 0)]);
}

/// What is pinned for a plan that streams is in what its smaller plan needs, so it is not taken off
/// what that plan could have as well.
#[test]
fn what_a_plan_pinned_is_counted_once_when_it_falls_back() {
    const VRAM: u64 = 24 << 30;
    let plan = Plan::new(&Sizes::like_a_sector(1 << 27), Room::of(VRAM)).expect("fits");
    assert!(!plan.is_resident(), "it streams");
    let gib = plan.pinning_bytes() / (3 * PIN_BYTES_PER_GIB);
    assert!(gib > 0, "it pins");
    let stays = plan.residents.iter();
    let stays = stays.filter(|step| matches!(step.op, Op::Malloc { .. }));
    let after = format!("alloc-once:{}", stays.count() + 1);
    let bench = Bench::over(&config(&[&after]), VRAM, |device| {
        Arc::new(pins::Reluctant {
            gib,
            ..pins::Reluctant::willing(device)
        })
    });
    let ticket = bench.submit("streams", parts(27, 1));
    assert_eq!(bench.end_of(ticket), JobEnd::Verified);
    let (_, run) = bench.close(Shutdown::Drain);
    let had = run.device_events.iter().find_map(|event| match event.what {
        What::PlanFallback { free, .. } => Some(free),
        _ => None,
    });
    assert_eq!(had, Some(VRAM), "all of it was there");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever sizes come in whatever order: all are proved, nothing is left, and the model of
    /// device memory agrees step by step.
    #[test]
    fn any_mix_of_sizes_is_proved(
        jobs in prop::collection::vec((9_u32..15, 1_u64..4), 1..10),
        mib in prop::sample::select(vec![28_u64, 32, 40, 64]),
    ) {
        let bench = Bench::new(&config(&[]), mib);
        let tickets: Vec<Ticket> = jobs
            .iter()
            .enumerate()
            .map(|(job, (log, count))| bench.submit(&format!("job-{job}"), parts(*log, *count)))
            .collect();
        for ticket in tickets {
            prop_assert_eq!(bench.end_of(ticket), JobEnd::Verified);
        }
        let (_, run) = bench.close(Shutdown::Drain);
        healthy(&run);
    }

    /// Allocations that fail at random: every job ends, nothing is left behind.
    #[test]
    fn memory_that_fails_at_random_loses_nothing(seed in 0_u64..1000) {
        let mut config = config(&["alloc-once:1/9", "alloc-fail:1/60", "late-free:1/5"]);
        config.injection.seed = seed;
        let bench = Bench::new(&config, 40);
        let tickets: Vec<Ticket> = (0..6)
            .map(|job| bench.submit(&format!("job-{job}"), parts(12 + job % 3, 3)))
            .collect();
        for ticket in tickets {
            let end = bench.end_of(ticket);
            prop_assert!(end != JobEnd::Cancelled, "{end:?}");
        }
        bench.close(Shutdown::Drain);
    }
}
