//! The pictures of a run, each drawn for three widths of screen.

use maud::{Markup, PreEscaped, html};

use super::Figure;
use crate::error::AnalyzeError;
use crate::lanes::extent;
use crate::model::Analysis;
use crate::plot::{Kind, Memory, Scene, Style, Theme, embed_of, memory_scene, scene, vram_scene};
use crate::vram::{Lane, around_failure};
use tracefmt::run::Run;

/// Width of a picture beside the page's margins on a desktop.
const WIDE: u32 = 1080;
/// On a tablet, or in half a window.
const MEDIUM: u32 = 680;
/// On a telephone.
const NARROW: u32 = 350;

impl Figure {
    /// A figure of a picture that can be drawn at any width.
    ///
    /// # Errors
    /// [`AnalyzeError::Draw`] when the picture cannot be drawn.
    pub fn drawn(
        title: &str,
        caption: &str,
        draw: impl Fn(Style) -> Scene,
    ) -> Result<Self, AnalyzeError> {
        let at = |width| {
            embed_of(&draw(Style {
                width,
                theme: Theme::Auto,
                titled: false,
            }))
        };
        Ok(Self {
            title: title.to_owned(),
            caption: caption.to_owned(),
            svg: at(WIDE)?,
            smaller: Some([at(MEDIUM)?, at(NARROW)?]),
        })
    }
}

/// Device memory by buffer and worker of a replayed schedule; `how` says where the schedule
/// comes from.
///
/// # Errors
/// [`AnalyzeError::Draw`] when the picture cannot be drawn.
pub fn vram(lanes: &[Lane], how: &str) -> Result<Figure, AnalyzeError> {
    let caption = format!(
        "Bytes asked for and not yet given back, stacked by buffer; the share of worker 1 is \
         paler than that of worker 0. {how} A bar in the colour of failures reaches from what is \
         in use to what is wanted."
    );
    let draw = |style| vram_scene(lanes, style);
    Figure::drawn("Device memory by buffer and worker", &caption, draw)
}

/// The time around the first failing request of [`vram`]'s lanes, if something fails and the whole
/// is much longer.
///
/// # Errors
/// [`AnalyzeError::Draw`] when the picture cannot be drawn.
pub fn vram_failure(lanes: &[Lane], how: &str) -> Result<Option<Figure>, AnalyzeError> {
    let Some(piece) = around_failure(lanes) else {
        return Ok(None);
    };
    let caption = format!(
        "The same, from the time at which the memory that stands in the way begins to be taken. \
         {how}"
    );
    let draw = |style| vram_scene(&piece, style);
    Figure::drawn("Device memory around the failing request", &caption, draw).map(Some)
}

/// All kinds of plot, in order of report.
pub(super) fn of_run(run: &Run, analysis: &Analysis) -> Result<Vec<Figure>, AnalyzeError> {
    let mut out = Vec::new();
    for kind in Kind::ALL {
        let draw = |style| scene(kind, run, analysis, style);
        out.push(Figure::drawn(kind.title(), caption(kind), draw)?);
    }
    out.extend(recorded_memory(run, analysis)?);
    Ok(out)
}

/// Device memory, where the trace records it.
fn recorded_memory(run: &Run, analysis: &Analysis) -> Result<Option<Figure>, AnalyzeError> {
    let cards = run.config.gpus.iter();
    let cards: Vec<Memory> = cards
        .filter_map(|gpu| Memory::recorded(run, *gpu))
        .collect();
    let Some(span) = extent(run, analysis).filter(|_| !cards.is_empty()) else {
        return Ok(None);
    };
    let draw = |style| memory_scene(&cards, span, style);
    let caption = "Bytes asked for and not yet given back, as the trace records them; the driver \
                   rounds each request up.";
    Figure::drawn("Device memory in use", caption, draw).map(Some)
}

const fn caption(kind: Kind) -> &'static str {
    match kind {
        Kind::Waterfall => {
            "Each bar of synthesis is one partition, named by its number; the shade changes from \
             job to job. Where there are too many for bars, the height is how many there were at \
             once. A worker's row nests the prove call, its tenure of the GPU lock and the \
             kernels. The GPU's row shows kernels, and idle time in the colour of its cause."
        }
        Kind::Utilisation => {
            "Three answers to the question how busy a GPU was: a prove call was open, the lock \
             was held, kernels ran. The last one is what the card did."
        }
        Kind::Depth => {
            "How many partitions were in synthesis at once, and how many waited for a worker."
        }
        Kind::Phases => {
            "Every timing line by phase. An indented phase is a part of the one above it, so \
             their durations must not be added."
        }
    }
}

/// A picture with heading and caption.
pub(super) fn show(figure: &Figure) -> Markup {
    let class = if figure.smaller.is_some() {
        "wide"
    } else {
        "any"
    };
    html! {
        figure {
            h3 { (figure.title) }
            div class=(class) { (PreEscaped(&figure.svg)) }
            @if let Some([medium, narrow]) = &figure.smaller {
                div class="medium" { (PreEscaped(medium)) }
                div class="narrow" { (PreEscaped(narrow)) }
            }
            figcaption { (figure.caption) }
        }
    }
}
