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
    let page = analyze::report::html(&analyze::report::Report {
        trace: &logs.trace,
        analysis,
        diagnosis,
        figures: &[],
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
