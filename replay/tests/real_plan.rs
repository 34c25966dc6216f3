//! Exploration of the engine's own plan: every lifecycle profile, rebuilt from a log, with two
//! workers of ten partitions each and three workers of three.
//!
//! What is tested is that all orders are tried within the bounds, and what can come of them;
//! how long that takes is measured in `benches/explore.rs`.

mod common;

use replay::explore::{Bounds, Exploration, explore};
use replay::vram::H200_580;

use common::plan;

/// What can come of it, and in how many states.
fn verdicts(found: &Exploration) -> (bool, bool) {
    assert!(
        found.is_complete(),
        "{:?} after {}",
        found.bound,
        found.states
    );
    assert_eq!(found.stuck, None);
    (found.passing.is_some(), found.failing.is_some())
}

const PROFILES: [&str; 7] = [
    "phase8",
    "phase9-v0",
    "phase9-v1",
    "phase9-v2",
    "phase9",
    "cache",
    "head",
];

#[test]
fn on_a_large_card_no_order_of_any_profile_fails() {
    for profile in PROFILES {
        // Where memory is touched outside the lock, the whole is for the bench.
        let open = matches!(profile, "phase9-v0" | "phase9-v1");
        let sizes = if open {
            [(2, 3), (3, 1)]
        } else {
            [(2, 10), (3, 3)]
        };
        for (workers, partitions) in sizes {
            let plan = plan(profile, workers, partitions, 80);
            let found = explore(&plan, H200_580, Bounds::default());
            assert_eq!(verdicts(&found), (true, false), "{profile}");
        }
    }
}

#[test]
fn on_a_16_gib_card_the_verdict_of_each_profile_is_known() {
    for (profile, verdict) in [
        ("phase8", (true, false)),
        // Both stage 12 GiB before the lock, unless one is done before the other begins; the
        // H MSM then fails beside d_bc all the same.
        ("phase9-v0", (false, true)),
        ("phase9-v1", (false, true)),
        ("phase9", (false, true)),
        ("head", (true, false)),
    ] {
        let plan = plan(profile, 2, 4, 16);
        let found = explore(&plan, H200_580, Bounds::default());
        assert_eq!(verdicts(&found), verdict, "{profile}");
    }
}

#[test]
fn a_card_between_says_that_it_depends_on_the_order() {
    // 20 GiB: one staged partition and its H MSM fit, a second d_a and d_bc beside them do not.
    for profile in ["phase9-v0", "phase9-v1"] {
        let plan = plan(profile, 2, 3, 20);
        let found = explore(&plan, H200_580, Bounds::default());
        assert_eq!(verdicts(&found), (true, true), "{profile}");
        assert!(found.depends_on_order());
    }
}

#[test]
fn the_bound_on_memory_is_a_bound() {
    let plan = plan("phase9-v0", 3, 3, 80);
    let bounds = Bounds {
        bytes_max: 200_000,
        ..Bounds::default()
    };
    let found = explore(&plan, H200_580, bounds);
    assert_eq!(found.bound, Some(replay::explore::Bound::Memory));
    assert!(found.states > 10 && found.failing.is_none());
}
