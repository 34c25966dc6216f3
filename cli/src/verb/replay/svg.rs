//! The picture of device memory that `cuzk replay --svg` writes.

use std::path::Path;

use replay::report::Report;
use replay::vram::Profile;

use super::source::Of;
use crate::error::CliError;

/// Writes the picture and says where.
///
/// # Errors
///
/// When it cannot be drawn or written, or this binary has no plots.
#[cfg(feature = "plots")]
pub(super) fn write(
    path: &Path,
    of: &Of,
    report: &Report,
    driver: Profile,
) -> Result<(), CliError> {
    use analyze::plot::{Style, svg_of, vram_scene};

    let asked = report.what_if.first().map(|one| one.change.as_str());
    let found = report
        .findings
        .iter()
        .filter_map(|finding| finding.what_if.as_ref());
    let change = asked.or(found.map(|what_if| what_if.change.as_str()).next());
    let lanes = analyze::vram::lanes(&of.schedule, of.times_ms.as_deref(), driver, change);
    let style = Style::default();
    let picture = svg_of(&vram_scene(&lanes, style), style.theme);
    let picture = picture.map_err(|error| CliError::Internal(error.to_string()))?;
    crate::output::file(path, picture.as_bytes())?;
    crate::output::note(&format!("wrote {}", path.display()));
    Ok(())
}

/// Says that this binary cannot.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "plots"))]
pub(super) fn write(_: &Path, _: &Of, _: &Report, _: Profile) -> Result<(), CliError> {
    let how = "this cuzk was built without plots; build with --features plots for --svg";
    Err(CliError::Usage(how.to_owned()))
}
