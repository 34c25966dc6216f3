//! What a [`MarkStore`](super::MarkStore) keeps of each timing line: 20 bytes, windows by number.

use super::{MarkKind, NONE};

/// One timing line. What a kind does not need gives room to what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) line: u32,
    /// Index into [`Windows`].
    pub(super) window: u32,
    values: [i32; 2],
    /// The GPU thread of a line with two values; of a phase, bits 32 to 47 of its length.
    small: u16,
    pub(super) kind: MarkKind,
}

const _: () = assert!(size_of::<Slot>() == 20, "ten million of them are kept");

impl Slot {
    /// What is kept of a line. GPU numbers beyond the 65,535th share the last number; a phase of
    /// more than 8 years is cut.
    pub(super) fn new(line: u32, kind: MarkKind, [first, second]: [i32; 2], extra: u32) -> Self {
        let low = |wide: u32| u16::try_from(wide).unwrap_or(u16::MAX);
        let (values, small) = match kind {
            MarkKind::TailMsm | MarkKind::DaCache => ([first, second], low(extra)),
            MarkKind::Phase => match u16::try_from(second) {
                Ok(high) => ([first, extra.cast_signed()], high),
                Err(_) => ([-1, extra.cast_signed()], u16::MAX),
            },
            MarkKind::PrestageVram
            | MarkKind::PrestageOk
            | MarkKind::PoolThreshold
            | MarkKind::NttH
            | MarkKind::Other => ([first, extra.cast_signed()], 0),
            _ => ([first, second], 0),
        };
        Self {
            line,
            window: 0,
            values,
            small,
            kind,
        }
    }

    /// The two values and the further one, as [`Slot::new`] took them.
    #[inline]
    pub(super) fn values(&self) -> ([i32; 2], u32) {
        let [first, second] = self.values;
        match self.kind {
            MarkKind::TailMsm | MarkKind::DaCache => (self.values, u32::from(self.small)),
            MarkKind::Phase => ([first, i32::from(self.small)], second.cast_unsigned()),
            MarkKind::PrestageVram
            | MarkKind::PrestageOk
            | MarkKind::PoolThreshold
            | MarkKind::NttH
            | MarkKind::Other => ([first, 0], second.cast_unsigned()),
            _ => (self.values, 0),
        }
    }
}

/// When lines were printed. Lines between the same two stamps share a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Windows {
    all: Vec<Window>,
}

/// Twelve bytes, not sixteen: there are millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    /// Lower and upper half of the start.
    after_us: [u32; 2],
    /// Length, [`NONE`] for no later stamp.
    length_us: u32,
}

impl Window {
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a number")]
    const fn new(after_us: i64, length_us: u32) -> Self {
        let after_us = [
            after_us.cast_unsigned() as u32,
            (after_us >> 32).cast_unsigned() as u32,
        ];
        Self {
            after_us,
            length_us,
        }
    }

    fn after_us(self) -> i64 {
        let [low, high] = self.after_us;
        (i64::from(high.cast_signed()) << 32) | i64::from(low)
    }
}

impl Windows {
    /// The number of a window; 0 is that of a line whose time nobody knows.
    pub(super) fn add(&mut self, after_us: i64, before_us: Option<i64>) -> u32 {
        let length =
            |before: i64| u32::try_from(before.saturating_sub(after_us).max(0)).unwrap_or(NONE);
        let window = before_us.map_or(NONE, length);
        if (after_us, window) == (0, NONE) {
            return 0;
        }
        self.all.push(Window::new(after_us, window));
        u32::try_from(self.all.len()).unwrap_or(0)
    }

    /// Start and length of a window.
    #[inline]
    pub(super) fn get(&self, number: u32) -> (i64, u32) {
        let at = (number as usize).wrapping_sub(1);
        let found = self.all.get(at);
        found.map_or((0, NONE), |window| (window.after_us(), window.length_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_any_start_comes_back() {
        let mut windows = Windows::default();
        for after in [
            1,
            -1,
            i64::MIN,
            i64::MAX,
            1 << 32,
            (1 << 32) - 1,
            -(1 << 40),
        ] {
            let number = windows.add(after, Some(after.saturating_add(7)));
            let length = u32::try_from(after.saturating_add(7) - after).unwrap();
            assert_eq!(windows.get(number), (after, length));
        }
        assert_eq!(size_of::<Window>(), 12);
    }
}
