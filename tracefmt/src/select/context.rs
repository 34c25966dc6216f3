//! Lines before and after a chosen one, as `grep -C` shows them.

use std::collections::VecDeque;
use std::io::{self, Write};

use crate::scan::Line;

/// Writes chosen lines with context; stretches that do not touch are parted by `--`.
#[derive(Debug)]
pub struct Context<W> {
    out: W,
    before: usize,
    after: usize,
    held: VecDeque<(u64, Vec<u8>)>,
    owed: usize,
    last: Option<u64>,
    numbers: bool,
    chosen: u64,
}

impl<W: Write> Context<W> {
    /// Shows `before` and `after` lines around each chosen one; with `numbers` each line is
    /// headed by its number and `:` (chosen) or `-` (context).
    pub fn new(out: W, before: usize, after: usize, numbers: bool) -> Self {
        Self {
            out,
            before,
            after,
            held: VecDeque::new(),
            owed: 0,
            last: None,
            numbers,
            chosen: 0,
        }
    }

    /// The output back, as far as it was written.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// How many lines were chosen.
    pub const fn chosen(&self) -> u64 {
        self.chosen
    }

    /// Takes the next line of the input.
    ///
    /// # Errors
    ///
    /// When the output cannot be written.
    pub fn line(&mut self, line: &Line<'_>, chosen: bool) -> io::Result<()> {
        if chosen {
            self.chosen += 1;
            self.flush_held(line.number)?;
            self.write(line.number, line.raw, b':')?;
            self.owed = self.after;
        } else if self.owed > 0 {
            self.owed -= 1;
            self.write(line.number, line.raw, b'-')?;
        } else if self.before > 0 {
            if self.held.len() == self.before {
                self.held.pop_front();
            }
            self.held.push_back((line.number, line.raw.to_vec()));
        }
        Ok(())
    }

    fn flush_held(&mut self, next: u64) -> io::Result<()> {
        let first = self.held.front().map_or(next, |(number, _)| *number);
        let apart = self.last.is_some_and(|last| first > last + 1);
        if apart && self.before.max(self.after) > 0 {
            self.out.write_all(b"--\n")?;
        }
        for (number, raw) in std::mem::take(&mut self.held) {
            self.write(number, &raw, b'-')?;
        }
        Ok(())
    }

    fn write(&mut self, number: u64, raw: &[u8], mark: u8) -> io::Result<()> {
        if self.numbers {
            write!(self.out, "{number}")?;
            self.out.write_all(&[mark])?;
        }
        self.out.write_all(raw)?;
        if !raw.ends_with(b"\n") {
            self.out.write_all(b"\n")?;
        }
        self.last = Some(number);
        Ok(())
    }
}
