//! Shrinking: a smaller schedule that still shows the same finding.
//!
//! Delta debugging (Zeller and Hildebrandt 2002) over ever smaller pieces: whole partitions,
//! then workers, then buffers with all that touches them, then single ops. The result is minimal
//! in that no single op can be taken out. Sizes and the card stay as they are.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::finding::{Code, Finding, OomCause, Severity};
use tracefmt::ops::{Extra, OnError, Op, Schedule, Step, Truth};

use crate::check::{self, Scene, Source};
use crate::vram::Profile;

/// How many candidates are run before shrinking stops where it is.
const RUNS_MAX: u32 = 20_000;

/// Shrinks a schedule that shows a finding of this code; none if it does not show it. The core
/// shows it as badly, and a failed allocation for the same cause; it shows no kind of error that
/// the whole does not show, and the finding is its root wherever that can be had. Recorded bytes
/// are dropped; recorded codes stay only where the finding does not show without them.
pub fn shrink(schedule: &Schedule, code: Code, profile: Profile) -> Option<Schedule> {
    let mut steps = schedule.steps.clone();
    for step in &mut steps {
        step.set_truth(Truth {
            rc: step.rc,
            ..Truth::default()
        });
    }
    let mut search = Search::of(schedule, &steps, code, profile)?;
    let mut unanswered = steps.clone();
    for step in &mut unanswered {
        step.set_truth(Truth::default());
    }
    if search.accepts(&unanswered) {
        steps = unanswered;
    }
    let by_partition = |step: &Step| (step.job().map(str::to_owned), step.partition());
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

/// How well a candidate stands for the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// It shows the finding.
    Shown,
    /// It shows the finding, and no other kind of error than the whole.
    Alone,
    /// And what explains the whole explains it.
    SameRoot,
    /// And the finding is its root.
    Root,
}

struct Search {
    schedule: Schedule,
    code: Code,
    profile: Profile,
    runs: u32,
    /// What the finding says.
    wanted: Wanted,
    /// The kinds of error that the whole shows.
    errors: BTreeSet<Code>,
    /// What the root of the whole is.
    root: Option<Code>,
    /// What the best candidate so far was; a worse one is not taken any more.
    least: Likeness,
}

impl Search {
    /// A search that starts from the whole; none if the whole does not show the finding.
    fn of(whole: &Schedule, steps: &[Step], code: Code, profile: Profile) -> Option<Self> {
        let mut schedule = Schedule::new(whole.header.clone(), Vec::new());
        schedule.steps = steps.to_vec();
        let found = found(&schedule, profile);
        let wanted = Wanted::of(first(&found, code)?);
        let mut search = Self {
            schedule,
            code,
            profile,
            runs: 0,
            wanted,
            errors: errors(&found).collect(),
            root: root(&found),
            least: Likeness::Shown,
        };
        search.least = search.likeness(&found)?;
        Some(search)
    }

    /// Whether a candidate stands for the whole as well as the best before it; `false` once the
    /// budget is spent.
    fn accepts(&mut self, steps: &[Step]) -> bool {
        if self.runs >= RUNS_MAX {
            return false;
        }
        self.runs += 1;
        self.schedule.steps = steps.to_vec();
        let likeness = self.likeness(&found(&self.schedule, self.profile));
        let accepted = likeness.is_some_and(|likeness| likeness >= self.least);
        if accepted {
            self.least = likeness.unwrap_or(self.least);
        }
        accepted
    }

    fn likeness(&self, found: &[Finding]) -> Option<Likeness> {
        let same = |finding: &&Finding| finding.code == self.code && self.wanted.is(finding);
        let mut shown = found.iter().filter(same).peekable();
        shown.peek()?;
        let is_root = shown.any(|finding| finding.root);
        let mut others = errors(found).filter(|code| !self.errors.contains(code));
        if others.next().is_some() {
            return Some(Likeness::Shown);
        }
        let root = root(found);
        Some(if is_root {
            Likeness::Root
        } else if root == self.root {
            Likeness::SameRoot
        } else {
            Likeness::Alone
        })
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
            if rest.len() < steps.len() && self.accepts(&rest) {
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
                if self.accepts(&rest) {
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
        let labels: Vec<Box<str>> = steps
            .iter()
            .filter_map(|step| match &step.op {
                Op::Label { name } => Some(name.clone()),
                _ => None,
            })
            .collect();
        let mut candidate = steps.to_vec();
        for step in &mut candidate {
            if matches!(step.on_error(), OnError::Fallback(label) if !labels.contains(label)) {
                step.set_on_error(OnError::Abort);
            }
        }
        if self.accepts(&candidate) {
            steps.clone_from_slice(&candidate);
        }
    }

    /// Drops what the finding does not need of each step: launches that name buffers, notes.
    fn drop_names(&mut self, steps: &mut [Step]) {
        for at in 0..steps.len() {
            let Some(mut step) = steps.get(at).cloned() else {
                continue;
            };
            step.set_extra(Extra::new());
            if let Op::Launch(work) = &mut step.op {
                work.set_ms(None);
            }
            let mut candidate = steps.to_vec();
            if let Some(slot) = candidate.get_mut(at) {
                *slot = step.clone();
            }
            if self.accepts(&candidate)
                && let Some(slot) = steps.get_mut(at)
            {
                *slot = step;
            }
        }
    }
}

/// What a finding says, whoever it is about: a core may have fewer workers, of other numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    severity: Severity,
    cause: Option<OomCause>,
    /// Its title without numbers: the buffer, and what is wrong with it.
    words: String,
    /// How many workers it names. A failed request names whoever holds memory: they may go.
    workers: usize,
}

impl Wanted {
    fn of(finding: &Finding) -> Self {
        let number = |word: &&str| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
        };
        let title = finding.title.split(' ').filter(|word| !number(word));
        let said: Vec<&str> = finding.explanation.split(' ').collect();
        let pairs = said.iter().zip(said.iter().skip(1));
        let workers: BTreeSet<&str> = pairs
            .filter(|(before, after)| before.ends_with("orker") && number(after))
            .map(|(_, after)| after.trim_matches(|c: char| !c.is_alphanumeric()))
            .collect();
        Self {
            severity: finding.severity,
            cause: finding.cause,
            words: title.collect::<Vec<&str>>().join(" "),
            workers: finding.cause.map_or(workers.len(), |_| 0),
        }
    }

    /// Whether a finding says the same, at least as badly.
    fn is(&self, finding: &Finding) -> bool {
        let other = Self::of(finding);
        let severity = self.severity.min(other.severity);
        severity == self.severity && Self { severity, ..other } == *self
    }
}

/// What is found in a schedule, recorded or rebuilt as its header says.
fn found(schedule: &Schedule, profile: Profile) -> Vec<Finding> {
    let (source, _) = Source::of(&schedule.header);
    check::all(&Scene::new(schedule, source, profile, ""))
}

/// The finding of a code that counts: the root, else the worst, the earliest of several.
fn first(found: &[Finding], code: Code) -> Option<&Finding> {
    let of_code = found.iter().filter(|finding| finding.code == code);
    of_code.reduce(|first, other| {
        let worse = other.severity > first.severity && !first.root;
        if other.root || worse { other } else { first }
    })
}

/// The code of the root, if there is one.
fn root(found: &[Finding]) -> Option<Code> {
    let root = found.iter().find(|finding| finding.root);
    root.map(|root| root.code)
}

/// The codes of the errors among findings.
fn errors(found: &[Finding]) -> impl Iterator<Item = Code> + '_ {
    let errors = found.iter();
    let errors = errors.filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| finding.code)
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

    fn found(schedule: &Schedule) -> Vec<Finding> {
        super::found(schedule, H200_580)
    }

    fn worst(found: &[Finding], code: Code) -> Option<Wanted> {
        first(found, code).map(Wanted::of)
    }

    #[test]
    fn a_core_shows_the_finding_that_was_the_root_and_no_other_of_its_code() {
        // Worker 0 is late about itself, unseen; worker 1 makes worker 0 fail.
        let lines = "0 lock name=gpu partition=0
                     0 malloc id=1 bytes=8G buf=d_x partition=0
                     0 launch stream=1 writes=[1] buf=ntt partition=0
                     0 mallocAsync id=2 bytes=9G stream=1 buf=h partition=0 on_error=ignore
                     0 free id=1 partition=0
                     0 unlock name=gpu partition=0
                     1 lock name=gpu partition=1
                     1 malloc id=3 bytes=8G buf=d_bc partition=1
                     1 launch stream=2 writes=[3] buf=ntt partition=1
                     1 unlock name=gpu partition=1
                     0 lock name=gpu partition=2
                     0 malloc id=4 bytes=9G buf=d_a partition=2 rc=2
                     0 unlock name=gpu partition=2
                     1 free id=3 partition=1";
        let mut whole = schedule(lines);
        let by = "phase9-v1".into();
        whole.header.extra.insert(check::REBUILT_BY.to_owned(), by);
        let code = Code::VramLateFree;
        let root = |schedule: &Schedule| {
            let found = found(schedule);
            let root = found.into_iter().find(|finding| finding.root);
            root.map(|root| (root.title, root.severity, root.confidence))
        };
        let of_whole = root(&whole).expect("a root");
        assert!(of_whole.0.contains("d_bc") && of_whole.0.ends_with("its lock"));
        let small = shrink(&whole, code, H200_580).expect("it shows");
        assert!(small.steps.len() < 9, "{:#?}", small.steps);
        let text = small.write(Vec::new()).expect("memory");
        let back = Schedule::read(text.as_slice()).expect("own output");
        assert_eq!(root(&back), Some(of_whole), "inferred as in the log");
    }

    #[test]
    fn a_shrunk_schedule_is_minimal_and_shows_the_same() {
        let noisy = noisy();
        let code = Code::VramSwallowedOom;
        let small = shrink(&noisy, code, H200_580).expect("it shows the code");
        assert!(small.steps.len() <= 6, "{:#?}", small.steps);
        let wanted = worst(&found(&small), code);
        for at in 0..small.steps.len() {
            let mut less = small.clone();
            less.steps.remove(at);
            let found = found(&less);
            let alone = errors(&found).all(|error| error == code);
            let shown = worst(&found, code) == wanted && alone;
            assert!(!shown, "step {at} is not needed");
        }
    }

    #[test]
    fn what_was_shrunk_shows_the_same_after_writing_and_reading() {
        let small = shrink(&noisy(), Code::VramSwallowedOom, H200_580).expect("it shows");
        let text = small.write(Vec::new()).expect("memory");
        let back = Schedule::read(text.as_slice()).expect("own output");
        assert!(worst(&found(&back), Code::VramSwallowedOom).is_some());
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
        let root = root(&found(&small));
        assert_eq!(
            root,
            Some(Code::VramLateFree),
            "the free that is late stays"
        );
    }

    #[test]
    fn what_a_schedule_does_not_show_is_not_shrunk() {
        assert_eq!(shrink(&noisy(), Code::VramDoubleFree, H200_580), None);
    }
}
