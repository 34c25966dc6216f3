//! What the engine's own log lines say, beyond level and text.
//!
//! Whose a message is stands in its fields or in its span: [`super::LogLine::job`] and
//! [`super::LogLine::place`] give it. Numbers are as printed: `*_gib` are whole GiB, rounded
//! down. A message whose needed fields are missing (a cut line) is [`EngineMessage::Other`].

/// A message of the engine that the tools need.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineMessage<'a> {
    /// A daemon's first words.
    DaemonStarting,
    /// Size of the pool of CPU threads that GPU calls use.
    GpuThreads {
        /// `gpu_threads=`
        threads: u64,
    },
    /// A job was accepted by the scheduler.
    JobEnqueued {
        /// Job id.
        job: &'a str,
        /// Proof kind, such as `porep-c2`.
        kind: Option<&'a str>,
        /// `Critical`, `High`, `Normal` or `Low`.
        priority: Option<&'a str>,
        /// Jobs before it.
        position: Option<u64>,
    },
    /// The scheduler gave a job to the pipeline.
    JobDequeued {
        /// Job id.
        job: &'a str,
        /// Proof kind.
        kind: Option<&'a str>,
        /// Priority.
        priority: Option<&'a str>,
    },
    /// The job's place in the order of dispatch.
    SequenceNumber {
        /// Job id.
        job: &'a str,
        /// Smaller goes first.
        seq: u64,
    },
    /// A GPU worker is up: the only line that joins worker and GPU before any work.
    WorkerStarted {
        /// Worker.
        worker: u32,
        /// GPU.
        gpu: u32,
    },
    /// A worker took a proof; its span says for which job, partition, worker and GPU.
    PickedUp {
        /// Proof kind.
        kind: Option<&'a str>,
        /// Proofs in the batch.
        batch_size: Option<u64>,
    },
    /// Synthesis of a partition, or of a whole proof, came to its end.
    SynthesisComplete {
        /// Job id; the whole-proof form has none.
        job: Option<&'a str>,
        /// Partition; none for the whole-proof form.
        partition: Option<u32>,
        /// Its duration.
        synth_ms: u64,
        /// Circuit, in the whole-proof form.
        circuit: Option<&'a str>,
    },
    /// The proof of one partition is there.
    PartitionProved {
        /// Job id.
        job: &'a str,
        /// Partition.
        partition: u32,
        /// As `GPU_END` says it.
        gpu_ms: u64,
    },
    /// All partitions of a job are there.
    ProofAssembled {
        /// Job id.
        job: &'a str,
        /// Bytes of the proof.
        proof_len: Option<u64>,
        /// From submission on.
        total_ms: Option<u64>,
        /// Sum over partitions.
        synth_ms: Option<u64>,
        /// Sum over partitions.
        gpu_ms: Option<u64>,
    },
    /// The engine verified a job's assembled proof.
    SelfCheck {
        /// Job id.
        job: &'a str,
        /// Whether it holds.
        passed: bool,
    },
    /// Work left undone because its job had failed before.
    Consequence {
        /// Job id.
        job: Option<&'a str>,
        /// Partition.
        partition: Option<u32>,
        /// Where on its way the partition was.
        stage: Stage,
    },
    /// A partition, a job or a task failed with its own reason.
    Failure {
        /// Job id.
        job: Option<&'a str>,
        /// Partition, from its field or from the text.
        partition: Option<u32>,
        /// Where on its way it was.
        stage: Stage,
        /// Whether a task panicked.
        panicked: bool,
        /// The reason, as printed; the message itself where no field gives one.
        error: &'a str,
    },
    /// A job's result went out.
    JobCompleted {
        /// Job id.
        job: &'a str,
    },
    /// Where the time around a prove call goes, from `GPU_TIMING` lines.
    GpuTiming(GpuTiming),
    /// Where the time of the finishing task goes, from `FIN_TIMING` lines.
    FinTiming(FinTiming),
    /// How many buffers of each kind are in flight.
    Flight(Flight<'a>),
    /// The host-memory budget.
    Budget(BudgetNote),
    /// The pool of pinned host buffers.
    PinnedPool(PinnedPool),
    /// The dispatch pacer's state.
    Pacer(Pacer),
    /// A parameter set was loaded or thrown out.
    Params(Params<'a>),
    /// Anything else.
    Other,
}

/// A station on the way of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Synthesis on the CPU.
    Synthesis,
    /// The prove call.
    Gpu,
    /// Putting partitions together.
    Assembly,
    /// Checking the proof.
    Verification,
    /// Not said.
    Unknown,
}

/// The three lines around a prove call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuTiming {
    /// Before the call.
    Overhead {
        /// Publishing the status.
        status_ms: u64,
        /// Looking whether the job has failed.
        fail_check_ms: u64,
        /// Marking the worker busy.
        mark_busy_ms: u64,
        /// All of it.
        total_ms: u64,
    },
    /// Inside the blocking task.
    ProveStart {
        /// Wait for a blocking thread.
        spawn_to_enter_ms: u64,
        /// The call.
        prove_start_ms: u64,
    },
    /// Back in the worker.
    Returned {
        /// From pick-up to the call.
        pre_prove_ms: u64,
        /// The blocking task as seen from outside.
        wall_ms: u64,
    },
}

/// The lines of the finishing task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinTiming {
    /// One finished proof.
    Finalizer {
        /// The finish call.
        finish_ms: u64,
        /// Dropping the reservation.
        drop_ms: u64,
        /// Wait for the tracker's lock.
        lock_wait_ms: u64,
        /// Work under it.
        process_ms: u64,
        /// All of it.
        total_ms: u64,
    },
    /// Giving heap pages back, under the tracker's lock.
    MallocTrim {
        /// Its duration.
        ms: u64,
    },
}

/// Buffers in flight; some counters of the old engine only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight<'a> {
    /// What just happened, such as `synth_start`.
    pub event: &'a str,
    /// Syntheses running.
    pub synth: i64,
    /// Provers held.
    pub provers: i64,
    /// Assignment sets held.
    pub aux: i64,
    /// Emptied provers held.
    pub shells: i64,
    /// Handles between start and finish.
    pub pending: i64,
    /// Estimate of the host memory behind all that.
    pub est_gib: i64,
}

/// A change of the host-memory budget; what a line does not say is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetNote {
    /// What happened.
    pub step: BudgetStep,
    /// Asked for, given back or freed.
    pub amount_gib: Option<u64>,
    /// In use.
    pub used_gib: Option<u64>,
    /// Left.
    pub available_gib: Option<u64>,
    /// The whole budget.
    pub total_gib: Option<u64>,
}

/// What happened to the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BudgetStep {
    /// Set at start.
    Initialized,
    /// A reservation was made.
    Acquired,
    /// A reservation has to wait.
    Waiting,
    /// A part was given back.
    Released,
    /// A cached set was thrown out to make room.
    Evicted,
    /// More was asked for than there is at all.
    TooLarge,
}

/// A change of the pool of pinned buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedPool {
    /// What happened.
    pub step: PinnedStep,
    /// Size of the buffer.
    pub size_gib: Option<u64>,
    /// Buffers in the pool, or left free in it.
    pub buffers: Option<u64>,
    /// Size of the pool.
    pub total_gib: Option<u64>,
    /// CUDA error code of a failed allocation.
    pub cuda_err: Option<i32>,
}

/// What happened to the pool of pinned buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PinnedStep {
    /// A pooled buffer was handed out.
    Reused,
    /// A buffer came back.
    Returned,
    /// A new buffer was allocated.
    Allocated,
    /// The evictor freed one.
    Freed,
    /// The allocation failed.
    AllocFailed,
    /// A caller went on without pinned memory.
    Fallback,
}

/// The pacer's state, as far as tools need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pacer {
    /// Dispatches so far.
    pub total: u64,
    /// Syntheses running.
    pub in_flight: Option<u64>,
    /// Proofs waiting for a GPU.
    pub waiting: Option<u64>,
    /// Time between dispatches.
    pub interval_ms: Option<f64>,
    /// Smoothed GPU time of a partition.
    pub gpu_proc_ms: Option<f64>,
    /// Times that it started anew.
    pub rebootstraps: Option<u64>,
}

/// A parameter set (SRS) or a pre-compiled circuit (PCE) in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params<'a> {
    /// Which kind.
    pub kind: ParamsKind,
    /// What happened.
    pub step: ParamsStep,
    /// Circuit, such as `porep-32g`.
    pub circuit: Option<&'a str>,
    /// Duration of the load.
    pub elapsed_ms: Option<u64>,
    /// Memory freed by an eviction.
    pub freed_gib: Option<u64>,
}

/// Kinds of cached parameter sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParamsKind {
    /// Structured reference string.
    Srs,
    /// Pre-compiled circuit.
    Pce,
}

/// What happened to a parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParamsStep {
    /// Loading begins.
    Loading,
    /// Loaded, from disk or by extraction.
    Loaded,
    /// Thrown out.
    Evicted,
}
