//! The fields of `cuzk.replay/1`.

use serde::{Deserialize, Serialize};
use tracefmt::finding::Finding;
use tracefmt::ops::Schedule;

use crate::change::{Change, describe, run_all};
use crate::explore::{Bound, Exploration};
use crate::vram::Profile;

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
    /// There is an error.
    Fails,
}

/// Everything that `cuzk replay` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
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
    /// What binds on the next smaller card.
    pub binding: Option<Binding>,
    /// How many steps the schedule has.
    pub steps: u64,
    /// How many of them ran.
    pub ran: u64,
    /// What it comes to; the exit code follows from it.
    pub verdict: Verdict,
    /// Allocations that failed, swallowed ones included; 0 is a pass.
    pub failed_allocations: u64,
    /// Of these, those that nobody noticed: swallowed by the program, or known from a rebuilt
    /// schedule only.
    pub unseen_failures: u64,
    /// Agreement of the model with what was recorded.
    pub truth: Truth,
    /// What was explored; none if only the recorded order was run.
    pub explored: Option<Explored>,
    /// The shortest order that ends in a failed allocation, by step, if one was explored.
    pub failing_order: Option<Vec<usize>>,
    /// The shortest order after which no worker can go on, by step, if one was explored.
    pub stuck_order: Option<Vec<usize>>,
    /// The changed rules that were asked for.
    pub what_if: Vec<Changed>,
    /// What was found, in order of the steps that show it.
    pub findings: Vec<Finding>,
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
}

/// One changed rule, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The change, as `--what-if` takes it.
    pub change: String,
    /// Whether no allocation fails.
    pub passes: bool,
    /// The peak of the fullest card, its use by others included.
    pub peak_bytes: u64,
    /// Allocations of the schedule that fail.
    pub failed_allocations: u64,
    /// Of them, those that the schedule carries on past, so that nobody sees them.
    pub unseen_failures: u64,
}

impl Changed {
    /// Runs a schedule under changed rules.
    pub fn run(changes: &[Change], schedule: &Schedule, profile: Profile) -> Self {
        let verdict = run_all(changes, schedule, profile);
        Self {
            change: describe(changes),
            passes: verdict.passes,
            peak_bytes: verdict.peak.bytes,
            failed_allocations: verdict.failed.len() as u64,
            unseen_failures: verdict.swallowed,
        }
    }
}

impl Report {
    /// Adds what exploration found. For a recorded schedule an order that fails is a failure;
    /// for a rebuilt one it is inferred, and changes no verdict.
    pub fn add_explored(&mut self, found: Exploration) {
        let bad = found.failing.is_some() || found.stuck.is_some();
        if bad && self.source == "events" {
            self.verdict = Verdict::Fails;
        }
        let all = [
            (Outcome::Passes, found.passing.is_some()),
            (Outcome::Fails, found.failing.is_some()),
            (Outcome::Stuck, found.stuck.is_some()),
        ];
        let seen = all.into_iter().filter(|(_, seen)| *seen);
        self.explored = Some(Explored {
            states: found.states,
            complete: found.is_complete(),
            bound: found.bound,
            outcomes: seen.map(|(outcome, _)| outcome).collect(),
        });
        self.failing_order = found.failing;
        self.stuck_order = found.stuck;
    }
}
