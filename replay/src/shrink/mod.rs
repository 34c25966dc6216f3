//! Shrinking: a smaller schedule that still shows the same finding.
//!
//! Delta debugging (Zeller and Hildebrandt 2002) over ever smaller pieces: whole partitions,
//! then workers, then buffers with all that touches them, then single ops. The result is minimal
//! in that no single op can be taken out. Sizes and the card stay as they are.

use std::collections::BTreeMap;

use tracefmt::finding::{Code, OomCause, Severity};
use tracefmt::ops::{OnError, Op, Schedule, Step, Truth};

use crate::check::{self, Scene, Source};
use crate::vram::Profile;

/// How many candidates are run before shrinking stops where it is.
const RUNS_MAX: u32 = 20_000;

/// Shrinks a schedule that shows a finding of this code; none if it does not show it. The core
/// shows it as badly, and a failed allocation for the same cause. Recorded bytes are dropped;
/// recorded codes stay only where the finding does not show without them.
pub fn shrink(schedule: &Schedule, code: Code, profile: Profile) -> Option<Schedule> {
    let mut steps = schedule.steps.clone();
    for step in &mut steps {
        step.truth.free = None;
        step.truth.pool_reserved = None;
        step.truth.pool_used = None;
    }
    let mut search = Search {
        schedule: Schedule::new(schedule.header.clone(), Vec::new()),
        code,
        profile,
        runs: 0,
        wanted: None,
    };
    search.wanted = Some(search.worst(&steps)?);
    let mut unanswered = steps.clone();
    for step in &mut unanswered {
        step.truth = Truth::default();
    }
    if search.shows(&unanswered) {
        steps = unanswered;
    }
    let by_partition = |step: &Step| (step.job.clone(), step.partition);
    let by_worker = |step: &Step| step.worker;
    search.drop_groups(&mut steps, by_partition);
    search.drop_groups(&mut steps, by_worker);
    search.drop_groups(&mut steps, |step| step.op.id());
    search.drop_runs(&mut steps);
    search.drop_names(&mut steps);
    search.drop_fallbacks(&mut steps);
    search.schedule.steps = steps;
    Some(search.schedule)
}

struct Search {
    schedule: Schedule,
    code: Code,
    profile: Profile,
    runs: u32,
    /// How bad the finding is, and for what cause.
    wanted: Option<(Severity, Option<OomCause>)>,
}

impl Search {
    /// Whether a candidate shows the finding; `false` once the budget is spent.
    fn shows(&mut self, steps: &[Step]) -> bool {
        if self.runs >= RUNS_MAX {
            return false;
        }
        self.runs += 1;
        let wanted = self.wanted;
        let found = self.worst(steps);
        found
            .zip(wanted)
            .is_some_and(|((severity, cause), (least, same))| severity >= least && cause == same)
    }

    fn worst(&mut self, steps: &[Step]) -> Option<(Severity, Option<OomCause>)> {
        self.schedule.steps = steps.to_vec();
        let scene = Scene::new(&self.schedule, Source::Events, self.profile, "");
        check::worst(&scene, self.code)
    }

    /// Takes out whole groups of steps, the largest first.
    fn drop_groups<K: Ord>(&mut self, steps: &mut Vec<Step>, key: impl Fn(&Step) -> K) {
        let mut sizes: BTreeMap<K, usize> = BTreeMap::new();
        for step in steps.iter() {
            *sizes.entry(key(step)).or_default() += 1;
        }
        let mut groups: Vec<(usize, K)> = sizes.into_iter().map(|(k, n)| (n, k)).collect();
        groups.sort_by(|a, b| b.cmp(a));
        for (_, group) in groups {
            let rest: Vec<Step> = steps
                .iter()
                .filter(|step| key(step) != group)
                .cloned()
                .collect();
            if rest.len() < steps.len() && self.shows(&rest) {
                *steps = rest;
            }
        }
    }

    /// Takes out runs of steps, halving their length, until no single one can go.
    fn drop_runs(&mut self, steps: &mut Vec<Step>) {
        let mut length = steps.len().div_ceil(2).max(1);
        loop {
            let mut start = 0;
            let mut dropped = false;
            while start < steps.len() {
                let end = (start + length).min(steps.len());
                let mut rest = steps.clone();
                rest.drain(start..end);
                if self.shows(&rest) {
                    *steps = rest;
                    dropped = true;
                } else {
                    start = end;
                }
            }
            if length == 1 && !dropped {
                return;
            }
            if !dropped {
                length = length.div_ceil(2);
            }
        }
    }

    /// A step whose label is gone stops its worker instead of looking for it for ever.
    fn drop_fallbacks(&mut self, steps: &mut [Step]) {
        let labels: Vec<String> = steps
            .iter()
            .filter_map(|step| match &step.op {
                Op::Label { name } => Some(name.clone()),
                _ => None,
            })
            .collect();
        let mut candidate = steps.to_vec();
        for step in &mut candidate {
            if matches!(&step.on_error, OnError::Fallback(label) if !labels.contains(label)) {
                step.on_error = OnError::Abort;
            }
        }
        if self.shows(&candidate) {
            steps.clone_from_slice(&candidate);
        }
    }

    /// Drops what the finding does not need of each step: launches that name buffers, notes.
    fn drop_names(&mut self, steps: &mut [Step]) {
        for at in 0..steps.len() {
            let Some(mut step) = steps.get(at).cloned() else {
                continue;
            };
            step.extra.clear();
            if let Op::Launch(work) = &mut step.op {
                work.ms = None;
            }
            let mut candidate = steps.to_vec();
            if let Some(slot) = candidate.get_mut(at) {
                *slot = step.clone();
            }
            if self.shows(&candidate)
                && let Some(slot) = steps.get_mut(at)
            {
                *slot = step;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::schedule;
    use crate::vram::H200_580;

    /// The published case, with much around it that has nothing to do with it.
    fn noisy() -> Schedule {
        let mut lines = String::new();
        for partition in 0..6 {
            let worker = partition % 2;
            let base = partition * 10;
            lines.push_str(
                &"W lock name=gpu partition=P
                  W memGetInfo partition=P
                  W malloc id=A bytes=4G buf=d_a partition=P
                  W malloc id=B bytes=8G buf=d_bc partition=P on_error=ignore
                  W launch stream=1 writes=[A,B] buf=ntt partition=P note=x
                  W free id=A partition=P
                  W streamSync stream=1 partition=P
                  W unlock name=gpu partition=P\n"
                    .replace('W', &worker.to_string())
                    .replace('P', &partition.to_string())
                    .replace("=A", &format!("={}", base + 1))
                    .replace("[A,B]", &format!("[{},{}]", base + 1, base + 2))
                    .replace("=B", &format!("={}", base + 2)),
            );
            if partition > 0 {
                let before = (partition - 1) * 10 + 2;
                let other = (partition + 1) % 2;
                let free = format!("{other} free id={before} partition={}\n", partition - 1);
                lines.push_str(&free);
            }
        }
        schedule(&lines)
    }

    #[test]
    fn a_shrunk_schedule_is_minimal_and_shows_the_same() {
        let noisy = noisy();
        let code = Code::VramSwallowedOom;
        let small = shrink(&noisy, code, H200_580).expect("it shows the code");
        assert!(small.steps.len() <= 6, "{:#?}", small.steps);
        let wanted = check::worst(&Scene::new(&small, Source::Events, H200_580, ""), code);
        for at in 0..small.steps.len() {
            let mut less = small.clone();
            less.steps.remove(at);
            let scene = Scene::new(&less, Source::Events, H200_580, "");
            assert_ne!(
                check::worst(&scene, code),
                wanted,
                "step {at} is not needed"
            );
        }
    }

    #[test]
    fn what_was_shrunk_shows_the_same_after_writing_and_reading() {
        let small = shrink(&noisy(), Code::VramSwallowedOom, H200_580).expect("it shows");
        let text = small.write(Vec::new()).expect("memory");
        let back = Schedule::read(text.as_slice()).expect("own output");
        let scene = Scene::new(&back, Source::Events, H200_580, "repro.jsonl");
        assert!(check::shows(&scene, Code::VramSwallowedOom));
    }

    #[test]
    fn a_late_free_shrinks_to_the_holder_and_the_victim() {
        let lines = "0 lock name=gpu partition=0
                     0 malloc id=1 bytes=8G buf=d_bc partition=0
                     0 launch stream=1 writes=[1] buf=ntt partition=0
                     0 streamSync stream=1 partition=0
                     0 unlock name=gpu partition=0
                     1 lock name=gpu partition=1
                     1 malloc id=5 bytes=1G partition=1
                     1 malloc id=2 bytes=9G buf=d_bc partition=1
                     0 free id=1 partition=0";
        let small = shrink(&schedule(lines), Code::VramLateFree, H200_580).expect("it shows");
        assert!(small.steps.len() <= 6, "{:#?}", small.steps);
    }

    #[test]
    fn what_a_schedule_does_not_show_is_not_shrunk() {
        assert_eq!(shrink(&noisy(), Code::VramDoubleFree, H200_580), None);
    }
}
