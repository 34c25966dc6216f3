//! Findings about performance: idle time beyond the floor with its cause, CPU phases that
//! concurrency inflates, partitions that wait while later ones of their job go before them.
//! Regressions against another run are not found here.

mod contention;
mod idle;
mod order;

pub use contention::contention;
pub use idle::idle;
pub use order::out_of_order;

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
        let (path, number) = self.trace.place(line)?;
        Some(Evidence {
            path: path.to_owned(),
            line: u64::from(number),
            text: String::new(),
        })
    }
}

/// Median of a list; the list is reordered.
fn median(values: &mut [f64]) -> Option<f64> {
    golden::stats::median(values)
}
