//! The ten classes of a line, and sets of them.

use std::fmt;

/// What kind of line it is. Every byte of an input belongs to exactly one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// A `TIMELINE` line of a plausible shape, whole or put together from fragments.
    Timeline,
    /// A `CUZK_TIMING` or `CUZK_NTT_H` line.
    Timing,
    /// A line of tracing-subscriber with any target; with colour, with lost ESC bytes, or without.
    Tracing,
    /// A panic header, its message, note and backtrace; an abort of the C++ or Rust runtime.
    Panic,
    /// A CUDA or `OpenCL` call that failed.
    CudaError,
    /// Lines of the proof libraries around the engine, lotus miner lines, memory budget lines.
    EngineOther,
    /// Output of the bench client.
    Bench,
    /// A `cuzk.ops/1` line.
    Ops,
    /// Fragments: of a line that was put together again, or of one that was lost.
    Torn,
    /// Everything else.
    Foreign,
}

impl Class {
    /// All classes, in the order of the reports.
    pub const ALL: [Self; 10] = [
        Self::Timeline,
        Self::Timing,
        Self::Tracing,
        Self::Panic,
        Self::CudaError,
        Self::EngineOther,
        Self::Bench,
        Self::Ops,
        Self::Torn,
        Self::Foreign,
    ];

    /// The name in reports and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeline => "timeline",
            Self::Timing => "timing",
            Self::Tracing => "tracing",
            Self::Panic => "panic",
            Self::CudaError => "cuda_error",
            Self::EngineOther => "engine_other",
            Self::Bench => "bench",
            Self::Ops => "ops",
            Self::Torn => "torn",
            Self::Foreign => "foreign",
        }
    }

    /// Its place in [`Class::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of classes: what a [`super::Sink`] wants to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes(u16);

impl Classes {
    /// No class: only count.
    pub const NONE: Self = Self(0);
    /// Every class.
    pub const ALL: Self = Self((1 << Class::ALL.len()) - 1);

    /// The set with one more class.
    #[must_use]
    pub const fn with(self, class: Class) -> Self {
        Self(self.0 | 1 << class.index())
    }

    /// The set without a class.
    #[must_use]
    pub const fn without(self, class: Class) -> Self {
        Self(self.0 & !(1 << class.index()))
    }

    /// Whether the class is in the set.
    pub const fn has(self, class: Class) -> bool {
        self.0 >> class.index() & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_places_are_unique() {
        for (i, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class.index(), i);
            assert_eq!(class.to_string(), class.as_str());
            assert_eq!(
                Class::ALL
                    .iter()
                    .filter(|c| c.as_str() == class.as_str())
                    .count(),
                1
            );
        }
    }

    #[test]
    fn sets_add_and_remove() {
        for class in Class::ALL {
            assert!(Classes::ALL.has(class));
            assert!(!Classes::NONE.has(class));
            assert!(Classes::NONE.with(class).has(class));
            assert!(!Classes::ALL.without(class).has(class));
            assert_eq!(Classes::NONE.with(class).without(class), Classes::NONE);
        }
    }
}
