//! What replay adds to a diagnosis: findings of every run whose schedule can be had, and the
//! minimal schedules that show them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use replay::check::shell_word;
use replay::lifecycle::Given;
use replay::log::{OfRun, replay_of, schedule_of};
use replay::shrink::shrink;
use replay::vram::Profile;
use tracefmt::finding::{Code, Finding, Severity};
use tracefmt::run::{Input, Run, Trace};

use crate::error::CliError;
use crate::output;

/// Runs with more prove calls are not replayed by themselves: every failed allocation is a
/// finding, and a report of a hundred thousand of them helps nobody.
const CALLS_MAX: usize = 2_000;

/// The findings of all runs. With `repro_dir`, the core of the schedule behind each kind of
/// failure is written there, and the finding's `reproduce` names it.
///
/// # Errors
///
/// When a schedule cannot be written.
pub(super) fn findings(trace: &Trace, repro_dir: Option<&Path>) -> Result<Vec<Finding>, CliError> {
    let mut all = Vec::new();
    for run in &trace.runs {
        let Some(path) = trace
            .inputs
            .get(run.first.input() as usize)
            .map(|input| &input.path)
        else {
            continue;
        };
        if run.calls.len() > CALLS_MAX {
            let (index, calls) = (run.index, run.calls.len());
            let how = format!("cuzk replay --run {index} {}", shell_word(path));
            output::note(&format!(
                "run {index} has {calls} prove calls, not replayed: {how}"
            ));
            continue;
        }
        if let Some(of) = schedule_of(run, &Given::default()) {
            let mut found = of_run(run, &of, path, repro_dir)?;
            let input = trace.inputs.get(run.first.input() as usize);
            if let Some(command) = input.and_then(again).filter(|_| repro_dir.is_none()) {
                for finding in found
                    .iter_mut()
                    .filter(|finding| finding.reproduce.is_some())
                {
                    finding.reproduce = Some(command.clone());
                }
            }
            all.extend(found);
        }
    }
    Ok(all)
}

/// What shows a finding of joined files again: no file holds their lines as they were read, so the
/// schedule is written first. None for an input that is one file.
fn again(input: &Input) -> Option<String> {
    let mut files: Vec<&str> = Vec::new();
    for piece in &input.pieces {
        if !files.contains(&piece.path.as_str()) {
            files.push(&piece.path);
        }
    }
    let words: Vec<String> = files.into_iter().map(shell_word).collect();
    (!words.is_empty()).then(|| format!("cuzk diagnose --repro-dir repro {}", words.join(" ")))
}

fn of_run(
    run: &Run,
    of: &OfRun,
    path: &str,
    repro_dir: Option<&Path>,
) -> Result<Vec<Finding>, CliError> {
    // A driver that a recorded schedule names and nobody knows cannot be replayed.
    let Ok(report) = replay_of(run, of, path, None, false) else {
        return Ok(Vec::new());
    };
    let mut findings = report.findings;
    let commands = findings
        .iter_mut()
        .filter_map(|finding| finding.reproduce.as_mut());
    for command in commands.filter(|_| run.index > 0) {
        output::put(command, format_args!(" --run {}", run.index));
    }
    if let Some(dir) = repro_dir {
        reproduce(run, of, dir, &mut findings)?;
    } else if findings.iter().any(|finding| finding.reproduce.is_none()) {
        output::note("the input is a pipe: --repro-dir DIR writes schedules to replay it again");
    }
    Ok(findings)
}

/// Writes one minimal schedule for each code that is at least a warning.
fn reproduce(run: &Run, of: &OfRun, dir: &Path, findings: &mut [Finding]) -> Result<(), CliError> {
    let failed = |source| CliError::Output {
        path: dir.to_owned(),
        source,
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let Ok(driver) = Profile::named(&of.schedule.header.driver) else {
        return Ok(());
    };
    let write = |code: Code| -> Result<Option<String>, CliError> {
        let Some(core) = shrink(&of.schedule, code, driver) else {
            return Ok(None);
        };
        let file = dir.join(format!("run{}-{code}.jsonl", run.index));
        output::file(&file, &core.write(Vec::new()).map_err(failed)?)?;
        let file = file.to_string_lossy();
        Ok(Some(format!("cuzk replay {}", shell_word(&file))))
    };
    let mut written: BTreeMap<Code, Option<String>> = BTreeMap::new();
    for finding in findings
        .iter_mut()
        .filter(|finding| finding.severity > Severity::Info)
    {
        let command = match written.entry(finding.code) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(write(finding.code)?),
        };
        if let Some(command) = command {
            finding.reproduce = Some(command.clone());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tracefmt::pieces::Piece;

    use super::*;

    #[test]
    fn joined_files_are_named_one_by_one() {
        let piece = |path: &str, first| Piece {
            path: path.to_owned(),
            first,
            line: 1,
        };
        let mut input = Input {
            path: "a.log + b c.log".to_owned(),
            ..Input::default()
        };
        assert_eq!(again(&input), None, "one file is replayed as it is");
        input.pieces = vec![piece("a.log", 1), piece("b c.log", 9), piece("a.log", 12)];
        let wanted = "cuzk diagnose --repro-dir repro a.log 'b c.log'";
        assert_eq!(again(&input).as_deref(), Some(wanted));
    }
}
