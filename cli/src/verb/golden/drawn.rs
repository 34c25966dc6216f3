//! A candidate and its golden as pictures, for `check` and `plot`.

use std::path::{Path, PathBuf};

use clap::Args;
use golden::snapshot::Snapshot;
use golden::verdict::Verdict;

use crate::error::CliError;

/// Where to draw a candidate beside its golden.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Pictures {
    /// Draw both sides with the verdict as an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The same as a PNG file
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// The same as one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Both sides of a check.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "plots"),
    expect(dead_code, reason = "only pictures look at the sides")
)]
pub(super) struct Sides<'s> {
    /// None where there is no golden at all.
    pub(super) golden: Option<&'s Snapshot>,
    pub(super) candidate: &'s Snapshot,
    pub(super) verdict: &'s Verdict,
}

impl Pictures {
    #[cfg(feature = "plots")]
    pub(super) const fn at(
        svg: Option<PathBuf>,
        png: Option<PathBuf>,
        html: Option<PathBuf>,
    ) -> Self {
        Self { svg, png, html }
    }

    /// What they are, and where they are to go.
    pub(super) fn written(&self) -> [(&'static str, Option<&Path>); 3] {
        [
            ("the picture", self.svg.as_deref()),
            ("the picture", self.png.as_deref()),
            ("the page", self.html.as_deref()),
        ]
    }

    fn wanted(&self) -> Vec<&Path> {
        let all = [&self.svg, &self.png, &self.html];
        all.into_iter().flatten().map(PathBuf::as_path).collect()
    }

    /// Refuses before the work what cannot be done after it.
    ///
    /// # Errors
    ///
    /// A picture is asked of a build that has none.
    pub(super) fn possible(&self) -> Result<(), CliError> {
        if cfg!(feature = "plots") || self.wanted().is_empty() {
            return Ok(());
        }
        let how = "this cuzk was built without plots; build with --features gate,plots to draw";
        Err(CliError::Usage(how.to_owned()))
    }

    /// Draws what is asked for.
    ///
    /// # Errors
    ///
    /// A picture that cannot be drawn or written.
    #[cfg(not(feature = "plots"))]
    pub(super) fn draw(&self, _: Sides<'_>, _: &str) -> Result<(), CliError> {
        self.possible()
    }

    /// Draws what is asked for; `title` names the candidate.
    ///
    /// # Errors
    ///
    /// A picture that cannot be drawn or written.
    #[cfg(feature = "plots")]
    pub(super) fn draw(&self, sides: Sides<'_>, title: &str) -> Result<(), CliError> {
        use analyze::plot::{Checked, Style, png_of, svg_of, verdict};

        use crate::output;

        /// Pixels of a PNG for each pixel of the layout.
        const PNG_SCALE: u32 = 2;

        if self.wanted().is_empty() {
            return Ok(());
        }
        let failed = |error: analyze::error::AnalyzeError| CliError::Internal(error.to_string());
        let nothing = Snapshot::default();
        let checked = Checked {
            golden: sides.golden.unwrap_or(&nothing),
            candidate: sides.candidate,
            verdict: sides.verdict,
        };
        let style = Style::default();
        let scene = verdict(&checked, style);
        if let Some(path) = &self.svg {
            let text = svg_of(&scene, style.theme).map_err(failed)?;
            output::file(path, text.as_bytes())?;
        }
        if let Some(path) = &self.png {
            let bytes = png_of(&scene, style.theme, PNG_SCALE).map_err(failed)?;
            output::file(path, &bytes)?;
        }
        if let Some(path) = &self.html {
            let page = analyze::report::verdict_html(&checked, title).map_err(failed)?;
            output::file(path, page.as_bytes())?;
        }
        for path in self.wanted() {
            output::note(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}
