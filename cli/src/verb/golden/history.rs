//! `cuzk golden history`: one record a merge, and where the phases changed.

use std::fs::{File, OpenOptions};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use golden::evidence::Evidence;
use golden::history::{self, Cause, Point, Trend, trends};
use golden::stats::ChangeOptions;
use serde_json::json;

use super::measured::Measured;
use super::past::{Columns, USUAL};
use super::who;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, put};

/// Keep the history of merges, and say where each phase changed.
///
/// With inputs, a record of them is appended first. A change is laid to a commit only if one
/// changed within its interval; to the shape where the configuration changed; else to the machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk golden history
  cuzk golden history run1.log run2.log run3.log
  cuzk golden history --history theirs.csv --column commit=snapshot --column value=proof:ns

Exits with 0 when there is a history, with 4 when there is none.")]
pub struct History {
    #[command(flatten)]
    measured: Measured,
    /// The file of the history
    #[arg(long = "history", value_name = "FILE", default_value = USUAL)]
    file: PathBuf,
    /// The commit that was measured; the one that is checked out
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// When; now
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Appends what was measured and prints the changes.
///
/// # Errors
///
/// An input or history that cannot be read, or a history that cannot be written.
pub(super) fn run(verb: &History) -> Result<Exit, CliError> {
    if !verb.measured.inputs.is_empty() {
        append(verb)?;
    }
    let columns = Columns {
        column: verb.measured.columns_if_alone(),
    };
    let path = verb.file.to_string_lossy();
    if !verb.file.exists() {
        output::note(&format!("{path}: there is no history yet"));
        return Ok(Exit::NotComparable);
    }
    let points = columns.read(&path)?;
    let trends = trends(&points, &ChangeOptions::default());
    match verb.format {
        Format::Json => output::json(&as_json(&points, &trends))?,
        Format::Text => output::text(&as_text(&points, &trends))?,
    }
    Ok(if trends.is_empty() {
        Exit::NotComparable
    } else {
        Exit::Clean
    })
}

fn append(verb: &History) -> Result<(), CliError> {
    let samples = verb.measured.read()?;
    let evidence = Evidence::of(&samples, verb.measured.rules());
    for problem in &evidence.problems {
        output::note(&problem.finding().title);
    }
    if evidence.phases.is_empty() || evidence.runs.is_empty() {
        let what = "no usable run to add to the history".to_owned();
        return Err(CliError::Usage(what));
    }
    // A version is no commit: it stays the same while the code changes.
    let is_commit = |text: &String| text.len() >= 7 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let of_runs = || {
        let mut commits = evidence.runs.iter().filter_map(|run| run.commit.clone());
        commits.find(is_commit)
    };
    let commit = verb.commit.clone().or_else(of_runs).or_else(who::commit);
    match commit.as_deref().map(|commit| (commit, who::known(commit))) {
        None => output::note("no commit is known: a change here cannot be laid to code"),
        Some((commit, Some(false))) => {
            output::note(&format!("commit {commit} is not in this repository"));
        }
        _ => {}
    }
    let time = verb.time.clone().unwrap_or_else(who::now);
    if history::seconds(&time).is_none() {
        let expected = "expected a date, an RFC 3339 instant or seconds since 1970";
        return Err(CliError::Usage(format!("--time {time}: {expected}")));
    }
    let point = Point::of(&evidence, &commit.unwrap_or_default(), &time);
    write(&verb.file, &point)
}

fn write(path: &Path, point: &Point) -> Result<(), CliError> {
    let failed = |source| CliError::Output {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    check_history(path)?;
    let file = OpenOptions::new().append(true).create(true).open(path);
    history::append(point, file.map_err(failed)?).map_err(failed)
}

/// Refuses to add a record to a file that holds something else.
fn check_history(path: &Path) -> Result<(), CliError> {
    if !path.exists() {
        return Ok(());
    }
    let name = path.to_string_lossy();
    let file = File::open(path).map_err(|error| CliError::input(&name, &error, EXPECTED))?;
    let read = history::read(BufReader::new(file));
    let (points, anomalies) = read.map_err(|error| CliError::input(&name, &error, EXPECTED))?;
    if points.is_empty() && !anomalies.is_empty() {
        let reason = "it holds no record of a history, and none is added to it";
        return Err(CliError::input(&name, &reason, EXPECTED));
    }
    Ok(())
}

/// What a file must be that records are added to.
const EXPECTED: &str = "a history that `golden history` wrote, or no file";

fn place(points: &[Point], trend: &Trend, at: usize) -> String {
    let point = trend.points.get(at).and_then(|at| points.get(*at));
    point.map_or_else(String::new, |point| {
        format!("{} {}", point.commit, point.time).trim().to_owned()
    })
}

fn cause_words(cause: &Cause) -> String {
    match cause {
        Cause::Key => "shape".to_owned(),
        Cause::Machine => "machine".to_owned(),
        Cause::Commits(commits) => commits.join(", "),
    }
}

/// The same in few words.
fn cause_in_short(cause: &Cause) -> String {
    match cause {
        Cause::Commits(commits) if commits.len() > 3 => {
            let (first, last) = (commits.first(), commits.last());
            let ends: Vec<&str> = first.into_iter().chain(last).map(String::as_str).collect();
            format!("{} ({} commits)", ends.join(" to "), commits.len())
        }
        other => cause_words(other),
    }
}

fn as_json(points: &[Point], trends: &[Trend]) -> serde_json::Value {
    let change = |trend: &Trend, found: &history::PhaseChange| {
        json!({
            "at": place(points, trend, found.change.at),
            "not_before": place(points, trend, found.change.low),
            "not_after": place(points, trend, found.change.high),
            "ratio": found.change.shift.exp(),
            "confirmed": found.change.confirmed,
            "cause": cause_words(&found.cause),
        })
    };
    let phase = |trend: &Trend| {
        let changes: Vec<_> = trend
            .changes
            .iter()
            .map(|found| change(trend, found))
            .collect();
        json!({"phase": trend.phase, "points": trend.points.len(), "changes": changes})
    };
    let phases: Vec<_> = trends.iter().map(phase).collect();
    json!({"schema": "cuzk.history/1", "points": points.len(), "phases": phases})
}

fn as_text(points: &[Point], trends: &[Trend]) -> String {
    let mut text = format!("{} points, {} phases\n", points.len(), trends.len());
    for trend in trends {
        let (phase, count) = (&trend.phase, trend.points.len());
        put(&mut text, format_args!("\n{phase}, {count} points\n"));
        if trend.changes.is_empty() {
            text.push_str("  no change of level found\n");
        }
        for found in &trend.changes {
            let shift = if found.cause == Cause::Key {
                "other work".to_owned()
            } else {
                format!("{:+.1} %", found.change.shift.exp_m1() * 100.0)
            };
            let at = place(points, trend, found.change.at);
            let doubt = if found.change.confirmed {
                ""
            } else {
                ", not confirmed yet"
            };
            let cause = cause_in_short(&found.cause);
            put(
                &mut text,
                format_args!("  {shift:>10}  {at}  {cause}{doubt}\n"),
            );
        }
    }
    text
}
