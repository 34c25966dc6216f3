//! The pictures of a run, each drawn for three widths of screen.

use maud::{Markup, PreEscaped, html};

use super::Figure;
use crate::error::AnalyzeError;
use crate::model::Analysis;
use crate::plot::{Kind, Style, Theme, embed};
use tracefmt::run::Run;

/// Width of a picture beside the page's margins on a desktop.
const WIDE: u32 = 1080;
/// On a tablet, or in half a window.
const MEDIUM: u32 = 680;
/// On a telephone.
const NARROW: u32 = 350;

/// All kinds of plot, in order of report.
pub(super) fn of_run(run: &Run, analysis: &Analysis) -> Result<Vec<Figure>, AnalyzeError> {
    let draw = |kind: Kind, width: u32| {
        let style = Style {
            width,
            theme: Theme::Auto,
            titled: false,
        };
        embed(kind, run, analysis, style)
    };
    let figure = |kind: Kind| {
        Ok(Figure {
            title: kind.title().to_owned(),
            caption: caption(kind).to_owned(),
            svg: draw(kind, WIDE)?,
            smaller: Some([draw(kind, MEDIUM)?, draw(kind, NARROW)?]),
        })
    };
    Kind::ALL.into_iter().map(figure).collect()
}

const fn caption(kind: Kind) -> &'static str {
    match kind {
        Kind::Waterfall => {
            "Each bar of synthesis is one partition, named by its number; the shade changes from \
             job to job. A worker's row nests the prove call, its tenure of the GPU lock and the \
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
