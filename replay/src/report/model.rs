//! The fields of `cuzk.replay/1`.

use serde::{Deserialize, Serialize};
use tracefmt::finding::{Finding, Severity};
use tracefmt::ops::{Op, Schedule, Step};

use crate::change::{Change, applied, describe, run_all};
use crate::check::{self, Scene, Source};
use crate::explore::{Bound, Exploration};
use crate::vram::{Outcome as Answer, Profile};

/// Schema name of [`Report`].
pub const SCHEMA: &str = "cuzk.replay/1";

/// What a replay comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No allocation fails, and there is no error.
    Passes,
    /// Nothing fails that anybody saw, but allocations of the rebuilt schedule do.
    FailsUnseen,
    /// No allocation fails, but what comes after requests that failed when the schedule was
    /// recorded is not known.
    Unrecorded,
    /// No error but that the log ends before its jobs do.
    Truncated,
    /// There is an error.
    Fails,
}

/// Everything that `cuzk replay` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// Which daemon run of the log this is, from 0; none for a schedule without a log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    /// `events` or `profile`.
    pub source: String,
    /// The lifecycle profile that rebuilt the schedule; none for recorded events.
    pub profile: Option<String>,
    /// The driver profile.
    pub driver: String,
    /// Memory of the fullest card.
    pub capacity: u64,
    /// Its use by others.
    pub baseline: u64,
    /// Its highest use, the baseline included.
    pub peak_bytes: u64,
    /// The step after which that was.
    pub peak_step: u64,
    /// The smallest card on which no allocation fails; none if there is no such card, or it was
    /// not asked for.
    pub min_vram_bytes: Option<u64>,
    /// The first step that succeeds on that card although only what came of its failure was
    /// recorded: what comes after it is not known, and the card is the least that it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_vram_unrecorded: Option<u64>,
    /// What binds on the next smaller card.
    pub binding: Option<Binding>,
    /// How many steps the schedule has.
    pub steps: u64,
    /// How many of them ran.
    pub ran: u64,
    /// Lines of the input that are no operation and were left out.
    #[serde(default)]
    pub unread_lines: u64,
    /// Parts of its locks in which the search for circles was cut off before one was found.
    #[serde(default)]
    pub undecided: u64,
    /// What it comes to; the exit code follows from it.
    pub verdict: Verdict,
    /// Allocations that failed, swallowed ones included; 0 is a pass.
    pub failed_allocations: u64,
    /// Of these, those that nobody noticed: swallowed by the program, or known from a rebuilt
    /// schedule only.
    pub unseen_failures: u64,
    /// Allocations that failed besides, after which a smaller plan was taken and the partition did
    /// not fail.
    #[serde(default)]
    pub fell_back: u64,
    /// Ops that succeed here although only what came of their failure was recorded: nothing is
    /// known of what would have come next.
    #[serde(default)]
    pub unrecorded: u64,
    /// The step of the first failed request, where a long schedule was judged by the part that
    /// shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<u64>,
    /// Steps behind that failure that were not judged.
    #[serde(default)]
    pub left_out: u64,
    /// Agreement of the model with what was recorded.
    pub truth: Truth,
    /// What was explored; none if only the recorded order was run.
    pub explored: Option<Explored>,
    /// An order that passes, by step, if one was explored and others do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passing_order: Option<Vec<usize>>,
    /// The shortest order that ends in a failed allocation, by step, if one was explored.
    pub failing_order: Option<Vec<usize>>,
    /// The shortest order after which no worker can go on, by step, if one was explored.
    pub stuck_order: Option<Vec<usize>>,
    /// The shortest order that uses or frees what was freed before, by step, if one was explored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misuse_order: Option<Vec<usize>>,
    /// The changed rules that were asked for.
    pub what_if: Vec<Changed>,
    /// What was found, in order of the steps that show it.
    pub findings: Vec<Finding>,
    /// When a log holds several runs, the report of each; all above is that of the worst.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Self>,
}

/// The request that decides the smallest card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The step that fails on the next smaller card.
    pub step: u64,
    /// What is allocated at that moment, largest first.
    pub live: Vec<Live>,
}

/// One live buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// Its name, or `id <n>`.
    pub buf: String,
    /// The worker that made it.
    pub worker: u32,
    /// Bytes asked for.
    pub bytes: u64,
}

/// Steps with a recorded answer, and how many of them the model has right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// Steps that ran and have a recorded code or recorded bytes.
    pub checked: u64,
    /// Of these, those whose result code the model gives.
    pub rc_agree: u64,
    /// Of these, those whose code, free bytes and pool bytes it gives.
    pub agree: u64,
}

impl Truth {
    /// Counts a step that ran, where something was recorded of it; `predicted` is the code that
    /// the model gives.
    pub(crate) fn count(&mut self, step: &Step, predicted: u32, outcome: &Answer) {
        let known = step.truth();
        if matches!(step.op, Op::Lock { .. }) {
            // The model of the driver has no say in who gets a lock.
            return;
        }
        if known.rc.is_none() && known.free.is_none() && known.pool_reserved.is_none() {
            return;
        }
        let rc = known.rc.is_none_or(|rc| rc == predicted);
        let free = known.free.is_none_or(|free| free == outcome.free);
        let pool = known.pool_reserved;
        let pool = pool.is_none_or(|bytes| bytes == outcome.pool_reserved);
        self.checked += 1;
        self.rc_agree += u64::from(rc);
        self.agree += u64::from(rc && free && pool);
    }
}

/// What exploration did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explored {
    /// States visited.
    pub states: u64,
    /// Whether these are all.
    pub complete: bool,
    /// The bound that was reached; none if these are all.
    pub bound: Option<Bound>,
    /// What can come of an order; empty while none came to an end.
    pub outcomes: Vec<Outcome>,
}

/// What can come of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Every worker comes to its end and no allocation fails.
    Passes,
    /// An allocation fails.
    Fails,
    /// Nobody can go on although ops are left.
    Stuck,
    /// Something is used or freed that was freed before.
    Misuses,
}

/// One changed rule, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The change, as `--what-if` takes it.
    pub change: String,
    /// Whether no allocation fails, and the schedule is recorded to its end.
    pub passes: bool,
    /// Ops that succeed although only what came of their failure was recorded.
    #[serde(default)]
    pub unrecorded: u64,
    /// The peak of the fullest card, its use by others included.
    pub peak_bytes: u64,
    /// Allocations of the schedule that fail.
    pub failed_allocations: u64,
    /// Of them, those that the schedule carries on past, so that nobody sees them.
    pub unseen_failures: u64,
    /// Errors about pinned host memory that stay.
    #[serde(default)]
    pub host_errors: u64,
    /// Whether the change comes to nothing here, so that this is the verdict of the schedule as
    /// it is.
    #[serde(default)]
    pub changes_nothing: bool,
}

impl Changed {
    /// Runs a schedule under changed rules.
    pub fn run(changes: &[Change], schedule: &Schedule, profile: Profile) -> Self {
        let verdict = run_all(changes, schedule, profile);
        let host_errors = host_errors(changes, schedule, profile, verdict.is_changed);
        Self {
            change: describe(changes),
            passes: verdict.passes && verdict.unrecorded == 0 && host_errors == 0,
            host_errors,
            unrecorded: verdict.unrecorded,
            peak_bytes: verdict.peak.bytes,
            failed_allocations: verdict.failed.len() as u64,
            unseen_failures: verdict.swallowed,
            changes_nothing: !verdict.is_changed,
        }
    }
}

/// How many errors about pinned host memory a change leaves. That they are errors, the recorded
/// answers say, which a changed schedule does not have.
fn host_errors(changes: &[Change], schedule: &Schedule, profile: Profile, is_changed: bool) -> u64 {
    let pins = |step: &Step| matches!(step.op, Op::HostRegister { .. });
    if !schedule.steps.iter().any(pins) {
        return 0;
    }
    let (source, _) = Source::of(&schedule.header);
    let found = |run: &Schedule, driver| check::pinned(&Scene::new(run, source, driver, ""));
    let mut errors = found(schedule, profile);
    errors.retain(|(_, severity)| *severity == Severity::Error);
    if is_changed && !errors.is_empty() {
        let (changed, driver) = applied(changes, schedule, profile);
        let left = found(&changed.schedule, driver);
        errors.retain(|(code, _)| left.iter().any(|(other, _)| other == code));
    }
    errors.len() as u64
}

impl Report {
    /// Adds that the log ends before its jobs do: an error if a sign of death says so. It is the
    /// root unless something before it is.
    pub fn add_ending(&mut self, mut ending: Finding) {
        let has_root = self.findings.iter().any(|finding| finding.root);
        ending.id = format!("f{}", self.findings.len());
        ending.root = ending.severity == Severity::Error && !has_root;
        ending.run = self.run;
        if self.verdict != Verdict::Fails {
            self.verdict = Verdict::Truncated;
        }
        self.findings.push(ending);
    }

    /// Adds what exploration found. For a recorded schedule an order that fails is a failure;
    /// for a rebuilt one it is inferred, and changes no verdict. Where all orders were tried and
    /// each passes, an order of locks is no error.
    pub fn add_explored(&mut self, found: Exploration) {
        let bad = [&found.failing, &found.stuck, &found.misused];
        let bad = bad.iter().any(|order| order.is_some());
        if bad && self.source == "events" {
            self.verdict = Verdict::Fails;
        }
        if !bad && found.passing.is_some() && found.is_complete() {
            self.every_order_passes();
        }
        let all = [
            (Outcome::Passes, found.passing.is_some()),
            (Outcome::Fails, found.failing.is_some()),
            (Outcome::Stuck, found.stuck.is_some()),
            (Outcome::Misuses, found.misused.is_some()),
        ];
        let seen = all.into_iter().filter(|(_, seen)| *seen);
        self.explored = Some(Explored {
            states: found.states,
            complete: found.is_complete(),
            bound: found.bound,
            outcomes: seen.map(|(outcome, _)| outcome).collect(),
        });
        self.passing_order = found.passing.filter(|_| bad);
        self.failing_order = found.failing;
        self.stuck_order = found.stuck;
        self.misuse_order = found.misused;
    }

    /// Nobody gets stuck in any order, whatever the orders of the locks look like.
    fn every_order_passes(&mut self) {
        check::every_order_passes(&mut self.findings);
        self.undecided = 0;
        if self.verdict == Verdict::Fails {
            let failed = self.failed_allocations;
            self.verdict = super::verdict(&self.findings, failed, self.unrecorded);
        }
    }
}
