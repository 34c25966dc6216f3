//! One self-contained HTML page about a run: the verdict and its proof on top, then what was
//! found, where the GPU time went, pictures, tables, and what the inputs held.
//!
//! The page needs no network and no script; a small inline script only makes hover texts
//! quicker and opens what is folded before printing. All text from logs is escaped by the
//! template engine. Nothing is decided here: verdict and findings are those of the diagnosis.

mod figures;
mod findings;
mod page;
mod tables;
mod trend;
mod verdict;

pub use trend::history_html;
pub use verdict::verdict_html;

pub use figures::{vram, vram_failure};

use crate::diagnose::Diagnosis;
use crate::error::AnalyzeError;
use crate::model::Analysis;
use tracefmt::run::Trace;
use tracefmt::scan;

/// Everything that the page shows.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The inputs and runs.
    pub trace: &'a Trace,
    /// GPU time, phases, critical path.
    pub analysis: &'a Analysis,
    /// Verdict and findings.
    pub diagnosis: &'a Diagnosis,
    /// Further pictures, shown behind the waterfall, such as device memory over time.
    pub figures: &'a [Figure],
    /// What each input consists of, one entry an input in the order of the trace.
    pub ledgers: &'a [Ledger],
}

/// A picture made elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Heading.
    pub title: String,
    /// What there is to see.
    pub caption: String,
    /// An `svg` element; its colours may name the variables of [`crate::plot::Role`].
    pub svg: String,
    /// The same drawn for screens of 641 to 979 pixels, and for narrower ones, so that labels
    /// keep their size; without them the wide one can be scrolled.
    pub smaller: Option<[String; 2]>,
}

/// The bytes of an input by class of line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Class, lines, bytes; the bytes sum to the size of the input.
    pub classes: Vec<(String, u64, u64)>,
}

impl From<&scan::Ledger> for Ledger {
    fn from(ledger: &scan::Ledger) -> Self {
        let classes = ledger.classes().filter(|(_, tally)| tally.bytes > 0);
        let classes = classes.map(|(class, tally)| {
            let name = class.as_str().to_owned();
            (name, tally.lines, tally.bytes)
        });
        Self {
            classes: classes.collect(),
        }
    }
}

/// Runs shown in full; further ones are named only.
const RUNS_MAX: usize = 6;

/// The page.
///
/// # Errors
/// [`AnalyzeError::Draw`] when a picture cannot be drawn.
pub fn html(report: &Report<'_>) -> Result<String, AnalyzeError> {
    let mut runs = Vec::new();
    for run in report.trace.runs.iter().take(RUNS_MAX) {
        runs.push(page::run(
            report,
            run,
            &figures::of_run(run, report.analysis)?,
        ));
    }
    Ok(page::whole(report, &runs).into_string())
}
