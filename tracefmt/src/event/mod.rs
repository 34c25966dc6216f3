//! Typed `TIMELINE` events: what happened, to which job, where, when.
//!
//! An [`Event`] is what one line says, borrowed from the line. The old dialects fill few of its
//! fields; our own writer fills all. Parsing lives in `grammar`, writing in `writer`, and what
//! several events mean together in [`crate::run`].

use std::borrow::Cow;

mod kind;

#[cfg(any(test, feature = "proptest"))]
pub mod strategy;

pub use kind::EventKind;

/// One `TIMELINE` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Field 2: milliseconds since the engine's epoch.
    pub ms: u64,
    /// `t_us=`: microseconds since the same epoch; only our own writer gives it.
    pub t_us: Option<u64>,
    /// Job id, percent-escapes of our own writer undone.
    pub job: Cow<'a, str>,
    /// On which device and for which partition.
    pub place: Place,
    /// What happened, with the fields of that event.
    pub what: What<'a>,
}

/// Where an event happened; old dialects leave most of it out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// GPU ordinal.
    pub gpu: Option<u32>,
    /// Worker index, counted over all GPUs.
    pub worker: Option<u32>,
    /// Partition of the job; none for a monolithic proof.
    pub partition: Option<u32>,
}

/// What happened. Sizes in bytes, times in the unit that the field's name ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// First line of our own traces.
    TraceStart(Box<TraceStart<'a>>),
    /// Last line of our own traces: how many events of each kind were written.
    TraceEnd {
        /// Counts by kind, sorted by kind.
        counts: Vec<(EventKind, u64)>,
    },
    /// A job was accepted.
    JobSubmit {
        /// Proof kind, such as `porep-c2`.
        kind: Cow<'a, str>,
        /// Number of partitions; 1 for a monolithic proof.
        partitions: u32,
    },
    /// A job came to its end.
    JobEnd {
        /// `ok`, `failed` or `cancelled`.
        status: Cow<'a, str>,
        /// Why it failed.
        error: Option<Cow<'a, str>>,
    },
    /// Synthesis of a partition began; a monolithic proof says its kind instead.
    SynthStart {
        /// Proof kind, on the monolithic path only.
        kind: Option<Cow<'a, str>>,
        /// The line said `snap_partition=`.
        snap: bool,
    },
    /// Synthesis succeeded.
    SynthEnd {
        /// Duration of synthesis proper.
        synth_ms: Option<u64>,
        /// The line said `snap_partition=`.
        snap: bool,
    },
    /// About to send to the GPU channel; a full channel's wait follows this event.
    ChanSend {
        /// The line said `snap_partition=`.
        snap: bool,
    },
    /// About to enter the GPU priority queue, which never blocks.
    GpuQueue {
        /// The detail was the bare word `monolithic`.
        monolithic: bool,
    },
    /// A GPU worker took the partition; the check for a failed job comes after.
    GpuPickup,
    /// The worker is about to prove.
    GpuStart,
    /// The proof of the partition came back.
    GpuEnd {
        /// Duration of the prove call; never pure GPU time.
        gpu_ms: Option<u64>,
    },
    /// A partition failed with its own reason.
    PartitionFailed {
        /// The reason.
        error: Cow<'a, str>,
    },
    /// A device buffer was asked for.
    VramAlloc(Alloc<'a>),
    /// A device buffer was given back.
    VramFree {
        /// Id of the allocation.
        id: u64,
        /// Name of the buffer.
        buf: Cow<'a, str>,
        /// Size in bytes.
        bytes: u64,
        /// CUDA function that was called.
        api: Cow<'a, str>,
        /// Stream, for the stream-ordered calls.
        stream: Option<Stream>,
        /// Result code, 0 for success.
        rc: i32,
    },
    /// A host range was pinned.
    HostReg {
        /// Start address.
        addr: u64,
        /// Length in bytes.
        bytes: u64,
        /// Result code.
        rc: i32,
    },
    /// A host range was unpinned.
    HostUnreg {
        /// Start address.
        addr: u64,
        /// Result code.
        rc: i32,
    },
    /// A worker asks for a lock.
    LockWait {
        /// Name of the lock.
        lock: Cow<'a, str>,
    },
    /// It has it.
    LockAcq {
        /// Name of the lock.
        lock: Cow<'a, str>,
    },
    /// It gave it back.
    LockRel {
        /// Name of the lock.
        lock: Cow<'a, str>,
    },
    /// The host waited for a stream, an event or the whole device.
    Sync {
        /// `stream`, `event` or `device`.
        scope: Cow<'a, str>,
        /// Which stream, for `stream`.
        stream: Option<Stream>,
        /// Which event, for `event`.
        event: Option<u64>,
        /// Result code.
        rc: i32,
    },
    /// An event was recorded on a stream.
    EventRecord {
        /// Event id.
        event: u64,
        /// Stream it was recorded on.
        stream: Stream,
        /// Result code.
        rc: i32,
    },
    /// A stream was made to wait for an event.
    StreamWait {
        /// Event id.
        event: u64,
        /// Stream that waits.
        stream: Stream,
        /// Result code.
        rc: i32,
    },
    /// A kernel or a copy was put on a stream.
    Launch {
        /// `kernel`, `h2d` or `d2h`.
        op: Cow<'a, str>,
        /// Phase it belongs to.
        phase: Cow<'a, str>,
        /// Stream.
        stream: Stream,
        /// Ids of the buffers read.
        reads: Vec<u64>,
        /// Ids of the buffers written.
        writes: Vec<u64>,
        /// Result code.
        rc: i32,
    },
    /// The allocation pool was told to give idle pages back.
    PoolTrim {
        /// Bytes it may keep.
        keep: u64,
        /// Result code.
        rc: i32,
    },
    /// Free and total device memory, as the driver said.
    MemInfo {
        /// Free bytes.
        free: u64,
        /// Total bytes.
        total: u64,
    },
    /// An allocation failed, and its partition begins anew with a smaller plan.
    PlanFallback {
        /// Id of the allocation that failed.
        id: u64,
        /// Bytes that a plan could have, what stays included.
        free: u64,
        /// Bytes that the new plan takes at most.
        need: u64,
        /// What the new plan keeps on the device.
        plan: Cow<'a, str>,
    },
    /// A proof was checked and holds.
    ProofOk {
        /// The line said `partition=all`.
        all: bool,
    },
    /// A proof was checked and does not hold.
    ProofBad {
        /// The line said `partition=all`.
        all: bool,
    },
    /// A line of the right shape whose event this version does not know.
    Other {
        /// Event name as written.
        name: Cow<'a, str>,
        /// Detail as written.
        detail: Cow<'a, str>,
    },
}

/// The fields of `VRAM_ALLOC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alloc<'a> {
    /// Id of the allocation, unique in the trace; also given when it failed.
    pub id: u64,
    /// Name of the buffer, such as `d_bc`.
    pub buf: Cow<'a, str>,
    /// Size asked for, in bytes.
    pub bytes: u64,
    /// CUDA function that was called.
    pub api: Cow<'a, str>,
    /// Stream, for the stream-ordered calls.
    pub stream: Option<Stream>,
    /// Result code, 0 for success, 2 for out of memory.
    pub rc: i32,
}

/// A CUDA stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stream {
    /// The legacy null stream.
    Legacy,
    /// A non-blocking stream with its number.
    Id(u32),
}

/// The fields of `TRACE_START`. The default has this version and says nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStart<'a> {
    /// Format version, see [`crate::VERSION`].
    pub version: u32,
    /// Id of the run.
    pub run: Cow<'a, str>,
    /// Wall clock at offset 0: microseconds since 1970-01-01T00:00:00Z.
    pub epoch_unix_us: u64,
    /// Id of the build.
    pub build: Cow<'a, str>,
    /// Device name, such as `NVIDIA H200` or `cpu`.
    pub device: Cow<'a, str>,
    /// Device memory in bytes.
    pub vram_total: u64,
    /// Free device memory at the start, in bytes.
    pub vram_free: u64,
    /// Configuration as `key=value` pairs: workers, partitions, domain, ...
    pub config: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl Default for TraceStart<'_> {
    fn default() -> Self {
        Self {
            version: crate::VERSION,
            run: Cow::default(),
            epoch_unix_us: 0,
            build: Cow::default(),
            device: Cow::default(),
            vram_total: 0,
            vram_free: 0,
            config: Vec::new(),
        }
    }
}
