//! Plans against the model of device memory: a healthy plan has no finding and the peak it says.

use proptest::prelude::*;
use replay::report::{Report, Request, replay};
use tracefmt::ops::GpuSpec;

use super::*;

const GIB: u64 = 1 << 30;

fn replayed(plan: &Plan, partitions: u32, workers: u32, capacity: u64) -> Report {
    let schedule = plan.schedule(partitions, workers, GpuSpec::new(capacity, 0));
    replay(&schedule, &Request::events("plan")).expect("a known driver")
}

#[test]
fn a_sector_fits_from_16_to_141_gib_without_a_finding() {
    let sizes = Sizes::like_a_sector(1 << 27);
    for gib in [14, 16, 24, 48, 80, 141] {
        let plan = Plan::new(&sizes, gib * GIB).expect("fits");
        let report = replayed(&plan, 4, 2, gib * GIB);
        assert_eq!(report.findings, [], "{gib} GiB");
        assert_eq!(report.failed_allocations, 0, "{gib} GiB");
        assert_eq!(report.peak_bytes, plan.peak_bytes(), "{gib} GiB");
    }
}

#[test]
fn too_small_a_card_says_what_would_do() {
    let sizes = Sizes::like_a_sector(1 << 27);
    let error = Plan::new(&sizes, 4 * GIB).expect_err("too small");
    let PlanError::TooSmall { needed, .. } = error.clone() else {
        panic!("{error}");
    };
    assert!(error.to_string().contains("larger card"), "{error}");
    assert!(Plan::new(&sizes, needed).is_ok());
    assert!(Plan::new(&sizes, needed - 1).is_err());
}

#[test]
fn a_domain_that_is_none_is_refused() {
    for domain in [0, 1, 3, 1 << 33] {
        let sizes = Sizes {
            domain,
            ..Sizes::like_a_sector(1 << 10)
        };
        assert_eq!(
            Plan::new(&sizes, u64::MAX),
            Err(PlanError::Domain { found: domain })
        );
    }
}

#[test]
fn every_phase_comes_once_in_order_and_is_completed() {
    let sizes = Sizes::like_a_sector(1 << 24);
    for available in [2 * GIB, 3 * GIB, 8 * GIB] {
        let plan = Plan::new(&sizes, available).expect("fits");
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
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the card, a plan that is given fits it, and two workers do no harm.
    #[test]
    fn a_plan_that_is_given_fits(sizes in sizes(), mib in 8_u64..4096) {
        let capacity = mib << 20;
        match Plan::new(&sizes, capacity) {
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
