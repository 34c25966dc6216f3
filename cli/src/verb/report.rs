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
    let memory =
        memory(logs, analysis, diagnosis).map_err(|error| CliError::Internal(error.to_string()))?;
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

/// Runs whose memory is drawn.
#[cfg(feature = "plots")]
const RUNS_MAX: usize = 8;

/// Device memory of every run whose schedule can be had, beside it under the changed rule that
/// the findings of the run name.
#[cfg(feature = "plots")]
fn memory(
    logs: &Logs,
    analysis: &Analysis,
    diagnosis: &Diagnosis,
) -> Result<Vec<analyze::report::Figure>, analyze::error::AnalyzeError> {
    let runs = &logs.trace.runs;
    let small = runs.iter().filter(|run| run.calls.len() <= CALLS_MAX);
    let mut figures = Vec::new();
    for (drawn, run) in small.enumerate() {
        if drawn == RUNS_MAX {
            let all = runs.len();
            crate::output::note(&format!(
                "the page shows device memory of {RUNS_MAX} of {all} runs; \
                 cuzk replay --run N --svg FILE draws any"
            ));
            break;
        }
        let name = (runs.len() > 1).then(|| format!("Run {} of {}. ", run.index, runs.len()));
        let name = name.unwrap_or_default();
        figures.extend(memory_of(run, &name, (analysis, diagnosis))?);
    }
    Ok(figures)
}

/// Device memory of a run; `name` tells it from others.
#[cfg(feature = "plots")]
fn memory_of(
    run: &tracefmt::run::Run,
    name: &str,
    (analysis, diagnosis): (&Analysis, &Diagnosis),
) -> Result<Vec<analyze::report::Figure>, analyze::error::AnalyzeError> {
    let Some(of) = replay::log::schedule_of(run, &replay::lifecycle::Given::default()) else {
        return Ok(Vec::new());
    };
    let Ok(driver) = replay::vram::Profile::named(&of.schedule.header.driver) else {
        return Ok(Vec::new());
    };
    let times = analyze::vram::times(run, &of.refs);
    let ours = diagnosis.findings.iter();
    let mut ours = ours.filter(|finding| finding.run.unwrap_or(0) == run.index);
    let what_if = ours.find_map(|finding| finding.what_if.as_ref());
    let change = what_if.map(|what_if| what_if.change.as_str());
    let mut lanes = analyze::vram::lanes(&of.schedule, Some(&times), driver, change);
    let span = analyze::lanes::extent(run, analysis);
    for lane in &mut lanes {
        lane.span = span;
    }
    if lanes.is_empty() {
        return Ok(Vec::new());
    }
    let how = of.profile.map_or_else(
        || "From the memory events of the log.".to_owned(),
        |profile| format!("Inferred: the lifecycle of {profile}, in the order that the log shows."),
    );
    let how = format!("{name}{how}");
    let whole = analyze::report::vram(&lanes, &how)?;
    // Lines of an old log that carry no time share one: its steps are told apart by number.
    let lanes = match of.profile {
        Some(_) => analyze::vram::lanes(&of.schedule, None, driver, change),
        None => lanes,
    };
    let piece = analyze::report::vram_failure(&lanes, &how)?;
    Ok([Some(whole), piece].into_iter().flatten().collect())
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
