//! Lines that report trouble outside any logging library: panics, failed CUDA and `OpenCL` calls,
//! aborts of the C++ and Rust runtimes, the kernel's out-of-memory killer.
//!
//! One line at a time: which message belongs to which panic header is decided by their order, in
//! [`crate::run`].

use super::text;
use crate::record::{TroubleKind, TroubleLine};

mod cuda;
mod panic;

pub use cuda::{CudaFailure, cuda_failure};
pub use panic::parse_panic_message;

/// Reads a line of trouble; none if it reports none. The message line behind a panic's header is
/// recognised only if it is trouble by itself: see [`parse_panic_message`].
pub fn parse_trouble(text: &[u8]) -> Option<TroubleLine<'_>> {
    let line = text.trim_ascii();
    panic::header(line)
        .or_else(|| what(line))
        .or_else(|| abort(line))
        .or_else(|| cuda::line(line))
        .or_else(|| open_cl(line))
}

/// `what():  <text>`: the message of the exception that the line before named.
fn what(line: &[u8]) -> Option<TroubleLine<'_>> {
    let message = line.strip_prefix(b"what():")?.trim_ascii();
    Some(cuda::line(message).unwrap_or_else(|| plain(TroubleKind::Abort, message)))
}

/// The process, or the kernel on its behalf, says that it is over.
fn abort(line: &[u8]) -> Option<TroubleLine<'_>> {
    const BEGINNINGS: [&[u8]; 12] = [
        b"terminate called",
        b"fatal runtime error:",
        b"memory allocation of ",
        b"Segmentation fault",
        b"Aborted",
        b"Bus error",
        b"Illegal instruction",
        b"Killed",
        b"double free or corruption",
        b"free(): ",
        b"malloc(): ",
        b"corrupted ",
    ];
    // Kernel lines carry a stamp, a host name or a facility in front.
    const WITHIN: [&[u8]; 4] = [
        b"Out of memory: Kill",
        b"oom-kill:",
        b"oom_reaper: reaped process",
        b"Memory cgroup out of memory: Kill",
    ];
    let begins = BEGINNINGS.iter().any(|begin| line.starts_with(begin)) && !is_prose(line);
    let kernel = || {
        WITHIN
            .iter()
            .any(|part| memchr::memmem::find(line, part).is_some())
    };
    (begins || kernel()).then(|| plain(TroubleKind::Abort, line))
}

/// Words that begin a sentence as well as an abort: alone, or before a bracket, they are one.
fn is_prose(line: &[u8]) -> bool {
    const WORDS: [&[u8]; 4] = [b"Aborted", b"Killed", b"Bus error", b"Illegal instruction"];
    WORDS.iter().any(|word| {
        line.strip_prefix(*word)
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(b" ("))
    })
}

/// The line of an `OpenCL` block that says what went wrong; its frame and advice say nothing.
fn open_cl(line: &[u8]) -> Option<TroubleLine<'_>> {
    let status = line.strip_prefix(b"Status error code: ")?;
    Some(plain(TroubleKind::OpenCl, status))
}

fn plain(kind: TroubleKind, message: &[u8]) -> TroubleLine<'_> {
    TroubleLine {
        kind,
        code: None,
        text: text::lossy(message),
        site: None,
    }
}

#[cfg(test)]
mod tests;
