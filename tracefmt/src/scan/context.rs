//! What the lines before say about a line without a head: the inside of a panic or a bench report.

use super::{Class, needle};

/// Lines of other kinds that may stand between the parts of one report.
const GAP_MAX: u8 = 64;

/// How far inside a report the reader is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    message_due: bool,
    panic_left: u8,
    bench_left: u8,
}

impl Context {
    /// Whether lines need a look.
    pub(super) fn is_busy(self) -> bool {
        self.panic_left > 0 || self.bench_left > 0
    }

    /// A panic header was read. Old headers carry the message in quotes.
    pub(super) fn panic(&mut self, header: &[u8]) {
        self.panic_left = GAP_MAX;
        self.message_due = header.starts_with(b"thread '")
            && memchr::memmem::find(header, b" panicked at '").is_none();
    }

    /// A line that only the bench writes was read.
    pub(super) fn bench(&mut self) {
        self.bench_left = GAP_MAX;
    }

    /// Counts a line that is no part of a report.
    pub(super) fn pass(&mut self) {
        self.panic_left = self.panic_left.saturating_sub(1);
        self.bench_left = self.bench_left.saturating_sub(1);
        self.message_due &= self.panic_left > 0;
    }

    /// The class of a line without a head, if a report claims it.
    pub(super) fn claim(&mut self, text: &[u8]) -> Option<Class> {
        if self.message_due && !text.is_empty() {
            self.panic_left = GAP_MAX;
            if is_location(text) {
                return Some(Class::Panic);
            }
            self.message_due = false;
            let cuda = needle::is_cuda_error(text);
            return Some(if cuda { Class::CudaError } else { Class::Panic });
        }
        if self.panic_left > 0 && is_backtrace(text) {
            self.panic_left = GAP_MAX;
            return Some(Class::Panic);
        }
        if self.bench_left > 0 && is_bench_body(text) {
            self.bench_left = GAP_MAX;
            return Some(Class::Bench);
        }
        None
    }
}

/// The second half of a header that a terminal broke: `/src/d_buffer.rs:54:44:`.
fn is_location(text: &[u8]) -> bool {
    let Some(text) = text.strip_suffix(b":") else {
        return false;
    };
    let mut parts = text.rsplitn(3, |&b| b == b':');
    let mut number = || {
        parts
            .next()
            .is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit))
    };
    number() && number() && text.first() != Some(&b' ')
}

fn is_backtrace(text: &[u8]) -> bool {
    if [
        &b"note: run with"[..],
        b"note: Some details",
        b"stack backtrace:",
    ]
    .iter()
    .any(|start| text.starts_with(start))
    {
        return true;
    }
    let inner = text.trim_ascii_start();
    if inner.len() == text.len() {
        return false;
    }
    let digits = inner.iter().take_while(|b| b.is_ascii_digit()).count();
    inner.starts_with(b"at ") || digits > 0 && inner[digits..].starts_with(b":")
}

/// Blank lines and labels that other programs use too.
fn is_bench_body(text: &[u8]) -> bool {
    const LABELS: [&[u8]; 15] = [
        b"proof type:",
        b"count:",
        b"concurrency:",
        b"total time:",
        b"completed:",
        b"failed:",
        b"wall time:",
        b"prove time:",
        b"throughput:",
        b"status:",
        b"job_id:",
        b"timings:",
        b"proof:",
        b"error:",
        b"Error: ",
    ];
    let text = text.trim_ascii_start();
    text.is_empty() || LABELS.iter().any(|label| text.starts_with(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_claims_message_note_and_frames() {
        let mut context = Context::default();
        context.panic(b"thread 'main' panicked at src/lib.rs:151:9:");
        let lines: [(&[u8], Option<Class>); 8] = [
            (b"", None),
            (b"/src/d_buffer.rs:54:44:", Some(Class::Panic)),
            (
                b"x@sppark/gpu_t.cuh:331 failed: \"out of memory\"",
                Some(Class::CudaError),
            ),
            (b"note: run with `RUST_BACKTRACE=1`", Some(Class::Panic)),
            (b"stack backtrace:", Some(Class::Panic)),
            (b"   0: __rustc::rust_begin_unwind", Some(Class::Panic)),
            (b"          at /rustc/lib.rs:90:5", Some(Class::Panic)),
            (b"something else", None),
        ];
        for (line, want) in lines {
            assert_eq!(context.claim(line), want, "{line:?}");
        }
    }

    #[test]
    fn a_header_with_its_message_claims_no_message() {
        let mut context = Context::default();
        context.panic(b"thread 'x' panicked at 'failed', src/lib.rs:1:2");
        assert_eq!(context.claim(b"something else"), None);
        assert_eq!(context.claim(b"stack backtrace:"), Some(Class::Panic));
    }

    #[test]
    fn a_report_ends_after_a_gap() {
        let mut context = Context::default();
        context.bench();
        assert_eq!(context.claim(b"count:       5"), Some(Class::Bench));
        assert_eq!(context.claim(b""), Some(Class::Bench));
        for _ in 0..GAP_MAX {
            assert!(context.is_busy());
            context.pass();
        }
        assert!(!context.is_busy());
        assert_eq!(context.claim(b"count:       5"), None);
    }
}
