//! Failed CUDA calls, in the words of the libraries that report them.

use std::borrow::Cow;

use crate::cuda::{by_code, by_name, by_prefix};
use crate::grammar::{number, text};
use crate::record::{TroubleKind, TroubleLine};

/// What a text says of a failed CUDA call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaFailure<'a> {
    /// Error code, if the text names a known one or gives its number.
    pub code: Option<i32>,
    /// The call that failed, as in the source.
    pub call: Option<Cow<'a, str>>,
    /// Source file and line.
    pub site: Option<Cow<'a, str>>,
}

impl<'a> CudaFailure<'a> {
    /// As a line of trouble with this text.
    pub(super) fn into_line(self, line: &'a [u8]) -> TroubleLine<'a> {
        TroubleLine {
            kind: TroubleKind::Cuda,
            code: self.code,
            text: text::lossy(line),
            site: self.site,
        }
    }

    fn of(code: Option<i32>) -> Self {
        Self {
            code,
            call: None,
            site: None,
        }
    }
}

/// A line that is nothing but the report of a failed call.
pub(super) fn line(line: &[u8]) -> Option<TroubleLine<'_>> {
    cuda_failure(line).map(|failure| failure.into_line(line))
}

/// Looks for the report of a failed CUDA call in a text: a line, or the `error=` of a log line,
/// where quotes may be escaped. The forms are those of sppark (`<call>@<file>:<line> failed:
/// "<text>"`, and its number alone), icicle, Rust's `CudaError` struct, `<call> returned: <code>`,
/// and names of the runtime's or driver's errors anywhere.
pub fn cuda_failure(text: &[u8]) -> Option<CudaFailure<'_>> {
    sppark(text)
        .or_else(|| sppark_number(text))
        .or_else(|| icicle(text))
        .or_else(|| structure(text))
        .or_else(|| returned(text))
        .or_else(|| spoken(text))
        .or_else(|| named(text))
}

/// `<call>@<path>:<line> failed: "<text>"`
fn sppark(text: &[u8]) -> Option<CudaFailure<'_>> {
    const FAILED: &[u8] = b" failed: ";
    let at = memchr::memmem::find(text, FAILED)?;
    let (head, tail) = text.split_at_checked(at)?;
    let message = tail.get(FAILED.len()..)?;
    let message = message.strip_prefix(b"\\").unwrap_or(message);
    let message = message.strip_prefix(b"\"")?;
    let at = memchr::memrchr(b'@', head)?;
    let (call, site) = head.split_at_checked(at)?;
    let site = site.get(1..)?;
    // A place is `file:line`.
    let (file, _) = number::back(site)?;
    file.strip_suffix(b":")?;
    // In an escaped message the call begins behind the quote; a call holds none itself.
    let call = match memchr::memrchr(b'"', call) {
        Some(quote) => call.get(quote + 1..)?,
        None => call,
    };
    Some(CudaFailure {
        code: code_of(message),
        call: Some(text::lossy(call)),
        site: Some(text::lossy(site)),
    })
}

/// `sppark::Error #<code>`, with the code negated in some versions
fn sppark_number(text: &[u8]) -> Option<CudaFailure<'_>> {
    let rest = after(text, b"sppark::Error #")?;
    let (code, _) = number::front(rest.strip_prefix(b"-").unwrap_or(rest))?;
    Some(CudaFailure::of(Some(i32::try_from(code).ok()?)))
}

/// `... : <text> : detected by: <call> at: <file>:<line>`
fn icicle(text: &[u8]) -> Option<CudaFailure<'_>> {
    let message = after(text, b"!!!Unrecoverable!!! : ")?;
    let detected = after(message, b" detected by: ");
    let at = detected.and_then(|rest| Some((rest, memchr::memmem::rfind(rest, b" at: ")?)));
    let (call, site) = match at.and_then(|(rest, at)| rest.split_at_checked(at)) {
        Some((call, site)) => (Some(call), site.get(b" at: ".len()..)),
        None => (None, None),
    };
    Some(CudaFailure {
        code: code_of(message),
        call: call.map(text::lossy),
        site: site.map(text::lossy),
    })
}

/// `CudaError { code: 2, name: "...", message: "..." }`
fn structure(text: &[u8]) -> Option<CudaFailure<'_>> {
    let rest = after(text, b"CudaError { code: ")?;
    let (code, _) = number::front(rest)?;
    Some(CudaFailure::of(Some(i32::try_from(code).ok()?)))
}

/// `cudaHostUnregister returned: 713`, `cuMemAlloc returned 2`
fn returned(text: &[u8]) -> Option<CudaFailure<'_>> {
    let at = memchr::memmem::find(text, b" returned")?;
    let (head, tail) = text.split_at_checked(at)?;
    let call = head.rsplit(|byte| *byte == b' ').next()?;
    if !call.starts_with(b"cu") || !call.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    let tail = tail.get(b" returned".len()..)?;
    let tail = tail.strip_prefix(b":").unwrap_or(tail).trim_ascii_start();
    let (code, _) = number::front(tail)?;
    let code = i32::try_from(code).ok().filter(|code| *code != 0)?;
    Some(CudaFailure {
        code: Some(code),
        call: Some(text::lossy(call)),
        site: None,
    })
}

/// `CUDA error: <text>`, in either case
fn spoken(text: &[u8]) -> Option<CudaFailure<'_>> {
    let message = after(text, b"CUDA error: ").or_else(|| after(text, b"CUDA Error: "))?;
    Some(CudaFailure::of(code_of(message)))
}

/// A name such as `cudaErrorMemoryAllocation` or `CUDA_ERROR_OUT_OF_MEMORY`
fn named(text: &[u8]) -> Option<CudaFailure<'_>> {
    let at = memchr::memmem::find(text, b"cudaError")
        .or_else(|| memchr::memmem::find(text, b"CUDA_ERROR_"))?;
    let rest = text.get(at..)?;
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = rest
        .iter()
        .position(|byte| !word(byte))
        .unwrap_or(rest.len());
    let name = std::str::from_utf8(rest.get(..end)?).ok()?;
    by_name(name).map(|error| CudaFailure::of(Some(error.code)))
}

/// The code of a message that begins with an error's text, or with its number.
fn code_of(message: &[u8]) -> Option<i32> {
    let message = text::lossy(message);
    by_prefix(&message).map(|error| error.code).or_else(|| {
        let (code, _) = number::front(message.as_bytes())?;
        by_code(i32::try_from(code).ok()?).map(|error| error.code)
    })
}

fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let at = memchr::memmem::find(text, mark)?;
    text.get(at + mark.len()..)
}
