//! Properties of the model that hold for any sequence of calls, sensible or not.

#![expect(clippy::expect_used, reason = "a test may stop where it stands")]

use proptest::prelude::*;
use replay::vram::{Machine, Outcome, Profile};
use tracefmt::ops::{Header, Op, Step, strategy};

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
}
