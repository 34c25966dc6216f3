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

/// A length of time in the unit that shows something of it.
fn length(us: f64) -> String {
    if us >= 10e6 || us <= 0.0 {
        format!("{:.1} s", us / 1e6)
    } else if us >= 1e6 {
        format!("{:.2} s", us / 1e6)
    } else if us >= 1e3 {
        format!("{:.1} ms", us / 1e3)
    } else {
        format!("{us:.0} us")
    }
}

/// Median of a list; the list is reordered.
fn median(values: &mut [f64]) -> Option<f64> {
    golden::stats::median(values)
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn a_length_shows_something() {
        let said = [30e6, 4.7e6, 4_700.0, 100.0, 0.0].map(length);
        assert_eq!(said, ["30.0 s", "4.70 s", "4.7 ms", "100 us", "0.0 s"]);
    }
}
