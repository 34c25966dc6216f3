//! The size of a circuit on the command line: rows of its domain.

use std::str::FromStr;

/// A power of two, as `2^16` or `65536`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size(u32);

impl Size {
    /// Its binary logarithm.
    pub(super) const fn log2(self) -> u32 {
        self.0
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let log2 = match text.strip_prefix("2^") {
            Some(exponent) => exponent.parse().ok().filter(|log2| *log2 < 64),
            None => text
                .parse::<u64>()
                .ok()
                .filter(|rows| rows.is_power_of_two())
                .map(u64::ilog2),
        };
        log2.map(Self)
            .ok_or_else(|| format!("expected a power of two such as 2^16 or 65536, found {text:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two() {
        for (text, log2) in [("2^16", 16), ("65536", 16), ("1", 0), ("2^0", 0)] {
            assert_eq!(text.parse().map(Size::log2), Ok(log2), "{text}");
        }
        for text in ["", "2^", "2^64", "2^-1", "0", "65537", "16k"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
