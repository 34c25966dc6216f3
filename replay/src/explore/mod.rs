//! Exploration: all interleavings of the workers that locks and barriers allow.
//!
//! States are visited, not schedules, and three things keep them few:
//! - *Each state once.* Two orders that lead to the same memory, the same locks and the same
//!   places are one state. Memory is the same when it answers alike from now on: positions on
//!   streams and names of slabs count by rank, so that what happened long ago does not show
//!   (`vram::Device`'s hash).
//! - *Local ops in one move.* What no other worker can notice before its worker's next visible
//!   op is run together with that op ([`plan`] says what is local and why). If the visible op
//!   has to wait, the local ones before it are a move of their own. Every state that can be
//!   reached op by op right after a visible op is reached so; a failed allocation ends a move.
//! - *Parts apart.* Workers that share nothing are explored by themselves.
//!
//! The search is breadth first, so the first failure found takes the fewest moves. An order ends
//! where an allocation fails; one that uses or frees what was freed before goes on, and does not
//! pass (`owned` says of which buffers that is known). A state is known by a 128-bit fingerprint;
//! that two of a few million states share one by chance is less likely than a broken memory cell.
//! Recorded answers play no part.
//!
//! Explored: the order of whole ops. Not explored: other assignments of partitions to workers,
//! and how long work runs.

mod owned;
mod plan;
mod search;
mod state;

use serde::{Deserialize, Serialize};
use tracefmt::ops::Schedule;

use crate::vram::Profile;
use plan::Plan;
use search::Search;

/// Where exploration stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// States visited.
    pub states_max: u64,
    /// Bytes of memory, roughly.
    pub bytes_max: u64,
}

impl Default for Bounds {
    /// Twenty million states in 2 GiB.
    fn default() -> Self {
        Self {
            states_max: 20_000_000,
            bytes_max: 2 << 30,
        }
    }
}

/// The bound that ended an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// [`Bounds::states_max`].
    States,
    /// [`Bounds::bytes_max`].
    Memory,
}

/// What exploration found. Orders are steps of the schedule; with several parts, those of the
/// part that shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exploration {
    /// States visited.
    pub states: u64,
    /// The bound that was reached; none if these are all states.
    pub bound: Option<Bound>,
    /// An order in which every worker comes to its end, no allocation fails, and nothing is used
    /// or freed that was freed before.
    pub passing: Option<Vec<usize>>,
    /// The shortest order that ends in a failed allocation.
    pub failing: Option<Vec<usize>>,
    /// The shortest order after which no worker can go on although ops are left.
    pub stuck: Option<Vec<usize>>,
    /// The shortest order that uses or frees what was freed before, whatever comes after it.
    pub misused: Option<Vec<usize>>,
}

impl Exploration {
    /// Whether every order was tried.
    pub fn is_complete(&self) -> bool {
        self.bound.is_none()
    }

    /// Whether some orders pass and others do not.
    pub fn depends_on_order(&self) -> bool {
        let bad = [&self.failing, &self.stuck, &self.misused];
        self.passing.is_some() && bad.iter().any(|order| order.is_some())
    }
}

/// Explores a schedule until every state was visited or a bound is reached.
pub fn explore(schedule: &Schedule, profile: Profile, bounds: Bounds) -> Exploration {
    explore_plan(&Plan::new(schedule), profile, bounds)
}

fn explore_plan(plan: &Plan<'_>, profile: Profile, bounds: Bounds) -> Exploration {
    let mut parts: Vec<Exploration> = Vec::new();
    let mut states = 0;
    for workers in plan.parts() {
        let left = Bounds {
            states_max: bounds.states_max.saturating_sub(states),
            ..bounds
        };
        let part = Search::new(plan, profile, &workers, left).run();
        states += part.states;
        parts.push(part);
    }
    let every = |end: fn(&Exploration) -> bool| parts.iter().all(end);
    let passes = every(|part| part.passing.is_some());
    // Where one part is stuck and another fails in every order, the run fails.
    let ends =
        every(|part| part.passing.is_some() || part.stuck.is_some() || part.misused.is_some());
    let passing = parts.iter().filter_map(|part| part.passing.as_ref());
    let shortest = |order: fn(&Exploration) -> &Option<Vec<usize>>| {
        let orders = parts.iter().filter_map(move |part| order(part).clone());
        orders.min_by_key(Vec::len)
    };
    Exploration {
        states,
        bound: parts.iter().find_map(|part| part.bound),
        passing: passes.then(|| passing.flatten().copied().collect()),
        failing: shortest(|part| &part.failing),
        stuck: shortest(|part| &part.stuck).filter(|_| ends),
        misused: shortest(|part| &part.misused),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::run_all;
    use crate::run::{Options, Record};
    use crate::testing::schedule;
    use crate::vram::H200_580;

    fn all(schedule: &Schedule) -> Exploration {
        explore(schedule, H200_580, Bounds::default())
    }

    #[test]
    fn states_are_visited_not_schedules() {
        // Three workers with four independent ops each: 34,650 interleavings.
        let line = |op: u32| format!("{} malloc id={op} bytes=2M", op % 3);
        let lines = (0..12).map(line).collect::<Vec<_>>().join("\n");
        let found = all(&schedule(&lines));
        assert_eq!(
            (found.states, found.is_complete()),
            (125, true),
            "5 x 5 x 5 places"
        );
        assert_eq!(found.failing, None);
    }

    #[test]
    fn an_order_that_fails_is_found_although_the_recorded_one_passes() {
        let lines = "0 malloc id=1 bytes=9G
                     0 free id=1
                     1 malloc id=2 bytes=9G
                     1 free id=2";
        let schedule = schedule(lines);
        assert!(Record::of(&schedule, &Options::hypothetical(H200_580)).passes(&schedule));
        let found = all(&schedule);
        assert_eq!(found.failing, Some(vec![0, 2]), "the shortest");
    }

    #[test]
    fn a_lock_rules_the_failing_order_out() {
        let lines = "0 lock name=gpu
                     0 malloc id=1 bytes=9G
                     0 free id=1
                     0 unlock name=gpu
                     1 lock name=gpu
                     1 malloc id=2 bytes=9G
                     1 free id=2
                     1 unlock name=gpu";
        let found = all(&schedule(lines));
        assert_eq!(
            (&found.failing, &found.stuck, found.is_complete()),
            (&None, &None, true)
        );
    }

    /// Worker 1 uses what worker 0 frees, and nothing orders the two.
    #[test]
    fn an_order_that_uses_what_is_freed_does_not_pass() {
        let good = "0 malloc id=1 bytes=1G
                    0 barrier name=b n=2
                    1 barrier name=b n=2
                    1 launch stream=2 reads=[1]
                    1 streamSync stream=2
                    0 free id=1";
        let found = all(&schedule(good));
        assert_eq!(found.misused, Some(vec![0, 1, 2, 5, 3]));
        assert!(found.passing.is_some() && found.depends_on_order());
        let ordered = good.replace(
            "0 free",
            "0 barrier name=c n=2\n1 barrier name=c n=2\n0 free",
        );
        let found = all(&schedule(&ordered));
        assert_eq!(
            (found.misused, found.failing, found.stuck),
            (None, None, None)
        );
        assert!(found.passing.is_some());
        // In every order: twice by one worker. In none: a name of two workers, one passed over,
        // and one that is made later.
        let twice = "0 malloc id=1 bytes=1G\n0 free id=1\n0 free id=1 on_error=ignore";
        let found = all(&schedule(twice));
        assert_eq!((found.passing, found.misused), (None, Some(vec![0, 1, 2])));
        for unknown in [
            "0 malloc id=1 bytes=1G\n0 free id=1\n1 malloc id=1 bytes=1G\n1 free id=1",
            "0 memGetInfo need=99G on_error=fallback:out\n0 malloc id=1 bytes=1G
             0 free id=1\n0 label name=out\n1 launch stream=1 reads=[1]",
            "1 launch stream=1 reads=[1]\n0 malloc id=1 bytes=1G",
            "0 malloc id=1 bytes=1G\n0 free id=1\n1 launch stream=1 reads=[1] partition=0",
        ] {
            assert_eq!(all(&schedule(unknown)).misused, None, "{unknown}");
        }
    }

    #[test]
    fn a_deadlock_is_found() {
        let lines = "0 lock name=a
                     0 lock name=b
                     0 unlock name=b
                     0 unlock name=a
                     1 lock name=b
                     1 lock name=a
                     1 unlock name=a
                     1 unlock name=b";
        let found = all(&schedule(lines));
        assert_eq!(found.stuck, Some(vec![0, 4]));
        assert!(found.is_complete());
    }

    #[test]
    fn barriers_and_fallbacks_are_followed() {
        let lines = "0 memGetInfo need=99G on_error=fallback:slow
                     0 malloc id=1 bytes=99G
                     0 label name=slow
                     0 barrier name=b n=2
                     1 barrier name=b n=2
                     1 malloc id=2 bytes=1G
                     1 panic
                     1 malloc id=3 bytes=99G";
        let found = all(&schedule(lines));
        assert_eq!(
            (&found.failing, &found.stuck, found.is_complete()),
            (&None, &None, true)
        );
    }

    #[test]
    fn the_bound_is_said() {
        let line = |op: u32| format!("{} malloc id={op} bytes=2M", op % 2);
        let lines = (0..40).map(line).collect::<Vec<_>>().join("\n");
        let found = explore(
            &schedule(&lines),
            H200_580,
            Bounds {
                states_max: 50,
                ..Bounds::default()
            },
        );
        assert_eq!((found.states, found.is_complete()), (50, false));
    }

    #[test]
    fn the_recorded_order_is_among_the_explored() {
        let mut failing = 0;
        for size in 1_u64..=10 {
            let lines = format!(
                "0 malloc id=1 bytes={size}G
                 1 malloc id=2 bytes={size}G
                 0 free id=1
                 1 free id=2"
            );
            let schedule = schedule(&lines);
            let passes = run_all(&[], &schedule, H200_580).passes;
            let found = all(&schedule);
            assert!(passes || found.failing.is_some(), "{size}");
            failing += u32::from(!passes);
        }
        assert_eq!(failing, 3, "8 GiB and its headroom, 9 and 10");
    }

    #[test]
    fn two_workers_of_ten_partitions_are_explored_whole() {
        let mut lines = String::new();
        for partition in 0..20_u64 {
            let (a, b, t) = (partition * 10 + 1, partition * 10 + 2, partition * 10 + 3);
            let worker = partition % 2;
            lines.push_str(
                &"W memGetInfo
                  W lock name=gpu
                  W malloc id=A bytes=4G
                  W malloc id=B bytes=6G
                  W launch stream=W writes=[A,B]
                  W free id=B
                  W mallocAsync id=T bytes=4G stream=W
                  W launch stream=W reads=[A]
                  W freeAsync id=T stream=W
                  W streamSync stream=W
                  W free id=A
                  W unlock name=gpu
                  W getLastError\n"
                    .replace('W', &worker.to_string())
                    .replace("=A", &format!("={a}"))
                    .replace("[A", &format!("[{a}"))
                    .replace(",B]", &format!(",{b}]"))
                    .replace("=B", &format!("={b}"))
                    .replace("=T", &format!("={t}")),
            );
        }
        let found = all(&schedule(&lines));
        assert!(found.is_complete(), "{found:?}");
        assert_eq!((found.failing, found.stuck), (None, None));
        assert!(found.states > 500, "{}", found.states);
    }
}
