//! The operations: what a worker asks of the card, the host, or another worker.
//!
//! Sizes are in bytes. An `id` names a device allocation for as long as it lives; it may be
//! used again after its free. Nothing here says what an op does.

/// The stream an op is ordered on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stream {
    /// The legacy null stream, written `"legacy"`.
    Legacy,
    /// A non-blocking stream, written as its number.
    Id(u64),
}

/// What a kernel or a copy touches, and how long it ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The stream it is queued on.
    pub stream: Stream,
    /// Device allocations that it reads, by id.
    pub reads: Vec<u64>,
    /// Device allocations that it writes, by id.
    pub writes: Vec<u64>,
    /// How long it ran, in milliseconds, if that is known.
    pub ms: Option<f64>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// `cudaMalloc`.
    Malloc {
        /// Name of the new allocation.
        id: u64,
        /// Bytes asked for.
        bytes: u64,
    },
    /// `cudaMallocAsync` from the default pool.
    MallocAsync {
        /// Name of the new allocation.
        id: u64,
        /// Bytes asked for.
        bytes: u64,
        /// Stream that the allocation is ordered on.
        stream: Stream,
    },
    /// `cudaFree`.
    Free {
        /// The allocation.
        id: u64,
    },
    /// `cudaFreeAsync`.
    FreeAsync {
        /// The allocation.
        id: u64,
        /// Stream that the free is ordered on.
        stream: Stream,
    },
    /// `cudaStreamSynchronize`.
    StreamSync {
        /// The stream waited for.
        stream: Stream,
    },
    /// `cudaDeviceSynchronize`.
    CtxSync,
    /// `cudaEventRecord`.
    EventRecord {
        /// The event.
        event: u64,
        /// The stream whose work so far the event stands for.
        stream: Stream,
    },
    /// `cudaStreamWaitEvent`.
    StreamWait {
        /// The stream that waits.
        stream: Stream,
        /// The event it waits for.
        event: u64,
    },
    /// `cudaEventSynchronize`.
    EventSync {
        /// The event the host waits for.
        event: u64,
    },
    /// `cudaMemPoolTrimTo` on the default pool.
    Trim {
        /// Bytes that the pool may keep.
        keep: u64,
    },
    /// The release threshold of the default pool.
    SetThreshold {
        /// Idle bytes that the pool keeps at a synchronisation; `u64::MAX` keeps all.
        bytes: u64,
    },
    /// `cudaMemGetInfo`; with `need`, the caller goes on only if `need + margin` is free.
    MemGetInfo {
        /// Bytes that the caller is about to ask for.
        need: Option<u64>,
        /// Bytes that must stay free beside them.
        margin: Option<u64>,
    },
    /// `cudaGetLastError`: returns and clears the slot.
    GetLastError,
    /// `cudaPeekAtLastError`: returns the slot as it is.
    PeekLastError,
    /// Host memory is mapped at an address.
    HostMap {
        /// First byte.
        addr: u64,
        /// Length in bytes.
        bytes: u64,
    },
    /// Host memory is unmapped.
    HostUnmap {
        /// First byte.
        addr: u64,
        /// Length in bytes.
        bytes: u64,
    },
    /// `cudaHostRegister`.
    HostRegister {
        /// First byte.
        addr: u64,
        /// Length in bytes.
        bytes: u64,
    },
    /// `cudaHostUnregister`.
    HostUnregister {
        /// First byte of a registered range.
        addr: u64,
    },
    /// A kernel launch.
    Launch(Work),
    /// A copy from the host to the device.
    CopyHtoD(Work),
    /// A copy from the device to the host.
    CopyDtoH(Work),
    /// A mutex is acquired.
    Lock {
        /// Its name.
        name: String,
    },
    /// A mutex is released.
    Unlock {
        /// Its name.
        name: String,
    },
    /// `n` threads wait for each other.
    Barrier {
        /// Its name.
        name: String,
        /// How many arrive before all go on.
        n: u64,
    },
    /// A place where a `fallback:` goes on.
    Label {
        /// Its name.
        name: String,
    },
    /// The worker dies here.
    Panic {
        /// Whether its destructors run, so that what it holds is freed.
        unwind: bool,
    },
}

/// Every op by its name in the text form, with the keys that belong to it.
const TABLE: &[(&str, &[&str])] = &[
    ("malloc", &["id", "bytes"]),
    ("mallocAsync", &["id", "bytes", "stream"]),
    ("free", &["id"]),
    ("freeAsync", &["id", "stream"]),
    ("streamSync", &["stream"]),
    ("ctxSync", &[]),
    ("eventRecord", &["event", "stream"]),
    ("streamWait", &["stream", "event"]),
    ("eventSync", &["event"]),
    ("trim", &["keep"]),
    ("setThreshold", &["bytes"]),
    ("memGetInfo", &["need", "margin"]),
    ("getLastError", &[]),
    ("peekLastError", &[]),
    ("hostMap", &["addr", "bytes"]),
    ("hostUnmap", &["addr", "bytes"]),
    ("hostRegister", &["addr", "bytes"]),
    ("hostUnregister", &["addr"]),
    ("launch", &["stream", "reads", "writes", "ms"]),
    ("copyHtoD", &["stream", "reads", "writes", "ms"]),
    ("copyDtoH", &["stream", "reads", "writes", "ms"]),
    ("lock", &["name"]),
    ("unlock", &["name"]),
    ("barrier", &["name", "n"]),
    ("label", &["name"]),
    ("panic", &["unwind"]),
];

impl Op {
    /// The names of all ops, in the order of the specification.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|(name, _)| *name)
    }

    /// The keys that belong to the op of this name; empty for a name that is no op.
    pub fn keys_of(name: &str) -> &'static [&'static str] {
        TABLE
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(&[], |(_, keys)| keys)
    }

    /// The name of this op in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Malloc { .. } => "malloc",
            Self::MallocAsync { .. } => "mallocAsync",
            Self::Free { .. } => "free",
            Self::FreeAsync { .. } => "freeAsync",
            Self::StreamSync { .. } => "streamSync",
            Self::CtxSync => "ctxSync",
            Self::EventRecord { .. } => "eventRecord",
            Self::StreamWait { .. } => "streamWait",
            Self::EventSync { .. } => "eventSync",
            Self::Trim { .. } => "trim",
            Self::SetThreshold { .. } => "setThreshold",
            Self::MemGetInfo { .. } => "memGetInfo",
            Self::GetLastError => "getLastError",
            Self::PeekLastError => "peekLastError",
            Self::HostMap { .. } => "hostMap",
            Self::HostUnmap { .. } => "hostUnmap",
            Self::HostRegister { .. } => "hostRegister",
            Self::HostUnregister { .. } => "hostUnregister",
            Self::Launch(_) => "launch",
            Self::CopyHtoD(_) => "copyHtoD",
            Self::CopyDtoH(_) => "copyDtoH",
            Self::Lock { .. } => "lock",
            Self::Unlock { .. } => "unlock",
            Self::Barrier { .. } => "barrier",
            Self::Label { .. } => "label",
            Self::Panic { .. } => "panic",
        }
    }

    /// The device allocation that this op makes or frees, if it is such an op.
    pub fn id(&self) -> Option<u64> {
        match self {
            Self::Malloc { id, .. }
            | Self::MallocAsync { id, .. }
            | Self::Free { id }
            | Self::FreeAsync { id, .. } => Some(*id),
            _ => None,
        }
    }
}
