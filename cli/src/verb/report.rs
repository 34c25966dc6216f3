//! The HTML page and the pictures, for the verbs that offer them.

use std::path::Path;

use analyze::diagnose::Diagnosis;
use analyze::model::Analysis;

use crate::error::CliError;
use crate::reading::Logs;

/// Writes the page and says where.
///
/// # Errors
///
/// When it cannot be drawn or written, or this binary has no plots.
#[cfg(feature = "plots")]
pub(super) fn write(
    path: &Path,
    logs: &Logs,
    analysis: &Analysis,
    diagnosis: &Diagnosis,
) -> Result<(), CliError> {
    let ledgers: Vec<analyze::report::Ledger> = logs
        .scans
        .iter()
        .map(|scan| (&scan.ledger).into())
        .collect();
    let memory = memory(logs, diagnosis).map_err(|error| CliError::Internal(error.to_string()))?;
    let page = analyze::report::html(&analyze::report::Report {
        trace: &logs.trace,
        analysis,
        diagnosis,
        figures: &memory,
        ledgers: &ledgers,
    })
    .map_err(|error| CliError::Internal(error.to_string()))?;
    crate::output::file(path, page.as_bytes())?;
    crate::output::note(&format!(
        "wrote {} ({} KiB)",
        path.display(),
        page.len() / 1024
    ));
    Ok(())
}

/// Prove calls of a run up to which its memory is drawn.
#[cfg(feature = "plots")]
const CALLS_MAX: usize = 2_000;

/// Device memory of the first run, beside it under the changed rule that its root names.
#[cfg(feature = "plots")]
fn memory(
    logs: &Logs,
    diagnosis: &Diagnosis,
) -> Result<Vec<analyze::report::Figure>, analyze::error::AnalyzeError> {
    use replay::lifecycle::Given;

    let run = logs.trace.runs.first();
    let run = run.filter(|run| run.calls.len() <= CALLS_MAX);
    let of = run.and_then(|run| Some((run, replay::log::schedule_of(run, &Given::default())?)));
    let Some((run, of)) = of else {
        return Ok(Vec::new());
    };
    let Ok(driver) = replay::vram::Profile::named(&of.schedule.header.driver) else {
        return Ok(Vec::new());
    };
    let times = analyze::vram::times(run, &of.refs);
    let mut ours = diagnosis
        .findings
        .iter()
        .filter(|finding| finding.run.unwrap_or(0) == 0);
    let what_if = ours.find_map(|finding| finding.what_if.as_ref());
    let change = what_if.map(|what_if| what_if.change.as_str());
    let lanes = analyze::vram::lanes(&of.schedule, Some(&times), driver, change);
    if lanes.is_empty() {
        return Ok(Vec::new());
    }
    let how = of.profile.map_or_else(
        || "From the memory events of the log.".to_owned(),
        |profile| format!("Inferred: the lifecycle of {profile}, in the order that the log shows."),
    );
    analyze::report::vram(&lanes, &how).map(|figure| vec![figure])
}

/// Says that this binary cannot.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "plots"))]
pub(super) fn write(_: &Path, _: &Logs, _: &Analysis, _: &Diagnosis) -> Result<(), CliError> {
    let how = "this cuzk was built without plots; build with --features plots for --html";
    Err(CliError::Usage(how.to_owned()))
}
