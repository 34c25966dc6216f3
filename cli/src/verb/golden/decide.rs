//! `cuzk golden accept` and `reject`: one decision on candidates, without questions.

use std::path::PathBuf;

use clap::Args;
use golden::gate::Options;
use golden::snapshot::store::Store;
use golden::verbs::{self, Decision};
use serde_json::json;

use super::limits::Limits;
use super::who::{self, Who};
use super::{Goldens, told};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format};

/// Which candidates.
#[derive(Args, Clone, Debug)]
struct Candidates {
    /// The candidates, `*.golden.new`; may be left out where there is one
    #[arg(value_name = "CANDIDATE", conflicts_with = "all")]
    candidates: Vec<PathBuf>,
    /// All candidates
    #[arg(long)]
    all: bool,
}

impl Candidates {
    fn paths(&self, store: &Store) -> Result<Vec<PathBuf>, CliError> {
        if !self.candidates.is_empty() {
            return Ok(self.candidates.clone());
        }
        let found = store.candidates().map_err(told)?;
        let paths: Vec<PathBuf> = found.into_iter().map(|(path, _)| path).collect();
        match paths.len() {
            0 => Err(CliError::Usage(
                "there is no candidate: make one with `cuzk golden record`".to_owned(),
            )),
            1 => Ok(paths),
            _ if self.all => Ok(paths),
            count => {
                let names: Vec<String> = paths
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect();
                Err(CliError::Usage(format!(
                    "there are {count} candidates: name one, or say --all\n  {}",
                    names.join("\n  ")
                )))
            }
        }
    }
}

/// Make a candidate the golden of its configuration.
///
/// A phase that became slower, or an exact figure that grew, wants --reason; a slow-down beyond
/// the drift budget wants --over-budget or --move-anchor. Under CI nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk golden accept
  cuzk golden accept --reason 'checks subgroup membership' golden/snapshots/cpu/x-1.golden.new
  cuzk golden accept --move-anchor --reason 'release 1.4'

Exits with 2 when a reason is missing, when the budget is spent, and under CI.")]
pub struct Accept {
    #[command(flatten)]
    candidates: Candidates,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    excuse: Excuse,
    #[command(flatten)]
    goldens: Goldens,
    #[command(flatten)]
    limits: Limits,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What lets an accept go beyond the drift budget.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct Excuse {
    /// Accept although the drift budget is spent
    #[arg(long)]
    over_budget: bool,
    /// Measure drift from here on: a release, or a change that everybody knows of
    #[arg(long)]
    move_anchor: bool,
}

/// The decision of a person.
pub(super) fn decision(who: &Who, excuse: Excuse) -> Decision {
    Decision {
        acceptance: who.acceptance(),
        over_budget: excuse.over_budget,
        move_anchor: excuse.move_anchor,
    }
}

/// Accepts.
///
/// # Errors
///
/// As the library refuses; a file that cannot be read or written.
pub(super) fn accept(verb: &Accept) -> Result<Exit, CliError> {
    let store = verb.goldens.store();
    let options = verb.limits.options(Options::default().rules);
    let decision = decision(&verb.who, verb.excuse);
    let mut done = Vec::new();
    for path in verb.candidates.paths(&store)? {
        let with = (&decision, who::place());
        let golden = verbs::accept(&store, &path, with, &options).map_err(told)?;
        done.push(store.golden_path(&golden.key));
    }
    say("accepted", &done, verb.format)
}

/// Remove a candidate; the golden stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk golden reject
  cuzk golden reject --all

Exits with 2 when there is no such candidate, and under CI.")]
pub struct Reject {
    #[command(flatten)]
    candidates: Candidates,
    #[command(flatten)]
    goldens: Goldens,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Rejects.
///
/// # Errors
///
/// As the library refuses; a file that cannot be removed.
pub(super) fn reject(verb: &Reject) -> Result<Exit, CliError> {
    let paths = verb.candidates.paths(&verb.goldens.store())?;
    for path in &paths {
        verbs::reject(path, who::place()).map_err(told)?;
    }
    say("rejected", &paths, verb.format)
}

fn say(what: &str, paths: &[PathBuf], format: Format) -> Result<Exit, CliError> {
    match format {
        Format::Json => output::json(&json!({ what: paths }))?,
        Format::Text => {
            let lines: Vec<String> = paths
                .iter()
                .map(|path| format!("{what} {}\n", path.display()))
                .collect();
            output::text(&lines.concat())?;
        }
    }
    Ok(Exit::Clean)
}
