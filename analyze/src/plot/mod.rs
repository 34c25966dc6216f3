//! Pictures of a run: waterfall, phase distributions, GPU utilisation, synthesis and queue depth.
//!
//! Each plot is a pure function to a [`Scene`], a list of shapes in pixels with roles instead of
//! colours; one painter, generic over the drawing backend, makes SVG and PNG of it. So the
//! checks (labels inside the picture, no two on top of each other, every number finite) read the
//! scene and hold for both. Nothing is computed here that the analysis does not already say,
//! apart from window averages for drawing.

mod axis;
mod bytes;
mod depth;
mod font;
mod legend;
mod memory;
mod paint;
mod palette;
mod phases;
mod png;
mod ratio;
mod scene;
mod strip;
mod svg;
#[cfg(test)]
mod testing;
pub mod trend;
mod utilisation;
mod verdict;
mod vram;
mod waterfall;

pub(crate) use axis::duration;
pub use memory::Memory;
pub use palette::{Role, Theme, cause_words, css};
pub use scene::{Anchor, Scene, Shape, Zone};
pub use verdict::{Checked, verdict};

use crate::error::AnalyzeError;
use crate::model::Analysis;
use tracefmt::run::Run;

/// What can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Lanes of synthesis, queue, workers and GPUs over time.
    Waterfall,
    /// Distribution of each phase's durations.
    Phases,
    /// Utilisation of each GPU over time, three ways.
    Utilisation,
    /// Partitions in synthesis and in the queue over time.
    Depth,
}

impl Kind {
    /// All kinds in order of report.
    pub const ALL: [Self; 4] = [
        Self::Waterfall,
        Self::Utilisation,
        Self::Depth,
        Self::Phases,
    ];

    /// Name in file names and options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waterfall => "waterfall",
            Self::Phases => "phases",
            Self::Utilisation => "utilisation",
            Self::Depth => "depth",
        }
    }

    /// Title of the picture.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Waterfall => "Waterfall of partitions",
            Self::Phases => "Durations by phase",
            Self::Utilisation => "GPU utilisation over time",
            Self::Depth => "Synthesis and queue over time",
        }
    }
}

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Width in pixels; at least [`Style::WIDTH_MIN`] is used. The height follows from the data.
    pub width: u32,
    /// Colours.
    pub theme: Theme,
    /// Whether the title stands inside the picture.
    pub titled: bool,
}

impl Style {
    /// The narrowest picture, for a telephone held upright.
    pub const WIDTH_MIN: u32 = 320;
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 1120,
            theme: Theme::Auto,
            titled: true,
        }
    }
}

/// The shapes of a plot of one run.
pub fn scene(kind: Kind, run: &Run, analysis: &Analysis, style: Style) -> Scene {
    let mut scene = scene_of(style, &title(kind, run));
    match kind {
        Kind::Waterfall => waterfall::draw(&mut scene, run, analysis),
        Kind::Phases => phases::draw(&mut scene, run, analysis),
        Kind::Utilisation => utilisation::draw(&mut scene, run, analysis),
        Kind::Depth => depth::draw(&mut scene, run, analysis),
    }
    scene
}

/// An empty picture with its title, where the style wants one.
fn scene_of(style: Style, title: &str) -> Scene {
    let width = f64::from(style.width.clamp(Style::WIDTH_MIN, 20_000));
    let mut scene = Scene::new(width);
    if style.titled {
        scene.title(title);
    }
    scene
}

/// Any scene as a PNG file with `scale` pixels for each pixel of the layout (1 to 4).
///
/// # Errors
/// As [`png()`].
pub fn png_of(scene: &Scene, theme: Theme, scale: u32) -> Result<Vec<u8>, AnalyzeError> {
    png::render(scene, theme, scale)
}

/// The shapes of a plot of device memory over a stretch of time in milliseconds.
pub fn memory_scene(cards: &[Memory], span_ms: (f64, f64), style: Style) -> Scene {
    let mut scene = scene_of(style, "Device memory in use");
    memory::draw(&mut scene, cards, span_ms);
    scene
}

/// The shapes of a plot of device memory by buffer and worker.
pub fn vram_scene(lanes: &[crate::vram::Lane], style: Style) -> Scene {
    let width = f64::from(style.width.clamp(Style::WIDTH_MIN, 20_000));
    let mut scene = Scene::new(width);
    if style.titled {
        scene.title("Device memory by buffer and worker");
    }
    vram::draw(&mut scene, lanes);
    scene
}

/// Any scene as a self-contained SVG document.
///
/// # Errors
/// [`AnalyzeError::Draw`] when the backend fails; it has no reason to.
pub fn svg_of(scene: &Scene, theme: Theme) -> Result<String, AnalyzeError> {
    svg::render(scene, theme)
}

/// Any scene as an `svg` element for a page that declares the colours of [`css`].
///
/// # Errors
/// [`AnalyzeError::Draw`] when the backend fails; it has no reason to.
pub fn embed_of(scene: &Scene) -> Result<String, AnalyzeError> {
    svg::embed(scene)
}

/// A plot of one run as a self-contained SVG document.
///
/// # Errors
/// [`AnalyzeError::Draw`] when the backend fails; it has no reason to.
pub fn svg(
    kind: Kind,
    run: &Run,
    analysis: &Analysis,
    style: Style,
) -> Result<String, AnalyzeError> {
    svg::render(&scene(kind, run, analysis, style), style.theme)
}

/// A plot of one run as a PNG file with `scale` pixels for each pixel of the layout (1 to 4).
/// [`Theme::Auto`] is drawn light.
///
/// # Errors
/// [`AnalyzeError::Draw`] when the picture would be larger than 256 megapixels, or cannot be
/// encoded.
pub fn png(
    kind: Kind,
    (run, analysis): (&Run, &Analysis),
    style: Style,
    scale: u32,
) -> Result<Vec<u8>, AnalyzeError> {
    png::render(&scene(kind, run, analysis, style), style.theme, scale)
}

fn title(kind: Kind, run: &Run) -> String {
    if run.index == 0 {
        return kind.title().to_owned();
    }
    format!("{}, run {}", kind.title(), run.index)
}
