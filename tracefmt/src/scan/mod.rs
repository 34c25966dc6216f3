//! From bytes to classified lines: who wrote each line, and what became of torn ones.
//!
//! A daemon log holds lines of several writers, some of them written into the middle of another;
//! it was perhaps cut, piped through `grep -n`, or taken out of a journal. The scanner takes blocks
//! of any size, gives every byte to exactly one [`Class`], puts torn `TIMELINE` lines together
//! again, and delivers the classes that a [`Sink`] wants. What a line says is the grammar's work;
//! only lines of the commonest shapes are read here, since that proves them whole. It knows no
//! restarts and no runs either.
//!
//! ```
//! use tracefmt::scan::{Class, CountOnly, scan_slice};
//!
//! let log = b"TIMELINE,7,CHAN_SEND,job-1,partition=0\nhello\n";
//! let scan = scan_slice(log, &mut CountOnly);
//! assert_eq!(scan.ledger.of(Class::Timeline).bytes, 39);
//! assert_eq!(scan.ledger.bytes(), log.len() as u64);
//! ```
//!
//! Memory is bounded by [`LINE_MAX`] and the caps of the lists in [`Scan`], whatever the input.

mod careful;
mod class;
mod container;
mod context;
mod ends;
mod glued;
mod head;
mod ledger;
mod line;
mod needle;
mod parted;
mod scanner;
mod shape;
mod summary;
mod torn;
mod wrap;

pub use class::{Class, Classes};
pub use ledger::{Ledger, Tally};
pub(crate) use line::Plain;
pub use line::{CountOnly, Line, PlainKind, Sink};
pub use scanner::{LINE_MAX, Scanner, scan_reader, scan_slice};
pub use summary::{Places, Scan};
pub use wrap::Wrapping;
