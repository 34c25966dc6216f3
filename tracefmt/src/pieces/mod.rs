//! Several files that are one log: rotated pieces, and the standard output and standard error of
//! one daemon. Which files belong together is told by their names and by what is in them
//! ([`plan()`]); pieces are joined in order of time ([`InTurn`]), the two streams merged by their
//! clocks ([`merge`]). Line numbers of the joined log lead back to the files ([`Piece`]).
//!
//! Nothing here opens a file.

mod names;
mod plan;
mod streams;
mod survey;
mod turn;

pub use plan::{Join, plan};
pub use streams::merge;
pub use survey::Survey;
pub use turn::InTurn;

/// A stretch of a joined log that comes from one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The file, as the user named it.
    pub path: String,
    /// The line of the joined log with which it begins, from 1.
    pub first: u64,
    /// The line of the file that this is, from 1.
    pub line: u64,
}

impl Piece {
    /// File and line of a line of the joined log; the pieces come in order.
    pub fn find(pieces: &[Self], line: u64) -> Option<(&str, u64)> {
        let after = pieces.partition_point(|piece| piece.first <= line);
        let piece = pieces.get(after.checked_sub(1)?)?;
        Some((&piece.path, line - piece.first + piece.line))
    }

    /// The line of the joined log that a line of a file is.
    pub fn back(pieces: &[Self], path: &str, line: u64) -> Option<u64> {
        let ends = pieces.iter().skip(1).map(|next| next.first);
        pieces
            .iter()
            .zip(ends.chain([u64::MAX]))
            .filter(|(piece, _)| piece.path == path && piece.line <= line)
            .map(|(piece, end)| (line - piece.line + piece.first, end))
            .find_map(|(joined, end)| (joined < end).then_some(joined))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_to_their_files_and_back() {
        let piece = |path: &str, first, line| Piece {
            path: path.to_owned(),
            first,
            line,
        };
        let pieces = [piece("a", 1, 1), piece("b", 4, 2), piece("a", 6, 4)];
        let table = [
            (1, "a", 1),
            (3, "a", 3),
            (4, "b", 2),
            (5, "b", 3),
            (6, "a", 4),
            (9, "a", 7),
        ];
        for (joined, path, line) in table {
            assert_eq!(Piece::find(&pieces, joined), Some((path, line)));
            assert_eq!(Piece::back(&pieces, path, line), Some(joined));
        }
        assert_eq!(Piece::back(&pieces, "b", 9), None);
        assert_eq!(Piece::find(&[], 1), None);
    }
}
