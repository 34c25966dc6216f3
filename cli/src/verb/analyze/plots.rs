//! The pictures of an analysis as files.

use std::path::Path;

use analyze::model::Analysis;
use tracefmt::run::Trace;

use crate::error::CliError;

/// Pixels of a PNG for each pixel of the layout.
#[cfg(feature = "plots")]
const PNG_SCALE: u32 = 2;

/// Writes all pictures of all runs into the folders named.
///
/// # Errors
///
/// When a picture cannot be drawn or written, or this binary has no plots.
#[cfg(feature = "plots")]
pub(super) fn write(
    svg: Option<&Path>,
    png: Option<&Path>,
    trace: &Trace,
    analysis: &Analysis,
) -> Result<(), CliError> {
    use analyze::plot::{self, Kind, Style};
    let drawn = |error: analyze::error::AnalyzeError| CliError::Internal(error.to_string());
    for dir in [svg, png].into_iter().flatten() {
        let failed = |source| CliError::Output {
            path: dir.to_owned(),
            source,
        };
        std::fs::create_dir_all(dir).map_err(failed)?;
    }
    for run in &trace.runs {
        for kind in Kind::ALL {
            let suffix = if trace.runs.len() > 1 {
                format!("-{}", run.index)
            } else {
                String::new()
            };
            let name = format!("{}{suffix}", kind.as_str());
            if let Some(dir) = svg {
                let picture = plot::svg(kind, run, analysis, Style::default()).map_err(drawn)?;
                crate::output::file(&dir.join(format!("{name}.svg")), picture.as_bytes())?;
            }
            if let Some(dir) = png {
                let picture =
                    plot::png(kind, (run, analysis), Style::default(), PNG_SCALE).map_err(drawn)?;
                crate::output::file(&dir.join(format!("{name}.png")), &picture)?;
            }
        }
    }
    Ok(())
}

/// Says that this binary cannot, when asked to.
///
/// # Errors
///
/// When pictures are wanted.
#[cfg(not(feature = "plots"))]
pub(super) fn write(
    svg: Option<&Path>,
    png: Option<&Path>,
    _: &Trace,
    _: &Analysis,
) -> Result<(), CliError> {
    let how = "this cuzk was built without plots; build with --features plots for --svg and --png";
    if svg.or(png).is_some() {
        Err(CliError::Usage(how.to_owned()))
    } else {
        Ok(())
    }
}
