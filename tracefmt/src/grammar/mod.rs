//! From one line's text to a typed record.
//!
//! Each function takes the text of one line, without its line end and without what a wrapper put
//! in front of it, and says what the line is or that it is not of that form. Nothing here reads
//! files, remembers earlier lines or decides what several lines mean together: lines are cut and
//! repaired in [`crate::scan`], put together in [`crate::run`].
//!
//! ```
//! use tracefmt::grammar::{parse, parse_event};
//! use tracefmt::record::Record;
//! use tracefmt::scan::Class;
//!
//! let line = b"TIMELINE,245689,GPU_PICKUP,wdpost-1-[1 2],worker=0,partition=3";
//! let event = parse_event(line).unwrap();
//! assert_eq!((event.ms, &*event.job), (245_689, "wdpost-1-[1 2]"));
//! assert_eq!(parse(Class::Timeline, line), Record::Event(event));
//! ```

use crate::record::Record;
use crate::scan::Class;

mod bench;
mod budget;
mod engine;
mod event;
mod log;
mod number;
mod text;
mod timing;
mod trouble;

pub use bench::parse_bench;
pub use budget::parse_budget;
pub use engine::classify;
pub use event::parse_event;
pub(crate) use event::{PlainEvent, parse_plain_event};
pub use log::parse_log;
pub(crate) use timing::parse_plain_timing;
pub use timing::parse_timing;
pub use trouble::{CudaFailure, cuda_failure, parse_panic_message, parse_trouble};

/// Types a line of a known class. A line that does not hold what its class promises (a cut or a
/// torn one) is [`Record::Foreign`]; only timing lines of unknown shape are kept as such.
#[inline]
pub fn parse(class: Class, text: &[u8]) -> Record<'_> {
    let typed = match class {
        Class::Timeline => parse_event(text).map(Record::Event),
        Class::Timing => Some(Record::Timing(parse_timing(text))),
        Class::Tracing => parse_log(text).map(Record::Log),
        Class::Panic => parse_panic_message(text).map(Record::Trouble),
        Class::CudaError => parse_trouble(text)
            .map(Record::Trouble)
            .or_else(|| parse_log(text).map(Record::Log)),
        Class::EngineOther => parse_budget(text)
            .map(Record::Budget)
            .or_else(|| parse_log(text).map(Record::Log)),
        Class::Bench => Some(Record::Bench(parse_bench(text))),
        Class::Ops | Class::Torn | Class::Foreign => None,
    };
    typed.unwrap_or(Record::Foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_gives_its_record() {
        let log = b"2026-03-01T05:16:09.278 INFO a::b > synthesis time: 7.5s";
        let panic = b"thread 'main' panicked at a.rs:1:2:";
        let cuda = b"f()@sppark/a.cu:2 failed: \"out of memory\"";
        let kind = |class, text| match parse(class, text) {
            Record::Event(_) => "event",
            Record::Timing(_) => "timing",
            Record::Log(_) => "log",
            Record::Trouble(_) => "trouble",
            Record::Bench(_) => "bench",
            Record::Budget(_) => "budget",
            Record::Foreign => "foreign",
        };
        let table: [(Class, &[u8], &str); 16] = [
            (Class::Timeline, b"TIMELINE,1,CHAN_SEND,j,", "event"),
            (Class::Timeline, b"TIMELINE,1,CHAN_SEND", "foreign"),
            (Class::Timing, b"CUZK_TIMING: prep_msm_ms=1", "timing"),
            (Class::Timing, b"CUZK_TIMING: ", "timing"),
            (Class::Tracing, b"2026-03-01T05:16:09Z  INFO a::b: c", "log"),
            (Class::Tracing, b"2026-03-01T05:16:09Z", "foreign"),
            (Class::Panic, panic, "trouble"),
            (Class::Panic, b"called unwrap on none", "trouble"),
            (Class::Panic, b"stack backtrace:", "foreign"),
            (Class::CudaError, cuda, "trouble"),
            (Class::EngineOther, log, "log"),
            (
                Class::EngineOther,
                b"memory budget: 251 GiB (256 total)",
                "budget",
            ),
            (Class::Bench, b"count: 5", "bench"),
            (Class::Foreign, cuda, "foreign"),
            (Class::Torn, b"TIMELINE,1,CHAN_SEND,j,", "foreign"),
            (Class::Ops, b"{}", "foreign"),
        ];
        for (class, text, expected) in table {
            assert_eq!(kind(class, text), expected, "{class:?}");
        }
    }
}
