//! What a scan leaves behind beside the lines it delivered.

use super::{Ledger, Wrapping};
use crate::input::Damage;

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Lines and bytes by class.
    pub ledger: Ledger,
    /// Lines put together from fragments, by the line of their first fragment.
    pub repaired: Places,
    /// Lines of which only fragments are left, by the line of their first fragment.
    pub lost: Places,
    /// Lines longer than [`super::LINE_MAX`], counted and not kept.
    pub overlong: Places,
    /// The prefixes that were found, in the order of their first appearance.
    pub wrappings: Vec<Wrapping>,
    /// The input does not end with a line end.
    pub cut_end: bool,
    /// What is wrong with the archive that it was unpacked from; who opened the input knows.
    pub damage: Option<Damage>,
}

/// Physical line numbers, of which at most [`Places::KEPT_MAX`] are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    count: u64,
    first: Vec<u64>,
}

impl Places {
    /// How many line numbers are kept.
    pub const KEPT_MAX: usize = 65_536;

    /// How many there are.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The first of them, in the order in which they were settled.
    pub fn lines(&self) -> &[u64] {
        &self.first
    }

    pub(crate) fn push(&mut self, line: u64) {
        self.count += 1;
        if self.first.len() < Self::KEPT_MAX {
            self.first.push(line);
        }
    }
}
