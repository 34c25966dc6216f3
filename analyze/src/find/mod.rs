//! Findings about performance: idle time beyond the floor with its cause, and CPU phases that
//! concurrency inflates. Regressions against another run are not found here.

mod contention;
mod idle;

pub use contention::contention;
pub use idle::idle;

use tracefmt::finding::Evidence;
use tracefmt::run::{LineRef, Run, Trace};

use crate::interval::Reconstruction;

/// What the finders look at.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The whole trace, for the names of the inputs.
    pub trace: &'a Trace,
    /// The run.
    pub run: &'a Run,
    /// Its calls in time.
    pub all: &'a Reconstruction,
}

impl Sight<'_> {
    /// A line as evidence; its text is not at hand here, so it stays empty.
    fn evidence(&self, line: LineRef) -> Option<Evidence> {
        if line.line == 0 {
            return None;
        }
        let input = self.trace.inputs.get(line.input as usize)?;
        Some(Evidence {
            path: input.path.clone(),
            line: u64::from(line.line),
            text: String::new(),
        })
    }
}

/// Median of a list; the list is reordered.
fn median(values: &mut [f64]) -> Option<f64> {
    golden::stats::median(values)
}
