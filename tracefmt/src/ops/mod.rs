//! Typed GPU operations and their text form, `cuzk.ops/1`.
//!
//! A schedule is a [`Header`] (the cards, the driver, how many workers) and a list of
//! [`Step`]s in recorded order. A step is an [`Op`] with whose it is, what happens when it
//! fails, and, if it was recorded from a run, what the driver answered ([`Truth`]).
//! The text form is JSON Lines: the header on the first line, one op on each later line.
//!
//! - [`Reader`] streams a schedule in constant memory. A bad line is counted and located
//!   ([`LineError`]); only a missing header or a failing disk ends the reading.
//! - [`Writer`] writes one; `read(write(ops))` gives the same ops back, unknown keys included.
//! - [`Schedule`] is a whole schedule in memory, for what is small enough.
//!
//! This module gives ops no meaning: what an op does to memory is the business of `replay`.
//!
//! ```
//! use tracefmt::ops::{Op, Schedule};
//! let text = r#"{"schema":"cuzk.ops/1","capacity":17179869184,"workers":1}
//! {"op":"malloc","id":1,"bytes":4294967296,"buf":"d_a","rc":0}
//! {"op":"free","id":1}
//! "#;
//! let schedule = Schedule::read(text.as_bytes())?;
//! assert_eq!(schedule.steps[1].op, Op::Free { id: 1 });
//! assert_eq!(schedule.steps[0].rc, Some(0));
//! # Ok::<(), tracefmt::ops::OpsError>(())
//! ```

mod decode;
mod encode;
mod error;
mod fields;
mod header;
mod op;
mod read;
mod step;
mod write;

#[cfg(any(test, feature = "proptest"))]
pub mod strategy;

#[cfg(test)]
mod tests;

pub use error::{LineError, OpsError};
pub use fields::Extra;
pub use header::{DEFAULT_DRIVER, GpuSpec, Header, SCHEMA};
pub use op::{Op, Stream, Work};
pub use read::{Entry, LINE_BYTES_MAX, Reader, Schedule, read_step};
pub use step::{OnError, Step, Truth};
pub use write::Writer;
