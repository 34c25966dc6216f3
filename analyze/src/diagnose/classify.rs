//! What a trouble line is about. The reader says which kind of line it is; here its code and its
//! words are turned into the cause that it names: device memory, a sticky error, a registered
//! host range, the host's memory, ... It judges single lines only: which came first, and what
//! followed from what, is decided by the finders and in `cause`.

use tracefmt::cuda;
use tracefmt::run::{Trouble, TroubleClass};

/// What a trouble line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// An allocation of device memory failed.
    DeviceMemory,
    /// A CUDA error after which every call fails; its code.
    Sticky(i32),
    /// Host memory was registered already (712).
    AlreadyRegistered,
    /// Host memory was not registered (713).
    NotRegistered,
    /// Another CUDA error; its code, 0 when only its text is known.
    Cuda(i32),
    /// The kernel killed a process for lack of host memory.
    HostKill,
    /// The process died.
    Abort,
    /// A thread panicked, and the line names none of the causes above.
    Panic,
    /// A partition, job or task failed, and the line names none of the causes above.
    Failure,
    /// Skipped or thrown away because of an earlier failure.
    Consequence,
    /// A proof was checked and does not hold.
    BadProof,
    /// Pre-staging was left out for lack of free device memory.
    SkipVram,
    /// A line of level ERROR without any of these.
    ErrorLine,
    /// A line of level WARN without any of these.
    WarnLine,
}

/// Words of a failed device allocation, in lower case.
const MEMORY_WORDS: [&str; 4] = [
    "out of memory",
    "cudaerrormemoryallocation",
    "cl_mem_object_allocation_failure",
    "gpu allocation failed",
];

/// Words of a panic over a proof that does not hold, in lower case.
const PROOF_WORDS: [&str; 4] = [
    "proof is invalid",
    "invalid proof",
    "proof verification failed",
    "verify segment",
];

/// Decides what a trouble line is about.
pub(crate) fn topic(trouble: &Trouble) -> Topic {
    match trouble.kind {
        TroubleClass::Consequence => return Topic::Consequence,
        TroubleClass::BadProof => return Topic::BadProof,
        TroubleClass::SkipVram => return Topic::SkipVram,
        _ => {}
    }
    let text = trouble.text.to_lowercase();
    if is_host_kill(&text) {
        return Topic::HostKill;
    }
    if let Some(topic) = by_code(trouble.code).or_else(|| by_words(&text)) {
        return topic;
    }
    match trouble.kind {
        TroubleClass::Panic if PROOF_WORDS.iter().any(|words| text.contains(words)) => {
            Topic::BadProof
        }
        TroubleClass::Panic => Topic::Panic,
        TroubleClass::Abort => Topic::Abort,
        TroubleClass::Failure => Topic::Failure,
        TroubleClass::Error => Topic::ErrorLine,
        TroubleClass::Cuda | TroubleClass::Fallback => Topic::Cuda(trouble.code.unwrap_or(0)),
        _ => Topic::WarnLine,
    }
}

/// The kernel's out-of-memory killer, which speaks of killing and of resident sizes.
fn is_host_kill(text: &str) -> bool {
    text.contains("killed process") || text.contains("oom-kill") || text.contains("oom_reaper")
}

fn by_code(code: Option<i32>) -> Option<Topic> {
    // OpenCL: -4 is CL_MEM_OBJECT_ALLOCATION_FAILURE; a negated CUDA code 4 is never printed.
    if code == Some(-4) {
        return Some(Topic::DeviceMemory);
    }
    let code = code.filter(|code| *code != 0)?.checked_abs()?;
    Some(match code {
        2 => Topic::DeviceMemory,
        712 => Topic::AlreadyRegistered,
        713 => Topic::NotRegistered,
        _ if cuda::is_sticky(code) => Topic::Sticky(code),
        _ => Topic::Cuda(code),
    })
}

fn by_words(text: &str) -> Option<Topic> {
    if MEMORY_WORDS.iter().any(|words| text.contains(words)) {
        return Some(Topic::DeviceMemory);
    }
    cuda::ERRORS
        .iter()
        .find(|error| error.sticky && text.contains(&error.text.to_lowercase()))
        .map(|error| Topic::Sticky(error.code))
}

#[cfg(test)]
mod tests {
    use tracefmt::run::LineRef;

    use super::*;

    fn trouble(kind: TroubleClass, code: Option<i32>, text: &str) -> Trouble {
        Trouble {
            kind,
            line: LineRef::new(0, 1),
            us: None,
            code,
            text: text.to_owned(),
            job: None,
            task: None,
        }
    }

    #[test]
    fn codes_and_words_name_the_same_topics() {
        use TroubleClass as C;
        let rows = [
            (
                C::Fallback,
                Some(2),
                "prestage_setup=fallback err=2",
                Topic::DeviceMemory,
            ),
            (
                C::Fallback,
                Some(712),
                "host_register=fallback err=712",
                Topic::AlreadyRegistered,
            ),
            (
                C::Error,
                Some(713),
                "cudaHostUnregister returned: 713",
                Topic::NotRegistered,
            ),
            (
                C::Panic,
                None,
                "x@gpu_t.cuh:331 failed: \"out of memory\"",
                Topic::DeviceMemory,
            ),
            (
                C::Warning,
                Some(-4),
                "GPU FFT failed! Falling back to CPU",
                Topic::DeviceMemory,
            ),
            (
                C::Cuda,
                None,
                "an illegal memory access was encountered",
                Topic::Sticky(700),
            ),
            (C::Cuda, Some(-719), "launch failure", Topic::Sticky(719)),
            (C::Cuda, Some(209), "no kernel image", Topic::Cuda(209)),
            (
                C::Abort,
                None,
                "Out of memory: Killed process 5 (x)",
                Topic::HostKill,
            ),
            (C::Abort, None, "fatal runtime error: x", Topic::Abort),
            (
                C::Panic,
                None,
                "Cannot block the current thread",
                Topic::Panic,
            ),
            (
                C::Failure,
                None,
                "partition 3 synthesis failed",
                Topic::Failure,
            ),
            (C::Error, None, "cannot bind", Topic::ErrorLine),
            (C::Warning, None, "slow", Topic::WarnLine),
            (C::Consequence, Some(2), "skipping", Topic::Consequence),
        ];
        for (kind, code, text, expected) in rows {
            assert_eq!(topic(&trouble(kind, code, text)), expected, "{text}");
        }
    }
}
