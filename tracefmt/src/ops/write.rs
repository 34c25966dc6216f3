//! Writing schedules, one line at a time.

use std::io::{self, Write};

use super::{Header, Schedule, Step};

/// Writes a schedule as JSON Lines.
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// What the output says.
    pub fn new(output: W, header: &Header) -> io::Result<Self> {
        let mut writer = Self {
            output,
            line: Vec::new(),
        };
        writer.put(header)?;
        Ok(writer)
    }

    /// Writes one op.
    ///
    /// # Errors
    /// What the output says.
    pub fn step(&mut self, step: &Step) -> io::Result<()> {
        self.put(step)
    }

    /// Flushes and hands the output back.
    ///
    /// # Errors
    /// What the output says.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }

    /// One value, one line, one write.
    fn put(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, value)?;
        self.line.push(b'\n');
        self.output.write_all(&self.line)
    }
}

impl Schedule {
    /// Writes the whole schedule.
    ///
    /// # Errors
    /// What the output says.
    pub fn write<W: Write>(&self, output: W) -> io::Result<W> {
        let mut writer = Writer::new(output, &self.header)?;
        for step in &self.steps {
            writer.step(step)?;
        }
        writer.finish()
    }
}
