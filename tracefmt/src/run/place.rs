//! Where something stands in the inputs, and when it was.

use std::fmt;
use std::num::NonZeroU32;

/// A line of one of the inputs.
///
/// One value of the index is left over, so that an optional place is no larger than a place: a
/// partition has seven of them, and a long log a million partitions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineRef {
    /// The index, plus one.
    input: NonZeroU32,
    /// 1-based line number in the decompressed input; 0 for "none".
    pub line: u32,
}

impl LineRef {
    /// Line `line` (1-based) of the input of that index in [`Trace::inputs`]; the index
    /// `u32::MAX` is taken for the one before.
    ///
    /// [`Trace::inputs`]: super::Trace::inputs
    pub const fn new(input: u32, line: u32) -> Self {
        let input = NonZeroU32::MIN.saturating_add(input);
        Self { input, line }
    }

    /// Index into [`Trace::inputs`](super::Trace::inputs).
    pub const fn input(self) -> u32 {
        self.input.get() - 1
    }
}

impl Default for LineRef {
    fn default() -> Self {
        Self::new(0, 0)
    }
}

impl fmt::Debug for LineRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.input(), self.line)
    }
}

/// A moment that the log gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// Microseconds since the run's epoch.
    pub us: i64,
    /// The line that says so.
    pub line: LineRef,
}

const _: () = assert!(
    size_of::<Option<At>>() == 16,
    "six of them are in a million partitions"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_what_was_said_and_places_are_ordered_by_it_first() {
        for input in [0, 1, 7, u32::MAX - 1] {
            assert_eq!(LineRef::new(input, 3).input(), input);
        }
        assert_eq!(LineRef::new(u32::MAX, 3).input(), u32::MAX - 1);
        assert!(LineRef::new(0, 9) < LineRef::new(1, 2));
        assert!(LineRef::new(1, 2) < LineRef::new(1, 3));
        assert_eq!(LineRef::default(), LineRef::new(0, 0));
        assert_eq!(format!("{:?}", LineRef::new(2, 41)), "2:41");
    }
}
