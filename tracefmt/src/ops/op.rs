//! The operations: what a worker asks of the card, the host, or another worker.
//!
//! Sizes are in bytes. An `id` names a device allocation for as long as it lives; it may be
//! used again after its free. Nothing here says what an op does.

use std::sync::Arc;

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
    /// None if it says nothing; shared between copies of the op.
    touched: Option<Arc<Touched>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Touched {
    reads: Vec<u64>,
    writes: Vec<u64>,
    ms: Option<f64>,
}

impl Work {
    /// Work on a stream: the device allocations that it reads and writes, by id, and how many
    /// milliseconds it ran, if that is known.
    pub fn new(stream: Stream, reads: Vec<u64>, writes: Vec<u64>, ms: Option<f64>) -> Self {
        let touched = Touched { reads, writes, ms };
        Self {
            stream,
            touched: (touched != Touched::default()).then(|| Arc::new(touched)),
        }
    }

    /// Device allocations that it reads, by id.
    pub fn reads(&self) -> &[u64] {
        let touched = self.touched.as_deref();
        touched.map_or(&[], |touched| &touched.reads)
    }

    /// Device allocations that it writes, by id.
    pub fn writes(&self) -> &[u64] {
        let touched = self.touched.as_deref();
        touched.map_or(&[], |touched| &touched.writes)
    }

    /// How long it ran, in milliseconds, if that is known.
    pub fn ms(&self) -> Option<f64> {
        self.touched.as_deref()?.ms
    }

    /// Device allocations that it reads, then those that it writes.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.reads().iter().chain(self.writes()).copied()
    }

    /// Says how long it ran.
    pub fn set_ms(&mut self, ms: Option<f64>) {
        self.change(|touched| touched.ms = ms);
    }

    /// Gives other names to what it reads and writes, in the order of [`Work::ids`].
    pub fn rename(&mut self, mut name: impl FnMut(u64) -> u64) {
        self.change(|touched| {
            for id in touched.reads.iter_mut().chain(&mut touched.writes) {
                *id = name(*id);
            }
        });
    }

    /// Leaves out what `keep` does not admit of what it reads and writes.
    pub fn retain(&mut self, mut keep: impl FnMut(u64) -> bool) {
        self.change(|touched| {
            touched.reads.retain(|id| keep(*id));
            touched.writes.retain(|id| keep(*id));
        });
    }

    fn change(&mut self, change: impl FnOnce(&mut Touched)) {
        let touched = Arc::make_mut(self.touched.get_or_insert_default());
        change(touched);
        if *touched == Touched::default() {
            self.touched = None;
        }
    }
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
        /// Bytes that must stay free beside them. In a box, or else every op is longer by it.
        margin: Option<Box<u64>>,
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
        name: Box<str>,
    },
    /// A mutex is released.
    Unlock {
        /// Its name.
        name: Box<str>,
    },
    /// `n` threads wait for each other.
    Barrier {
        /// Its name.
        name: Box<str>,
        /// How many arrive before all go on.
        n: u64,
    },
    /// A place where a `fallback:` goes on.
    Label {
        /// Its name.
        name: Box<str>,
    },
    /// The worker dies here.
    Panic {
        /// Whether its destructors run, so that what it holds is freed.
        unwind: bool,
    },
}

/// Half of a step, which fits into one line of a cache.
const _: () = assert!(size_of::<Op>() <= 32);

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

    /// The bytes that have to be free for the caller of a `memGetInfo` to go on, if it says.
    pub fn room(&self) -> Option<u64> {
        match self {
            Self::MemGetInfo {
                need: Some(need),
                margin,
            } => Some(need.saturating_add(margin.as_deref().copied().unwrap_or(0))),
            _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_says_what_it_touches_until_it_touches_nothing() {
        let made = || Work::new(Stream::Id(1), vec![1, 2], vec![3], Some(1.5));
        let full = made();
        let mut less = full.clone();
        less.rename(|id| id + 10);
        assert!(less.ids().eq([11, 12, 13]));
        less.retain(|id| id != 12);
        assert_eq!((less.reads(), less.writes()), (&[11][..], &[13][..]));
        assert_eq!(less.ms(), Some(1.5));
        less.set_ms(None);
        less.retain(|_id| false);
        assert_eq!(less, Work::new(Stream::Id(1), vec![], vec![], None));
        assert_eq!(full, made());
    }

    #[test]
    fn the_room_that_a_question_asks_for_is_need_and_margin() {
        let ask = |need, margin: Option<u64>| Op::MemGetInfo {
            need,
            margin: margin.map(Box::new),
        };
        assert_eq!(ask(Some(5), Some(2)).room(), Some(7));
        assert_eq!(ask(Some(u64::MAX), Some(2)).room(), Some(u64::MAX));
        assert_eq!(ask(Some(5), None).room(), Some(5));
        assert_eq!(ask(None, Some(2)).room(), None);
        assert_eq!(Op::CtxSync.room(), None);
    }
}
