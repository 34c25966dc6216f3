//! Plans against the model of device memory: a healthy plan has no finding and the peak it says.

use proptest::prelude::*;
use replay::report::{Report, Request, replay};
use tracefmt::ops::GpuSpec;

use super::*;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

fn replayed(plan: &Plan, partitions: u32, workers: u32, capacity: u64) -> Report {
    let schedule = plan.schedule(partitions, workers, GpuSpec::new(capacity, 0));
    replay(&schedule, &Request::events("plan")).expect("a known driver")
}

#[test]
fn a_sector_fits_from_16_to_141_gib_without_a_finding() {
    let sizes = Sizes::like_a_sector(1 << 27);
    for gib in [14, 16, 24, 48, 80, 141] {
        let plan = Plan::new(&sizes, Room::of(gib * GIB)).expect("fits");
        let report = replayed(&plan, 4, 2, gib * GIB);
        assert_eq!(report.findings, [], "{gib} GiB");
        assert_eq!(report.failed_allocations, 0, "{gib} GiB");
        assert_eq!(report.peak_bytes, plan.peak_bytes(), "{gib} GiB");
    }
}

#[test]
fn what_is_slow_to_allocate_is_allocated_once() {
    let sizes = Sizes::like_a_sector(1 << 27);
    let room = Room {
        keep: true,
        ..Room::of(140 * GIB)
    };
    let plan = Plan::new(&sizes, room).expect("fits");
    let is_memory = |op: &Op| matches!(op, Op::Malloc { .. } | Op::Free { .. });
    assert!(!plan.steps.iter().any(|step| is_memory(&step.op)));
    assert_eq!(plan.resident_bytes(), plan.peak_bytes());
    let report = replayed(&plan, 4, 2, 140 * GIB);
    assert_eq!(report.findings, []);
    assert_eq!(report.peak_bytes, plan.peak_bytes());
    // A card without the room for it does as if it were not asked.
    let small = Room {
        keep: true,
        ..Room::of(24 * GIB)
    };
    let frugal = Plan::new(&sizes, small).expect("fits");
    assert_eq!(Ok(frugal), Plan::new(&sizes, Room::of(24 * GIB)));
}

/// A card that many partitions of a size come to.
fn busy(bytes: u64) -> Room {
    Room {
        keep: true,
        repeats: true,
        ..Room::of(bytes)
    }
}

#[test]
fn multiples_of_points_stay_where_there_is_room_and_use_for_them() {
    let name = |bytes: u64, log2: u32| {
        let plan = Plan::new(&Sizes::like_a_sector(1_u64 << log2), busy(bytes)).expect("fits");
        let schedule = replayed(&plan, 4, 2, bytes);
        assert_eq!(schedule.findings, [], "2^{log2}");
        assert_eq!(schedule.peak_bytes, plan.peak_bytes(), "2^{log2}");
        plan.name()
    };
    let cards = [16 * GIB, 80 * GIB, 141_000_000_000];
    let names = |log2: u32| cards.map(|bytes| name(bytes, log2));
    assert_eq!(names(19), ["all+ahead"; 3]);
    assert_eq!(names(20), ["multiples:14+ahead"; 3]);
    assert_eq!(names(22), ["multiples:13+ahead"; 3]);
    let most = "multiples:12+ahead";
    assert_eq!(names(24), ["all+ahead", most, most]);
    assert_eq!(names(25)[1..], ["all+ahead"; 2]);
    assert_eq!(names(27)[2..], ["all+ahead"]);
}

#[test]
fn multiples_are_given_up_first() {
    let sizes = Sizes::like_a_sector(1 << 22);
    let room = busy(80 * GIB);
    let plan = Plan::new(&sizes, room).expect("fits");
    let without = Room {
        repeats: false,
        ..room
    };
    let few = plan.smaller(room).expect("fewer tables");
    let none = few.smaller(room).expect("no tables");
    assert_eq!(Ok(&none), Plan::new(&sizes, without).as_ref());
    let names = [&plan, &few, &none].map(Plan::name);
    assert_eq!(
        names,
        ["multiples:13+ahead", "multiples:4+ahead", "all+ahead"]
    );
    // What differs is the piece of H, and the scratch memory of its sum.
    let points = sizes.points(Phase::MsmH) * 96;
    for (plan, tables) in [(&plan, 13), (&few, 4), (&none, 1)] {
        let [h, l, ..] = plan.key_layout().pieces;
        assert_eq!(h.end - h.start, tables * points);
        assert!(l.start >= h.end);
        assert_eq!(
            u64::from(plan.sum_shape(Phase::MsmH, 1 << 22).tables),
            tables
        );
        assert_eq!(plan.sum_shape(Phase::MsmL, 1 << 22).tables, 1);
        let makes = |step: &PlanStep| step.load == Some(Load::Multiples);
        assert_eq!(plan.residents.iter().any(makes), tables > 1);
        assert_eq!(plan.resident_bytes(), plan.peak_bytes());
    }
    // A card that has to allocate anew for every partition, or proves few, has none.
    let frugal = Room {
        keep: false,
        ..room
    };
    assert_eq!(
        Plan::new(&sizes, frugal).map(|plan| plan.name()),
        Ok("key+ahead".to_owned())
    );
}

#[test]
fn too_small_a_card_says_what_would_do() {
    let sizes = Sizes::like_a_sector(1 << 27);
    let error = Plan::new(&sizes, Room::of(4 * GIB)).expect_err("too small");
    let PlanError::TooSmall { needed, .. } = error.clone() else {
        panic!("{error}");
    };
    assert!(error.to_string().contains("larger card"), "{error}");
    assert!(Plan::new(&sizes, Room::of(needed)).is_ok());
    assert!(Plan::new(&sizes, Room::of(needed - 1)).is_err());
}

#[test]
fn plans_get_smaller_until_none_is_left() {
    let sizes = Sizes::like_a_sector(1 << 20);
    for (keep, repeats) in [(false, false), (true, false), (true, true)] {
        let room = Room {
            keep,
            repeats,
            ..Room::of(8 * GIB)
        };
        let mut plan = Plan::new(&sizes, room).expect("fits");
        let mut names = vec![plan.name()];
        while let Some(next) = plan.smaller(room) {
            assert!(next.peak_bytes() < plan.peak_bytes());
            let report = replayed(&next, 3, 2, next.peak_bytes() + HEADROOM_BYTES);
            assert_eq!(report.findings, [], "{}", next.name());
            plan = next;
            names.push(plan.name());
        }
        let first = match (keep, repeats) {
            (true, true) => "multiples:14+ahead",
            (true, false) => "all+ahead",
            (false, _) => "key+ahead",
        };
        assert_eq!(names.first().map(String::as_str), Some(first));
        assert!(names.contains(&"key".to_owned()), "{names:?}");
        assert!(plan.chunk().is_some(), "{names:?}");
        let Err(PlanError::TooSmall { needed, .. }) = Plan::new(&sizes, Room::of(0)) else {
            panic!("nothing fits into nothing");
        };
        assert_eq!(needed, plan.peak_bytes() + HEADROOM_BYTES);
    }
}

#[test]
fn a_smaller_plan_is_one_that_fits() {
    let sizes = Sizes::like_a_sector(1 << 20);
    let plan = Plan::new(&sizes, Room::of(8 * GIB)).expect("fits");
    let bytes = plan.peak_bytes() / 2;
    let half = plan.smaller(Room::of(bytes)).expect("streams");
    assert!(half.peak_bytes() + HEADROOM_BYTES <= bytes);
    assert_eq!(plan.smaller(Room::of(MIB)), None);
}

#[test]
fn a_domain_that_is_none_is_refused() {
    for domain in [0, 1, 3, 1 << 33] {
        let sizes = Sizes {
            domain,
            ..Sizes::like_a_sector(1 << 10)
        };
        assert_eq!(
            Plan::new(&sizes, Room::of(u64::MAX)),
            Err(PlanError::Domain { found: domain })
        );
    }
}

#[test]
fn every_phase_comes_once_in_order_and_is_completed() {
    let sizes = Sizes::like_a_sector(1 << 24);
    for available in [2 * GIB, 3 * GIB, 8 * GIB] {
        let plan = Plan::new(&sizes, Room::of(available)).expect("fits");
        let last: Vec<Phase> = plan
            .steps
            .iter()
            .filter_map(|step| step.kernel.filter(|kernel| kernel.is_last()))
            .map(|kernel| kernel.phase)
            .collect();
        assert_eq!(last, Phase::ALL);
    }
}

fn sizes() -> impl Strategy<Value = Sizes> {
    let counts = (
        1_u64..100,
        0_u64..=1 << 20,
        0_u64..=1 << 20,
        0_u64..=1 << 20,
    );
    (1_u32..24, counts).prop_map(|(log, (inputs, aux, a, b))| Sizes {
        domain: 1 << log,
        inputs,
        aux,
        a_aux: a.min(aux),
        b_inputs: inputs.min(1),
        b_aux: b.min(aux),
        matrices: [aux * 8, aux * 4, aux],
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the card, a plan that is given fits it, and two workers do no harm.
    #[test]
    fn a_plan_that_is_given_fits(sizes in sizes(), mib in 8_u64..4096) {
        let capacity = mib << 20;
        match Plan::new(&sizes, Room::of(capacity)) {
            Ok(plan) => {
                let report = replayed(&plan, 3, 2, capacity);
                prop_assert_eq!(&report.findings, &[]);
                prop_assert_eq!(report.peak_bytes, plan.peak_bytes());
            }
            Err(PlanError::TooSmall { needed, .. }) => prop_assert!(needed > capacity),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
