//! From one line's text to a typed record.
//!
//! Each function takes the text of one line, without its line end and without what a wrapper put
//! in front of it, and says what the line is or that it is not of that form. Nothing here reads
//! files, remembers earlier lines or decides what several lines mean together: lines are cut and
//! repaired in `scan`, put together in [`crate::run`].

mod engine;
mod event;
mod log;
mod number;
mod text;
mod timing;

pub use engine::classify;
pub use event::parse_event;
pub use log::parse_log;
pub use timing::parse_timing;
