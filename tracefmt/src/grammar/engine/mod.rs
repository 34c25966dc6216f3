//! What a log line of the engine means.

use crate::record::{
    BudgetNote, BudgetStep, EngineMessage, FinTiming, Flight, GpuTiming, Level, LogLine, Pacer,
    Params, ParamsKind, ParamsStep, PinnedPool, PinnedStep, Stage,
};

/// Says what a log line means; [`EngineMessage::Other`] for a message that no tool needs, or one
/// whose needed fields are missing.
///
/// Messages are told by how they begin, whatever their target: the wording has stayed while
/// modules moved.
pub fn classify<'l>(line: &'l LogLine<'_>) -> EngineMessage<'l> {
    [lifecycle, timing, memory, trouble]
        .iter()
        .find_map(|reader| reader(line))
        .unwrap_or(EngineMessage::Other)
}

/// Jobs and partitions on their way.
fn lifecycle<'l>(line: &'l LogLine<'_>) -> Option<EngineMessage<'l>> {
    let message = line.message.as_ref();
    let starts = |prefix: &str| message.starts_with(prefix);
    Some(if starts("cuzk-daemon starting") {
        EngineMessage::DaemonStarting
    } else if starts("GPU threads configured") {
        EngineMessage::GpuThreads {
            threads: line.number("gpu_threads")?,
        }
    } else if starts("job enqueued") {
        EngineMessage::JobEnqueued {
            job: line.job()?,
            kind: line.field("proof_kind"),
            priority: line.field("priority"),
            position: line.number("queue_position"),
        }
    } else if starts("job dequeued") {
        EngineMessage::JobDequeued {
            job: line.job()?,
            kind: line.field("proof_kind"),
            priority: line.field("priority"),
        }
    } else if starts("assigned pipeline sequence number") {
        EngineMessage::SequenceNumber {
            job: line.job()?,
            seq: line.number("job_seq")?,
        }
    } else if message.ends_with("GPU worker started") {
        EngineMessage::WorkerStarted {
            worker: line.number("worker_id")?,
            gpu: line.number("gpu")?,
        }
    } else if starts("GPU worker picked up") {
        EngineMessage::PickedUp {
            kind: line.field("proof_kind"),
            batch_size: line.number("batch_size"),
        }
    } else if starts("partition synthesis complete") || starts("synthesis complete") {
        EngineMessage::SynthesisComplete {
            job: line.job(),
            partition: line.number("partition"),
            synth_ms: line.number("synth_ms")?,
            circuit: line.field("circuit_id"),
        }
    } else if starts("partition GPU prove complete") {
        EngineMessage::PartitionProved {
            job: line.job()?,
            partition: line.number("partition")?,
            gpu_ms: line.number("gpu_ms")?,
        }
    } else if message.contains("all partitions complete") {
        EngineMessage::ProofAssembled {
            job: line.job()?,
            proof_len: line.number("proof_len"),
            total_ms: line.number("total_ms"),
            synth_ms: line.number("synth_ms"),
            gpu_ms: line.number("gpu_ms"),
        }
    } else if message.contains("self-check PASSED") || message.contains("self-check FAILED") {
        EngineMessage::SelfCheck {
            job: line.job()?,
            passed: message.contains("self-check PASSED"),
        }
    } else if starts("job completed") || starts("proof completed") {
        EngineMessage::JobCompleted { job: line.job()? }
    } else {
        return None;
    })
}

/// `GPU_TIMING`, `FIN_TIMING`, the counters and the pacer.
fn timing<'l>(line: &'l LogLine<'_>) -> Option<EngineMessage<'l>> {
    let message = line.message.as_ref();
    if let Some(step) = message.strip_prefix("GPU_TIMING ") {
        return gpu_timing(line, step).map(EngineMessage::GpuTiming);
    }
    if let Some(step) = message.strip_prefix("FIN_TIMING ") {
        return fin_timing(line, step).map(EngineMessage::FinTiming);
    }
    if message.starts_with("buffer flight counters") {
        return Some(EngineMessage::Flight(Flight {
            event: line.field("event")?,
            synth: line.number("synth")?,
            provers: line.number("provers")?,
            aux: line.number("aux")?,
            shells: line.number("shells")?,
            pending: line.number("pending")?,
            est_gib: line.number("est_gib")?,
        }));
    }
    if message.starts_with("pacer: status") {
        return Some(EngineMessage::Pacer(Pacer {
            total: line.number("total")?,
            in_flight: line.number("in_flight"),
            waiting: line.number("waiting"),
            interval_ms: line.number("interval_ms"),
            gpu_proc_ms: line.number("gpu_proc_ms"),
            rebootstraps: line.number("rebootstraps"),
        }));
    }
    None
}

fn gpu_timing(line: &LogLine<'_>, step: &str) -> Option<GpuTiming> {
    Some(if step.starts_with("hot_path") {
        GpuTiming::Overhead {
            status_ms: line.number("status_ms")?,
            fail_check_ms: line.number("fail_check_ms")?,
            mark_busy_ms: line.number("mark_busy_ms")?,
            total_ms: line.number("total_overhead_ms")?,
        }
    } else if step.starts_with("spawn_blocking") {
        GpuTiming::ProveStart {
            spawn_to_enter_ms: line.number("spawn_to_enter_ms")?,
            prove_start_ms: line.number("prove_start_ms")?,
        }
    } else if step.starts_with("prove_start returned") {
        GpuTiming::Returned {
            pre_prove_ms: line.number("total_pre_prove_ms")?,
            wall_ms: line.number("spawn_blocking_wall_ms")?,
        }
    } else {
        return None;
    })
}

fn fin_timing(line: &LogLine<'_>, step: &str) -> Option<FinTiming> {
    Some(if step.starts_with("finalizer") {
        FinTiming::Finalizer {
            finish_ms: line.number("finish_ms")?,
            drop_ms: line.number("drop_res_ms")?,
            lock_wait_ms: line.number("lock_wait_ms")?,
            process_ms: line.number("process_ms")?,
            total_ms: line.number("total_ms")?,
        }
    } else if step.starts_with("malloc_trim") {
        FinTiming::MallocTrim {
            ms: line.number("malloc_trim_ms")?,
        }
    } else {
        return None;
    })
}

/// Budget, pinned buffers, parameter sets.
fn memory<'l>(line: &'l LogLine<'_>) -> Option<EngineMessage<'l>> {
    let message = line.message.as_ref();
    if let Some(step) = budget_step(message) {
        return Some(EngineMessage::Budget(BudgetNote {
            step,
            amount_gib: ["amount_gib", "needed_gib", "requested_gib", "freed_gib"]
                .iter()
                .find_map(|key| line.number(key)),
            used_gib: line.number("used_gib"),
            available_gib: line.number("available_gib"),
            total_gib: line
                .number("total_gib")
                .or_else(|| line.number("total_budget_gib")),
        }));
    }
    let pinned = message.strip_prefix("pinned pool: ").unwrap_or(message);
    if let Some(step) = pinned_step(pinned) {
        return Some(EngineMessage::PinnedPool(PinnedPool {
            step,
            size_gib: line.number("size_gib"),
            buffers: line
                .number("total_buffers")
                .or_else(|| line.number("free_remaining")),
            total_gib: line.number("total_gib"),
            cuda_err: line.number("cuda_err"),
        }));
    }
    let (kind, step) = params_step(message)?;
    Some(EngineMessage::Params(Params {
        kind,
        step,
        circuit: line.field("circuit_id"),
        elapsed_ms: line.number("elapsed_ms"),
        freed_gib: line.number("freed_gib"),
    }))
}

fn budget_step(message: &str) -> Option<BudgetStep> {
    const STEPS: [(&str, BudgetStep); 6] = [
        ("memory budget initialized", BudgetStep::Initialized),
        ("budget acquired", BudgetStep::Acquired),
        ("waiting for budget", BudgetStep::Waiting),
        ("partial reservation release", BudgetStep::Released),
        ("evicted for memory pressure", BudgetStep::Evicted),
        ("acquire request exceeds total budget", BudgetStep::TooLarge),
    ];
    first(message, &STEPS)
}

fn pinned_step(message: &str) -> Option<PinnedStep> {
    const STEPS: [(&str, PinnedStep); 6] = [
        ("checkout (reuse)", PinnedStep::Reused),
        ("checkin", PinnedStep::Returned),
        ("allocated new buffer", PinnedStep::Allocated),
        ("freed buffer", PinnedStep::Freed),
        ("cudaHostAlloc failed", PinnedStep::AllocFailed),
        ("checkout FAILED", PinnedStep::Fallback),
    ];
    first(message, &STEPS)
}

fn params_step(message: &str) -> Option<(ParamsKind, ParamsStep)> {
    use ParamsKind::{Pce, Srs};
    const STEPS: [(&str, (ParamsKind, ParamsStep)); 6] = [
        ("loading SRS from disk", (Srs, ParamsStep::Loading)),
        ("SRS loaded", (Srs, ParamsStep::Loaded)),
        ("SRS evicted", (Srs, ParamsStep::Evicted)),
        ("PCE cached", (Pce, ParamsStep::Loaded)),
        ("PCE loaded", (Pce, ParamsStep::Loaded)),
        ("PCE evicted", (Pce, ParamsStep::Evicted)),
    ];
    first(message, &STEPS)
}

fn first<T: Copy>(message: &str, steps: &[(&str, T)]) -> Option<T> {
    steps
        .iter()
        .find_map(|(prefix, step)| message.starts_with(prefix).then_some(*step))
}

/// Failures and what follows from them. Client texts stand in `error=` of the job's line or are
/// the message itself; only lines of level WARN and ERROR count.
fn trouble<'l>(line: &'l LogLine<'_>) -> Option<EngineMessage<'l>> {
    let message = line.message.as_ref();
    if line.level < Level::Warn {
        return None;
    }
    if message.contains("for failed job") || message.starts_with("assembler not found") {
        return Some(EngineMessage::Consequence {
            job: line.job(),
            partition: line.number("partition"),
            stage: if message.starts_with("discarding") {
                Stage::Assembly
            } else {
                stage(message)
            },
        });
    }
    let failed = ["failed", "panicked", "FAILED"]
        .iter()
        .any(|word| message.contains(word));
    if line.level < Level::Error || !failed {
        return None;
    }
    let error = line
        .field("error")
        .or_else(|| line.field("err"))
        .unwrap_or(message);
    Some(EngineMessage::Failure {
        job: line.job(),
        partition: line
            .number("partition")
            .or_else(|| failed_partition(message))
            .or_else(|| failed_partition(error)),
        stage: match stage(message) {
            Stage::Unknown => stage(error),
            known => known,
        },
        panicked: message.contains("panicked") || error.contains("panicked"),
        error,
    })
}

/// The partition of a client text such as `partition 3 synthesis failed: ...`.
fn failed_partition(text: &str) -> Option<u32> {
    let (number, _) = text.strip_prefix("partition ")?.split_once(' ')?;
    number.parse().ok()
}

fn stage(text: &str) -> Stage {
    const WORDS: [(&str, Stage); 7] = [
        ("synth", Stage::Synthesis),
        ("self-check", Stage::Verification),
        ("verif", Stage::Verification),
        ("GPU", Stage::Gpu),
        ("prov", Stage::Gpu),
        ("assembl", Stage::Assembly),
        ("finaliz", Stage::Assembly),
    ];
    WORDS
        .iter()
        .find_map(|(word, stage)| text.contains(word).then_some(*stage))
        .unwrap_or(Stage::Unknown)
}

#[cfg(test)]
mod tests;
