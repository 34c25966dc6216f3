//! Tables of trouble lines.

use super::*;

/// `(line, kind, code, text, site)`
type Row = (
    &'static str,
    TroubleKind,
    Option<i32>,
    &'static str,
    Option<&'static str>,
);

fn check(rows: &[Row], parse: impl Fn(&[u8]) -> Option<TroubleLine<'_>>) {
    for (line, kind, code, text, site) in rows {
        let expected = TroubleLine {
            kind: *kind,
            code: *code,
            text: (*text).into(),
            site: site.map(Into::into),
        };
        assert_eq!(parse(line.as_bytes()), Some(expected), "{line}");
    }
}

#[test]
fn headers_of_panics() {
    use TroubleKind::Panic;
    let place = "/x/supraseal-c2-0.1.2/src/lib.rs:151:9";
    check(
        &[
            (
                "thread '<unnamed>' panicked at /x/supraseal-c2-0.1.2/src/lib.rs:151:9:",
                Panic,
                None,
                place,
                Some(place),
            ),
            (
                "thread 'e2e' (160652) panicked at /x/supraseal-c2-0.1.2/src/lib.rs:151:9:",
                Panic,
                None,
                place,
                Some(place),
            ),
            // The path is broken over two lines.
            (
                "thread 'e2e' (160652) panicked at /x/crates/cuda-common",
                Panic,
                None,
                "/x/crates/cuda-common",
                Some("/x/crates/cuda-common"),
            ),
            (
                "thread 'main' panicked:",
                Panic,
                None,
                "thread 'main' panicked:",
                None,
            ),
            (
                "thread 'a' panicked at 'it's \\n bad', /x/proof.rs:578:38",
                Panic,
                None,
                "it's \\n bad",
                Some("/x/proof.rs:578:38"),
            ),
            (
                "thread 'a' panicked at 'f(x)@sppark/a.cuh:7 failed: \"out of memory\"', l.rs:1:2",
                Panic,
                Some(2),
                "f(x)@sppark/a.cuh:7 failed: \"out of memory\"",
                Some("l.rs:1:2"),
            ),
        ],
        parse_trouble,
    );
}

#[test]
fn failed_cuda_calls() {
    use TroubleKind::Cuda;
    let wide = "cudaGetLastError()@sppark-0.1.14/sppark/ntt/wide.cu:220 failed: \"out of memory\"";
    let stream = "cudaStreamSynchronize(s)@sppark/gpu_t.cuh:158 failed: \"an illegal memory \
    access was encountered\"";
    let icicle = "!!!Unrecoverable!!! : an illegal memory access was encountered : detected by: \
                  cudaMemcpyAsync( &a, b, at: c) at: /x/ntt.cuh:743";
    let structure = "GPU allocation failed: Cuda(CudaError { code: 2, name: \
                     \"cudaErrorMemoryAllocation\", message: \"out of memory\" })";
    let unregister =
        "ERROR solana_core::cuda_runtime] cudaHostUnregister returned: 713 ptr: 0x7e ?";
    check(
        &[
            (
                wide,
                Cuda,
                Some(2),
                wide,
                Some("sppark-0.1.14/sppark/ntt/wide.cu:220"),
            ),
            (icicle, Cuda, Some(700), icicle, Some("/x/ntt.cuh:743")),
            (structure, Cuda, Some(2), structure, None),
            (unregister, Cuda, Some(713), unregister, None),
            (
                "sppark::Error #-2",
                Cuda,
                Some(2),
                "sppark::Error #-2",
                None,
            ),
            (
                "sppark::Error #719",
                Cuda,
                Some(719),
                "sppark::Error #719",
                None,
            ),
            (
                "x: CUDA_ERROR_ILLEGAL_ADDRESS (y)",
                Cuda,
                Some(700),
                "x: CUDA_ERROR_ILLEGAL_ADDRESS (y)",
                None,
            ),
            (
                "CUDA error: unspecified launch failure",
                Cuda,
                Some(719),
                "CUDA error: unspecified launch failure",
                None,
            ),
            (
                "CUDA error: made up",
                Cuda,
                None,
                "CUDA error: made up",
                None,
            ),
        ],
        parse_trouble,
    );
    let what = format!("  what():  {stream}");
    let line = parse_trouble(what.as_bytes()).unwrap();
    assert_eq!((line.kind, line.code), (Cuda, Some(700)));
    assert_eq!(
        (&*line.text, line.site.as_deref()),
        (stream, Some("sppark/gpu_t.cuh:158"))
    );
}

#[test]
fn a_failure_inside_an_escaped_message() {
    let error = "task 5 panicked with message \"\
        cudaMalloc(&p, n * sizeof(T))@sppark-0.1.14/gpu_t.cuh:331 failed: \\\"out of memory\\\"\"";
    let failure = cuda_failure(error.as_bytes()).unwrap();
    assert_eq!(failure.code, Some(2));
    assert_eq!(
        failure.call.as_deref(),
        Some("cudaMalloc(&p, n * sizeof(T))")
    );
    assert_eq!(failure.site.as_deref(), Some("sppark-0.1.14/gpu_t.cuh:331"));
}

#[test]
fn ends_of_processes() {
    use TroubleKind::{Abort, OpenCl};
    let rust = "fatal runtime error: Rust cannot catch foreign exceptions";
    let cxx = "terminate called after throwing an instance of 'sppark_error'";
    let kernel = "[Fri Jun 27 23:32:32 2025] Out of memory: Killed process 526101 (ere-hosts)";
    check(
        &[
            (rust, Abort, None, rust, None),
            (cxx, Abort, None, cxx, None),
            (
                "terminate called recursively",
                Abort,
                None,
                "terminate called recursively",
                None,
            ),
            ("  what():  bad thing", Abort, None, "bad thing", None),
            (kernel, Abort, None, kernel, None),
            ("Killed", Abort, None, "Killed", None),
            (
                "Aborted (core dumped)",
                Abort,
                None,
                "Aborted (core dumped)",
                None,
            ),
            (
                "Status error code: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)  ",
                OpenCl,
                None,
                "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)",
                None,
            ),
        ],
        parse_trouble,
    );
}

#[test]
fn lines_behind_a_header() {
    use TroubleKind::{Cuda, PanicMessage};
    let cuda = "f()@sppark/a.cu:2 failed: \"out of memory\"";
    let unwrap = "called `Result::unwrap()` on an `Err` value: verify segment";
    check(
        &[
            (cuda, Cuda, Some(2), cuda, Some("sppark/a.cu:2")),
            (unwrap, PanicMessage, None, unwrap, None),
        ],
        parse_panic_message,
    );
    for line in [
        "",
        "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        "stack backtrace:",
        "   0:          0x248bfe0 - std::backtrace",
        "   0: __rustc::rust_begin_unwind",
        "             at /rustc/x/libunwind.rs:90:5",
    ] {
        assert_eq!(parse_panic_message(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn no_trouble() {
    for line in [
        "",
        "Killed 3 old tasks",
        "Aborted because the client went away",
        "cudaMalloc returned 0",
        "the function returned: 5",
        "email@host:25 failed: no route",
        "The error is reported there and may be caused by prior calls.",
        "################################ OPENCL ERROR ############################### ",
        "thread 'x' is fine",
        "CUZK_TIMING: prep_msm_ms=5",
        "no cudaErrors today",
    ] {
        assert_eq!(parse_trouble(line.as_bytes()), None, "{line}");
    }
}
