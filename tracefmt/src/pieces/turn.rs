//! Puts pieces of one log behind each other. A line that the cut between two pieces parts is whole
//! again; it belongs to the piece in which it begins.

use std::io::{self, Read, Write};

use super::Piece;

/// Bytes read at once.
const BLOCK: usize = 1 << 18;

/// Writes pieces one after the other.
#[derive(Debug)]
pub struct InTurn<W> {
    to: W,
    pieces: Vec<Piece>,
    /// Line ends so far.
    lines: u64,
    /// The last piece ends inside a line.
    inside: bool,
}

impl<W: Write> InTurn<W> {
    /// Nothing written yet.
    pub const fn new(to: W) -> Self {
        Self {
            to,
            pieces: Vec::new(),
            lines: 0,
            inside: false,
        }
    }

    /// Appends a piece.
    ///
    /// # Errors
    /// When it cannot be read or the result cannot be written.
    pub fn piece(&mut self, path: &str, mut from: impl Read) -> io::Result<()> {
        let parted = u64::from(self.inside);
        self.pieces.push(Piece {
            path: path.to_owned(),
            first: self.lines + 1 + parted,
            line: 1 + parted,
        });
        let mut block = vec![0; BLOCK];
        loop {
            let count = from.read(&mut block)?;
            let Some(bytes) = block.get(..count).filter(|bytes| !bytes.is_empty()) else {
                return Ok(());
            };
            self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            self.inside = bytes.last() != Some(&b'\n');
            self.to.write_all(bytes)?;
        }
    }

    /// Which lines came from where.
    ///
    /// # Errors
    /// When the result cannot be written.
    pub fn finish(mut self) -> io::Result<Vec<Piece>> {
        self.to.flush()?;
        Ok(self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parted_line_is_whole_and_all_lines_lead_back() {
        let mut joined = Vec::new();
        let mut turn = InTurn::new(&mut joined);
        for (path, text) in [("a", "1\n2\n"), ("b", "3\n4"), ("c", "th\n5\n")] {
            turn.piece(path, text.as_bytes()).unwrap();
        }
        let pieces = turn.finish().unwrap();
        assert_eq!(joined, b"1\n2\n3\n4th\n5\n");
        for (line, path, number) in [(1, "a", 1), (3, "b", 1), (4, "b", 2), (5, "c", 2)] {
            assert_eq!(Piece::find(&pieces, line), Some((path, number)));
        }
    }
}
