//! Exploration: all interleavings of the workers that locks and barriers allow.
//!
//! States are visited once, breadth first: two orders that lead to the same memory, the same
//! locks and the same places are one. So the first failure found is the shortest. A state is
//! known by a 128-bit fingerprint; that two of a few million states share one by chance is less
//! likely than a broken memory cell. Recorded answers play no part.
//!
//! Explored: the order of whole ops. Not explored: other assignments of partitions to workers,
//! and how long work runs.

mod state;

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use tracefmt::ops::Schedule;

use crate::vram::Profile;
use state::{State, Taken};

/// What exploration found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exploration {
    /// States visited.
    pub states: u64,
    /// Whether these are all that can be reached.
    pub complete: bool,
    /// The shortest order, as steps of the schedule, that ends in a failed allocation.
    pub failing: Option<Vec<usize>>,
    /// The shortest order after which no worker can go on although ops are left.
    pub stuck: Option<Vec<usize>>,
}

/// Where a state came from: its parent, and the step taken there.
type Path = Vec<(u32, u32)>;

/// Explores a schedule until a failed allocation is found, everything was visited, or
/// `states_max` states were; then `complete` says so.
pub fn explore(schedule: &Schedule, profile: Profile, states_max: u64) -> Exploration {
    let programs = programs(schedule);
    let first = State::new(schedule, profile, programs.len());
    let mut seen: FxHashSet<u128> = FxHashSet::default();
    seen.insert(first.fingerprint());
    let mut path: Path = vec![(0, u32::MAX)];
    let mut layer: Vec<(u32, State<'_>)> = vec![(0, first)];
    let mut found = Exploration {
        states: 1,
        complete: true,
        failing: None,
        stuck: None,
    };
    while !layer.is_empty() {
        let mut next = Vec::new();
        for (parent, state) in &layer {
            let mut moved = false;
            for (worker, program) in programs.iter().enumerate() {
                let mut child = state.clone();
                let taken = child.advance(schedule, worker, program);
                let (at, failed) = match taken {
                    Taken::Nothing => continue,
                    Taken::Step { at, failed } => (at, failed),
                };
                moved = true;
                let here = u32::try_from(path.len()).unwrap_or(u32::MAX);
                if failed {
                    path.push((*parent, u32::try_from(at).unwrap_or(u32::MAX)));
                    found.failing = Some(order(&path, here));
                    found.complete = false;
                    return found;
                }
                if seen.insert(child.fingerprint()) {
                    if found.states >= states_max || here == u32::MAX {
                        found.complete = false;
                        return found;
                    }
                    path.push((*parent, u32::try_from(at).unwrap_or(u32::MAX)));
                    found.states += 1;
                    next.push((here, child));
                }
            }
            if !moved && found.stuck.is_none() && !state.is_over(&programs) {
                found.stuck = Some(order(&path, *parent));
            }
        }
        layer = next;
    }
    found
}

/// The steps of each worker, in their order; workers in order of their number.
fn programs(schedule: &Schedule) -> Vec<Vec<usize>> {
    let mut programs: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, step) in schedule.steps.iter().enumerate() {
        programs
            .entry(step.worker.unwrap_or(0))
            .or_default()
            .push(at);
    }
    programs.into_values().collect()
}

/// The steps that lead to a state.
fn order(path: &Path, mut here: u32) -> Vec<usize> {
    let mut steps = Vec::new();
    while let Some(&(parent, at)) = path.get(here as usize) {
        if here == 0 {
            break;
        }
        steps.push(at as usize);
        here = parent;
    }
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::run_all;
    use crate::run::{Options, Record};
    use crate::testing::schedule;
    use crate::vram::H200_580;

    const ALL: u64 = 1_000_000;

    #[test]
    fn states_are_visited_not_schedules() {
        // Three workers with four independent ops each: 34,650 interleavings.
        let line = |op: u32| format!("{} malloc id={op} bytes=2M", op % 3);
        let lines = (0..12).map(line).collect::<Vec<_>>().join("\n");
        let found = explore(&schedule(&lines), H200_580, ALL);
        assert_eq!(
            (found.states, found.complete),
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
        let found = explore(&schedule, H200_580, ALL);
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
        let found = explore(&schedule(lines), H200_580, ALL);
        assert_eq!(
            (found.failing, found.stuck, found.complete),
            (None, None, true)
        );
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
        let found = explore(&schedule(lines), H200_580, ALL);
        assert_eq!(found.stuck, Some(vec![0, 4]));
        assert!(found.complete);
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
        let found = explore(&schedule(lines), H200_580, ALL);
        assert_eq!(
            (found.failing, found.stuck, found.complete),
            (None, None, true)
        );
    }

    #[test]
    fn the_bound_is_said() {
        let line = |op: u32| format!("{} malloc id={op} bytes=2M", op % 2);
        let lines = (0..40).map(line).collect::<Vec<_>>().join("\n");
        let found = explore(&schedule(&lines), H200_580, 50);
        assert_eq!((found.states, found.complete), (50, false));
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
            let found = explore(&schedule, H200_580, ALL);
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
        let found = explore(&schedule(&lines), H200_580, ALL);
        assert!(found.complete, "{found:?}");
        assert_eq!((found.failing, found.stuck), (None, None));
        assert!(found.states > 1000, "{}", found.states);
    }
}
