//! Where each section of a `.params` file lies, worked out from its bytes and checked against its
//! length. It decodes no point.
//!
//! The format is bellperson's and Filecoin's: no magic, no version, no checksum. 864 bytes of head
//! (α₁ β₁ β₂ γ₂ δ₁ δ₂), then six sections, each a big-endian u32 count and that many uncompressed
//! points: `ic`, `h`, `l`, `a`, `b_g1` in G1 (96 bytes a point), `b_g2` in G2 (192). The file up to
//! the end of `ic` is the `.vk` file. What the counts must have to do with each other is the only
//! sign of a foreign file that comes before its points.

use std::fmt;
use std::ops::Range;

use crate::ProverError;

/// Bytes of an uncompressed point of G1.
pub(super) const G1_BYTES: usize = 96;
/// Bytes of an uncompressed point of G2.
pub(super) const G2_BYTES: usize = 192;
/// Bytes before the first section: three points of G1, three of G2.
pub(super) const HEAD_BYTES: usize = 3 * G1_BYTES + 3 * G2_BYTES;
/// Bytes of the count at the start of a section.
const COUNT_BYTES: usize = 4;

/// A counted section of the file, in the file's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The verifier's input points.
    Ic,
    /// Powers of τ times the vanishing polynomial.
    H,
    /// One point an auxiliary variable.
    L,
    /// A query.
    A,
    /// B query in G1.
    BG1,
    /// B query in G2.
    BG2,
}

impl Section {
    /// Every section, in the file's order.
    pub const ALL: [Self; 6] = [Self::Ic, Self::H, Self::L, Self::A, Self::BG1, Self::BG2];

    /// The section's name in messages, as bellperson names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ic => "ic",
            Self::H => "h",
            Self::L => "l",
            Self::A => "a",
            Self::BG1 => "b_g1",
            Self::BG2 => "b_g2",
        }
    }

    /// Bytes of one point of this section.
    pub const fn point_bytes(self) -> usize {
        match self {
            Self::BG2 => G2_BYTES,
            _ => G1_BYTES,
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many points each section has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Public inputs, the constant one among them.
    pub ic: usize,
    /// Domain − 1.
    pub h: usize,
    /// Auxiliary variables.
    pub l: usize,
    /// Inputs and the auxiliary variables of A.
    pub a: usize,
    /// Variables of B.
    pub b: usize,
}

impl Counts {
    /// Bytes of the whole file.
    pub const fn file_bytes(&self) -> usize {
        let g1 = self.ic + self.h + self.l + self.a + self.b;
        HEAD_BYTES + 6 * COUNT_BYTES + g1 * G1_BYTES + self.b * G2_BYTES
    }

    /// What no Groth16 parameters can break, whatever their circuit.
    ///
    /// # Errors
    /// [`ProverError::ParamsCounts`] with the rule that is broken.
    fn check(&self) -> Result<(), ProverError> {
        let Self { ic, h, l, a, b } = *self;
        let broken = |rule: &'static str| ProverError::ParamsCounts {
            rule,
            counts: *self,
        };
        if ic == 0 {
            return Err(broken("ic has a point for the constant one"));
        }
        if !(h + 1).is_power_of_two() {
            return Err(broken("h has domain - 1 points, the domain a power of two"));
        }
        if a < ic || a > ic + l {
            return Err(broken("a has the points of ic and at most those of l"));
        }
        if b > ic + l {
            return Err(broken("b has at most the points of ic and l"));
        }
        Ok(())
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ic, h, l, a, b } = self;
        write!(f, "ic {ic}, h {h}, l {l}, a {a}, b {b}")
    }
}

/// The sections of a file, as byte ranges of their points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    ranges: [Range<usize>; 6],
    /// How many points each section has.
    pub counts: Counts,
}

impl Layout {
    /// The layout of a whole `.params` file.
    ///
    /// # Errors
    /// [`ProverError::ParamsLength`] where the file ends too early or too late,
    /// [`ProverError::ParamsCounts`] if the counts belong to no circuit.
    pub fn of(file: &[u8]) -> Result<Self, ProverError> {
        let mut at = HEAD_BYTES;
        let mut ranges: [Range<usize>; 6] = Default::default();
        for (section, range) in Section::ALL.into_iter().zip(&mut ranges) {
            *range = points(file, section, at)?;
            at = range.end;
        }
        if at != file.len() {
            return Err(ProverError::ParamsTrailing {
                expected: at,
                found: file.len(),
            });
        }
        let count = |section: Section| {
            let range = &ranges[section as usize];
            range.len() / section.point_bytes()
        };
        let (b_g1, b_g2) = (count(Section::BG1), count(Section::BG2));
        let counts = Counts {
            ic: count(Section::Ic),
            h: count(Section::H),
            l: count(Section::L),
            a: count(Section::A),
            b: b_g1,
        };
        counts.check()?;
        if b_g1 != b_g2 {
            return Err(ProverError::ParamsCounts {
                rule: "b_g1 and b_g2 have the same number of points",
                counts,
            });
        }
        Ok(Self { ranges, counts })
    }

    /// The byte range of `ic` in a `.vk` file or at the start of a `.params` file.
    ///
    /// # Errors
    /// [`ProverError::ParamsLength`] if the bytes end before it does.
    pub fn of_ic(file: &[u8]) -> Result<Range<usize>, ProverError> {
        points(file, Section::Ic, HEAD_BYTES)
    }

    /// The byte range of a section's points, its count left out.
    pub fn range(&self, section: Section) -> Range<usize> {
        self.ranges[section as usize].clone()
    }
}

/// The byte range of the points of `section`, whose count is at `at`.
fn points(file: &[u8], section: Section, at: usize) -> Result<Range<usize>, ProverError> {
    let short = |expected: usize| ProverError::ParamsLength {
        section: section.name(),
        at,
        expected,
        found: file.len(),
    };
    let start = at + COUNT_BYTES;
    let count = file
        .get(at..start)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u32::from_be_bytes)
        .ok_or_else(|| short(start))?;
    // At most 2^32 points of 192 bytes: far from the end of a 64-bit usize.
    let end = start + count as usize * section.point_bytes();
    if end > file.len() {
        return Err(short(end));
    }
    Ok(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(counts: [u32; 6]) -> Vec<u8> {
        let mut bytes = vec![0; HEAD_BYTES];
        for (section, count) in Section::ALL.into_iter().zip(counts) {
            bytes.extend(count.to_be_bytes());
            bytes.resize(bytes.len() + count as usize * section.point_bytes(), 0);
        }
        bytes
    }

    #[test]
    fn the_sections_of_the_sha_256_circuit_lie_where_they_were_measured() {
        let counts = [3, 65535, 52681, 52684, 13573, 13573];
        let bytes = file(counts);
        let layout = Layout::of(&bytes).expect("a whole file");
        assert_eq!(bytes.len(), 20_316_600);
        assert_eq!(layout.counts.file_bytes(), bytes.len());
        assert_eq!(layout.range(Section::H).start, 1160);
        assert_eq!(layout.range(Section::BG2).end, bytes.len());
        assert_eq!(Layout::of_ic(&bytes).expect("ic"), 868..868 + 3 * 96);
    }

    #[test]
    fn every_shorter_file_says_where_it_ends_and_where_it_should() {
        let bytes = file([2, 3, 4, 5, 1, 1]);
        for length in 0..bytes.len() {
            let error = Layout::of(&bytes[..length]).expect_err("cut");
            let ProverError::ParamsLength {
                expected, found, ..
            } = error
            else {
                unreachable!("{length}: {error}");
            };
            assert!(found == length && expected > length, "{length}: {expected}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        let error = Layout::of(&longer).expect_err("too long").to_string();
        assert!(error.contains(&bytes.len().to_string()), "{error}");
        assert!(error.contains(&longer.len().to_string()), "{error}");
    }

    #[test]
    fn counts_of_no_circuit_are_told_by_the_rule_they_break() {
        let cases = [
            ([0, 3, 4, 5, 1, 1], "constant one"),
            ([2, 4, 4, 5, 1, 1], "power of two"),
            ([2, 3, 4, 1, 1, 1], "points of ic"),
            ([2, 3, 4, 7, 1, 1], "at most those of l"),
            ([2, 3, 4, 5, 7, 7], "ic and l"),
            ([2, 3, 4, 5, 1, 2], "b_g1 and b_g2"),
            // h and l swapped.
            ([2, 6, 3, 5, 1, 1], "power of two"),
        ];
        for (counts, rule) in cases {
            let error = Layout::of(&file(counts)).expect_err("no circuit");
            assert!(error.to_string().contains(rule), "{counts:?}: {error}");
        }
    }

    #[test]
    fn a_text_file_is_foreign() {
        let text = b"these are no parameters at all, only words. ".repeat(40);
        let error = Layout::of(&text).expect_err("foreign");
        assert!(matches!(error, ProverError::ParamsLength { .. }), "{error}");
    }
}
