//! What can go wrong when results are drawn or written; reading a trace has its own errors.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalyzeError {
    /// A picture could not be drawn.
    #[error("cannot draw the {what} of {width}x{height} pixels: {why}")]
    Draw {
        /// `svg` or `png`.
        what: &'static str,
        /// Width of the picture in pixels.
        width: u32,
        /// Height of the picture in pixels.
        height: u32,
        /// What the backend or the encoder says.
        why: String,
    },
    /// A table could not be made or written.
    #[error("cannot make the table {table}: {why}")]
    Table {
        /// Name of the table.
        table: &'static str,
        /// What polars says.
        why: String,
    },
    /// An export could not be written.
    #[error("cannot write the {what} export: {source}")]
    Write {
        /// Name of the format.
        what: &'static str,
        /// What the writer says.
        source: std::io::Error,
    },
}
