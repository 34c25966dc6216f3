//! A table of the engine's messages and what they mean.

use super::*;
use crate::grammar::parse_log;
use crate::record::EngineMessage as M;

/// Classifies a line without escapes and hands what it means to a check.
fn check(level: &str, body: &str, expected: &EngineMessage<'_>) {
    let text = format!("2026-03-02T19:57:11.240653Z {level:>5} cuzk_core::engine: {body}");
    let line = parse_log(text.as_bytes()).unwrap();
    assert_eq!(classify(&line), *expected, "{text}");
}

/// What happens to jobs, at level INFO.
const LIVES: &[(&str, M<'_>)] = &[
    (
        "cuzk-daemon starting listen=0.0.0.0:9820 log_level=\"info\"",
        M::DaemonStarting,
    ),
    (
        "GPU threads configured CUZK_GPU_THREADS=32 gpu_threads=32",
        M::GpuThreads { threads: 32 },
    ),
    (
        "job enqueued job_id=a-[1 2] proof_kind=porep-c2 priority=Normal queue_position=4",
        M::JobEnqueued {
            job: "a-[1 2]",
            kind: Some("porep-c2"),
            priority: Some("Normal"),
            position: Some(4),
        },
    ),
    (
        "job dequeued for proving job_id=a proof_kind=porep-c2 priority=High",
        M::JobDequeued {
            job: "a",
            kind: Some("porep-c2"),
            priority: Some("High"),
        },
    ),
    (
        "assigned pipeline sequence number job_id=a job_seq=7",
        M::SequenceNumber { job: "a", seq: 7 },
    ),
    (
        "pipeline GPU worker started worker_id=3 gpu=1",
        M::WorkerStarted { worker: 3, gpu: 1 },
    ),
    (
        "partition synthesis complete, pushing to GPU queue job_id=a partition=2 synth_ms=5",
        M::SynthesisComplete {
            job: Some("a"),
            partition: Some(2),
            synth_ms: 5,
            circuit: None,
        },
    ),
    (
        "synthesis complete, sending to GPU synth_ms=5 circuit_id=window-post-32g batch_size=1 \
         sectors=1",
        M::SynthesisComplete {
            job: None,
            partition: None,
            synth_ms: 5,
            circuit: Some("window-post-32g"),
        },
    ),
    (
        "partition GPU prove complete job_id=a partition=2 gpu_ms=5 filled=1",
        M::PartitionProved {
            job: "a",
            partition: 2,
            gpu_ms: 5,
        },
    ),
    (
        "Phase 7: all partitions complete, proof assembled job_id=a proof_len=1920 total_ms=9 \
         synth_ms=8 gpu_ms=7",
        M::ProofAssembled {
            job: "a",
            proof_len: Some(1920),
            total_ms: Some(9),
            synth_ms: Some(8),
            gpu_ms: Some(7),
        },
    ),
    (
        "Phase 7: PoRep proof self-check PASSED job_id=a proof_len=1920 sector=1 miner=2",
        M::SelfCheck {
            job: "a",
            passed: true,
        },
    ),
    ("job enqueued", M::Other),
    ("something else", M::Other),
];

#[test]
fn lives_of_jobs() {
    for (body, expected) in LIVES {
        check("INFO", body, expected);
    }
    let failed = M::SelfCheck {
        job: "a",
        passed: false,
    };
    check(
        "ERROR",
        "Phase 7: PoRep proof self-check FAILED job_id=a",
        &failed,
    );
    check(
        "WARN",
        "PoRep proof self-check FAILED (returned anyway) job_id=a",
        &failed,
    );
}

#[test]
fn a_pickup_gets_its_place_from_its_span() {
    let text = "2026-03-02T19:57:11Z  INFO gpu_worker{worker_id=1 gpu=0 job_id=a \
    proof_kind=porep-c2 \
                batch_size=1 partition=Some(8)}: cuzk_core::engine: GPU worker picked up \
                synthesized \
                proof batched=false partitioned=true partition=Some(8)";
    let line = parse_log(text.as_bytes()).unwrap();
    let place = crate::event::Place {
        gpu: Some(0),
        worker: Some(1),
        partition: Some(8),
    };
    assert_eq!((line.job(), line.place()), (Some("a"), place));
    let expected = EngineMessage::PickedUp {
        kind: Some("porep-c2"),
        batch_size: Some(1),
    };
    assert_eq!(classify(&line), expected);
}

/// Timings and counters.
const TIMINGS: &[(&str, M<'_>)] = &[
    (
        "GPU_TIMING hot_path pre-prove overhead worker_id=0 partition=Some(1) status_ms=1 \
             fail_check_ms=2 mark_busy_ms=3 total_overhead_ms=6",
        EngineMessage::GpuTiming(GpuTiming::Overhead {
            status_ms: 1,
            fail_check_ms: 2,
            mark_busy_ms: 3,
            total_ms: 6,
        }),
    ),
    (
        "GPU_TIMING spawn_blocking prove_start worker_id=0 spawn_to_enter_ms=1 prove_start_ms=2",
        EngineMessage::GpuTiming(GpuTiming::ProveStart {
            spawn_to_enter_ms: 1,
            prove_start_ms: 2,
        }),
    ),
    (
        "GPU_TIMING prove_start returned total_pre_prove_ms=1 spawn_blocking_wall_ms=2",
        EngineMessage::GpuTiming(GpuTiming::Returned {
            pre_prove_ms: 1,
            wall_ms: 2,
        }),
    ),
    (
        "FIN_TIMING finalizer partition worker_id=0 partition=1 finish_ms=1 drop_res_ms=2 \
             lock_wait_ms=3 process_ms=4 total_ms=10",
        EngineMessage::FinTiming(FinTiming::Finalizer {
            finish_ms: 1,
            drop_ms: 2,
            lock_wait_ms: 3,
            process_ms: 4,
            total_ms: 10,
        }),
    ),
    (
        "FIN_TIMING malloc_trim (success path) job_id=a partition=1 malloc_trim_ms=12",
        EngineMessage::FinTiming(FinTiming::MallocTrim { ms: 12 }),
    ),
    (
        "buffer flight counters event=\"synth_start\" synth=1 provers=2 aux=3 shells=4 \
             pending=-5 est_gib=6",
        EngineMessage::Flight(Flight {
            event: "synth_start",
            synth: 1,
            provers: 2,
            aux: 3,
            shells: 4,
            pending: -5,
            est_gib: 6,
        }),
    ),
    (
        "pacer: status total=5 in_flight=4 waiting=3 gpu_proc_ms=\"12.5\" interval_ms=50 \
             rebootstraps=1",
        EngineMessage::Pacer(Pacer {
            total: 5,
            in_flight: Some(4),
            waiting: Some(3),
            interval_ms: Some(50.0),
            gpu_proc_ms: Some(12.5),
            rebootstraps: Some(1),
        }),
    ),
    (
        "GPU_TIMING spawn_blocking prove_start worker_id=0",
        EngineMessage::Other,
    ),
];

#[test]
fn timings_and_counters() {
    for (body, expected) in TIMINGS {
        check("INFO", body, expected);
    }
}

#[test]
fn host_memory() {
    let budget = |step, amount, used, available, total| {
        EngineMessage::Budget(BudgetNote {
            step,
            amount_gib: amount,
            used_gib: used,
            available_gib: available,
            total_gib: total,
        })
    };
    let table = [
        (
            "memory budget initialized total_budget_gib=750",
            budget(BudgetStep::Initialized, None, None, None, Some(750)),
        ),
        (
            "budget acquired amount_gib=14 used_gib=58 total_gib=750",
            budget(BudgetStep::Acquired, Some(14), Some(58), None, Some(750)),
        ),
        (
            "waiting for budget (acquire blocked) needed_gib=14 available_gib=3",
            budget(BudgetStep::Waiting, Some(14), None, Some(3), None),
        ),
        (
            "pinned pool: allocated new buffer size_gib=3 total_buffers=2 total_gib=7",
            EngineMessage::PinnedPool(PinnedPool {
                step: PinnedStep::Allocated,
                size_gib: Some(3),
                buffers: Some(2),
                total_gib: Some(7),
                cuda_err: None,
            }),
        ),
        (
            "cudaHostAlloc failed cuda_err=2 size_gib=3",
            EngineMessage::PinnedPool(PinnedPool {
                step: PinnedStep::AllocFailed,
                size_gib: Some(3),
                buffers: None,
                total_gib: None,
                cuda_err: Some(2),
            }),
        ),
        (
            "SRS loaded successfully circuit_id=porep-32g elapsed_ms=22572",
            EngineMessage::Params(Params {
                kind: ParamsKind::Srs,
                step: ParamsStep::Loaded,
                circuit: Some("porep-32g"),
                elapsed_ms: Some(22572),
                freed_gib: None,
            }),
        ),
    ];
    for (body, expected) in &table {
        check("WARN", body, expected);
    }
}

#[test]
fn failures_and_what_follows_from_them() {
    let failure = |job, partition, stage, panicked, error| EngineMessage::Failure {
        job,
        partition,
        stage,
        panicked,
        error,
    };
    let task = "task 5 panicked with message \"f(x)@sppark/a.cuh:7 failed: \\\"out of memory\\\"\"";
    check(
        "ERROR",
        &format!("partition GPU proving task panicked job_id=a partition=3 error={task}"),
        &failure(Some("a"), Some(3), Stage::Gpu, true, task),
    );
    check(
        "ERROR",
        "job failed job_id=a error=partition 4 synthesis failed: too few constraints",
        &failure(
            Some("a"),
            Some(4),
            Stage::Synthesis,
            false,
            "partition 4 synthesis failed: too few constraints",
        ),
    );
    check(
        "ERROR",
        "partition 4 GPU task panicked: boom",
        &failure(
            None,
            Some(4),
            Stage::Gpu,
            true,
            "partition 4 GPU task panicked: boom",
        ),
    );
    for (message, stage) in [
        ("skipping GPU prove", Stage::Gpu),
        ("skipping synthesis", Stage::Synthesis),
        ("discarding GPU result", Stage::Assembly),
    ] {
        let expected = EngineMessage::Consequence {
            job: Some("a"),
            partition: Some(3),
            stage,
        };
        check(
            "WARN",
            &format!("{message} for failed job job_id=a partition=3"),
            &expected,
        );
    }
    check("WARN", "something failed job_id=a", &EngineMessage::Other);
    check("INFO", "retrying after it failed", &EngineMessage::Other);
}
