//! `cuzk golden review`: a walk through the candidates, one key a decision.

use std::io::{self, IsTerminal, Write};

use clap::Args;
use console::{Key, Term};
use golden::GoldenError;
use golden::gate::Options;
use golden::render;
use golden::snapshot::store::Store;
use golden::verbs::{self, Decision, Place, ReviewItem};
use serde_json::json;

use super::decide::{Excuse, decision};
use super::limits::Limits;
use super::who::{self, Who};
use super::{Goldens, told};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, put};

/// Walk through the candidates and decide on each with one key.
///
/// On a terminal: a accepts, r rejects, s leaves it for later, q ends. A slow-down asks for its
/// reason, a spent drift budget for another key. Elsewhere, or with --list, the candidates are
/// listed with what they would change; `accept` and `reject` decide without questions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk golden review
  cuzk golden review --list --format json

Exits with 0 when no candidate is left undecided, else with 3.")]
pub struct Review {
    /// List the candidates and ask nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    excuse: Excuse,
    #[command(flatten)]
    goldens: Goldens,
    #[command(flatten)]
    limits: Limits,
    /// Text or JSON; JSON lists
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Lists the candidates, or asks about each.
///
/// # Errors
///
/// A golden or candidate that cannot be read or written, a terminal that breaks off.
pub(super) fn run(verb: &Review) -> Result<Exit, CliError> {
    let store = verb.goldens.store();
    let options = verb.limits.options(Options::default().rules);
    let items = verbs::review(&store, &options).map_err(told)?;
    let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let open = if verb.format == Format::Json {
        output::json(&json!({ "candidates": items.iter().map(as_json).collect::<Vec<_>>() }))?;
        items.len()
    } else if verb.list || !terminal {
        let texts: Vec<String> = items.iter().map(shown).collect();
        output::text(&if texts.is_empty() {
            "no candidates\n".to_owned()
        } else {
            texts.join("\n")
        })?;
        items.len()
    } else {
        let walk = Walk {
            store: &store,
            options: &options,
            place: who::place(),
            decision: decision(&verb.who, verb.excuse),
        };
        walk.through(&items, &mut Terminal(Term::stdout()))?
    };
    Ok(if open == 0 {
        Exit::Clean
    } else {
        Exit::Inconclusive
    })
}

fn as_json(item: &ReviewItem) -> serde_json::Value {
    json!({
        "candidate": item.candidate_path,
        "golden": item.golden_path,
        "new": item.golden.is_none(),
        "grown_by": item.grown_by,
        "slower": item.slower,
        "over_budget": item.over_budget,
        "verdict": item.verdict,
    })
}

/// What a candidate is that holds the golden's own runs.
pub(super) fn grown(had: usize, new: usize) -> String {
    format!("the golden's own {had} runs and {new} new ones, which the verdict is about:")
}

/// A candidate with what it would change.
fn shown(item: &ReviewItem) -> String {
    let mut text = String::new();
    put(
        &mut text,
        format_args!("{}\n", item.candidate_path.display()),
    );
    for (name, value) in item.candidate.key.known() {
        put(&mut text, format_args!("  {name} {value}\n"));
    }
    match &item.golden {
        None => {
            let (runs, phases) = (item.candidate.runs.len(), item.candidate.phases.len());
            put(
                &mut text,
                format_args!("new: {runs} runs, {phases} phases\n"),
            );
            for (name, column) in &item.candidate.phases {
                put(
                    &mut text,
                    format_args!("  {name:<24} {:>12.3} ms\n", column.ms()),
                );
            }
        }
        Some(golden) => {
            if let Some(last) = &golden.accepted {
                let (by, at) = (&last.by, &last.at);
                put(
                    &mut text,
                    format_args!("the golden was accepted by {by}, {at}\n"),
                );
            }
            if let Some(runs) = item.grown_by {
                put(
                    &mut text,
                    format_args!("{}\n", grown(golden.runs.len(), runs)),
                );
            }
            text.push_str(&render::text(&item.verdict));
        }
    }
    for (what, list) in [
        ("slower, accept needs a reason", &item.slower),
        ("by the estimate over the drift budget", &item.over_budget),
    ] {
        if !list.is_empty() {
            put(&mut text, format_args!("{what}: {}\n", list.join(", ")));
        }
    }
    text
}

/// Where questions are asked; a terminal, or a script in tests.
trait Asked {
    fn say(&mut self, text: &str) -> io::Result<()>;
    fn key(&mut self) -> io::Result<Key>;
    fn line(&mut self) -> io::Result<String>;
}

struct Terminal(Term);

impl Asked for Terminal {
    fn say(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())
    }

    fn key(&mut self) -> io::Result<Key> {
        self.0.read_key()
    }

    fn line(&mut self) -> io::Result<String> {
        self.0.read_line()
    }
}

/// What a person wants done with a candidate.
enum Wish {
    Accept,
    Reject,
    Later,
    Quit,
}

struct Walk<'w> {
    store: &'w Store,
    options: &'w Options,
    place: Place,
    decision: Decision,
}

impl Walk<'_> {
    /// Asks about every candidate; returns how many are left undecided.
    fn through(&self, items: &[ReviewItem], asked: &mut dyn Asked) -> Result<usize, CliError> {
        let broken = |error: io::Error| CliError::input("the terminal", &error, "a key");
        let mut open = items.len();
        for (number, item) in (1..).zip(items) {
            let head = format!("\n[{number} of {}] {}", items.len(), shown(item));
            asked.say(&head).map_err(broken)?;
            match wish(asked).map_err(broken)? {
                Wish::Quit => break,
                Wish::Later => {}
                Wish::Reject => {
                    verbs::reject(&item.candidate_path, self.place).map_err(told)?;
                    asked.say("rejected\n").map_err(broken)?;
                    open -= 1;
                }
                Wish::Accept => {
                    if self.accept(item, asked)? {
                        open -= 1;
                    }
                }
            }
        }
        Ok(open)
    }

    /// Accepts, asking for what is missing; false if it was left for later after all.
    fn accept(&self, item: &ReviewItem, asked: &mut dyn Asked) -> Result<bool, CliError> {
        let broken = |error: io::Error| CliError::input("the terminal", &error, "a line");
        let mut decision = self.decision.clone();
        if !item.slower.is_empty() && decision.acceptance.reason.trim().is_empty() {
            let slower = item.slower.join(", ");
            asked
                .say(&format!("{slower}: why is that acceptable? "))
                .map_err(broken)?;
            let line = asked.line().map_err(broken)?;
            line.trim().clone_into(&mut decision.acceptance.reason);
        }
        let excused = decision.over_budget || decision.move_anchor;
        if !item.over_budget.is_empty() && !excused {
            asked
                .say("over the drift budget: [o] accept over it, [m] move the anchor, any: later ")
                .map_err(broken)?;
            match asked.key().map_err(broken)? {
                Key::Char('o') => decision.over_budget = true,
                Key::Char('m') => decision.move_anchor = true,
                _ => return Ok(false),
            }
        }
        let with = (&decision, self.place);
        match verbs::accept(self.store, &item.candidate_path, with, self.options) {
            Ok(_) => {
                let said = format!("accepted {}\n", item.golden_path.display());
                asked.say(&said).map_err(broken)?;
                Ok(true)
            }
            Err(refused @ GoldenError::ReasonNeeded { .. }) => {
                asked.say(&format!("{refused}\n")).map_err(broken)?;
                Ok(false)
            }
            Err(error) => Err(told(error)),
        }
    }
}

/// Asks until one of the keys comes.
fn wish(asked: &mut dyn Asked) -> io::Result<Wish> {
    asked.say("[a]ccept [r]eject [s]kip [q]uit ")?;
    loop {
        let wish = match asked.key()? {
            Key::Char('a') => Wish::Accept,
            Key::Char('r') => Wish::Reject,
            Key::Char('s') => Wish::Later,
            Key::Char('q') | Key::Escape | Key::CtrlC => Wish::Quit,
            _ => continue,
        };
        asked.say("\n")?;
        return Ok(wish);
    }
}

#[cfg(test)]
mod tests;
