//! One table: a line, and the class that it belongs to.

use tracefmt::scan::Class::{
    Bench, CudaError, EngineOther, Foreign, Ops, Panic, Timeline, Timing, Torn, Tracing,
};
use tracefmt::scan::{Class, Classes, CountOnly, Line, Sink, scan_slice};

use super::scan;

const TABLE: &[(Class, &str)] = &[
    (
        Timeline,
        "TIMELINE,245689,GPU_PICKUP,8fdded90-cfde-49a5,worker=0,partition=3",
    ),
    (
        Timeline,
        "TIMELINE,0,SYNTH_START,wdpost-1000-1-[236 202 56 154],kind=window-post",
    ),
    (Timeline, "TIMELINE,7,CHAN_SEND,job-1,"),
    (Timeline, "TIMELINE,7,GPU_QUEUE,job-1,monolithic"),
    (Timeline, "TIMELINE,7,GPU_END,a,b=c: d,worker=0,gpu_ms=5"),
    (
        Timeline,
        "TIMELINE,0,TRACE_START,run,version=1,epoch=2026-02-19T04:20:17.307Z,t_us=0",
    ),
    (Timeline, "TIMELINE,7,LATER_EVENT,job-1,gpu=0,Label=x"),
    (Torn, "TIMELINE,7,GPU_END,job-1"),
    (Torn, "TIMELINE,xx,GPU_END,job-1,worker=0"),
    (Timing, "CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=845"),
    (
        Timing,
        "CUZK_TIMING: set pool release threshold to MAX on gpu 0",
    ),
    (Timing, "CUZK_TIMING: d_a_cache allocated 4096 MiB on gpu 0"),
    (
        Timing,
        "CUZK_NTT_H: d_b_alloc=1ms ntt_kernels=210ms total=690ms",
    ),
    (Timing, "CUZK_TIMING: prep_msm_ms=5 job=a,b=c gpu=0"),
    (
        Tracing,
        "\x1b[2m2026-02-19T04:24:22.996374Z\x1b[0m \x1b[32m INFO\x1b[0m \x1b[2mh2\x1b[0m: a",
    ),
    (
        Tracing,
        "[2m2026-02-19T04:24:22.996374Z[0m [32m INFO[0m [2mcuzk_core::engine[0m[2m:[0m x",
    ),
    (
        Tracing,
        "2026-02-19T04:24:22.996374Z  INFO cuzk_core::engine: job enqueued",
    ),
    (
        Tracing,
        "2026-02-19T04:24:22.996374Z ERROR cuzk_core::engine: panicked with message \"x\"",
    ),
    (
        Panic,
        "thread 'tokio-runtime-worker' panicked at src/lib.rs:151:9:",
    ),
    (
        Panic,
        "thread 'e2e' (160652) panicked at /home/x/stark-backend",
    ),
    (
        Panic,
        "thread '<unnamed>' panicked at 'GPUError(\"Ocl(\\n### OPENCL ERROR'",
    ),
    (Panic, "thread 'main' panicked:"),
    (
        Panic,
        "fatal runtime error: Rust cannot catch foreign exceptions",
    ),
    (
        Panic,
        "terminate called after throwing an instance of 'sppark_error'",
    ),
    (Panic, "  what():  std::bad_alloc"),
    (
        CudaError,
        "  what():  cudaStreamSynchronize(s)@sppark/util/gpu_t.cuh:158 failed: \"x\"",
    ),
    (
        CudaError,
        "cudaMalloc(&p, n)@sppark-0.1.14/sppark/util/gpu_t.cuh:331 failed: \"oom\"",
    ),
    (
        CudaError,
        "GPU allocation failed: Cuda(CudaError { code: 2, message: \"x\" })",
    ),
    (
        CudaError,
        "ERROR solana_core::cuda_runtime] cudaHostUnregister returned: 713 ptr: 0x7",
    ),
    (
        CudaError,
        "!!!Unrecoverable!!! : an illegal memory access was encountered : by cuda",
    ),
    (
        CudaError,
        "################################ OPENCL ERROR ###############################",
    ),
    (
        CudaError,
        "Error executing function: clEnqueueWriteBuffer  ",
    ),
    (
        CudaError,
        "Status error code: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)  ",
    ),
    (
        EngineOther,
        "2026-03-01T05:16:09.278 INFO bellperson::groth16::prover > synthesis time: 3s",
    ),
    (
        EngineOther,
        "2026-03-01T05:16:09.278 DEBUG filecoin_proofs::caches > found params",
    ),
    (
        EngineOther,
        "2020-02-26T13:33:11.534 6150 high INFO storage_proofs::compound > start",
    ),
    (
        EngineOther,
        "[2021-09-21T04:48:55Z INFO  bellperson::domain] GPU FFT kernel instantiated!",
    ),
    (
        EngineOther,
        "2022-11-24T23:07:40.287Z\tINFO\tminer\tminer/miner.go:548\tcompleted mineOne",
    ),
    (
        EngineOther,
        "2021-06-09T09:38:59.861+0800    WARN    storageminer    storage/run.go:226  x",
    ),
    (
        EngineOther,
        "partition[3] acquired 14 GiB, budget 167/251 GiB remaining",
    ),
    (EngineOther, "memory budget: 251 GiB (256 total - 5 safety)"),
    (
        EngineOther,
        "evicting SRS snap-32g (idle 8m12s), freed 33 GiB, budget 214/251 GiB remaining",
    ),
    (Bench, "=== Batch Benchmark ==="),
    (
        Bench,
        "  [1/5] COMPLETED \u{2014} 90.9s (prove=62314 ms, queue=91 ms)",
    ),
    (Ops, "{\"schema\":\"cuzk.ops/1\",\"capacity\":5}"),
    (Ops, "{\"op\": \"malloc\", \"id\": 1, \"bytes\": 4096}"),
    (Ops, "{\"worker\":0,\"op\":\"streamSync\",\"stream\":1}"),
    (Foreign, "{\"op\":\"login\",\"user\":\"x\"}"),
    (Foreign, "{\"level\":\"info\",\"msg\":\"hello\"}"),
    (
        Foreign,
        "2026-03-01T05:16:09.278Z\tINFO\tcurio/tasks\tpiece/task_park.go:319\tcompleted",
    ),
    (
        Foreign,
        "2026-03-01T05:16:09.278Z\tERROR\tops\ttail.go:88\tsaw {\"text\": \"CUZK_TIMING: a=1\"}",
    ),
    (
        Foreign,
        "2026-03-01T05:17:03.686 INFO curio::ops > hint: grep ^TIMELINE /var/log/cuzk.log",
    ),
    (
        Foreign,
        "[2024-03-19T09:40:37Z INFO  plonky2::util::timing] 50.1394s to prove root first",
    ),
    (
        Foreign,
        "10.4.0.17 - - [2026-03-01T05:16:09 +0000] \"GET /status HTTP/1.1\" 200 3676",
    ),
    (
        Panic,
        "[Fri Jun 27 23:32:32 2025] Out of memory: Killed process 526101 (ere-hosts)",
    ),
    (
        Foreign,
        "2026/01/06 15:13:03.389, NVIDIA GeForce RTX 5090, 0 %, 0 %, 2 MiB",
    ),
    (Foreign, "count:       5"),
    (Foreign, "error: could not compile"),
    (Foreign, "    at src/lib.rs:3"),
    (
        Foreign,
        "hint: TIMELINE, and CUZK_TIMING are what to look for",
    ),
    (Foreign, "TIMELINE"),
    (Foreign, "CUZK_TIMING"),
    (Torn, "CU..."),
    (Foreign, ""),
];

#[test]
fn every_line_of_the_table_has_its_class() {
    for (class, text) in TABLE {
        for end in ["\n", "\r\n"] {
            let log = format!("{text}{end}");
            let (lines, scan) = scan(log.as_bytes());
            assert_eq!(lines.len(), 1, "{text:?}: {lines:?}");
            assert_eq!(
                (lines[0].class, lines[0].text()),
                (*class, (*text).to_owned())
            );
            assert_eq!(lines[0].raw, log.as_bytes());
            assert!(!lines[0].cut && !lines[0].repaired && lines[0].number == 1);
            assert_eq!(scan.ledger.of(*class).bytes, log.len() as u64);
            assert_eq!(scan.lost.count(), u64::from(*class == Torn));
        }
    }
}

#[test]
fn the_table_as_one_file_gives_the_same_classes() {
    let quiet = |class: Class| !matches!(class, Panic | Bench | Torn);
    let rows = || TABLE.iter().filter(|(class, _)| quiet(*class));
    let log: String = rows().map(|(_, text)| format!("{text}\n")).collect();
    let (lines, scan) = scan(log.as_bytes());
    let got: Vec<_> = lines.iter().map(|l| (l.class, l.text())).collect();
    let want: Vec<_> = rows()
        .map(|(class, text)| (*class, (*text).to_owned()))
        .collect();
    assert_eq!(got, want);
    assert_eq!(scan.ledger.bytes(), log.len() as u64);
    let mut offset = 0;
    for (i, line) in lines.iter().enumerate() {
        assert_eq!((line.number, line.offset), (i as u64 + 1, offset));
        offset += line.raw.len() as u64;
    }
}

#[test]
fn a_panic_takes_its_message_note_and_frames() {
    let log = "thread 'w' panicked at src/lib.rs:151:9:\n\
        TIMELINE,7,CHAN_SEND,job-1,partition=0\n\
        index out of bounds\n\
        note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\
        stack backtrace:\n   0: rust_begin_unwind\n             at /rustc/lib.rs:90:5\n\
        index out of bounds\n";
    let (lines, _) = scan(log.as_bytes());
    let got: Vec<_> = lines.iter().map(|l| l.class).collect();
    assert_eq!(
        got,
        [Panic, Timeline, Panic, Panic, Panic, Panic, Panic, Foreign]
    );
}

#[test]
fn a_bench_report_takes_blank_lines_and_labels() {
    let log = "=== Batch Benchmark ===\nproof type:  porep\ncount:       5\n\n\
        \x20 [1/5] FAILED \u{2014} 93.6s (prove=0 ms, queue=0 ms)\n\n=== Batch Summary ===\n\
        total time:  156.8s\nfailed:      5\nsomething else\n";
    let (lines, scan) = scan(log.as_bytes());
    assert_eq!(scan.ledger.of(Bench).lines, 9);
    assert_eq!(lines.last().map(|l| l.class), Some(Foreign));
}

struct Only(Classes, Vec<Class>);

impl Sink for Only {
    fn wants(&self) -> Classes {
        self.0
    }

    fn line(&mut self, line: &Line<'_>) {
        self.1.push(line.class);
    }
}

#[test]
fn a_sink_gets_what_it_wants_and_the_ledger_does_not_change() {
    let log: String = TABLE.iter().map(|(_, text)| format!("{text}\n")).collect();
    let all = scan_slice(log.as_bytes(), &mut CountOnly);
    for class in Class::ALL {
        let mut only = Only(Classes::NONE.with(class), Vec::new());
        assert_eq!(scan_slice(log.as_bytes(), &mut only), all);
        assert!(only.1.iter().all(|c| *c == class));
        assert_eq!(only.1.len() as u64, all.ledger.of(class).lines);
    }
}
