//! What one poll saw: a line a check, and whether a benchmark may start.

use super::check::{Check, State};

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Which.
    pub check: Check,
    /// How it stands.
    pub state: State,
    /// What was seen, and what would mend it.
    pub says: String,
}

/// All checks at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// When, in the caller's milliseconds.
    pub at_ms: u64,
    /// One line a check, in the order of [`Check::ALL`].
    pub lines: Vec<Line>,
}

impl Report {
    /// Whether every check that was asked for holds.
    pub fn is_ready(&self) -> bool {
        self.lines
            .iter()
            .all(|line| matches!(line.state, State::Ready | State::Skipped))
    }

    /// Whether waiting longer is of no use.
    pub fn is_hopeless(&self) -> bool {
        self.lines.iter().any(|line| line.state == State::Failed)
    }

    /// The checks that do not hold yet.
    pub fn open(&self) -> impl Iterator<Item = &Line> {
        self.lines
            .iter()
            .filter(|line| matches!(line.state, State::Waiting | State::Failed))
    }
}
