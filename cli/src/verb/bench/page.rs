//! The report of a benchmark at once: its trace and its own output, read as any other logs.

use std::io::Write as _;
use std::path::Path;

use crate::error::CliError;

/// Writes the page.
///
/// # Errors
/// When the trace cannot be read back or the page cannot be drawn or written.
#[cfg(feature = "plots")]
pub(super) fn write(html: &Path, trace: Option<&Path>, printed: &str) -> Result<(), CliError> {
    let Some(trace) = trace else { return Ok(()) };
    let failed = |source| CliError::Output {
        path: std::env::temp_dir(),
        source,
    };
    let mut bench = tempfile::NamedTempFile::new().map_err(failed)?;
    bench.write_all(printed.as_bytes()).map_err(failed)?;
    let names = [trace, bench.path()].map(|path| path.to_string_lossy().into_owned());
    let sources = crate::inputs::open_all(&names)?;
    let logs = crate::reading::read(&sources)?;
    let analysis = analyze::analyze(&logs.trace, &analyze::Options::default());
    let diagnosis = crate::verb::diagnose::of(&logs, &analysis, &sources)?;
    crate::verb::report::write(html, &logs, &analysis, &diagnosis)
}

/// Says that this binary cannot.
///
/// # Errors
/// Always.
#[cfg(not(feature = "plots"))]
pub(super) fn write(_: &Path, _: Option<&Path>, _: &str) -> Result<(), CliError> {
    let how = "this cuzk was built without plots; build with --features plots for --html";
    Err(CliError::Usage(how.to_owned()))
}
