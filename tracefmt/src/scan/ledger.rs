//! The byte ledger: every line and every byte in exactly one class.

use super::Class;

/// Lines and bytes of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Physical lines.
    pub lines: u64,
    /// Bytes, line ends and prefixes included.
    pub bytes: u64,
}

/// Lines and bytes by class.
///
/// A physical line counts once in `lines`: a line that holds a fragment and a whole line counts
/// for the class of the whole line. Its bytes are shared: the fragment's (with any prefix of the
/// line) go to [`Class::Torn`], the rest to the class of the whole line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    tallies: [Tally; Class::ALL.len()],
}

impl Ledger {
    /// Lines and bytes of a class.
    pub const fn of(&self, class: Class) -> Tally {
        self.tallies[class.index()]
    }

    /// Every class with its tally, in the order of [`Class::ALL`].
    pub fn classes(&self) -> impl Iterator<Item = (Class, Tally)> + '_ {
        Class::ALL.into_iter().zip(self.tallies)
    }

    /// All lines.
    pub fn lines(&self) -> u64 {
        self.tallies.iter().map(|t| t.lines).sum()
    }

    /// All bytes: the decompressed size of the input.
    pub fn bytes(&self) -> u64 {
        self.tallies.iter().map(|t| t.bytes).sum()
    }

    /// Counts a whole line.
    #[inline]
    pub(super) fn line(&mut self, class: Class, bytes: usize) {
        let tally = &mut self.tallies[class.index()];
        tally.lines += 1;
        tally.bytes += bytes as u64;
    }

    /// Counts a line that is not in memory.
    pub(super) fn long_line(&mut self, class: Class, bytes: u64) {
        let tally = &mut self.tallies[class.index()];
        tally.lines += 1;
        tally.bytes += bytes;
    }

    /// Counts bytes, not in memory, of a line that was counted.
    pub(super) fn long_bytes(&mut self, class: Class, bytes: u64) {
        self.tallies[class.index()].bytes += bytes;
    }

    /// Counts bytes of a line that counts elsewhere.
    pub(super) fn bytes_only(&mut self, class: Class, bytes: usize) {
        self.tallies[class.index()].bytes += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_counts_once_and_shares_its_bytes() {
        let mut ledger = Ledger::default();
        ledger.bytes_only(Class::Torn, 9);
        ledger.line(Class::Timing, 30);
        ledger.line(Class::Torn, 40);
        assert_eq!(
            ledger.of(Class::Torn),
            Tally {
                lines: 1,
                bytes: 49
            }
        );
        assert_eq!(
            ledger.of(Class::Timing),
            Tally {
                lines: 1,
                bytes: 30
            }
        );
        assert_eq!((ledger.lines(), ledger.bytes()), (2, 79));
        assert_eq!(ledger.classes().map(|(_, t)| t.bytes).sum::<u64>(), 79);
    }
}
