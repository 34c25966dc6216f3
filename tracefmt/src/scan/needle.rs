//! Needles inside lines that no head explains: lines written behind a fragment, CUDA errors.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::head::{self, Head};

/// What a line without a head holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A whole line begins at this offset.
    Line(usize, Head),
    /// A CUDA or `OpenCL` call failed.
    Cuda,
    /// The kernel killed a process for want of memory.
    Killed,
}

/// Beginnings of lines, then signs of a failed call; the order tells them apart.
const STARTS: [&str; 6] = [
    "CUZK_TIMING: ",
    "CUZK_NTT_H: ",
    "\x1b[2m20",
    "[2m20",
    "TIMELINE,",
    "thread '",
];
const CUDA: [&str; 10] = [
    "failed: \"",
    "CUDA Error:",
    "CudaError {",
    "cudaHostUnregister returned",
    "an illegal memory access",
    "OPENCL ERROR",
    "Error executing function: cl",
    "Status error code: CL_",
    "CUDA_ERROR_",
    "cudaError",
];
/// The kernel's log carries a stamp in front of them.
const KILLED: [&str; 3] = [
    "ut of memory: Killed process",
    "oom-kill:",
    "oom_reaper: reaped process",
];

/// Built once; a build that failed would find nothing, which a test rules out.
static NEEDLES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(STARTS.iter().chain(&CUDA).chain(&KILLED))
        .ok()
});

/// The first needle of a line.
pub(super) fn find(text: &[u8]) -> Option<Found> {
    let needles = NEEDLES.as_ref()?;
    let (mut cuda, mut killed) = (false, false);
    for found in needles.find_iter(text) {
        let pattern = found.pattern().as_usize();
        if pattern >= STARTS.len() {
            cuda |= pattern < STARTS.len() + CUDA.len();
            killed |= pattern >= STARTS.len() + CUDA.len();
            continue;
        }
        let head = head::of(&text[found.start()..]);
        if head.is_ours() {
            return Some(Found::Line(found.start(), head));
        }
    }
    if killed {
        return Some(Found::Killed);
    }
    cuda.then_some(Found::Cuda)
}

/// Whether a line, whatever its head, tells of a failed call.
pub(super) fn is_cuda_error(text: &[u8]) -> bool {
    NEEDLES.as_ref().is_some_and(|needles| {
        needles
            .find_iter(text)
            .map(|found| found.pattern().as_usize())
            .any(|pattern| (STARTS.len()..STARTS.len() + CUDA.len()).contains(&pattern))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_lines_and_errors() {
        let cases: [(&str, Option<Found>); 10] = [
            (
                ",8fddCUZK_TIMING: gpu_tid=1 ntt_msm_h_ms=7",
                Some(Found::Line(5, Head::Timing)),
            ),
            ("abTIMELINE,", Some(Found::Line(2, Head::Timeline))),
            (
                "ab\x1b[2m2026-02-19T04:24:22.1Z",
                Some(Found::Line(2, Head::Tracing)),
            ),
            (
                "ab[2m2026-02-19T04:24:22.1Z",
                Some(Found::Line(2, Head::Tracing)),
            ),
            (
                "abthread 'x' panicked at a:1:1:",
                Some(Found::Line(2, Head::Panic)),
            ),
            ("abthread 'x' went on", None),
            (
                "cudaMalloc(&p, n)@sppark/util/gpu_t.cuh:331 failed: \"out\"",
                Some(Found::Cuda),
            ),
            (
                "cudaHostUnregister returned: 713 ptr: 0x7e",
                Some(Found::Cuda),
            ),
            (
                "[Fri Jun 27 2025] Out of memory: Killed process 526101 (x)",
                Some(Found::Killed),
            ),
            ("nothing", None),
        ];
        for (text, want) in cases {
            assert_eq!(find(text.as_bytes()), want, "{text:?}");
        }
    }
}
