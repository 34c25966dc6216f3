//! The report of a benchmark at once: its trace and its own output, read as any other logs.

use std::path::Path;

use crate::error::CliError;

/// Writes the page.
///
/// # Errors
/// When the trace cannot be read back or the page cannot be drawn or written.
#[cfg(feature = "plots")]
pub(super) fn write(
    html: &Path,
    (trace, kept): (Option<&Path>, bool),
    printed: &str,
) -> Result<(), CliError> {
    use std::io::Write as _;

    let Some(trace) = trace else { return Ok(()) };
    let failed = |source| CliError::Output {
        path: std::env::temp_dir(),
        source,
    };
    let mut bench = tempfile::NamedTempFile::new().map_err(failed)?;
    bench.write_all(printed.as_bytes()).map_err(failed)?;
    let names = [trace, bench.path()].map(|path| path.to_string_lossy().into_owned());
    let mut sources = crate::inputs::open_all(&names)?;
    // Nobody finds the files of the moment by their names.
    let told = [
        (!kept).then_some("trace of the batch (not kept)"),
        Some("output of the batch"),
    ];
    for (source, name) in sources.iter_mut().zip(told) {
        source.name = name.map_or_else(|| source.name.clone(), str::to_owned);
    }
    let logs = crate::reading::read(&sources)?;
    let analysis = analyze::analyze(&logs.trace, &analyze::Options::default());
    let mut diagnosis = crate::verb::diagnose::of(&logs, &analysis, &sources)?;
    for finding in diagnosis.findings.iter_mut().filter(|_| !kept) {
        finding.reproduce = None;
    }
    crate::verb::report::write(html, &logs, &analysis, &diagnosis)
}

/// Says that this binary cannot.
///
/// # Errors
/// Always.
#[cfg(not(feature = "plots"))]
pub(super) fn write(_: &Path, _: (Option<&Path>, bool), _: &str) -> Result<(), CliError> {
    let how = "this cuzk was built without plots; build with --features plots for --html";
    Err(CliError::Usage(how.to_owned()))
}
